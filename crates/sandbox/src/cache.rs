//! What is kept between clusters: unpacked servers and initialised data directories.
//!
//! The place is `$TIDEMARK_SANDBOX_CACHE`, else `$XDG_CACHE_HOME/tidemark`, else `~/.cache/tidemark`. For root it is
//! `/var/cache/tidemark` instead of the last two: root's home is closed to the account the servers run under. Two processes
//! that fill the cache at once take turns by a lock on a file; the lock ends with the process, however that ends.

use std::{
    env,
    fs::{self, File},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use crate::{Error, Result, account};

/// The cache's directory, created if it is missing.
pub(crate) fn directory() -> Result<PathBuf> {
    let path = chosen_directory()?;
    account::check_reachable(&path.join("entry"))?;
    create(&path)?;
    Ok(path)
}

fn chosen_directory() -> Result<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = variable("TIDEMARK_SANDBOX_CACHE") {
        return std::path::absolute(&path).map_err(Error::file("cannot resolve", path));
    }
    if account::is_root() {
        return Ok(PathBuf::from("/var/cache/tidemark"));
    }
    let caches = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    caches.map(|caches| caches.join("tidemark")).ok_or_else(|| {
        Error::Machine("HOME is not set: set TIDEMARK_SANDBOX_CACHE to a directory".to_owned())
    })
}

/// Creates a directory and those above it, readable for all whatever the umask.
pub(crate) fn create(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create(parent)?;
    }
    match fs::create_dir(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(Error::file("cannot create", path)(error))
        }
        _ => fs::set_permissions(path, fs::Permissions::from_mode(0o755))
            .map_err(Error::file("cannot set the permissions of", path)),
    }
}

/// Waits until no other process holds the lock of that name, and holds it until the returned file is closed.
pub(crate) fn lock(name: &str) -> Result<File> {
    let path = directory()?.join(format!("{name}.lock"));
    let file = File::create(&path).map_err(Error::file("cannot create", &path))?;
    file.lock().map_err(Error::file("cannot lock", &path))?;
    Ok(file)
}

/// Builds a directory of the cache: `build` fills an empty directory beside it, which then takes its name in one step, so
/// that a half-built one is never taken for a whole one. The caller holds the lock.
pub(crate) fn build(path: &Path, build: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let partial = path.with_extension("partial");
    remove(&partial)?;
    create(&partial)?;
    build(&partial)?;
    fs::rename(&partial, path).map_err(Error::file("cannot rename", partial))
}

/// Removes a directory and all in it; one that is not there is no error.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::file("cannot remove", path)(error))
        }
        _ => Ok(()),
    }
}
