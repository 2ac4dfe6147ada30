//! KILL: the ids are the proxy's own, so the proxy has to see them.

use crate::dialect::Dialect;
use crate::effects::Effects;
use crate::kind::Kind;
use crate::lexer::{Gated, Lexer};
use crate::reason::Reason;
use crate::statement::One;
use crate::target::Target;
use crate::token::Tok;
use crate::words::Kw;

/// What KILL ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillKind {
    /// The connection: KILL n, KILL CONNECTION n
    Connection,
    /// The running statement: KILL QUERY n
    Query,
}

/// The kind and the id of a KILL statement with a plain number; `None` for everything else, KILL with an expression, KILL
/// USER and KILL QUERY ID (a statement's id) among it. MariaDB's HARD and SOFT are read over.
pub fn kill_target(sql: &[u8], dialect: Dialect) -> Option<(KillKind, u64)> {
    let mut lexer = Lexer::new(sql, dialect, Gated::Executed);
    while lexer.peek().kind == Tok::Semicolon {
        lexer.next();
    }
    if !lexer.take(Kw::Kill) {
        return None;
    }
    let target = target(&mut lexer)?;
    while lexer.peek().kind == Tok::Semicolon {
        lexer.next();
    }
    (lexer.next().kind == Tok::End && !lexer.doubtful).then_some(target)
}

/// Takes what follows KILL, up to the `;` or the end.
fn target(lexer: &mut Lexer<'_>) -> Option<(KillKind, u64)> {
    if !lexer.take(Kw::Hard) {
        lexer.take(Kw::Soft);
    }
    let kind = if lexer.take(Kw::Query) {
        KillKind::Query
    } else {
        lexer.take(Kw::Connection);
        KillKind::Connection
    };
    let number = lexer.next();
    if number.kind != Tok::Number || !matches!(lexer.peek().kind, Tok::Semicolon | Tok::End) {
        return None;
    }
    let digits = std::str::from_utf8(number.bytes(lexer.sql)).ok()?;
    Some((kind, digits.parse().ok()?))
}

/// Classifies what follows KILL.
pub(crate) fn classify(lexer: &mut Lexer<'_>) -> One {
    let plain = target(&mut { *lexer }).is_some();
    lexer.skip_statement();
    let one = One::primary(Reason::Kill, Kind::Kill, Effects::KILLS);
    if plain { One { target: Target::Proxy, ..one } } else { one }
}
