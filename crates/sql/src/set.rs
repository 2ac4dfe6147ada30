//! The assignments of a SET statement.

use crate::dialect::Dialect;
use crate::lexer::{Gated, Lexer};
use crate::schema::inside_quotes;
use crate::token::{Tok, Token};
use crate::variable::{self, Scope};
use crate::words::{self, Kw};

/// What one item of a SET statement sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A session variable, also where no scope is written.
    Session,
    /// `GLOBAL x`, `@@global.x`
    Global,
    /// `PERSIST x`, `PERSIST_ONLY x` and their `@@` forms
    Persist,
    /// `@x`
    UserVariable,
    /// `NAMES 'x' [COLLATE 'y']`; the value spans both
    Names,
    /// `CHARACTER SET 'x'`, `CHARSET 'x'`
    Charset,
    /// `TRANSACTION ...` of the next transaction; the value is the list of characteristics. Also
    /// `@@transaction_read_only` and `@@transaction_isolation` without a scope.
    Transaction,
    /// `SESSION TRANSACTION ...`
    SessionTransaction,
    /// `GLOBAL TRANSACTION ...`
    GlobalTransaction,
    /// `ROLE ...`
    Role,
    /// `PASSWORD ...`, `DEFAULT ROLE ...`, `RESOURCE GROUP ...`, a structured variable: state of the server
    Server,
}

/// One item of a SET statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment<'a> {
    /// What it sets.
    pub what: What,
    /// The variable's name without quotes, `@` and scope; the first word for what has no name. A doubled quote inside
    /// quotes stays doubled.
    pub name: &'a [u8],
    /// The text of the value as written, comments inside included.
    pub value: &'a [u8],
    /// The value is a plain literal: a string, with introducer or N, a number with or without sign, hexadecimal or
    /// binary, NULL, TRUE, FALSE or DEFAULT. Where it sets a system variable, a bare word such as ON or utf8mb4 counts too.
    pub literal: bool,
}

/// The assignments of the first statement of `sql`; nothing if it is not a SET statement.
///
/// `SET STATEMENT ... FOR ...` sets nothing that lasts and gives nothing here. The content of executable comments counts
/// as executed. The iterator ends at the first item that it cannot read.
pub fn assignments(sql: &[u8], dialect: Dialect) -> Assignments<'_> {
    let mut lexer = Lexer::new(sql, dialect, Gated::Executed);
    let first = lexer.next();
    let is_set = lexer.keyword(first) == Kw::Set;
    let done = !is_set || lexer.peek_keyword() == Kw::Statement;
    Assignments { lexer, scope: Scope::None, done, value_at: lexer }
}

/// The names of the user variables that a text mentions, as [`Assignment::name`] has them, in any of its statements.
pub fn user_variables(sql: &[u8], dialect: Dialect) -> impl Iterator<Item = &[u8]> {
    let mut lexer = Lexer::new(sql, dialect, Gated::Executed);
    std::iter::from_fn(move || {
        loop {
            let token = lexer.next();
            match token.kind {
                Tok::End => return None,
                Tok::UserVar => {
                    return Some(user_variable_name(token.bytes(sql).get(1..).unwrap_or_default()));
                }
                _ => {}
            }
        }
    })
}

/// See [`assignments`].
#[derive(Clone)]
pub struct Assignments<'a> {
    lexer: Lexer<'a>,
    /// A scope that was written holds for the items behind it that have none of their own.
    scope: Scope,
    done: bool,
    /// Where the value of the last item begins.
    value_at: Lexer<'a>,
}

impl<'a> Assignments<'a> {
    /// The items from where `lexer` stands: behind SET, or behind SET STATEMENT.
    pub(crate) fn from_lexer(lexer: Lexer<'a>) -> Assignments<'a> {
        Assignments { lexer, scope: Scope::None, done: false, value_at: lexer }
    }

    /// Where the last item ended.
    pub(crate) fn lexer(&self) -> Lexer<'a> {
        self.lexer
    }

