//! The pieces a statement is made of, cut as both servers' lexers cut them.

/// The sort of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tok {
    /// A bare word: a keyword or a name.
    Word,
    /// A name in backticks, or in double quotes under ANSI_QUOTES. The range includes the quotes.
    Quoted,
    /// A string literal. The range includes the quotes; an introducer or N before it is a word of its own.
    Str,
    /// A number in any notation that starts with a digit or a point.
    Number,
    /// `@v`, `` @`v` ``, `@'v'`. The range includes the `@`.
    UserVar,
    /// `@@`, before the name of a system variable.
    AtAt,
    /// `:=`
    Assign,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
    /// `.` between parts of a name.
    Dot,
    /// `;`
    Semicolon,
    /// `\N`, an old spelling of NULL.
    Null,
    /// An operator or a placeholder: one byte of `+-*/%=<>!&|^~?{}`.
    Op,
    /// Something no server accepts here, or that servers read in different ways. The rest may be misread.
    Bad,
    /// The end of the text.
    End,
}

/// One token and where it stands: `start..end` are bytes of the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Tok,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    /// Its bytes.
    pub(crate) fn bytes<'a>(&self, sql: &'a [u8]) -> &'a [u8] {
        sql.get(self.start..self.end).unwrap_or_default()
    }
}
