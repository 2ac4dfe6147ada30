//! Which package mirrors this machine uses, read from its own apt sources.
//!
//! Both forms are understood: one-line `.list` files and deb822 `.sources` files. Only entries that name the running
//! release itself are taken: these are the distribution's own (or a third party's that imitates it, whose signature apt
//! then refuses).

use std::{fs, path::PathBuf};

/// The mirrors that carry `codename`, in the order of the files, each once.
pub(crate) fn mirrors(codename: &str) -> Vec<String> {
    let mut files: Vec<PathBuf> = fs::read_dir("/etc/apt/sources.list.d")
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    files.sort();
    files.insert(0, PathBuf::from("/etc/apt/sources.list"));
    let mut found = Vec::new();
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let mirrors = match file.extension().and_then(|extension| extension.to_str()) {
            Some("list") => one_line(&text, codename),
            Some("sources") => deb822(&text, codename),
            _ => Vec::new(),
        };
        for mirror in mirrors {
            if !found.contains(&mirror) {
                found.push(mirror);
            }
        }
    }
    found
}

fn one_line(text: &str, codename: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| {
            let line = line.split('#').next()?.trim().strip_prefix("deb ")?.trim_start();
            // Options stand in brackets, which may contain spaces.
            let line = if line.starts_with('[') { line.split_once(']')?.1 } else { line };
            let mut words = line.split_whitespace();
            let (uri, suite) = (words.next()?, words.next()?);
            (suite == codename).then(|| uri.to_owned())
        })
        .collect()
}

fn deb822(text: &str, codename: &str) -> Vec<String> {
    let uncommented: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    uncommented.join("\n").split("\n\n").flat_map(|stanza| stanza_mirrors(stanza, codename)).collect()
}

fn stanza_mirrors(stanza: &str, codename: &str) -> Vec<String> {
    let field = |name: &str| -> Vec<&str> {
        let mut values = Vec::new();
        let mut inside = false;
        for line in stanza.lines() {
            if line.starts_with([' ', '\t']) {
                if inside {
                    values.extend(line.split_whitespace());
                }
                continue;
            }
            let (key, value) = line.split_once(':').unwrap_or((line, ""));
            inside = key.eq_ignore_ascii_case(name);
            if inside {
                values.extend(value.split_whitespace());
            }
        }
        values
    };
    if field("Enabled") == ["no"] || !field("Types").contains(&"deb") || !field("Suites").contains(&codename)
    {
        return Vec::new();
    }
    field("URIs").into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_entries_of_the_release_count() {
        let text = "# deb mirror:/x bookworm main\ndeb [signed-by=/a arch=amd64] mirror:/a bookworm main\n\
                    deb mirror:/b bookworm-security main\ndeb-src mirror:/c bookworm main\ndeb  mirror:/d bookworm main # x\n";
        assert_eq!(one_line(text, "bookworm"), ["mirror:/a", "mirror:/d"]);
    }

    #[test]
    fn stanzas_of_the_release_count() {
        let text = "Types: deb\n# was: elsewhere\nURIs: mirror:/a\n mirror:/b\nSuites: bookworm bookworm-updates\n\n\
                    Types: deb\nURIs: mirror:/c\nSuites: bookworm-security\n\n\
                    Types: deb-src\nURIs: mirror:/d\nSuites: bookworm\n\n\
                    Enabled: no\nTypes: deb\nURIs: mirror:/e\nSuites: bookworm\n";
        assert_eq!(deb822(text, "bookworm"), ["mirror:/a", "mirror:/b"]);
    }
}