    /// Where the value of the last item begins; it ends at [`Self::lexer`].
    pub(crate) fn value_lexer(&self) -> Lexer<'a> {
        self.value_at
    }

    fn sql(&self) -> &'a [u8] {
        self.lexer.sql
    }

    fn item(&mut self) -> Option<Assignment<'a>> {
        let first = self.lexer.next();
        match first.kind {
            Tok::UserVar => {
                let name = first.bytes(self.sql()).get(1..).unwrap_or_default();
                self.assigned(What::UserVariable, user_variable_name(name))
            }
            Tok::AtAt => {
                let variable = variable::name(&mut self.lexer)?;
                let next_transaction = variable.scope == Scope::None && is_of_transaction(variable.name);
                let what = if next_transaction { What::Transaction } else { what(variable.scope) };
                self.assigned(what, variable.name)
            }
            Tok::Quoted => self.variable(first, Scope::None),
            Tok::Word => self.word(first),
            _ => None,
        }
    }

    fn word(&mut self, first: Token) -> Option<Assignment<'a>> {
        let sql = self.sql();
        let next = self.lexer.peek();
        let follows = self.lexer.keyword(next);
        // `SET names = 1` and `SET role = 1` are assignments.
        let plain = !matches!(next.kind, Tok::Assign | Tok::Dot) && !is_equals(next, sql);
        match self.lexer.keyword(first) {
            Kw::Names if plain => self.rest(What::Names, first),
            Kw::Charset if plain => self.rest(What::Charset, first),
            Kw::Char | Kw::Character if follows == Kw::Set => {
                self.lexer.next();
                self.rest(What::Charset, first)
            }
            Kw::Transaction if plain => self.whole_rest(What::Transaction, first),
            Kw::Password => self.whole_rest(What::Server, first),
            Kw::Role_ if plain => self.whole_rest(What::Role, first),
            Kw::Default | Kw::Resource if plain => self.whole_rest(What::Server, first),
            Kw::Session | Kw::Local | Kw::Global | Kw::Persist | Kw::PersistOnly if plain => {
                let scope = variable::scope_of(first, sql);
                self.scope = scope;
                let name = self.lexer.next();
                if self.lexer.keyword(name) == Kw::Transaction && !is_equals(self.lexer.peek(), sql) {
                    let what = if scope == Scope::Session {
                        What::SessionTransaction
                    } else {
                        What::GlobalTransaction
                    };
                    return self.whole_rest(what, name);
                }
                self.variable(name, scope)
            }
            _ => self.variable(first, Scope::None),
        }
    }

    /// `name = value` or `a.name = value`.
    fn variable(&mut self, name: Token, scope: Scope) -> Option<Assignment<'a>> {
        if !matches!(name.kind, Tok::Word | Tok::Quoted) {
            return None;
        }
        let mut last = name;
        let mut structured = false;
        if self.lexer.peek().kind == Tok::Dot {
            self.lexer.next();
            last = self.lexer.next();
            structured = true;
        }
        let scope = match (structured, scope) {
            (true, _) => Scope::Structured,
            (false, Scope::None) => self.scope,
            (false, scope) => scope,
        };
        self.assigned(what(scope), inside_quotes(last.bytes(self.sql())))
    }

    /// `= value` behind a name.
    fn assigned(&mut self, what: What, name: &'a [u8]) -> Option<Assignment<'a>> {
        let operator = self.lexer.next();
        if operator.kind != Tok::Assign && !is_equals(operator, self.sql()) {
            return None;
        }
        let (value, literal) = self.value(what == What::UserVariable, true);
        Some(Assignment { what, name, value, literal })
    }

    /// The value of an item without an operator.
    fn rest(&mut self, what: What, first: Token) -> Option<Assignment<'a>> {
        let (value, literal) = self.value(false, true);
        Some(Assignment { what, name: first.bytes(self.sql()), value, literal })
    }

    /// An item that takes the rest of the statement.
    fn whole_rest(&mut self, what: What, first: Token) -> Option<Assignment<'a>> {
        let (value, literal) = self.value(false, false);
        Some(Assignment { what, name: first.bytes(self.sql()), value, literal })
    }

    /// Takes a value up to the comma, the FOR of SET STATEMENT or the end.
    fn value(&mut self, user_variable: bool, comma_ends: bool) -> (&'a [u8], bool) {
        let sql = self.sql();
        self.value_at = self.lexer;
        let start = self.lexer.peek().start;
        let mut end = start;
        let mut depth = 0u32;
        let mut literal = Literal::Nothing;
        loop {
            let token = self.lexer.peek();
            match token.kind {
                Tok::End | Tok::Semicolon => break,
                Tok::Comma if depth == 0 && comma_ends => break,
                Tok::Word if depth == 0 && self.lexer.keyword(token) == Kw::For && comma_ends => break,
                Tok::Open => depth = depth.saturating_add(1),
                Tok::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
            literal = literal.and(token, sql, user_variable);
            end = token.end;
            self.lexer.next();
        }
        (sql.get(start..end).unwrap_or_default(), literal.is_complete())
    }
}

