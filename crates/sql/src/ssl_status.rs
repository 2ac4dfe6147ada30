//! SHOW STATUS about TLS: what servers say there is about their own connection, which is the proxy's and not the client's.

use crate::dialect::Dialect;
use crate::lexer::{Gated, Lexer};
use crate::prepare::string_value;
use crate::token::Tok;
use crate::words::Kw;

/// What is asked of the client's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SslStatus {
    /// `Ssl_version`
    Version,
    /// `Ssl_cipher`
    Cipher,
}

impl SslStatus {
    /// The name of the status variable.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Version => "Ssl_version",
            Self::Cipher => "Ssl_cipher",
        }
    }
}

/// Reads `SHOW [SESSION | LOCAL] STATUS LIKE 'Ssl_version'`, or of `'Ssl_cipher'`; `None` for every other statement.
pub fn ssl_status(sql: &[u8], dialect: Dialect) -> Option<SslStatus> {
    let mut lexer = Lexer::new(sql, dialect, Gated::Executed);
    let first = lexer.next();
    if lexer.keyword(first) != Kw::Show {
        return None;
    }
    if !lexer.take_word(b"SESSION") {
        lexer.take_word(b"LOCAL");
    }
    if !(lexer.take_word(b"STATUS") && lexer.take_word(b"LIKE")) {
        return None;
    }
    let pattern = lexer.next();
    if pattern.kind != Tok::Str {
        return None;
    }
    lexer.skip_semicolons();
    if lexer.next().kind != Tok::End || lexer.doubtful {
        return None;
    }
    let pattern = string_value(pattern.bytes(sql), dialect);
    let known = [SslStatus::Version, SslStatus::Cipher];
    known.into_iter().find(|status| {
        // An underscore may be escaped, or stand for any character.
        let plain: Vec<u8> = pattern.iter().copied().filter(|byte| *byte != b'\\').collect();
        plain.eq_ignore_ascii_case(status.name().as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_plain_question_is_read() {
        let read = |sql: &str| ssl_status(sql.as_bytes(), Dialect::default());
        assert_eq!(read("SHOW STATUS LIKE 'Ssl_version'"), Some(SslStatus::Version));
        assert_eq!(read("show session status like \"ssl_cipher\";"), Some(SslStatus::Cipher));
        assert_eq!(read("SHOW /* x */ LOCAL STATUS LIKE 'Ssl\\_cipher'"), Some(SslStatus::Cipher));
        for other in [
            "SHOW GLOBAL STATUS LIKE 'Ssl_version'",
            "SHOW STATUS LIKE 'Ssl%'",
            "SHOW STATUS",
            "SHOW STATUS LIKE 'Ssl_version' AND 1",
            "SHOW STATUS LIKE 'Ssl_version'; SELECT 1",
            "SHOW VARIABLES LIKE 'Ssl_version'",
            "SELECT 'Ssl_version'",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
