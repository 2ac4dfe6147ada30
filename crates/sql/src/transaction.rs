//! BEGIN, COMMIT and ROLLBACK where their text says that and nothing else.
//!
//! [`crate::classify`] errs toward the server, which refuses what it does not like. Whoever answers in a server's place has
//! to be sure that the server would not have refused: only forms that both families take are told apart here.

use crate::dialect::Dialect;
use crate::lexer::{Gated, Lexer};
use crate::token::Tok;
use crate::words::Kw;

/// What a text does to the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionControl {
    /// BEGIN, BEGIN WORK, START TRANSACTION, START TRANSACTION READ WRITE
    Begin,
    /// COMMIT or ROLLBACK of the whole transaction
    End {
        /// AND CHAIN: a new transaction begins at once.
        chains: bool,
        /// RELEASE: the connection ends.
        releases: bool,
    },
}

/// The control statement that `sql` is; `None` for everything else, and for any other way to write one.
pub fn transaction_control(sql: &[u8], dialect: Dialect) -> Option<TransactionControl> {
    let mut lexer = Lexer::new(sql, dialect, Gated::Executed);
    let first = lexer.next();
    let control = match lexer.keyword(first) {
        Kw::Begin => {
            lexer.take(Kw::Work);
            TransactionControl::Begin
        }
        Kw::Start => start(&mut lexer)?,
        Kw::Commit | Kw::Rollback => end(&mut lexer)?,
        _ => return None,
    };
    if lexer.peek().kind == Tok::Semicolon {
        lexer.next();
    }
    // sql_mode ORACLE makes a block of BEGIN.
    let sure = !lexer.saw_gated && !lexer.doubtful && !dialect.oracle;
    (lexer.next().kind == Tok::End && sure).then_some(control)
}

/// What follows START.
fn start(lexer: &mut Lexer<'_>) -> Option<TransactionControl> {
    if !lexer.take(Kw::Transaction) || lexer.take(Kw::Read) && !lexer.take(Kw::Write_) {
        return None;
    }
    Some(TransactionControl::Begin)
}

/// `[WORK] [AND [NO] CHAIN] [[NO] RELEASE]`
fn end(lexer: &mut Lexer<'_>) -> Option<TransactionControl> {
    lexer.take(Kw::Work);
    let mut chains = false;
    if lexer.take(Kw::And) {
        chains = !lexer.take(Kw::No);
        if !lexer.take(Kw::Chain) {
            return None;
        }
    }
    let negated = lexer.take(Kw::No);
    let released = lexer.take(Kw::Release);
    // A chain that is released is for the server to refuse.
    if negated && !released || chains && released && !negated {
        return None;
    }
    Some(TransactionControl::End { chains, releases: released && !negated })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(sql: &str) -> Option<TransactionControl> {
        transaction_control(sql.as_bytes(), Dialect::default())
    }

    #[test]
    fn beginnings() {
        for sql in [
            "BEGIN",
            "begin work",
            "START TRANSACTION",
            "start /* now */ transaction read write;",
            "/* tidemark: consistency=global */ BEGIN -- a",
            "/*! BEGIN */",
        ] {
            assert_eq!(control(sql), Some(TransactionControl::Begin), "{sql}");
        }
    }

    #[test]
    fn ends() {
        let end = |chains, releases| Some(TransactionControl::End { chains, releases });
        for (sql, expected) in [
            ("COMMIT", end(false, false)),
            ("rollback work;", end(false, false)),
            ("COMMIT AND CHAIN", end(true, false)),
            ("ROLLBACK WORK AND NO CHAIN", end(false, false)),
            ("COMMIT RELEASE", end(false, true)),
            ("COMMIT AND NO CHAIN RELEASE", end(false, true)),
            ("ROLLBACK AND CHAIN NO RELEASE", end(true, false)),
        ] {
            assert_eq!(control(sql), expected, "{sql}");
        }
    }

    #[test]
    fn whatever_a_server_may_refuse_or_reads_otherwise_is_none() {
        for sql in [
            "",
            "SELECT 1",
            "BEGIN NOT ATOMIC SELECT 1; END",
            "BEGIN; SELECT 1",
            "BEGIN;;",
            "`BEGIN`",
            "BEGIN WORK WORK",
            "START TRANSACTION READ",
            "START TRANSACTION READ ONLY",
            "START TRANSACTION READ ONLY, READ WRITE",
            "START TRANSACTION WITH CONSISTENT SNAPSHOT",
            "START TRANSACTION READ WRITE, READ WRITE",
            "START TRANSACTION NOW",
            "START REPLICA",
            "BEGIN /*!50000 WORK */",
            "COMMIT AND CHAIN RELEASE",
            "COMMIT AND",
            "COMMIT NO",
            "COMMIT RELEASE AND CHAIN",
            "ROLLBACK TO a",
            "ROLLBACK TO SAVEPOINT a",
        ] {
            assert_eq!(control(sql), None, "{sql}");
        }
        let oracle = Dialect { oracle: true, ..Dialect::default() };
        assert_eq!(transaction_control(b"BEGIN", oracle), None);
    }
}
