//! KILL: the ids are the proxy's own, so the proxy has to see them.

use crate::dialect::Dialect;
use crate::effects::Effects;
use crate::kind::Kind;
use crate::lexer::{Gated, Lexer};
use crate::prepare::string_value;
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

/// Whom KILL names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// A connection id, written as a number.
    Id(u64),
    /// `CONNECTION_ID()`: the session itself.
    Own,
    /// `?`, the statement's only parameter.
    Parameter,
    /// An expression that only a server can compute.
    Expression,
}

/// What a KILL statement ends, and whose; `None` for everything else, MariaDB's KILL USER and KILL QUERY ID (a statement's
/// id) among it. MariaDB's HARD and SOFT are read over.
pub fn kill_target(sql: &[u8], dialect: Dialect) -> Option<(KillKind, Victim)> {
    let mut lexer = Lexer::new(sql, dialect, Gated::Executed);
    lexer.skip_semicolons();
    if !lexer.take(Kw::Kill) {
        return None;
    }
    let target = target(&mut lexer)?;
    lexer.skip_statement();
    lexer.skip_semicolons();
    (lexer.next().kind == Tok::End && !lexer.doubtful).then_some(target)
}

/// Takes what follows KILL, as far as it is understood.
fn target(lexer: &mut Lexer<'_>) -> Option<(KillKind, Victim)> {
    if !lexer.take(Kw::Hard) {
        lexer.take(Kw::Soft);
    }
    let kind = if lexer.take(Kw::Query) {
        KillKind::Query
    } else {
        lexer.take(Kw::Connection);
        KillKind::Connection
    };
    let mut ahead = *lexer;
    let first = ahead.next();
    if matches!(first.kind, Tok::Semicolon | Tok::End) {
        return None;
    }
    let word = |word: &[u8]| first.kind == Tok::Word && first.bytes(lexer.sql).eq_ignore_ascii_case(word);
    let follows_name = !matches!(ahead.peek().kind, Tok::Semicolon | Tok::End | Tok::Open | Tok::Dot);
    if (word(b"USER") || word(b"ID")) && follows_name {
        return None;
    }
    let number = || std::str::from_utf8(first.bytes(lexer.sql)).ok()?.parse().ok();
    let victim = match first.kind {
        // What is no number counts as 0 to the servers.
        Tok::Str => {
            let text = string_value(first.bytes(lexer.sql), lexer.dialect());
            Victim::Id(std::str::from_utf8(&text).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0))
        }
        Tok::Number => number().map_or(Victim::Expression, Victim::Id),
        Tok::Op if first.bytes(lexer.sql) == b"?" => Victim::Parameter,
        Tok::Word if lexer.keyword(first) == Kw::ConnectionId => {
            let called = ahead.next().kind == Tok::Open && ahead.next().kind == Tok::Close;
            if called { Victim::Own } else { Victim::Expression }
        }
        _ => Victim::Expression,
    };
    let complete = matches!(ahead.peek().kind, Tok::Semicolon | Tok::End);
    Some((kind, if complete { victim } else { Victim::Expression }))
}

/// Classifies what follows KILL.
pub(crate) fn classify(lexer: &mut Lexer<'_>) -> One {
    let of_connections = target(&mut { *lexer }).is_some();
    lexer.skip_statement();
    let one = One::primary(Reason::Kill, Kind::Kill, Effects::KILLS);
    if of_connections { One { target: Target::Proxy, ..one } } else { one }
}
