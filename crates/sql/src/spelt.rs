//! Where words, names in quotes, strings and user variables end.

use memchr::{memchr, memchr2};

use crate::charset::Charset;
use crate::lexer::{Lexer, WORD_BYTE};
use crate::token::Tok;

impl Lexer<'_> {
    /// Where the word that starts at `start` ends.
    #[inline]
    pub(crate) fn word_end(&mut self, start: usize) -> usize {
        let mut at = start;
        while let Some(&byte) = self.sql.get(at)
            && WORD_BYTE[usize::from(byte)]
        {
            at += 1;
        }
        match self.byte(at) {
            Some(0x80..) => self.long_word_end(start, at),
            _ => at,
        }
    }

    #[cold]
    /// Where a word ends that has a byte above ASCII at `at`.
    fn long_word_end(&mut self, start: usize, mut at: usize) -> usize {
        while let Some(byte) = self.byte(at) {
            match byte {
                0x80.. => at += self.char_len(at),
                _ if WORD_BYTE[usize::from(byte)] => at += 1,
                _ => break,
            }
        }
        self.check_word(start, at);
        at
    }

    /// A character's length; a lone first byte counts as one and is doubtful.
    fn char_len(&mut self, at: usize) -> usize {
        let rest = self.sql.get(at..).unwrap_or_default();
        self.dialect.charset.char_len(rest).unwrap_or_else(|| {
            self.doubtful = true;
            1
        })
    }

    /// Bytes above ASCII in a bare word: in utf8 they have to be characters, in single-byte sets 0xA0 is a space.
    fn check_word(&mut self, start: usize, end: usize) {
        if self.dialect.charset != Charset::Ascii {
            return;
        }
        let word = self.sql.get(start..end).unwrap_or_default();
        if std::str::from_utf8(word).is_err() || memchr(0xA0, word).is_some() {
            self.doubtful = true;
        }
    }

    /// A name in quotes: no escapes, a doubled quote stands for itself.
    pub(crate) fn quoted_name(&mut self, start: usize, quote: u8) -> (Tok, usize) {
        let mut at = start + 1;
        let mut above_ascii = false;
        while let Some(byte) = self.byte(at) {
            if byte == quote {
                if self.byte(at + 1) != Some(quote) {
                    if above_ascii && self.dialect.charset == Charset::Ascii {
                        // In utf8 a character cut short swallows the quote, in latin1 there is no such thing.
                        let name = self.sql.get(start + 1..at).unwrap_or_default();
                        self.doubtful |= std::str::from_utf8(name).is_err();
                    }
                    return (Tok::Quoted, at + 1);
                }
                at += 2;
            } else if byte < 0x80 {
                at += 1;
            } else {
                above_ascii = true;
                at += self.char_len(at);
            }
        }
        (Tok::Bad, self.sql.len())
    }

    /// A string: a backslash escapes the next byte unless NO_BACKSLASH_ESCAPES, a doubled quote stands for itself.
    pub(crate) fn string(&mut self, start: usize, quote: u8) -> (Tok, usize) {
        let mut at = start + 1;
        let escape = if self.dialect.no_backslash_escapes { quote } else { b'\\' };
        loop {
            let rest = self.sql.get(at..).unwrap_or_default();
            if self.dialect.charset == Charset::Ascii {
                match memchr2(quote, escape, rest) {
                    Some(skip) => at += skip,
                    None => return (Tok::Bad, self.sql.len()),
                }
            }
            match self.byte(at) {
                None => return (Tok::Bad, self.sql.len()),
                Some(byte) if byte == quote => {
                    if self.byte(at + 1) != Some(quote) {
                        return (Tok::Str, at + 1);
                    }
                    at += 2;
                }
                Some(byte) if byte == escape => at += 2,
                Some(0..=0x7F) => at += 1,
                Some(_) => at += self.char_len(at),
            }
        }
    }

    /// `@name`, `@'name'` or `@@`.
    pub(crate) fn at_sign(&mut self, start: usize) -> (Tok, usize) {
        match self.byte(start + 1) {
            Some(b'@') => {
                self.name_may_follow = true;
                (Tok::AtAt, start + 2)
            }
            Some(b'`') => self.user_variable_in_quotes(start, b'`', true),
            Some(b'"') => self.user_variable_in_quotes(start, b'"', self.dialect.ansi_quotes),
            Some(b'\'') => self.user_variable_in_quotes(start, b'\'', false),
            _ => {
                let mut at = start + 1;
                let mut above_ascii = false;
                while let Some(byte) = self.byte(at) {
                    if byte >= 0x80 {
                        above_ascii = true;
                    } else if !WORD_BYTE[usize::from(byte)] && byte != b'.' {
                        break;
                    }
                    at += 1;
                }
                // The servers take letters of the client's set here, which a lexer of bytes cannot tell.
                self.doubtful |= above_ascii;
                (Tok::UserVar, at)
            }
        }
    }

    fn user_variable_in_quotes(&mut self, start: usize, quote: u8, is_name: bool) -> (Tok, usize) {
        let (kind, end) =
            if is_name { self.quoted_name(start + 1, quote) } else { self.string(start + 1, quote) };
        (if kind == Tok::Bad { Tok::Bad } else { Tok::UserVar }, end)
    }
}
