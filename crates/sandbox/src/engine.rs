//! The servers a cluster can be made of.

use std::{fmt, str::FromStr};

/// A server program and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Engine {
    /// MySQL, from the packages of Debian's development release, unpacked with their own C library beside the system.
    Mysql,
    /// MariaDB as the system packages it (10.11 on Debian 12).
    Mariadb,
    /// MariaDB 11.8, unpacked like [`Engine::Mysql`].
    Mariadb11,
}

/// The two dialects of replication statements, options and positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// UUID sets, `SHOW REPLICA STATUS`, `super_read_only`.
    Mysql,
    /// Domain positions, `SHOW SLAVE STATUS`, `read_only`.
    Mariadb,
}

impl Engine {
    /// Every engine, in the order they are installed.
    pub const ALL: [Self; 3] = [Self::Mysql, Self::Mariadb, Self::Mariadb11];

    /// The name used on command lines and in directory names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::Mariadb => "mariadb",
            Self::Mariadb11 => "mariadb11",
        }
    }

    /// The dialect it speaks.
    #[must_use]
    pub fn family(self) -> Family {
        match self {
            Self::Mysql => Family::Mysql,
            Self::Mariadb | Self::Mariadb11 => Family::Mariadb,
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|engine| engine.name() == name)
            .ok_or_else(|| format!("unknown engine {name:?}: use mysql, mariadb or mariadb11"))
    }
}
