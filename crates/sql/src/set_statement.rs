//! SET: what it sets decides what sort of statement it is.

use crate::effects::Effects;
use crate::kind::Kind;
use crate::lexer::Lexer;
use crate::reason::Reason;
use crate::scan::Scan;
use crate::set::{Assignment, Assignments, What};
use crate::statement::{self, COMMITS, One};
use crate::target::Target;
use crate::token::Tok;
use crate::variable;
use crate::words::Kw;

/// Classifies what follows SET.
pub(crate) fn classify(lexer: &mut Lexer<'_>) -> One {
    if lexer.take(Kw::Statement) {
        return for_one_statement(lexer);
    }
    let mut items = Assignments::from_lexer(*lexer);
    let mut one = One::primary(Reason::UserVariable, Kind::SetSession, Effects::NONE);
    let mut any = false;
    let mut looks_back = LooksBack::default();
    while let Some(item) = items.next() {
        any = true;
        let value = Value::of(&items);
        add(&mut one, &item, &items, &value);
        looks_back.note(&item, &value);
    }
    if looks_back.alone() {
        one.target = Target::Previous;
        one.reason = Reason::PreviousResult;
    }
    *lexer = items.lexer();
    let complete = any && matches!(lexer.peek().kind, Tok::Semicolon | Tok::End);
    if !complete {
        one.target = Target::Primary;
        one.reason = Reason::SessionState;
        one.effects |= Effects::UNKNOWN | Effects::SETS_SESSION_VARIABLE;
    }
    lexer.skip_statement();
    one
}

fn add(one: &mut One, item: &Assignment<'_>, items: &Assignments<'_>, value: &Value) {
    one.effects |= value.effects;
    let mut becomes = |reason: Reason, kind: Kind| {
        if one.kind != Kind::SetGlobal {
            one.reason = reason;
            one.kind = kind;
        }
    };
    match item.what {
        What::UserVariable => one.effects |= Effects::SETS_USER_VARIABLE,
        What::Session => {
            becomes(Reason::SessionState, Kind::SetSession);
            one.effects |= Effects::SETS_SESSION_VARIABLE | by_name(item.name);
        }
        What::Names | What::Charset => {
            becomes(Reason::SessionState, Kind::SetSession);
            one.effects |= Effects::SETS_SESSION_VARIABLE;
        }
        What::Transaction => {
            becomes(Reason::TransactionControl, Kind::SetTransaction);
            one.effects |= characteristics(items);
        }
        What::SessionTransaction => {
            becomes(Reason::TransactionControl, Kind::SetTransaction);
            one.effects |= Effects::SETS_SESSION_VARIABLE;
        }
        What::Role => becomes(Reason::SessionState, Kind::SetRole),
        What::Global | What::Persist | What::GlobalTransaction => {
            becomes(Reason::ServerState, Kind::SetGlobal)
        }
        What::Server => {
            becomes(Reason::ServerState, Kind::SetGlobal);
            one.effects |= COMMITS;
        }
    }
}

/// Whether user variables, and nothing else, are set to what the statement before this one left: FOUND_ROWS() and the like.
#[derive(Default)]
struct LooksBack {
    once: bool,
    not_alone: bool,
}

impl LooksBack {
    fn note(&mut self, item: &Assignment<'_>, value: &Value) {
        self.once |= value.target == Target::Previous;
        self.not_alone |= item.what != What::UserVariable || value.target == Target::Primary || value.tables;
    }

    fn alone(&self) -> bool {
        self.once && !self.not_alone
    }
}

/// What computing a value needs, and what it may do.
struct Value {
    target: Target,
    tables: bool,
    effects: Effects,
}

impl Value {
    /// Of the last item.
    fn of(items: &Assignments<'_>) -> Value {
        let mut lexer = items.value_lexer();
        let mut scan = Scan::new(&mut lexer);
        scan.run_until(items.lexer().peek().start);
        Value { target: scan.target, tables: scan.tables, effects: scan.effects }
    }
}

/// Session variables on which the proxy itself depends.
fn by_name(name: &[u8]) -> Effects {
    let starts = |prefix: &[u8]| name.get(..prefix.len()).is_some_and(|n| n.eq_ignore_ascii_case(prefix));
    let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
    if starts(b"session_track_") {
        return Effects::SETS_TRACKERS;
    }
    if is("autocommit") {
        return Effects::MAY_COMMIT;
    }
    if is("last_insert_id") || is("identity") {
        return Effects::SETS_LAST_INSERT_ID;
    }
    let positions =
        ["sql_log_bin", "gtid_next", "gtid_domain_id", "gtid_seq_no", "server_id", "skip_replication"];
    if starts(b"pseudo_") || starts(b"wsrep_") || positions.iter().any(|p| is(p)) {
        return Effects::SETS_LOG_BIN;
    }
    Effects::NONE
}

/// READ ONLY or READ WRITE of the next transaction.
fn characteristics(items: &Assignments<'_>) -> Effects {
    let mut lexer = items.value_lexer();
    let end = items.lexer().peek().start;
    let mut effects = Effects::NONE;
    loop {
        let token = lexer.next();
        if token.kind == Tok::End || token.start >= end {
            return effects;
        }
        match lexer.keyword(token) {
            Kw::Only => effects |= Effects::READ_ONLY_TRANSACTION,
            Kw::Write_ => effects |= Effects::READ_WRITE_TRANSACTION,
            _ => {}
        }
    }
}

/// SET STATEMENT a=1, b=2 FOR statement (MariaDB): like the statement, where the variables are a session's own.
fn for_one_statement(lexer: &mut Lexer<'_>) -> One {
    let mut items = Assignments::from_lexer(*lexer);
    let mut plain = true;
    let mut effects = Effects::NONE;
    while let Some(item) = items.next() {
        effects |= Value::of(&items).effects;
        plain &= item.what == What::Session && item.literal && harmless(item.name);
    }
    *lexer = items.lexer();
    if !lexer.take(Kw::For) {
        lexer.skip_statement();
        return One::unknown();
    }
    let first = lexer.next();
    if matches!(first.kind, Tok::Semicolon | Tok::End) {
        return One::unknown();
    }
    // One inside the other would make this a recursion as deep as the text is long.
    if lexer.keyword(first) == Kw::Set {
        lexer.skip_statement();
        return One::unknown();
    }
    let inner = statement::classify(lexer, first);
    let inner = One { effects: (inner.effects | effects).without(Effects::CONNECTION_ID), ..inner };
    match inner.target {
        Target::Replica | Target::Previous if plain => inner,
        Target::Primary => inner,
        _ => One { target: Target::Primary, reason: Reason::SessionState, ..inner },
    }
}

/// A session variable that changes neither how text is read nor what is logged.
fn harmless(name: &[u8]) -> bool {
    let starts = |prefix: &[u8]| name.get(..prefix.len()).is_some_and(|n| n.eq_ignore_ascii_case(prefix));
    variable::is_of_session(name)
        && !starts(b"sql_mode")
        && !starts(b"character_set")
        && !starts(b"collation")
        && !starts(b"autocommit")
}
