//! A server's version: numbers to compare, out of the text of its greeting.

use gtid::Flavor;

/// Major, minor and patch number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Version(pub(super) u32, pub(super) u32, pub(super) u32);

impl Version {
    /// The oldest of each family that replication can be followed on.
    pub(super) fn oldest(flavor: Flavor) -> Self {
        match flavor {
            Flavor::Mysql => Self(8, 0, 0),
            Flavor::Mariadb => Self(10, 6, 0),
        }
    }

    /// Reads `8.0.36-28`, `10.11.19-MariaDB-log`; what is missing counts as 0.
    pub(super) fn parse(text: &str) -> Self {
        let mut numbers = text.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
        let mut next = || numbers.next().unwrap_or(0);
        Self(next(), next(), next())
    }

    /// The number that tells which functions are built in: see [`sql::Dialect::version`].
    pub(super) fn to_dialect(self) -> u16 {
        u16::try_from(self.0 * 100 + self.1.min(99)).unwrap_or_default()
    }

    /// What asks for the state of replication here: the word changed in 8.0.22, and the old one ended with 8.4.
    pub(super) fn replica_status(self, flavor: Flavor) -> &'static str {
        match flavor {
            Flavor::Mysql if self >= Self(8, 0, 22) => "SHOW REPLICA STATUS",
            Flavor::Mysql => "SHOW SLAVE STATUS",
            Flavor::Mariadb => "SHOW ALL SLAVES STATUS",
        }
    }

    /// What asks for the binary log's end and filters: MySQL 8.2 has a new word, and 8.4 the new one only.
    pub(super) fn log_status(self, flavor: Flavor) -> &'static str {
        match flavor {
            Flavor::Mysql if self >= Self(8, 2, 0) => "SHOW BINARY LOG STATUS",
            _ => "SHOW MASTER STATUS",
        }
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// The family a version text belongs to: MariaDB says so in it.
pub(super) fn flavor(text: &str) -> Flavor {
    if text.to_ascii_lowercase().contains("mariadb") { Flavor::Mariadb } else { Flavor::Mysql }
}

/// How statements are read by a server that tells this version: its family, and [`sql::Dialect::version`].
pub fn dialect_of(text: &str) -> (sql::Flavor, u16) {
    let family = match flavor(text) {
        Flavor::Mysql => sql::Flavor::Mysql,
        Flavor::Mariadb => sql::Flavor::Mariadb,
    };
    (family, Version::parse(text).to_dialect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_real_servers() {
        for (text, numbers, family) in [
            ("8.0.36-28", Version(8, 0, 36), Flavor::Mysql),
            ("9.7.4", Version(9, 7, 4), Flavor::Mysql),
            ("8.4.0-commercial", Version(8, 4, 0), Flavor::Mysql),
            ("10.11.19-MariaDB-0+deb12u1-log", Version(10, 11, 19), Flavor::Mariadb),
            ("nonsense", Version(0, 0, 0), Flavor::Mysql),
        ] {
            assert_eq!((Version::parse(text), flavor(text)), (numbers, family), "{text}");
        }
    }

    #[test]
    fn a_version_says_how_statements_are_read() {
        assert_eq!(dialect_of("8.4.3"), (sql::Flavor::Mysql, 804));
        assert_eq!(dialect_of("11.8.2-MariaDB-log"), (sql::Flavor::Mariadb, 1108));
        assert_eq!(dialect_of(""), (sql::Flavor::Mysql, 0));
    }

    #[test]
    fn asks_in_words_the_version_knows() {
        assert_eq!(Version(8, 0, 21).replica_status(Flavor::Mysql), "SHOW SLAVE STATUS");
        assert_eq!(Version(8, 4, 0).replica_status(Flavor::Mysql), "SHOW REPLICA STATUS");
    }
}
