//! PREPARE, EXECUTE and DEALLOCATE as SQL text: whoever follows them can classify the text that is prepared, and let it decide
//! where EXECUTE goes.

use std::borrow::Cow;

use crate::dialect::Dialect;
use crate::lexer::{Gated, Lexer};
use crate::schema::inside_quotes;
use crate::set::user_variable_name;
use crate::token::{Tok, Token};
use crate::words::Kw;

/// A statement about a prepared statement. Names are without their quotes; case does not matter in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreparedText<'a> {
    /// `PREPARE name FROM source`
    Prepare {
        /// The prepared statement's name.
        name: &'a [u8],
        /// Where its text stands.
        source: Source<'a>,
    },
    /// `EXECUTE name [USING @a, @b]`
    Execute {
        /// The prepared statement's name.
        name: &'a [u8],
        /// User variables are read.
        uses_variables: bool,
    },
    /// `DEALLOCATE PREPARE name`, `DROP PREPARE name`
    Deallocate {
        /// The prepared statement's name.
        name: &'a [u8],
    },
}

/// Where the text of a prepared statement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// In a string, given with its quotes: see [`string_value`].
    Literal(&'a [u8]),
    /// In the user variable of this name.
    Variable(&'a [u8]),
}

/// Reads such a statement; `None` for every other, MariaDB's EXECUTE IMMEDIATE and expressions as a source among them, and
/// where anything about the text is in doubt.
pub fn prepared_text(sql: &[u8], dialect: Dialect) -> Option<PreparedText<'_>> {
    let mut lexer = Lexer::new(sql, dialect, Gated::Executed);
    let first = lexer.next();
    let found = match lexer.keyword(first) {
        Kw::Prepare => prepare(&mut lexer)?,
        Kw::Execute => execute(&mut lexer)?,
        Kw::Deallocate | Kw::Drop if lexer.take(Kw::Prepare) => {
            PreparedText::Deallocate { name: name(&mut lexer)? }
        }
        _ => return None,
    };
    lexer.skip_semicolons();
    let whole = lexer.next().kind == Tok::End && !lexer.doubtful && !lexer.saw_gated;
    whole.then_some(found)
}

fn prepare<'a>(lexer: &mut Lexer<'a>) -> Option<PreparedText<'a>> {
    let name = name(lexer)?;
    if !lexer.take(Kw::From) {
        return None;
    }
    let source = lexer.next();
    let bytes = source.bytes(lexer.sql);
    let source = match source.kind {
        Tok::Str => Source::Literal(bytes),
        Tok::UserVar => Source::Variable(user_variable_name(bytes.get(1..).unwrap_or_default())),
        _ => return None,
    };
    Some(PreparedText::Prepare { name, source })
}

fn execute<'a>(lexer: &mut Lexer<'a>) -> Option<PreparedText<'a>> {
    if lexer.peek_keyword() == Kw::Immediate {
        return None;
    }
    let name = name(lexer)?;
    let uses_variables = lexer.peek().kind == Tok::Word;
    while !matches!(lexer.peek().kind, Tok::Semicolon | Tok::End) {
        lexer.next();
    }
    Some(PreparedText::Execute { name, uses_variables })
}

/// Takes a name, and gives it without its quotes.
pub(crate) fn name<'a>(lexer: &mut Lexer<'a>) -> Option<&'a [u8]> {
    let name: Token = lexer.next();
    matches!(name.kind, Tok::Word | Tok::Quoted).then(|| inside_quotes(name.bytes(lexer.sql)))
}

