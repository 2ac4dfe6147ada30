//! What lies outside a statement's bytes and changes how the server reads them: parts of `sql_mode`, the client's
//! character set, a capability and the server family.

use crate::charset::Charset;

/// How the session's server will read a statement.
///
/// The default is a MySQL session in the default `sql_mode`, with a character set whose second bytes are harmless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// `sql_mode` has ANSI_QUOTES: `"x"` names something, it is not a string.
    pub ansi_quotes: bool,
    /// `sql_mode` has NO_BACKSLASH_ESCAPES: a backslash in a string is an ordinary byte.
    pub no_backslash_escapes: bool,
    /// `sql_mode` has IGNORE_SPACE: `COUNT (x)` is the built-in function. Without it, the functions whose names are
    /// tokens of the server's grammar are built in only when the parenthesis follows at once.
    pub ignore_space: bool,
    /// `sql_mode` has ORACLE (MariaDB): another language in many places, so nothing is known to be a safe read.
    pub oracle: bool,
    /// `character_set_client` of the session.
    pub charset: Charset,
    /// CLIENT_MULTI_STATEMENTS is on. Without it text after a `;` makes one erroneous statement.
    pub multi_statements: bool,
    /// The server family that will run the statement.
    pub flavor: Flavor,
    /// The servers' version, the oldest where they differ, as a hundred times the major number plus the minor: 804, 1011.
    /// 0: unknown. It tells which functions are built in; what is not may be a stored function that writes.
    pub version: u16,
}

/// The server family. The two gate executable comments differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flavor {
    /// Oracle's MySQL and what derives from its 8.0 or later.
    #[default]
    Mysql,
    /// MariaDB 10.6 or later.
    Mariadb,
}

impl Dialect {
    /// The dialect of a session with this `sql_mode`; everything that is not part of `sql_mode` has its default.
    ///
    /// Takes the variable's value as a server reports it and as a client may write it: case does not matter, and the
    /// combination modes (ANSI, ORACLE, MSSQL, POSTGRESQL, DB2, MAXDB) are understood without their expansion.
    pub fn from_sql_mode(mode: &[u8]) -> Dialect {
        let mut dialect = Dialect::default();
        dialect.set_sql_mode(mode);
        dialect
    }

    /// Replaces what depends on `sql_mode`, and leaves the rest.
    pub fn set_sql_mode(&mut self, mode: &[u8]) {
        self.ansi_quotes = false;
        self.no_backslash_escapes = false;
        self.ignore_space = false;
        self.oracle = false;
        for name in mode.split(|&b| b == b',') {
            let name = name.trim_ascii();
            let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
            let combination = ["ANSI", "ORACLE", "MSSQL", "POSTGRESQL", "DB2", "MAXDB"].iter().any(|m| is(m));
            self.ansi_quotes |= combination || is("ANSI_QUOTES");
            self.ignore_space |= combination || is("IGNORE_SPACE");
            self.no_backslash_escapes |= is("NO_BACKSLASH_ESCAPES");
            self.oracle |= is("ORACLE");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_found_in_any_case_and_through_combinations() {
        let d = Dialect::from_sql_mode(b"STRICT_TRANS_TABLES, ansi_quotes,NO_BACKSLASH_ESCAPES");
        assert!(d.ansi_quotes && d.no_backslash_escapes && !d.ignore_space && !d.oracle);
        let d = Dialect::from_sql_mode(b"ANSI");
        assert!(d.ansi_quotes && d.ignore_space && !d.no_backslash_escapes);
        assert!(Dialect::from_sql_mode(b"oracle").oracle);
        assert_eq!(Dialect::from_sql_mode(b""), Dialect::default());
    }

    #[test]
    fn a_new_mode_replaces_the_old_one_and_keeps_the_rest() {
        let mut d = Dialect { multi_statements: true, ansi_quotes: true, ..Dialect::default() };
        d.set_sql_mode(b"IGNORE_SPACE");
        assert!(d.multi_statements && d.ignore_space && !d.ansi_quotes);
    }
}
