//! Transactions and table locks.

use crate::effects::Effects;
use crate::kind::Kind;
use crate::lexer::Lexer;
use crate::reason::Reason;
use crate::statement::{COMMITS, One, compound};
use crate::target::Target;
use crate::token::Tok;
use crate::words::Kw;

/// BEGIN [WORK], or BEGIN NOT ATOMIC with its body.
pub(crate) fn begin(lexer: &mut Lexer<'_>) -> One {
    lexer.take(Kw::Work);
    if !matches!(lexer.peek().kind, Tok::Semicolon | Tok::End) {
        return compound(lexer, 1);
    }
    lexer.skip_statement();
    One::primary(Reason::Transaction, Kind::Begin, Effects::MAY_COMMIT)
}

/// START TRANSACTION with its characteristics, or START REPLICA and the like.
pub(crate) fn start(lexer: &mut Lexer<'_>) -> One {
    if !lexer.take(Kw::Transaction) {
        lexer.skip_statement();
        return One::primary(Reason::ServerState, Kind::Admin, COMMITS);
    }
    let mut effects = Effects::MAY_COMMIT;
    loop {
        let token = lexer.next();
        match lexer.keyword(token) {
            Kw::Only => effects |= Effects::READ_ONLY_TRANSACTION,
            Kw::Write_ => effects |= Effects::READ_WRITE_TRANSACTION,
            Kw::Consistent => effects |= Effects::CONSISTENT_SNAPSHOT,
            _ => {}
        }
        if matches!(token.kind, Tok::Semicolon | Tok::End) {
            break;
        }
    }
    let read_only = effects.contains(Effects::READ_ONLY_TRANSACTION)
        && !effects.contains(Effects::READ_WRITE_TRANSACTION);
    if read_only {
        return One {
            target: Target::Replica,
            reason: Reason::ReadOnlyTransaction,
            kind: Kind::BeginReadOnly,
            effects,
        };
    }
    One::primary(Reason::Transaction, Kind::Begin, effects)
}

/// COMMIT or ROLLBACK, also ROLLBACK TO.
pub(crate) fn end(lexer: &mut Lexer<'_>, kind: Kind) -> One {
    let mut effects = if kind == Kind::Commit { Effects::MAY_COMMIT } else { Effects::NONE };
    let mut kind = kind;
    let mut negated = false;
    loop {
        let token = lexer.next();
        let kw = lexer.keyword(token);
        match kw {
            Kw::To => {
                lexer.skip_statement();
                kind = Kind::Savepoint;
                break;
            }
            Kw::Chain if !negated => effects |= Effects::CHAINS_TRANSACTION,
            Kw::Release if !negated => effects |= Effects::RELEASES_CONNECTION,
            _ => {}
        }
        negated = kw == Kw::No;
        if matches!(token.kind, Tok::Semicolon | Tok::End) {
            break;
        }
    }
    One::primary(Reason::TransactionControl, kind, effects)
}

/// LOCK TABLES, LOCK INSTANCE FOR BACKUP
pub(crate) fn lock(lexer: &mut Lexer<'_>) -> One {
    let locks = if lexer.take(Kw::Instance) { Effects::LOCKS_INSTANCE } else { Effects::LOCKS_TABLES };
    lexer.skip_statement();
    One::primary(Reason::LockTables, Kind::LockTables, locks | Effects::MAY_COMMIT)
}

/// UNLOCK TABLES, UNLOCK INSTANCE
pub(crate) fn unlock(lexer: &mut Lexer<'_>) -> One {
    let unlocks = if lexer.take(Kw::Instance) { Effects::UNLOCKS_INSTANCE } else { Effects::UNLOCKS_TABLES };
    lexer.skip_statement();
    One::primary(Reason::LockTables, Kind::UnlockTables, unlocks | Effects::MAY_COMMIT)
}

/// XA with its verb.
pub(crate) fn xa(lexer: &mut Lexer<'_>) -> One {
    let effects = match lexer.peek_keyword() {
        Kw::Start | Kw::Begin => Effects::BEGINS_XA,
        Kw::Prepare | Kw::Commit | Kw::Rollback => Effects::ENDS_XA,
        _ => Effects::NONE,
    };
    lexer.skip_statement();
    One::primary(Reason::Xa, Kind::Xa, COMMITS | effects)
}

/// FLUSH: of tables it may lock them.
pub(crate) fn flush(lexer: &mut Lexer<'_>) -> One {
    let mut tables = false;
    let mut locks = false;
    loop {
        let token = lexer.next();
        match lexer.keyword(token) {
            Kw::Tables | Kw::Table => tables = true,
            Kw::Lock_ | Kw::Export => locks = true,
            _ => {}
        }
        if matches!(token.kind, Tok::Semicolon | Tok::End) {
            break;
        }
    }
    if tables && locks {
        return One::primary(Reason::LockTables, Kind::LockTables, COMMITS | Effects::LOCKS_TABLES);
    }
    One::primary(Reason::ServerState, Kind::Admin, COMMITS)
}

/// BACKUP STAGE, BACKUP LOCK, BACKUP UNLOCK (MariaDB)
pub(crate) fn backup(lexer: &mut Lexer<'_>) -> One {
    let unlocks = lexer.take(Kw::Unlock) || (lexer.take(Kw::Stage) && lexer.take(Kw::End));
    lexer.skip_statement();
    if unlocks {
        return One::primary(
            Reason::LockTables,
            Kind::UnlockTables,
            Effects::UNLOCKS_TABLES | Effects::MAY_COMMIT,
        );
    }
    One::primary(Reason::LockTables, Kind::LockTables, Effects::LOCKS_TABLES | Effects::MAY_COMMIT)
}