/// The value of a string literal: without its quotes, doubled quotes made one, and escapes resolved as in the manual's
/// "String Literals". Allocates only where something has to be resolved.
pub fn string_value(literal: &[u8], dialect: Dialect) -> Cow<'_, [u8]> {
    let (quote, inside) = match literal {
        [quote @ (b'\'' | b'"'), inside @ .., end] if end == quote => (*quote, inside),
        _ => return Cow::Borrowed(literal),
    };
    let special = |b: &u8| *b == quote || (*b == b'\\' && !dialect.no_backslash_escapes);
    if !inside.iter().any(special) {
        return Cow::Borrowed(inside);
    }
    let mut value = Vec::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(&byte) = rest.first() {
        let taken = match (byte, rest.get(1)) {
            (0x80.., _) => {
                let len = dialect.charset.char_len(rest).unwrap_or(1);
                value.extend(rest.get(..len).unwrap_or(rest));
                len
            }
            (b'\\', Some(&escaped)) if !dialect.no_backslash_escapes => {
                unescape(escaped, &mut value);
                2
            }
            (b, Some(&second)) if b == quote && second == quote => {
                value.push(quote);
                2
            }
            _ => {
                value.push(byte);
                1
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    Cow::Owned(value)
}

fn unescape(escaped: u8, value: &mut Vec<u8>) {
    match escaped {
        b'0' => value.push(0),
        b'b' => value.push(8),
        b'n' => value.push(b'\n'),
        b'r' => value.push(b'\r'),
        b't' => value.push(b'\t'),
        b'Z' => value.push(26),
        // Patterns of LIKE keep theirs.
        b'%' | b'_' => value.extend([b'\\', escaped]),
        _ => value.push(escaped),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charset::Charset;

    fn read(sql: &str) -> Option<PreparedText<'_>> {
        prepared_text(sql.as_bytes(), Dialect::default())
    }

    #[test]
    fn statements_about_prepared_statements() {
        let source = Source::Literal(b"'SELECT ?'");
        assert_eq!(read("PREPARE s FROM 'SELECT ?'"), Some(PreparedText::Prepare { name: b"s", source }));
        assert_eq!(
            read("prepare `s` /* c */ from 'SELECT ?';"),
            Some(PreparedText::Prepare { name: b"s", source })
        );
        let source = Source::Variable(b"v");
        assert_eq!(read("PREPARE s FROM @`v`"), Some(PreparedText::Prepare { name: b"s", source }));
        assert_eq!(read("EXECUTE s"), Some(PreparedText::Execute { name: b"s", uses_variables: false }));
        assert_eq!(
            read("EXECUTE s USING @a, @b;"),
            Some(PreparedText::Execute { name: b"s", uses_variables: true })
        );
        assert_eq!(read("DEALLOCATE PREPARE s"), Some(PreparedText::Deallocate { name: b"s" }));
        assert_eq!(read("DROP PREPARE s"), Some(PreparedText::Deallocate { name: b"s" }));
    }

    #[test]
    fn what_cannot_be_followed() {
        for sql in [
            "",
            "SELECT 1",
            "PREPARE s",
            "PREPARE s FROM CONCAT('a')",
            "PREPARE s FROM 'a' 'b'",
            "EXECUTE IMMEDIATE 'SELECT 1'",
            "EXECUTE s; SELECT 1",
            "DROP TABLE s",
            "EXECUTE /*!50001 s */",
        ] {
            assert_eq!(read(sql), None, "{sql}");
        }
    }

    #[test]
    fn values_of_strings() {
        let value = |literal: &'static [u8]| string_value(literal, Dialect::default()).into_owned();
        assert_eq!(value(b"'abc'"), b"abc");
        assert_eq!(value(b"'it''s'"), b"it's");
        assert_eq!(value(b"\"it''s\""), b"it''s");
        assert_eq!(value(br"'a\'b\\c\n\%\x'"), b"a'b\\c\n\\%x");
        let raw = Dialect::from_sql_mode(b"NO_BACKSLASH_ESCAPES");
        assert_eq!(&*string_value(br"'a\n'", raw), br"a\n");
        let gbk = Dialect { charset: Charset::Gbk, ..Dialect::default() };
        assert_eq!(&*string_value(b"'\xbf\\n'", gbk), b"\xbf\\n");
    }
}
