//! Accounts for tests of logging in, one for every way the servers check a password.

use std::time::Duration;

use crate::{Cluster, Engine, Error, Result};

/// An account is made in moments, wherever it has to go.
const CATCH_UP_LIMIT: Duration = Duration::from_secs(60);

/// How an account proves its password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginPlugin {
    /// `caching_sha2_password`: MySQL, and MariaDB 11.8 with a plugin.
    CachingSha2,
    /// `mysql_native_password`: MariaDB only; MySQL has had no such accounts since 9.0.
    Native,
    /// `ed25519`: MariaDB only.
    Ed25519,
}

impl LoginPlugin {
    /// Whether servers of `engine` can have such accounts.
    #[must_use]
    pub fn exists_on(self, engine: Engine) -> bool {
        match self {
            Self::CachingSha2 => matches!(engine, Engine::Mysql | Engine::Mariadb11),
            Self::Native | Self::Ed25519 => engine != Engine::Mysql,
        }
    }

    /// The library MariaDB must load first.
    fn mariadb_library(self) -> Option<&'static str> {
        match self {
            Self::CachingSha2 => Some("auth_mysql_sha2"),
            Self::Native => None,
            Self::Ed25519 => Some("auth_ed25519"),
        }
    }

    /// The servers' name for it.
    fn name(self) -> &'static str {
        match self {
            Self::CachingSha2 => "caching_sha2_password",
            Self::Native => "mysql_native_password",
            Self::Ed25519 => "ed25519",
        }
    }

    fn identified(self, engine: Engine, password: &str) -> String {
        let name = self.name();
        match engine {
            Engine::Mysql => format!("IDENTIFIED WITH {name} BY '{password}'"),
            Engine::Mariadb | Engine::Mariadb11 => {
                format!("IDENTIFIED VIA {name} USING PASSWORD('{password}')")
            }
        }
    }
}

impl Cluster {
    /// Creates the account `user`@`%` with all privileges on the schemas `app` and `sbtest`, and waits until every server has
    /// it. Neither name nor password may contain quotes; the password may be empty.
    pub fn create_account(&self, user: &str, plugin: LoginPlugin, password: &str) -> Result<()> {
        let primary = self.current_primary();
        let engine = primary.engine();
        if !plugin.exists_on(engine) {
            return Err(Error::Machine(format!("{engine} has no accounts with {plugin:?}")));
        }
        if let (Engine::Mariadb | Engine::Mariadb11, Some(library)) = (engine, plugin.mariadb_library()) {
            for server in self.servers() {
                server.sql(&format!("INSTALL PLUGIN IF NOT EXISTS {} SONAME '{library}'", plugin.name()))?;
            }
        }
        let identified = plugin.identified(engine, password);
        primary.sql(&format!(
            "CREATE USER '{user}'@'%' {identified}; GRANT ALL ON app.* TO '{user}'@'%'; GRANT ALL ON sbtest.* TO '{user}'@'%'"
        ))?;
        self.wait_caught_up(CATCH_UP_LIMIT)
    }
}
