//! Statements that hold statements: routines, triggers, events and anonymous blocks.
//!
//! A server splits a packet where its grammar has taken a whole statement, so a `;` inside a body splits nothing. Here
//! blocks are counted instead of parsed. Where the count goes wrong it goes wrong in one direction: the body takes the
//! rest of the packet, which is classified as unknown anyhow.

use crate::lexer::Lexer;
use crate::token::Tok;
use crate::words::Kw;

/// Goes behind the `;` that ends the statement with the body, or to the end. `open` blocks are open already.
pub(crate) fn skip(lexer: &mut Lexer<'_>, open: u32) {
    let mut depth = open;
    let mut in_head = open == 0;
    let mut statement_starts = !in_head;
    let mut last = Kw::None;
    loop {
        let token = lexer.next();
        let kw = lexer.keyword(token);
        let starts = std::mem::take(&mut statement_starts);
        match token.kind {
            Tok::End => return,
            Tok::Semicolon if depth == 0 => return,
            Tok::Semicolon => {
                statement_starts = true;
                in_head = false;
            }
            // The colon of a label.
            Tok::Bad => statement_starts = starts || sql_is_colon(lexer, token.start),
            _ => {}
        }
        match kw {
            Kw::End if last != Kw::Xa => depth = depth.saturating_sub(1),
            Kw::Begin if last != Kw::Xa => {
                depth = depth.saturating_add(1);
                in_head = false;
                statement_starts = true;
            }
            _ if last == Kw::End => {}
            Kw::Case => depth = depth.saturating_add(1),
            Kw::If if in_head && matches!(lexer.peek_keyword(), Kw::Not | Kw::Exists) => {}
            Kw::If | Kw::While if starts || in_head => depth = depth.saturating_add(1),
            Kw::Loop | Kw::Repeat if starts || in_head => {
                depth = depth.saturating_add(1);
                statement_starts = true;
            }
            Kw::For if starts => depth = depth.saturating_add(1),
            Kw::Then | Kw::Else | Kw::Do => statement_starts = true,
            _ => {}
        }
        last = kw;
    }
}

fn sql_is_colon(lexer: &Lexer<'_>, at: usize) -> bool {
    lexer.sql.get(at) == Some(&b':')
}

/// The words that open a statement with a body at the top of a packet (MariaDB's compound statements outside routines).
pub(crate) fn opens_compound(kw: Kw) -> bool {
    matches!(kw, Kw::If | Kw::Case | Kw::Loop | Kw::While | Kw::Repeat | Kw::For | Kw::Declare)
}
