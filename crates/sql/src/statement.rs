//! One statement: its first word decides how the rest is looked at.

use crate::body;
use crate::connection_id;
use crate::control;
use crate::definition;
use crate::effects::Effects;
use crate::explain;
use crate::kill;
use crate::kind::Kind;
use crate::lexer::Lexer;
use crate::reason::Reason;
use crate::scan::Scan;
use crate::set_statement;
use crate::show;
use crate::target::Target;
use crate::token::{Tok, Token};
use crate::words::Kw;

/// What one statement of a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct One {
    pub(crate) target: Target,
    pub(crate) reason: Reason,
    pub(crate) kind: Kind,
    pub(crate) effects: Effects,
}

impl One {
    /// A statement for the primary.
    pub(crate) const fn primary(reason: Reason, kind: Kind, effects: Effects) -> One {
        One { target: Target::Primary, reason, kind, effects }
    }

    /// A statement nothing is known of.
    pub(crate) const fn unknown() -> One {
        One::primary(Reason::Unknown, Kind::Unknown, Effects::UNKNOWN)
    }
}

/// Effects of DDL and of statements that administer a server: they commit, and may fail after that.
pub(crate) const COMMITS: Effects = Effects::MAY_COMMIT.union(Effects::MAY_COMMIT_THEN_FAIL);

/// Classifies the statement that begins with `first`, which was taken from `lexer`, and goes behind its `;`.
pub(crate) fn classify(lexer: &mut Lexer<'_>, first: Token) -> One {
    if first.kind == Tok::Open {
        return in_parentheses(lexer, first);
    }
    let kw = lexer.keyword(first);
    if begins_read(kw) {
        return read(lexer, first);
    }
    dispatch(kw, lexer)
}

/// Behind parentheses only a read can stand.
fn in_parentheses(lexer: &mut Lexer<'_>, first: Token) -> One {
    let mut behind = *lexer;
    let mut word = behind.next();
    while word.kind == Tok::Open {
        word = behind.next();
    }
    if begins_read(lexer.keyword(word)) {
        return read(lexer, first);
    }
    lexer.skip_statement();
    One::unknown()
}

fn begins_read(kw: Kw) -> bool {
    matches!(kw, Kw::Select | Kw::With | Kw::Table | Kw::Values)
}

/// Classifies the statement whose first word was `kw`.
fn dispatch(kw: Kw, lexer: &mut Lexer<'_>) -> One {
    match kw {
        Kw::Insert | Kw::Update | Kw::Delete | Kw::Replace => write(kw, lexer),
        Kw::Do => run_expressions(lexer),
        Kw::Show => show::classify(lexer),
        Kw::Desc | Kw::Describe | Kw::Explain => explain::classify(lexer),
        Kw::Analyze => explain::classify_analyze(lexer),
        Kw::Set => set_statement::classify(lexer),
        Kw::Begin => control::begin(lexer),
        Kw::Start => control::start(lexer),
        Kw::Commit => control::end(lexer, Kind::Commit),
        Kw::Rollback => control::end(lexer, Kind::Rollback),
        Kw::Kill => kill::classify(lexer),
        Kw::Create | Kw::Alter => definition::create_or_alter(kw, lexer),
        Kw::Drop => definition::drop(lexer),
        Kw::Load => load(lexer),
        Kw::Lock_ => control::lock(lexer),
        Kw::Unlock => control::unlock(lexer),
        Kw::Xa => control::xa(lexer),
        Kw::Flush => control::flush(lexer),
        Kw::Backup => control::backup(lexer),
        Kw::Tidemark => {
            lexer.skip_statement();
            One { target: Target::Proxy, reason: Reason::Proxy, kind: Kind::Tidemark, effects: Effects::NONE }
        }
        _ if body::opens_compound(kw) => compound(lexer, u32::from(kw != Kw::Declare)),
        _ => fixed(kw, lexer),
    }
}

