//! Unpacking packages of Debian's development release beside the system, with their own C library.
//!
//! apt works on an empty package database in the cache, so that it names every library the packages need, and checks
//! signatures and hashes as always; nothing is installed, and the system's own packages and C library stay as they are. The
//! unpacked programs are started through the dynamic loader that came along with them.

use std::{
    env, fs,
    io::Read,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Command, Stdio},
};

use crate::{Error, Result, apt::Apt, cache, command::run};

/// The directory of an unpacked tree that holds one launcher per program.
pub(crate) const LAUNCHERS: &str = "run";

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
