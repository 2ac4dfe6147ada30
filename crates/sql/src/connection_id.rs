//! The one read that the proxy answers by itself: SELECT CONNECTION_ID() and nothing more.

use std::borrow::Cow;

use crate::dialect::Dialect;
use crate::lexer::{Gated, Lexer};
use crate::prepare::string_value;
use crate::schema::inside_quotes;
use crate::token::Tok;
use crate::words::Kw;

/// Whether the statement at `lexer` is exactly `SELECT CONNECTION_ID() [[AS] alias] [FROM DUAL] [LIMIT n]`.
pub(crate) fn is_all(lexer: Lexer<'_>) -> bool {
    column(lexer).is_some()
}

/// What servers name the column of such a statement, the first of `sql`: its alias, or the call as it is spelt.
pub fn connection_id_column(sql: &[u8], dialect: Dialect) -> Option<Cow<'_, [u8]>> {
    let mut lexer = Lexer::new(sql, dialect, Gated::Executed);
    lexer.skip_semicolons();
    let name = column(lexer)?;
    match name {
        [b'\'' | b'"', ..] => Some(string_value(name, dialect)),
        _ => Some(Cow::Borrowed(inside_quotes(name))),
    }
}

fn column<'a>(mut lexer: Lexer<'a>) -> Option<&'a [u8]> {
    if !lexer.take(Kw::Select) {
        return None;
    }
    let start = lexer.peek().start;
    let called = lexer.take(Kw::ConnectionId) && lexer.next().kind == Tok::Open;
    let close = lexer.next();
    if !called || close.kind != Tok::Close {
        return None;
    }
    let mut name = lexer.sql.get(start..close.end)?;
    let with_as = lexer.take(Kw::As);
    let next = lexer.peek();
    let is_clause = matches!(lexer.keyword(next), Kw::From | Kw::Limit);
    if matches!(next.kind, Tok::Word | Tok::Quoted | Tok::Str) && !is_clause {
        name = lexer.next().bytes(lexer.sql);
    } else if with_as {
        return None;
    }
    let dual = !lexer.take(Kw::From) || lexer.take(Kw::Dual);
    let limited = !lexer.take(Kw::Limit) || lexer.next().kind == Tok::Number;
    let over = matches!(lexer.next().kind, Tok::Semicolon | Tok::End);
    (dual && limited && over).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_is_named_as_the_servers_name_it() {
        for (sql, name) in [
            ("SELECT CONNECTION_ID()", "CONNECTION_ID()"),
            ("select connection_id( )", "connection_id( )"),
            ("SELECT /*x*/ CONNECTION_ID() -- a", "CONNECTION_ID()"),
            ("SELECT CONNECTION_ID() id", "id"),
            ("SELECT CONNECTION_ID() AS `my ``id` FROM DUAL", "my ``id"),
            ("SELECT CONNECTION_ID() 'it''s' LIMIT 1", "it's"),
            (";SELECT CONNECTION_ID() FROM DUAL;", "CONNECTION_ID()"),
        ] {
            let column = connection_id_column(sql.as_bytes(), Dialect::default());
            assert_eq!(column.as_deref(), Some(name.as_bytes()), "{sql}");
        }
        assert_eq!(connection_id_column(b"SELECT CONNECTION_ID(), 1", Dialect::default()), None);
    }
}