/// Statements that their first word tells all about.
fn fixed(kw: Kw, lexer: &mut Lexer<'_>) -> One {
    let handler = if kw == Kw::Handler { handler(lexer) } else { Effects::NONE };
    lexer.skip_statement();
    let opaque = COMMITS.union(Effects::OPAQUE).union(Effects::SETS_USER_VARIABLE);
    match kw {
        Kw::Call_ => One::primary(Reason::Call, Kind::Call, opaque),
        Kw::Handler => One::primary(Reason::Handler, Kind::Handler, handler),
        Kw::Rename | Kw::Truncate | Kw::Grant | Kw::Revoke => {
            One::primary(Reason::Definition, Kind::Ddl, COMMITS)
        }
        Kw::Savepoint | Kw::Release => {
            One::primary(Reason::TransactionControl, Kind::Savepoint, Effects::NONE)
        }
        Kw::Use => One::primary(Reason::SessionState, Kind::Use, Effects::NONE),
        Kw::Prepare => One::primary(Reason::Prepare, Kind::PrepareText, Effects::PREPARED_TEXT),
        Kw::Execute => One::primary(Reason::Prepare, Kind::ExecuteText, opaque.union(Effects::PREPARED_TEXT)),
        Kw::Deallocate => One::primary(Reason::Prepare, Kind::DeallocateText, Effects::PREPARED_TEXT),
        Kw::Optimize | Kw::Repair | Kw::Check | Kw::Checksum | Kw::Cache | Kw::Import => {
            One::primary(Reason::Definition, Kind::Admin, COMMITS)
        }
        Kw::Reset
        | Kw::Purge
        | Kw::Change
        | Kw::Stop
        | Kw::Install
        | Kw::Uninstall
        | Kw::Binlog
        | Kw::Shutdown
        | Kw::Restart
        | Kw::Clone => One::primary(Reason::ServerState, Kind::Admin, COMMITS),
        Kw::Help => One::primary(Reason::ServerState, Kind::Show, Effects::NONE),
        Kw::Get => One {
            target: Target::Previous,
            reason: Reason::PreviousResult,
            kind: Kind::Diagnostics,
            effects: Effects::SETS_USER_VARIABLE | Effects::LOOKS_BACK,
        },
        Kw::Signal | Kw::Resignal => One::primary(Reason::SessionState, Kind::Diagnostics, Effects::NONE),
        _ => One::unknown(),
    }
}

/// `t OPEN`, `t CLOSE`, `t READ ...`, the name perhaps with its schema.
fn handler(lexer: &Lexer<'_>) -> Effects {
    let mut ahead = *lexer;
    ahead.next();
    while ahead.peek().kind == Tok::Dot {
        ahead.next();
        ahead.next();
    }
    let token = ahead.next();
    match token.kind {
        Tok::Word if ahead.keyword(token) == Kw::Open => Effects::OPENS_HANDLER,
        Tok::Word if ahead.keyword(token) == Kw::Close => Effects::CLOSES_HANDLER,
        _ => Effects::NONE,
    }
}

/// SELECT, TABLE, VALUES and what WITH leads to.
fn read(lexer: &mut Lexer<'_>, first: Token) -> One {
    let executable = lexer.inside_executable();
    let mut scan = Scan::new(lexer);
    scan.run_from(first);
    let kind = match scan.verb {
        Some(Kw::Insert) => Kind::Insert,
        Some(Kw::Update) => Kind::Update,
        Some(Kw::Delete) => Kind::Delete,
        Some(_) => Kind::Replace,
        None => Kind::Select,
    };
    let tables = scan.target == Target::Previous && scan.tables;
    let one = One { target: scan.target, reason: scan.reason, kind, effects: scan.effects };
    match one.reason {
        _ if tables => One { effects: one.effects | Effects::READS_TABLES, ..one },
        Reason::Write => One { effects: one.effects | Effects::MAY_COMMIT, ..one },
        Reason::Unknown => One { effects: one.effects | Effects::UNKNOWN, ..one },
        Reason::ConnectionId if connection_id::is_all(lexer.back_at(first, executable)) => One {
            target: Target::Proxy,
            reason: Reason::Proxy,
            kind,
            effects: one.effects | Effects::CONNECTION_ID,
        },
        _ => one,
    }
}

/// DO
fn run_expressions(lexer: &mut Lexer<'_>) -> One {
    let mut scan = Scan::new(lexer);
    scan.run();
    let unknown = if scan.reason == Reason::Unknown { Effects::UNKNOWN } else { Effects::NONE };
    One { target: scan.target, reason: scan.reason, kind: Kind::Do, effects: scan.effects | unknown }
}

/// INSERT, UPDATE, DELETE, REPLACE
fn write(kw: Kw, lexer: &mut Lexer<'_>) -> One {
    let mut scan = Scan::new(lexer);
    let kind = match kw {
        Kw::Insert => Kind::Insert,
        Kw::Replace => Kind::Replace,
        Kw::Update => Kind::Update,
        _ => Kind::Delete,
    };
    if matches!(kw, Kw::Insert | Kw::Replace) {
        scan = scan.with_column_list();
    }
    scan.run();
    One::primary(Reason::Write, kind, scan.effects | Effects::MAY_COMMIT)
}

/// LOAD DATA, LOAD XML: a variable in its list is set.
fn load(lexer: &mut Lexer<'_>) -> One {
    let mut effects = COMMITS;
    loop {
        match lexer.next().kind {
            Tok::UserVar => effects |= Effects::SETS_USER_VARIABLE | Effects::READS_USER_VARIABLE,
            Tok::Semicolon | Tok::End => return One::primary(Reason::Load, Kind::Load, effects),
            _ => {}
        }
    }
}

/// A statement with statements inside, of which `open` blocks are open.
pub(crate) fn compound(lexer: &mut Lexer<'_>, open: u32) -> One {
    body::skip(lexer, open);
    One::primary(Reason::Compound, Kind::Compound, Effects::UNKNOWN)
}