impl<'a> Iterator for Assignments<'a> {
    type Item = Assignment<'a>;

    fn next(&mut self) -> Option<Assignment<'a>> {
        if self.done {
            return None;
        }
        let item = self.item();
        self.done = item.is_none() || self.lexer.peek().kind != Tok::Comma;
        if !self.done {
            self.lexer.next();
        }
        item
    }
}

/// Whether the tokens of a value so far make a literal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Literal {
    Nothing,
    Sign,
    Introducer,
    String,
    Whole,
    No,
}

impl Literal {
    fn and(self, token: Token, sql: &[u8], user_variable: bool) -> Literal {
        let bytes = token.bytes(sql);
        match (self, token.kind) {
            (Literal::Nothing | Literal::Introducer | Literal::String, Tok::Str) => Literal::String,
            (Literal::Nothing | Literal::Sign, Tok::Number) => Literal::Whole,
            (Literal::Nothing, Tok::Null) => Literal::Whole,
            (Literal::Nothing, Tok::Op) if matches!(bytes, b"-" | b"+") => Literal::Sign,
            (Literal::Nothing, Tok::Word) => match words::lookup(bytes).kw {
                Kw::Null | Kw::True | Kw::False | Kw::Default => Literal::Whole,
                _ if introduces(bytes) && sql.get(token.end) == Some(&b'\'') => Literal::Introducer,
                _ if bytes.starts_with(b"_") => Literal::Introducer,
                _ if user_variable => Literal::No,
                _ => Literal::Whole,
            },
            // NAMES x COLLATE y
            (Literal::Whole | Literal::String, Tok::Word) if words::lookup(bytes).kw == Kw::Collate => {
                Literal::Nothing
            }
            _ => Literal::No,
        }
    }

    fn is_complete(self) -> bool {
        matches!(self, Literal::String | Literal::Whole)
    }
}

/// N'...', X'...', B'...'
fn introduces(word: &[u8]) -> bool {
    matches!(word, [b'n' | b'N' | b'x' | b'X' | b'b' | b'B'])
}

/// A user variable's name, without its `@`, out of its quotes.
pub(crate) fn user_variable_name(name: &[u8]) -> &[u8] {
    match name {
        [b'\'', inner @ .., b'\''] => inner,
        _ => inside_quotes(name),
    }
}

fn what(scope: Scope) -> What {
    match scope {
        Scope::None | Scope::Session => What::Session,
        Scope::Global => What::Global,
        Scope::Persist => What::Persist,
        Scope::Structured => What::Server,
    }
}

/// Variables that the `@@` form without a scope sets for the next transaction alone (the manual's "SET TRANSACTION").
fn is_of_transaction(name: &[u8]) -> bool {
    [&b"transaction_isolation"[..], b"transaction_read_only", b"tx_isolation", b"tx_read_only"]
        .iter()
        .any(|v| name.eq_ignore_ascii_case(v))
}

fn is_equals(token: Token, sql: &[u8]) -> bool {
    token.kind == Tok::Op && token.bytes(sql) == b"="
}
