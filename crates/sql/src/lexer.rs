//! Bytes to tokens, as `sql/sql_lex.cc` of both families does it, for bytes that need not be text.
//!
//! The lexer allocates nothing and looks at each byte a bounded number of times. It understands three things that
//! decide where a statement really ends: quotes in the session's `sql_mode`, characters of several bytes, and executable
//! comments. Those last are read in one of two ways, given by the caller: executed, or skipped. Where the servers themselves
//! disagree the lexer says so ([`Lexer::doubtful`]) instead of choosing.

use memchr::memchr;

use crate::charset::Charset;
use crate::comment::{self, Comment};
use crate::dialect::{Dialect, Flavor};
use crate::hint::Hints;
use crate::number::{self, Numeral};
use crate::token::{Tok, Token};
use crate::words::{self, Kw};

/// Whether the content of gated executable comments (`/*!50001 ... */`, `/*M! ... */`) counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gated {
    Executed,
    Skipped,
}

/// A position in a statement, and what has been noticed up to there. A copy is a way to look ahead.
#[derive(Clone, Copy)]
pub(crate) struct Lexer<'a> {
    pub(crate) sql: &'a [u8],
    pos: usize,
    pub(crate) dialect: Dialect,
    gated: Gated,
    /// Inside an executable comment whose content counts: its end has to be skipped.
    in_executed: bool,
    /// The last token was a `.` or a name before one: a word here is a name, whatever it spells.
    pub(crate) name_may_follow: bool,
    /// Where the `;` stands that was taken last; none once the end was reached.
    semicolon: Option<usize>,
    /// The gate of the executable comments met so far.
    gate: Option<u32>,
    /// A gated executable comment was met: the other reading has to be looked at as well.
    pub(crate) saw_gated: bool,
    /// Something was met that the servers read in different ways.
    pub(crate) doubtful: bool,
    /// What the comments ask for.
    pub(crate) hints: Hints,
}

/// ASCII bytes that may be part of a bare word: letters, digits, `_` and `$`.
pub(crate) const WORD_BYTE: [bool; 256] = {
    let mut table = [false; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = matches!(i, 0x30..=0x39 | 0x41..=0x5A | 0x61..=0x7A | 0x24 | 0x5F);
        i += 1;
    }
    table
};

/// Whether a byte may be part of a bare word.
pub(crate) fn is_word_byte(byte: u8) -> bool {
    byte >= 0x80 || WORD_BYTE[usize::from(byte)]
}

/// Whether a byte is white space to the servers.
#[inline(always)]
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | 0x09..=0x0D)
}

