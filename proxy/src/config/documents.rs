//! Every example of the documentation is a configuration that works.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Config;

/// The root of the source tree.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What an example leaves out because it is about something else.
const REST: &[(&str, &str)] = &[
    ("[cluster]", "[cluster]\nmonitor_user = \"m\"\nmonitor_password = \"p\"\n"),
    (
        "[[node]]",
        "[[node]]\nname = \"db1\"\naddress = \"127.0.0.1:3321\"\n[[node]]\nname = \"db2\"\naddress = \"127.0.0.1:3322\"\n\
         [[node]]\nname = \"db3\"\naddress = \"127.0.0.1:3323\"\n",
    ),
    ("[[endpoint]]", "[[endpoint]]\nname = \"other\"\nlisten = \"127.0.0.1:0\"\n"),
];

/// Parses a text with the files and variables it names put in place, and with the sections it lacks.
#[track_caller]
fn check(origin: &Path, text: &str) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("tidemark-documents-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut complete = String::new();
    for line in text.lines() {
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let quoted = value.split('"').nth(1).unwrap_or_default();
        let name = Path::new(quoted).file_name().unwrap_or_default();
        match key.trim() {
            "monitor_password_file" | "token_file" | "tls_ca" | "cert" | "key" => {
                std::fs::write(folder.join(name), "x").unwrap();
                complete += &format!("{}= {name:?}\n", key);
            }
            "monitor_password_env" => complete += &format!("{key}= \"PATH\"\n"),
            _ => complete += &format!("{line}\n"),
        }
    }
    for (header, rest) in REST {
        if !text.lines().any(|line| line.trim() == *header) {
            complete += rest;
        }
    }
    let result = Config::parse(&complete, &folder.join("example.toml"));
    std::fs::remove_dir_all(&folder).unwrap();
    if let Err(error) = result {
        panic!("{}: {error}\n{complete}", origin.display());
    }
}

/// The contents of the fenced blocks marked as TOML.
fn toml_blocks(markdown: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in markdown.lines() {
        match &mut open {
            Some(_) if line.trim() == "```" => blocks.extend(open.take()),
            Some(block) => *block += &format!("{line}\n"),
            None if line.trim() == "```toml" => open = Some(String::new()),
            None => {}
        }
    }
    blocks
}

#[test]
fn the_examples_are_valid() {
    let mut count = 0;
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            check(&path, &std::fs::read_to_string(&path).unwrap());
            count += 1;
        }
    }
    assert!(count > 0, "there is no example");
}

#[test]
fn the_blocks_of_the_documentation_are_valid() {
    let mut pages: Vec<PathBuf> =
        std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.push(root().join("README.md"));
    let mut count = 0;
    for page in pages.iter().filter(|page| page.extension().is_some_and(|extension| extension == "md")) {
        // The README may not be there in a source tree that is being built up.
        for block in toml_blocks(&std::fs::read_to_string(page).unwrap_or_default()) {
            check(page, &block);
            count += 1;
        }
    }
    assert!(count > 0, "there is no block");
}

/// Every key of the schema has its entry in the reference.
#[test]
fn the_reference_is_complete() {
    let page = std::fs::read_to_string(root().join("docs/configuration.md")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&super::schema()).unwrap();
    for (section, definition) in schema["$defs"].as_object().unwrap() {
        for key in definition["properties"].as_object().unwrap().keys() {
            assert!(page.contains(&format!("`{key}`")), "docs/configuration.md lacks {key} of {section}");
        }
    }
}
