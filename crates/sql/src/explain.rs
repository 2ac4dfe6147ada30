//! EXPLAIN, DESCRIBE and ANALYZE: like the statement inside, or like SHOW COLUMNS where a table is named.

use crate::effects::Effects;
use crate::kind::Kind;
use crate::lexer::Lexer;
use crate::reason::Reason;
use crate::show;
use crate::statement::{self, COMMITS, One};
use crate::target::Target;
use crate::token::Tok;
use crate::words::Kw;

/// How many options may stand between EXPLAIN and the statement.
const MAX_OPTIONS: u32 = 8;

/// Classifies what follows EXPLAIN, DESCRIBE or DESC.
pub(crate) fn classify(lexer: &mut Lexer<'_>) -> One {
    let mut effects = Effects::NONE;
    for _ in 0..MAX_OPTIONS {
        match lexer.peek_keyword() {
            Kw::Extended | Kw::Partitions | Kw::Analyze => {
                lexer.next();
            }
            Kw::Format => format(lexer),
            Kw::Into_ => {
                lexer.next();
                lexer.next();
                effects |= Effects::SETS_USER_VARIABLE;
            }
            Kw::For => {
                lexer.next();
                if !(lexer.take(Kw::Schema_) || lexer.take(Kw::Database)) {
                    lexer.skip_statement();
                    return One::primary(Reason::ServerState, Kind::Explain, Effects::NONE);
                }
                lexer.next();
            }
            _ => break,
        }
    }
    if !statement_follows(*lexer) {
        return show::objects(lexer);
    }
    let inner = of_inner(lexer);
    if effects.is_empty() {
        return inner;
    }
    One::primary(Reason::Into, Kind::Explain, inner.effects | effects)
}

/// Classifies what follows ANALYZE: a statement that is run and explained (MariaDB), or tables.
pub(crate) fn classify_analyze(lexer: &mut Lexer<'_>) -> One {
    if lexer.peek_keyword() == Kw::Format {
        format(lexer);
    }
    // ANALYZE TABLE t: no statement inside, although TABLE t is one.
    if lexer.peek_keyword() == Kw::Table || !statement_follows(*lexer) {
        lexer.skip_statement();
        return One::primary(Reason::Definition, Kind::Admin, COMMITS);
    }
    of_inner(lexer)
}

/// FORMAT = JSON. A table may be called format, so the sign decides.
fn format(lexer: &mut Lexer<'_>) {
    lexer.next();
    if lexer.peek().bytes(lexer.sql) == b"=" {
        lexer.next();
        lexer.next();
    }
}

fn statement_follows(mut lexer: Lexer<'_>) -> bool {
    let mut first = lexer.next();
    while first.kind == Tok::Open {
        first = lexer.next();
    }
    matches!(
        lexer.keyword(first),
        Kw::Select | Kw::With | Kw::Table | Kw::Values | Kw::Insert | Kw::Replace | Kw::Update | Kw::Delete
    )
}

fn of_inner(lexer: &mut Lexer<'_>) -> One {
    let first = lexer.next();
    let inner = statement::classify(lexer, first);
    let inner = One { kind: Kind::Explain, effects: inner.effects.without(Effects::CONNECTION_ID), ..inner };
    if inner.target == Target::Proxy {
        return One { target: Target::Primary, reason: Reason::ConnectionId, ..inner };
    }
    inner
}
