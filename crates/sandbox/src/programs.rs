//! Where an engine's server and client are.

use std::path::{Path, PathBuf};

use crate::{Engine, Error, Result, cache, command::run};

/// The programs of one engine.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    /// The server.
    pub(crate) server: PathBuf,
    /// Its command line client.
    pub(crate) client: PathBuf,
    /// The `/usr` they were built for: the system's own, or that of an unpacked tree.
    pub(crate) usr: PathBuf,
}

impl Programs {
    /// The engine's programs, or what to do to have them.
    pub(crate) fn find(engine: Engine) -> Result<Self> {
        let programs = match engine {
            Engine::Mariadb => Self {
                server: PathBuf::from("/usr/sbin/mariadbd"),
                client: PathBuf::from("/usr/bin/mariadb"),
                usr: PathBuf::from("/usr"),
            },
            Engine::Mysql => Self::unpacked(&engine_directory(engine)?, "mysqld", "mysql"),
            Engine::Mariadb11 => Self::unpacked(&engine_directory(engine)?, "mariadbd", "mariadb"),
        };
        if programs.server.exists() && programs.client.exists() {
            return Ok(programs);
        }
        Err(Error::NotInstalled {
            engine: engine.name(),
            advice: format!("run: cargo run -p sandbox --example install -- {engine}"),
        })
    }

    fn unpacked(root: &Path, server: &str, client: &str) -> Self {
        let run = root.join(crate::unpack::LAUNCHERS);
        Self { server: run.join(server), client: run.join(client), usr: root.join("usr") }
    }

    /// What the server says its version is.
    pub(crate) fn version(&self) -> Result<String> {
        run(std::process::Command::new(&self.server).args(["--no-defaults", "--version"]))
    }
}

/// Where an unpacked engine lies.
pub(crate) fn engine_directory(engine: Engine) -> Result<PathBuf> {
    Ok(cache::directory()?.join("engines").join(engine.name()))
}
