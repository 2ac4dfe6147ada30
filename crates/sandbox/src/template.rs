//! Initialised data directories, made once per server version and copied for every server.
//!
//! Accounts, schemas and keys are in the template and not in any binary log: a fresh cluster's positions are empty, and no
//! server has a transaction the others lack.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Engine, Family, Result, account, cache, command::run, keys, mariadb, mysql, programs::Programs};

/// The template's data directory for `engine`, made now if there is none.
pub(crate) fn ensure(engine: Engine, programs: &Programs) -> Result<PathBuf> {
    let directory =
        cache::directory()?.join("templates").join(format!("{engine}-{:016x}", version(engine, programs)?));
    let data = directory.join("data");
    if directory.exists() {
        return Ok(data);
    }
    let _lock = cache::lock("templates")?;
    if directory.exists() {
        return Ok(data);
    }
    if let Some(parent) = directory.parent() {
        cache::create(parent)?;
    }
    cache::build(&directory, |partial| {
        account::hand_over(partial, 0o755)?;
        let data = partial.join("data");
        match engine.family() {
            Family::Mysql => mysql::initialise(programs, &data)?,
            Family::Mariadb => mariadb::initialise(programs, &data)?,
        }
        keys::create(&data)
    })?;
    Ok(data)
}

/// Copies the template to `to`, sharing blocks where the file system can and leaving the holes of the logs unwritten.
pub(crate) fn copy(template: &Path, to: &Path) -> Result<()> {
    run(Command::new("cp").args(["-a", "--reflink=auto", "--sparse=always"]).arg(template).arg(to)).map(drop)
}

/// Changes with the server, with what is put into the template, and with who owns its files.
fn version(engine: Engine, programs: &Programs) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    programs.version()?.hash(&mut hasher);
    match engine.family() {
        Family::Mysql => mysql::accounts_sql().hash(&mut hasher),
        Family::Mariadb => mariadb::accounts_sql().hash(&mut hasher),
    }
    (account::server_options(), keys::CERTIFICATE).hash(&mut hasher);
    Ok(hasher.finish())
}