impl<'a> Lexer<'a> {
    /// A lexer at the start of `sql`, past a byte order mark.
    pub(crate) fn new(sql: &'a [u8], dialect: Dialect, gated: Gated) -> Lexer<'a> {
        let pos = if sql.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        Lexer {
            sql,
            pos,
            dialect,
            gated,
            in_executed: false,
            name_may_follow: false,
            semicolon: None,
            gate: None,
            saw_gated: false,
            doubtful: dialect.charset == Charset::Other,
            hints: Hints::default(),
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Where the `;` stands that ended the statement that was taken last; `None` if the end of the text did.
    pub(crate) fn end_mark(&self) -> Option<usize> {
        self.semicolon
    }

    /// Behind the token that was taken last.
    pub(crate) fn position(&self) -> usize {
        self.pos
    }

    /// A lexer that stands before `token`, where `executable` tells whether that lies in an executable comment.
    pub(crate) fn back_at(&self, token: Token, executable: bool) -> Lexer<'a> {
        Lexer { pos: token.start, in_executed: executable, name_may_follow: false, ..*self }
    }

    /// Whether the content of an executable comment is being read.
    pub(crate) fn inside_executable(&self) -> bool {
        self.in_executed
    }

    /// What the word `token` means; nothing special if it is no bare word.
    pub(crate) fn keyword(&self, token: Token) -> Kw {
        if token.kind == Tok::Word { words::lookup(token.bytes(self.sql)).kw } else { Kw::None }
    }

    /// What the token after this one means as a keyword, without moving.
    pub(crate) fn peek_keyword(&self) -> Kw {
        self.keyword(self.peek())
    }

    /// Takes the next token if it is this keyword.
    pub(crate) fn take(&mut self, kw: Kw) -> bool {
        let mut ahead = *self;
        let token = ahead.next();
        let found = self.keyword(token) == kw;
        if found {
            *self = ahead;
        }
        found
    }

    /// Takes the next token if it is this bare word, in any case: for words that are no keywords here.
    pub(crate) fn take_word(&mut self, word: &[u8]) -> bool {
        let mut ahead = *self;
        let token = ahead.next();
        let found = token.kind == Tok::Word && token.bytes(self.sql).eq_ignore_ascii_case(word);
        if found {
            *self = ahead;
        }
        found
    }

    /// Goes behind any `;` that stand here: empty statements.
    pub(crate) fn skip_semicolons(&mut self) {
        while self.peek().kind == Tok::Semicolon {
            self.next();
        }
    }

    /// Goes behind the `;` that ends the statement, or to the end.
    pub(crate) fn skip_statement(&mut self) {
        while !matches!(self.next().kind, Tok::Semicolon | Tok::End) {}
    }

    pub(crate) fn byte(&self, at: usize) -> Option<u8> {
        self.sql.get(at).copied()
    }

    /// The token after this one, without moving.
    pub(crate) fn peek(&self) -> Token {
        let mut ahead = *self;
        ahead.next()
    }

    /// The next token; [`Tok::End`] for ever once there is none.
    #[inline(never)]
    pub(crate) fn next(&mut self) -> Token {
        self.next_inlined()
    }

    /// [`Self::next`], for the one loop that takes most of the tokens.
    #[inline(always)]
    pub(crate) fn next_inlined(&mut self) -> Token {
        let after_dot = std::mem::take(&mut self.name_may_follow);
        let before = self.pos;
        self.skip_space_and_comments();
        // `t. update` is not a qualified name: the server takes a word for a name only right behind the point.
        let after_dot = after_dot && before == self.pos;
        let start = self.pos;
        let Some(first) = self.byte(start) else {
            self.doubtful |= std::mem::take(&mut self.in_executed);
            self.semicolon = None;
            return Token { kind: Tok::End, start, end: start };
        };
        let (kind, end) = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80..=0xFF => (Tok::Word, self.word_end(start)),
            b'0'..=b'9' if after_dot => (Tok::Word, self.word_end(start)),
            b'0'..=b'9' => match number::scan(self.sql, start) {
                Numeral::Ends(end) => (Tok::Number, end),
                Numeral::Name => (Tok::Word, self.word_end(start)),
                Numeral::Cut => (Tok::Bad, self.word_end(start)),
            },
            b'.' => match self.byte(start + 1) {
                // `t.1` is a name, ` .5` a number: the server decides by what stands before the point.
                Some(b'0'..=b'9') if !self.name_before(start) => {
                    match number::scan_fraction(self.sql, start + 1) {
                        Some(end) => (Tok::Number, end),
                        None => (Tok::Bad, start + 1),
                    }
                }
                _ => {
                    self.name_may_follow = true;
                    (Tok::Dot, start + 1)
                }
            },
            b'`' => self.quoted_name(start, b'`'),
            b'"' if self.dialect.ansi_quotes => self.quoted_name(start, b'"'),
            b'"' | b'\'' => self.string(start, first),
            b'@' => self.at_sign(start),
            b'(' => (Tok::Open, start + 1),
            b')' => (Tok::Close, start + 1),
            b',' => (Tok::Comma, start + 1),
            b';' => {
                self.semicolon = Some(start);
                (Tok::Semicolon, start + 1)
            }
            b':' if self.byte(start + 1) == Some(b'=') => (Tok::Assign, start + 2),
            b'\\' if self.byte(start + 1) == Some(b'N') => (Tok::Null, start + 2),
            b'+' | b'-' | b'*' | b'/' | b'%' | b'=' | b'<' | b'>' | b'!' | b'&' | b'|' | b'^' | b'~'
            | b'?' | b'{' | b'}' => (Tok::Op, start + 1),
            // A leading `$` starts a name in 8.0 and a dollar-quoted text in 9.x.
            b'$' => (Tok::Bad, self.word_end(start)),
            _ => (Tok::Bad, start + 1),
        };
        if kind == Tok::Bad {
            self.doubtful = true;
        }
        self.pos = end;
        Token { kind, start, end }
    }

    /// Whether the byte before `at` ends a name, so that a point at `at` joins two names.
    fn name_before(&self, at: usize) -> bool {
        at.checked_sub(1)
            .and_then(|i| self.byte(i))
            .is_some_and(|b| is_word_byte(b) || b == b'`' || b == b'"')
    }

    #[inline]
    fn skip_space_and_comments(&mut self) {
        while let Some(byte) = self.byte(self.pos) {
            match byte {
                _ if is_space(byte) => self.pos += 1,
                b'#' | b'-' | b'/' | b'*' => {
                    if !self.skip_comment(byte) {
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    /// Takes the comment, or the end of an executable comment, that may start with `first` here. Never inlined: almost
    /// every token has space before it, and few have a comment.
    #[inline(never)]
    fn skip_comment(&mut self, first: u8) -> bool {
        let rest = self.sql.get(self.pos..).unwrap_or_default();
        let second = rest.get(1).copied();
        match (first, second) {
            (b'#', _) => self.skip_line(),
            (b'-', _) if comment::starts_with_dashes(rest) => self.skip_line(),
            (b'/', Some(b'*')) => self.comment(),
            (b'*', Some(b'/')) if self.in_executed => {
                self.in_executed = false;
                self.pos += 2;
            }
            _ => return false,
        }
        true
    }

    fn skip_line(&mut self) {
        let rest = self.sql.get(self.pos..).unwrap_or_default();
        self.pos = memchr(b'\n', rest).map_or(self.sql.len(), |n| self.pos + n + 1);
    }

    /// Takes one `/*` comment, or steps into it.
    fn comment(&mut self) {
        let start = self.pos;
        let comment = comment::read(self.sql, start);
        let end = match comment {
            Comment::Plain { end } => {
                let inside = end.and_then(|end| self.sql.get(start + 2..end - 2));
                self.hints.read_comment(inside.unwrap_or_default(), start + 2);
                end
            }
            Comment::OptimizerHint { end, odd_quotes } => {
                self.doubtful |= odd_quotes;
                end
            }
            Comment::Executable { gate, content, six_digits } => {
                self.doubtful |= six_digits && self.dialect.flavor == Flavor::Mysql;
                if let Some(gate) = gate {
                    self.saw_gated = true;
                    self.doubtful |= self.gate.is_some_and(|other| other != gate);
                    self.gate = Some(gate);
                }
                if gate.is_none() || self.gated == Gated::Executed {
                    self.in_executed = true;
                    self.pos = content;
                    return;
                }
                comment::end_of_skipped(self.sql, content)
            }
        };
        self.doubtful |= end.is_none();
        self.pos = end.unwrap_or(self.sql.len());
    }
}
