//! apt beside the system's: its own sources and an empty package database, the system's configuration and keys.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Error, Result, apt_sources, cache, command::run};

/// The release that carries MySQL; Debian's stable releases carry MariaDB alone.
const SUITE: &str = "sid";
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Packages that the closure names but a server does not need to run: package management, perl for helper scripts, and
/// what a login system needs.
const UNNEEDED: &[&str] = &[
    "base-files",
    "coreutils",
    "debconf",
    "dpkg",
    "libacl1",
    "libbz2-1.0",
    "libcrypt1",
    "libselinux1",
    "mailcap",
    "mawk",
    "media-types",
    "mysql-common",
    "mariadb-common",
    "netbase",
    "perl",
    "perl-base",
    "tar",
];
const UNNEEDED_PREFIXES: &[&str] = &["libdb5", "libgdbm", "libperl", "perl-modules"];

/// apt with a package database of its own.
pub(crate) struct Apt {
    directory: PathBuf,
}

impl Apt {
    /// Fetches the package lists, from the first of the machine's mirrors that has the release.
    pub(crate) fn prepare(directory: &Path) -> Result<Self> {
        let (id, codename) = release()?;
        if id != "debian" {
            return Err(Error::Machine(format!(
                "this engine is unpacked from Debian's packages, and this machine runs {id}: use the engine mariadb"
            )));
        }
        for part in ["lists/partial", "cache/archives/partial"] {
            cache::create(&directory.join(part))?;
        }
        let apt = Self { directory: directory.to_owned() };
        apt.write("status", "")?;
        let mut outcome =
            Err(Error::Machine(format!("no mirror of Debian {codename} in this machine's apt sources")));
        for mirror in apt_sources::mirrors(&codename) {
            apt.write("sources.list", &format!("deb [signed-by={KEYRING}] {mirror} {SUITE} main\n"))?;
            outcome = run(apt.get().args(["update", "-q", "--error-on=any"])).map(drop);
            if outcome.is_ok() {
                break;
            }
        }
        outcome.map(|()| apt)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.directory.join(name);
        fs::write(&path, text).map_err(Error::file("cannot write", path))
    }

    /// `apt-get` told to use this database and nothing of the system's but its configuration (a proxy, for one).
    pub(crate) fn get(&self) -> Command {
        let at = |name: &str| self.directory.join(name).display().to_string();
        let mut command = Command::new("apt-get");
        for option in [
            format!("Dir::Etc::SourceList={}", at("sources.list")),
            "Dir::Etc::SourceParts=/dev/null".to_owned(),
            format!("Dir::State={}", at("")),
            format!("Dir::State::Lists={}", at("lists")),
            format!("Dir::State::status={}", at("status")),
            format!("Dir::Cache={}", at("cache")),
            // The download runs as whoever runs this; the account _apt could not write here.
            "APT::Sandbox::User=root".to_owned(),
            "APT::Install-Recommends=0".to_owned(),
            "Acquire::Languages=none".to_owned(),
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".to_owned(),
            // The cache's own lock is held; apt's needs privileges.
            "Debug::NoLocking=1".to_owned(),
        ] {
            command.args(["-o", &option]);
        }
        command
    }

    /// The names of all packages that `packages` need on an empty system, less those no server needs.
    pub(crate) fn closure(&self, packages: &[&str]) -> Result<Vec<String>> {
        let listing =
            run(self.get().args(["--print-uris", "-y", "-qq", "install", "libc-bin"]).args(packages))?;
        let names: Vec<String> =
            listing.lines().filter_map(package_name).filter(|name| is_needed(name)).collect();
        if names.is_empty() {
            return Err(Error::Machine(format!("apt-get names no packages for {}", packages.join(" "))));
        }
        Ok(names)
    }
}

/// The package of a line such as `'URI' libc6_2.41-12_amd64.deb 2846144 SHA256:...`.
fn package_name(line: &str) -> Option<String> {
    let file = line.strip_prefix('\'')?.split_whitespace().nth(1)?;
    Some(file.split('_').next()?.to_owned())
}

fn is_needed(package: &str) -> bool {
    !UNNEEDED.contains(&package) && !UNNEEDED_PREFIXES.iter().any(|prefix| package.starts_with(prefix))
}

/// The distribution's id and code name, from os-release(5).
fn release() -> Result<(String, String)> {
    let path = "/etc/os-release";
    let text = fs::read_to_string(path).map_err(Error::file("cannot read", path))?;
    let value = |key: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
            .map(|value| value.trim_matches('"').to_owned())
            .unwrap_or_default()
    };
    Ok((value("ID"), value("VERSION_CODENAME")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_names_come_from_the_file_column() {
        let line = "'mirror:/pool/libssl3.deb' libssl3t64_3.5.1-1_amd64.deb 2000 SHA256:00";
        assert_eq!(package_name(line).as_deref(), Some("libssl3t64"));
        assert_eq!(package_name("Reading package lists..."), None);
    }

    #[test]
    fn interpreters_are_left_out_and_libraries_are_not() {
        assert!(is_needed("libc6") && is_needed("libssl3t64") && is_needed("mysql-server-core"));
        assert!(!is_needed("perl-base") && !is_needed("libperl5.40") && !is_needed("perl-modules-5.40"));
    }
}
