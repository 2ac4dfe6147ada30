//! A multi-statement packet cut into its statements.

use std::ops::Range;

use crate::dialect::Dialect;
use crate::lexer::{Gated, Lexer};
use crate::statement;
use crate::token::Tok;

/// The statements of a packet, as byte ranges without the `;` between them. Comments before a statement belong to it;
/// what holds nothing but comments and space is left out.
///
/// As the servers do it, a `;` splits only where a whole statement ends: not in strings, comments and the bodies of routines,
/// triggers, events and anonymous blocks. A `;` inside an executable comment splits nothing here. Without CLIENT_MULTI_STATEMENTS
/// the whole text is one statement.
pub fn split(sql: &[u8], dialect: Dialect) -> Split<'_> {
    Split { lexer: Lexer::new(sql, dialect, Gated::Executed), done: false }
}

/// See [`split`].
#[derive(Clone)]
pub struct Split<'a> {
    lexer: Lexer<'a>,
    done: bool,
}

impl Split<'_> {
    /// Goes behind the next `;` that splits, and says where the statement ends.
    fn end_of_statement(&mut self) -> usize {
        let first = self.lexer.next();
        statement::classify(&mut self.lexer, first);
        while self.lexer.inside_executable() && self.lexer.end_mark().is_some() {
            self.lexer.skip_statement();
        }
        self.lexer.end_mark().unwrap_or(self.lexer.sql.len())
    }
}

impl Iterator for Split<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let sql = self.lexer.sql;
        while !self.done {
            let start = self.lexer.position();
            match self.lexer.peek().kind {
                Tok::End => self.done = true,
                Tok::Semicolon => {
                    self.lexer.next();
                }
                _ if !self.lexer.dialect().multi_statements => {
                    self.done = true;
                    return Some(trimmed(sql, start, sql.len()));
                }
                _ => {
                    let end = self.end_of_statement();
                    return Some(trimmed(sql, start, end));
                }
            }
        }
        None
    }
}

/// The range without the space around it.
fn trimmed(sql: &[u8], start: usize, end: usize) -> Range<usize> {
    let text = sql.get(start..end).unwrap_or_default();
    let from = start + (text.len() - text.trim_ascii_start().len());
    from..from + text.trim_ascii().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(sql: &str) -> Vec<&str> {
        let dialect = Dialect { multi_statements: true, ..Dialect::default() };
        split(sql.as_bytes(), dialect).map(|r| &sql[r]).collect()
    }

    #[test]
    fn semicolons_that_split_and_those_that_do_not() {
        assert_eq!(pieces("SELECT 1; SELECT 2"), ["SELECT 1", "SELECT 2"]);
        assert_eq!(pieces(";; SELECT 1 ;;"), ["SELECT 1"]);
        assert_eq!(
            pieces("SELECT ';'; SELECT `;`, /* ; */ 2 -- ;\n"),
            ["SELECT ';'", "SELECT `;`, /* ; */ 2 -- ;"]
        );
        assert_eq!(pieces("/* a */ SELECT 1; -- b"), ["/* a */ SELECT 1"]);
        assert_eq!(pieces(""), [""; 0]);
    }

    #[test]
    fn bodies_are_not_split() {
        let routine =
            "CREATE PROCEDURE p() BEGIN IF a THEN SELECT 1; END IF; SELECT CASE WHEN 1 THEN 2 END; END";
        assert_eq!(pieces(&format!("{routine}; SELECT 2")), [routine, "SELECT 2"]);
        let block =
            "BEGIN NOT ATOMIC DECLARE x INT; l: LOOP LEAVE l; END LOOP; WHILE 0 DO SET x=1; END WHILE; END";
        assert_eq!(pieces(&format!("{block}; SELECT 2")), [block, "SELECT 2"]);
        let trigger = "CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW SET NEW.b = 1";
        assert_eq!(pieces(&format!("{trigger}; SELECT 2")), [trigger, "SELECT 2"]);
        assert_eq!(pieces("BEGIN; SELECT 1; COMMIT"), ["BEGIN", "SELECT 1", "COMMIT"]);
    }

    #[test]
    fn without_the_capability_nothing_is_split() {
        let mut whole = split(b"SELECT 1; SELECT 2", Dialect::default());
        assert_eq!((whole.next(), whole.next()), (Some(0..18), None));
    }
}
