//! Unpacking packages of Debian's development release beside the system, with their own C library.
//!
//! apt works on an empty package database in the cache, so that it names every library the packages need, and checks
//! signatures and hashes as always; nothing is installed, and the system's own packages and C library stay as they are. The
//! unpacked programs are started through the dynamic loader that came along with them.

use std::{
    env, fs,
    io::Read,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{Error, Result, apt_sources, cache, command::run};

/// The directory of an unpacked tree that holds one launcher per program.
pub(crate) const LAUNCHERS: &str = "run";

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

/// Unpacks `packages` with all they depend on, and `alone` without, into the empty directory `root`.
pub(crate) fn unpack(packages: &[&str], alone: &[&str], root: &Path) -> Result<()> {
    let apt = Apt::prepare(&cache::directory()?.join("apt"))?;
    let mut wanted = apt.closure(packages)?;
    wanted.extend(alone.iter().map(|package| (*package).to_owned()));
    let archives = root.join("archives");
    cache::create(&archives)?;
    run(apt.get().arg("download").args(&wanted).current_dir(&archives))?;

    // Debian's merged /usr, which the packages themselves do not bring.
    for directory in ["bin", "lib", "lib64", "sbin"] {
        cache::create(&root.join("usr").join(directory))?;
        let link = root.join(directory);
        symlink(format!("usr/{directory}"), &link).map_err(Error::file("cannot create", link))?;
    }
    for entry in fs::read_dir(&archives).map_err(Error::file("cannot read", &archives))?.flatten() {
        extract(&entry.path(), root)?;
    }
    cache::remove(&archives)?;
    write_launchers(root)
}

/// apt with a package database of its own.
struct Apt {
    directory: PathBuf,
}

impl Apt {
    /// Fetches the package lists, from the first of the machine's mirrors that has the release.
    fn prepare(directory: &Path) -> Result<Self> {
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
    fn get(&self) -> Command {
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
    fn closure(&self, packages: &[&str]) -> Result<Vec<String>> {
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

/// Unpacks one package, without its documentation.
fn extract(package: &Path, root: &Path) -> Result<()> {
    let mut reader = Command::new("dpkg-deb")
        .arg("--fsys-tarfile")
        .arg(package)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|source| Error::Spawn { program: "dpkg-deb".to_owned(), source })?;
    let mut tar = Command::new("tar");
    tar.args(["-x", "--keep-directory-symlink", "--no-same-owner", "-C"]).arg(root);
    for unread in ["doc", "man", "locale", "lintian"] {
        tar.arg(format!("--exclude=./usr/share/{unread}"));
    }
    if let Some(archive) = reader.stdout.take() {
        tar.stdin(archive);
    }
    let output = tar.output().map_err(|source| Error::Spawn { program: "tar".to_owned(), source })?;
    let read = reader.wait().map_err(|source| Error::Spawn { program: "dpkg-deb".to_owned(), source })?;
    crate::command::check(format!("unpacking {}", package.display()), &output)?;
    if read.success() {
        return Ok(());
    }
    Err(Error::Program { program: "dpkg-deb".to_owned(), status: read.to_string(), output: String::new() })
}

/// Writes one launcher for every server or client program of the tree.
///
/// The two variables say where clients find their login plugins, which the programs would look for in the system's `/usr`.
///
/// `--argv0` is needed: without it mysqld looks for a program of its name on the path, and finds the system's.
fn write_launchers(root: &Path) -> Result<()> {
    let launchers = root.join(LAUNCHERS);
    cache::create(&launchers)?;
    let arch = env::consts::ARCH;
    let loader = match arch {
        "x86_64" => "lib64/ld-linux-x86-64.so.2",
        "aarch64" => "lib/ld-linux-aarch64.so.1",
        _ => {
            return Err(Error::Machine(format!(
                "unpacked servers are not supported on {arch}: use the engine mariadb"
            )));
        }
    };
    for directory in ["usr/sbin", "usr/bin"] {
        let path = root.join(directory);
        for entry in fs::read_dir(&path).map_err(Error::file("cannot read", &path))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !(name.starts_with("mysql") || name.starts_with("mariadb")) || !is_elf(&entry.path()) {
                continue;
            }
            let script = format!(
                "#!/bin/sh\nroot=${{0%/{LAUNCHERS}/*}}\n\
                 export LIBMYSQL_PLUGIN_DIR=\"$root/usr/lib/mysql/plugin\"\n\
                 export MARIADB_PLUGIN_DIR=\"$root/usr/lib/mysql/plugin\"\n\
                 exec \"$root/usr/{loader}\" --library-path \"$root/usr/lib/{arch}-linux-gnu:$root/usr/lib\" \\\n\
                 \x20   --argv0 \"$root/{directory}/{name}\" \"$root/{directory}/{name}\" \"$@\"\n"
            );
            let launcher = launchers.join(&name);
            fs::write(&launcher, script).map_err(Error::file("cannot write", &launcher))?;
            fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755))
                .map_err(Error::file("cannot set the permissions of", &launcher))?;
        }
    }
    Ok(())
}

fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == *b"\x7fELF"
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
