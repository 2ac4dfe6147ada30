//! The text of one command: usually one statement, perhaps several, perhaps read in two ways.

use crate::dialect::Dialect;
use crate::effects::Effects;
use crate::hint::{Hints, RoleHint};
use crate::kind::Kind;
use crate::lexer::{Gated, Lexer};
use crate::reason::Reason;
use crate::scan::yields_to_hint;
use crate::statement::{self, COMMITS, One};
use crate::target::{Classified, Target};
use crate::token::Tok;

/// The text read in one of the two ways.
struct Reading {
    one: One,
    statements: u32,
    hints: Hints,
    saw_gated: bool,
}

/// Classifies the text of COM_QUERY or COM_STMT_PREPARE.
pub(crate) fn classify(sql: &[u8], dialect: Dialect) -> Classified {
    let mut reading = read(sql, dialect, Gated::Executed);
    if reading.saw_gated {
        let skipped = read(sql, dialect, Gated::Skipped);
        reading.statements = reading.statements.max(skipped.statements);
        reading.one = either(reading.one, skipped.one);
    }
    let one = hinted(reading.one, reading.hints);
    Classified {
        target: one.target,
        reason: one.reason,
        kind: one.kind,
        effects: one.effects,
        hints: reading.hints,
        statements: reading.statements,
    }
}

fn read(sql: &[u8], dialect: Dialect, gated: Gated) -> Reading {
    let mut lexer = Lexer::new(sql, dialect, gated);
    let mut packet: Option<One> = None;
    let mut statements = 0u32;
    loop {
        let first = lexer.next();
        match first.kind {
            Tok::End => break,
            Tok::Semicolon => {}
            _ => {
                let one = statement::classify(&mut lexer, first);
                packet = Some(match packet {
                    None => one,
                    Some(before) => together(before, one),
                });
                statements = statements.saturating_add(1);
            }
        }
    }
    let mut one = packet.unwrap_or(One::primary(Reason::Empty, Kind::Empty, Effects::NONE));
    let erroneous = statements > 1 && !dialect.multi_statements;
    let doubtful = lexer.doubtful || dialect.oracle || erroneous;
    if doubtful && matches!(one.target, Target::Replica | Target::Previous) {
        one = One { target: Target::Primary, reason: Reason::Unknown, ..one };
        one.effects |= Effects::UNKNOWN;
    }
    Reading { one, statements, hints: lexer.hints, saw_gated: lexer.saw_gated }
}

/// Two statements of a packet: a safe read only if both are. What asks for the previous statement's connection is safe
/// behind a read of the same packet.
fn together(before: One, after: One) -> One {
    let effects = before.effects.union(after.effects).without(Effects::CONNECTION_ID);
    let safe = is_safe_read(before) && (is_safe_read(after) || after.target == Target::Previous);
    if safe {
        return One { target: Target::Replica, reason: before.reason, kind: Kind::Multi, effects };
    }
    let effects = if effects.contains(Effects::MAY_COMMIT) { effects | COMMITS } else { effects };
    One::primary(Reason::MultiStatement, Kind::Multi, effects)
}

fn is_safe_read(one: One) -> bool {
    one.target == Target::Replica && matches!(one.reason, Reason::Read | Reason::MetadataRead)
}

/// One text read in two ways, of which the server chooses one: the worse answer, and all effects.
fn either(executed: One, skipped: One) -> One {
    let effects = executed.effects.union(skipped.effects);
    let both =
        executed.effects.contains(Effects::CONNECTION_ID) && skipped.effects.contains(Effects::CONNECTION_ID);
    let effects = if both { effects } else { effects.without(Effects::CONNECTION_ID) };
    // An empty statement is refused by every node alike.
    let one = if skipped.kind == Kind::Empty {
        executed
    } else if executed.kind == Kind::Empty || executed.target == skipped.target {
        if executed.kind == Kind::Empty { skipped } else { executed }
    } else if executed.target == Target::Primary {
        executed
    } else if skipped.target == Target::Primary {
        skipped
    } else {
        One { target: Target::Primary, reason: Reason::Unknown, ..executed }
    };
    One { effects, ..one }
}

/// What a hint makes of it. Toward the primary it is obeyed for every read. Toward a replica it is obeyed only where the
/// statement is known not to write and went to the primary because of what it asks about.
fn hinted(one: One, hints: Hints) -> One {
    match (hints.node_role, one.target) {
        (Some(RoleHint::Primary), Target::Replica) => {
            One { target: Target::Primary, reason: Reason::Hint, ..one }
        }
        (Some(RoleHint::Replica), Target::Primary) if may_be_sent_to_replica(one) => {
            One { target: Target::Replica, reason: Reason::Hint, ..one }
        }
        _ => one,
    }
}

fn may_be_sent_to_replica(one: One) -> bool {
    yields_to_hint(one.reason)
        && matches!(one.kind, Kind::Select | Kind::Show | Kind::Do | Kind::Explain)
        && !one.effects.intersects(Effects::UNKNOWN.union(Effects::TAKES_LOCK))
}
