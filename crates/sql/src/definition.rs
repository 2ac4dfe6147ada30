//! CREATE, ALTER and DROP.

use crate::body;
use crate::effects::Effects;
use crate::kind::Kind;
use crate::lexer::Lexer;
use crate::reason::Reason;
use crate::statement::{COMMITS, One};
use crate::token::Tok;
use crate::words::Kw;

/// How many tokens may stand between CREATE and the sort of object: OR REPLACE, DEFINER = 'u'@'h', AGGREGATE, IF NOT EXISTS
/// and more of the kind.
const HEAD_TOKENS: u32 = 24;

/// CREATE and ALTER: a temporary table, something with a body, or neither.
pub(crate) fn create_or_alter(kw: Kw, lexer: &mut Lexer<'_>) -> One {
    let (temporary, has_body) = head(*lexer);
    if has_body {
        body::skip(lexer, 0);
        return One::primary(Reason::Definition, Kind::Ddl, COMMITS);
    }
    let effects = COMMITS | variables(lexer);
    if temporary && kw == Kw::Create {
        return One::primary(Reason::TemporaryTable, Kind::Ddl, effects | Effects::CREATES_TEMPORARY_TABLE);
    }
    One::primary(Reason::Definition, Kind::Ddl, effects)
}

/// Whether it is TEMPORARY, and whether a body may follow.
fn head(mut lexer: Lexer<'_>) -> (bool, bool) {
    let mut temporary = false;
    for _ in 0..HEAD_TOKENS {
        let token = lexer.next();
        match lexer.keyword(token) {
            Kw::Temporary => temporary = true,
            Kw::Procedure | Kw::Function_ | Kw::Trigger | Kw::Event | Kw::Package => {
                return (temporary, true);
            }
            Kw::Table
            | Kw::View
            | Kw::Index
            | Kw::Database
            | Kw::Schema_
            | Kw::User
            | Kw::Role_
            | Kw::Sequence => break,
            _ => {}
        }
        if matches!(token.kind, Tok::Semicolon | Tok::End) {
            break;
        }
    }
    (temporary, false)
}

/// CREATE TABLE ... SELECT may read and set user variables. Goes to the end of the statement.
fn variables(lexer: &mut Lexer<'_>) -> Effects {
    let mut effects = Effects::NONE;
    loop {
        match lexer.next().kind {
            Tok::UserVar => effects |= Effects::READS_USER_VARIABLE,
            Tok::Assign => effects |= Effects::SETS_USER_VARIABLE,
            Tok::Semicolon | Tok::End => return effects,
            _ => {}
        }
    }
}

/// DROP [TEMPORARY] TABLE, DROP PREPARE and the rest.
pub(crate) fn drop(lexer: &mut Lexer<'_>) -> One {
    let temporary = lexer.take(Kw::Temporary);
    let what = lexer.peek_keyword();
    lexer.skip_statement();
    match what {
        Kw::Prepare => One::primary(Reason::Prepare, Kind::DeallocateText, Effects::PREPARED_TEXT),
        _ if temporary => One::primary(Reason::TemporaryTable, Kind::Ddl, COMMITS | Effects::DROPS_TEMPORARY),
        Kw::Table | Kw::Tables | Kw::Sequence => {
            One::primary(Reason::Definition, Kind::Ddl, COMMITS | Effects::DROPS_TEMPORARY)
        }
        _ => One::primary(Reason::Definition, Kind::Ddl, COMMITS),
    }
}
