//! The one read that the proxy answers by itself: SELECT CONNECTION_ID() and nothing more.

use crate::lexer::Lexer;
use crate::token::Tok;
use crate::words::Kw;

/// Whether the statement at `lexer` is exactly `SELECT CONNECTION_ID() [[AS] alias] [FROM DUAL] [LIMIT n]`.
pub(crate) fn is_all(mut lexer: Lexer<'_>) -> bool {
    let called = lexer.take(Kw::Select)
        && lexer.take(Kw::ConnectionId)
        && lexer.next().kind == Tok::Open
        && lexer.next().kind == Tok::Close;
    if !called {
        return false;
    }
    let with_as = lexer.take(Kw::As);
    let next = lexer.peek();
    let is_clause = matches!(lexer.keyword(next), Kw::From | Kw::Limit);
    if matches!(next.kind, Tok::Word | Tok::Quoted | Tok::Str) && !is_clause {
        lexer.next();
    } else if with_as {
        return false;
    }
    if lexer.take(Kw::From) && !lexer.take(Kw::Dual) {
        return false;
    }
    if lexer.take(Kw::Limit) && lexer.next().kind != Tok::Number {
        return false;
    }
    matches!(lexer.next().kind, Tok::Semicolon | Tok::End)
}
