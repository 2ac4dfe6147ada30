//! The names in CREATE TEMPORARY TABLE and DROP TABLE: whoever keeps count knows when none is left.

use crate::dialect::Dialect;
use crate::lexer::{Gated, Lexer};
use crate::prepare;
use crate::token::Tok;
use crate::words::Kw;

/// A table's name as it is written, without its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableName<'a> {
    /// The schema, where one is named.
    pub schema: Option<&'a [u8]>,
    /// The table.
    pub table: &'a [u8],
}

/// What becomes of temporary tables when such a statement succeeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemporaryTables<'a> {
    /// This one is there.
    Created(TableName<'a>),
    /// These are gone.
    Dropped(Vec<TableName<'a>>),
}

/// Reads a CREATE TEMPORARY TABLE or a DROP [TEMPORARY] TABLE; `None` for every other statement, and for several.
pub fn temporary_tables(sql: &[u8], dialect: Dialect) -> Option<TemporaryTables<'_>> {
    let mut lexer = Lexer::new(sql, dialect, Gated::Executed);
    let first = lexer.next();
    match lexer.keyword(first) {
        Kw::Create => {
            if lexer.take(Kw::Or) && !lexer.take_word(b"REPLACE") {
                return None;
            }
            if !(lexer.take(Kw::Temporary) && lexer.take(Kw::Table)) {
                return None;
            }
            skip_condition(&mut lexer);
            let created = name(&mut lexer)?;
            lexer.skip_statement();
            ends(lexer).then_some(TemporaryTables::Created(created))
        }
        Kw::Drop => {
            lexer.take(Kw::Temporary);
            if !(lexer.take(Kw::Table) || lexer.take_word(b"TABLES")) {
                return None;
            }
            skip_condition(&mut lexer);
            let mut dropped = vec![name(&mut lexer)?];
            while lexer.peek().kind == Tok::Comma {
                lexer.next();
                dropped.push(name(&mut lexer)?);
            }
            lexer.skip_statement();
            ends(lexer).then_some(TemporaryTables::Dropped(dropped))
        }
        _ => None,
    }
}

/// IF EXISTS, IF NOT EXISTS
fn skip_condition(lexer: &mut Lexer<'_>) {
    let mut ahead = *lexer;
    if ahead.take_word(b"IF") {
        ahead.take_word(b"NOT");
        if ahead.take_word(b"EXISTS") {
            *lexer = ahead;
        }
    }
}

fn name<'a>(lexer: &mut Lexer<'a>) -> Option<TableName<'a>> {
    let first = prepare::name(lexer)?;
    if lexer.peek().kind != Tok::Dot {
        return Some(TableName { schema: None, table: first });
    }
    lexer.next();
    Some(TableName { schema: Some(first), table: prepare::name(lexer)? })
}

fn ends(mut lexer: Lexer<'_>) -> bool {
    lexer.skip_semicolons();
    lexer.next().kind == Tok::End && !lexer.doubtful
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sql: &str) -> Option<(bool, Vec<String>)> {
        let show = |name: TableName<'_>| {
            let part = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
            name.schema.map_or(part(name.table), |schema| format!("{}.{}", part(schema), part(name.table)))
        };
        match temporary_tables(sql.as_bytes(), Dialect::default())? {
            TemporaryTables::Created(name) => Some((true, vec![show(name)])),
            TemporaryTables::Dropped(names) => Some((false, names.into_iter().map(show).collect())),
        }
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        let created = |name: &str| Some((true, vec![name.to_owned()]));
        assert_eq!(read("CREATE TEMPORARY TABLE a (id INT)"), created("a"));
        assert_eq!(read("create temporary table if not exists `s`.`A b` like t;"), created("s.A b"));
        assert_eq!(read("CREATE OR REPLACE TEMPORARY TABLE a AS SELECT 1"), created("a"));
        assert_eq!(read("CREATE /* x */ TEMPORARY TABLE a SELECT * FROM b"), created("a"));
        let dropped = |names: &[&str]| Some((false, names.iter().map(|&name| name.to_owned()).collect()));
        assert_eq!(read("DROP TABLE a"), dropped(&["a"]));
        assert_eq!(read("DROP TEMPORARY TABLE IF EXISTS a, s.b CASCADE"), dropped(&["a", "s.b"]));
        assert_eq!(read("DROP TABLES a"), dropped(&["a"]));
        for other in [
            "CREATE TABLE a (id INT)",
            "DROP VIEW a",
            "DROP TEMPORARY TABLE a; DROP TEMPORARY TABLE b",
            "SELECT 1; CREATE TEMPORARY TABLE a (id INT)",
            "CREATE TEMPORARY TABLE",
            "DROP TABLE a,",
            "CREATE TEMPORARY SEQUENCE a",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
