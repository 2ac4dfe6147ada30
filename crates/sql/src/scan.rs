//! One pass over the tokens of a statement: which of them speak against a replica, and what they leave behind.
//!
//! This is no parser. A read is safe on a replica when every word of it is known to be harmless or is only a name, every
//! parenthesis behind a name can be explained, every variable is known, and no byte was doubtful. The servers' grammars
//! make that enough: whatever makes a read more than a read begins with a reserved word, a call or an `@`.
//!
//! The same pass runs over statements that write, where only the effects matter.

use crate::effects::Effects;
use crate::lexer::Lexer;
use crate::reason::Reason;
use crate::target::Target;
use crate::token::{Tok, Token};
use crate::words::{self, Denied, Kw, Meaning, Role, Schema};

/// Whether a hint toward a replica can overrule this reason: the statement only asks for what belongs to one node.
pub(crate) fn yields_to_hint(reason: Reason) -> bool {
    matches!(reason, Reason::SystemSchema | Reason::GlobalVariable | Reason::ServerState)
}

/// A token with what is known of it.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) token: Token,
    pub(crate) meaning: Meaning,
    /// A word right behind a point: a name whatever it spells.
    pub(crate) part: bool,
}

impl Seen {
    const NOTHING: Seen =
        Seen { token: Token { kind: Tok::End, start: 0, end: 0 }, meaning: Meaning::NAME, part: false };

    pub(crate) fn is(&self, kw: Kw) -> bool {
        self.meaning.kw == kw
    }
}

/// What the pass has found so far.
pub(crate) struct Scan<'s, 'a> {
    pub(crate) lexer: &'s mut Lexer<'a>,
    /// Where the statement can go. It only ever gets worse: replica, previous, primary.
    pub(crate) target: Target,
    pub(crate) reason: Reason,
    pub(crate) effects: Effects,
    /// The verb of a write that stands where a read could: `WITH ... UPDATE`.
    pub(crate) verb: Option<Kw>,
    /// Names before the first VALUES, SELECT or SET may have a list of columns behind them: INSERT.
    pub(crate) columns_follow: bool,
    pub(crate) before: Seen,
    pub(crate) before_that: Seen,
    /// A keyword that is a function only if a parenthesis follows.
    pending: Option<Kw>,
    pub(crate) depth: u32,
    /// One bit for each open parenthesis, the innermost lowest: it belongs to SUBSTRING, where FOR is no clause.
    substring: u128,
    /// Likewise: a WITH list is open at this level, so that `name (columns) AS` may stand there.
    pub(crate) with: u128,
    pub(crate) into: bool,
    /// FROM or TABLE stands somewhere: also in EXTRACT(... FROM ...), which is none the worse for it.
    pub(crate) tables: bool,
    pub(crate) schema: Option<Schema>,
}

impl<'s, 'a> Scan<'s, 'a> {
    pub(crate) fn new(lexer: &'s mut Lexer<'a>) -> Scan<'s, 'a> {
        Scan {
            lexer,
            target: Target::Replica,
            reason: Reason::Read,
            effects: Effects::NONE,
            verb: None,
            columns_follow: false,
            before: Seen::NOTHING,
            before_that: Seen::NOTHING,
            pending: None,
            depth: 0,
            substring: 0,
            with: 0,
            into: false,
            tables: false,
            schema: None,
        }
    }

    /// For INSERT and REPLACE.
    pub(crate) fn with_column_list(mut self) -> Scan<'s, 'a> {
        self.columns_follow = true;
        self
    }

    /// Takes `first`, and reads to the end of the statement.
    pub(crate) fn run_from(&mut self, first: Token) {
        self.walk(first, usize::MAX);
    }

    /// Reads to the end of the statement; the lexer then stands behind its `;`.
    pub(crate) fn run(&mut self) {
        let first = self.lexer.next();
        self.walk(first, usize::MAX);
    }

    /// Reads the tokens that start before `end`.
    pub(crate) fn run_until(&mut self, end: usize) {
        let first = self.lexer.next();
        self.walk(first, end);
    }

    /// The one loop over tokens: what it calls is inlined here and nowhere else, which saves a fifth of its instructions.
    fn walk(&mut self, first: Token, end: usize) {
        let mut token = first;
        while token.start < end && !self.step(token) {
            token = self.lexer.next_inlined();
        }
    }

    /// Speaks for the primary. The first reason stays, but one that a hint can overrule gives way to one that it cannot.
    pub(crate) fn primary(&mut self, reason: Reason) {
        if self.target != Target::Primary || (yields_to_hint(self.reason) && !yields_to_hint(reason)) {
            self.target = Target::Primary;
            self.reason = reason;
        }
    }

    pub(crate) fn previous(&mut self) {
        self.effects |= Effects::LOOKS_BACK;
        if self.target == Target::Replica {
            self.target = Target::Previous;
            self.reason = Reason::PreviousResult;
        }
    }

    /// Takes one token; true at the statement's end.
    #[inline(always)]
    fn step(&mut self, token: Token) -> bool {
        if token.kind != Tok::Open && self.pending.is_some() {
            self.write_verb();
        }
        let part = self.before.token.kind == Tok::Dot && self.before.token.end == token.start;
        let mut meaning = Meaning::NAME;
        match token.kind {
            Tok::Word if !part => {
                meaning = words::lookup(token.bytes(self.lexer.sql));
                self.word(meaning);
            }
            Tok::Word | Tok::Quoted => {}
            Tok::Str | Tok::Number | Tok::Null | Tok::Comma | Tok::Op => {}
            Tok::Dot => self.dot(),
            Tok::UserVar => self.user_variable(),
            Tok::AtAt => self.system_variable(),
            Tok::Assign => self.primary(Reason::UserVariable),
            Tok::Open => self.open(token),
            Tok::Close => self.close(),
            Tok::Semicolon | Tok::End => {
                if self.depth != 0 {
                    self.primary(Reason::Unknown);
                }
                return true;
            }
            Tok::Bad => self.primary(Reason::Unknown),
        }
        if let Some(schema) = self.schema
            && token.kind != Tok::Dot
        {
            self.schema = None;
            self.system_table(schema, token);
        }
        self.before_that = self.before;
        self.before = Seen { token, meaning, part };
        false
    }

    #[inline]
    fn word(&mut self, meaning: Meaning) {
        if meaning == Meaning::NAME {
            return;
        }
        match meaning.role {
            Role::Plain | Role::Type | Role::Call(_) | Role::Schema(_) => {}
            Role::Group => self.clause(meaning.kw),
            Role::DenyUnlessCalled => self.pending = Some(meaning.kw),
            Role::Deny(denied) => self.denied(meaning.kw, denied),
        }
        match meaning.kw {
            Kw::For => self.for_clause(),
            Kw::With if self.list_may_begin() => self.with |= 1,
            Kw::Table => {
                self.with &= !1;
                self.tables = true;
            }
            Kw::From => self.tables = true,
            _ => {}
        }
    }

    /// WITH begins a list at the start of a statement or subquery; elsewhere it belongs to ROLLUP, QUERY EXPANSION, TIES.
    fn list_may_begin(&self) -> bool {
        matches!(self.before.token.kind, Tok::End | Tok::Open)
    }

    fn clause(&mut self, kw: Kw) {
        match kw {
            Kw::Select | Kw::Values => {
                self.with &= !1;
                self.columns_follow = false;
            }
            Kw::Value => self.columns_follow = false,
            Kw::SqlCalcFoundRows => self.effects |= Effects::CALC_FOUND_ROWS,
            _ => {}
        }
    }

    fn denied(&mut self, kw: Kw, denied: Denied) {
        match denied {
            Denied::Write => {
                self.pending = Some(kw);
                self.write_verb();
            }
            Denied::Lock => self.primary(Reason::LockingRead),
            Denied::Into => {
                self.into = true;
                self.primary(Reason::Into);
            }
            // CAST(x AS CHAR CHARACTER SET utf8mb4)
            Denied::Other if kw == Kw::Set && (self.before.is(Kw::Character) || self.before.is(Kw::Char)) => {
            }
            Denied::Other => {
                if kw == Kw::Set {
                    self.columns_follow = false;
                }
                self.primary(Reason::Unknown);
            }
        }
    }

    /// INSERT, UPDATE, DELETE or REPLACE that is not a function: the statement writes if a WITH list was open, and is
    /// nothing known otherwise.
    fn write_verb(&mut self) {
        let verb = self.pending.take();
        if self.before.is(Kw::For) {
            return;
        }
        if self.with & 1 == 1 && self.depth == 0 && self.verb.is_none() {
            self.verb = verb;
            self.primary(Reason::Write);
        } else {
            self.primary(Reason::Unknown);
        }
        self.with &= !1;
    }

    fn for_clause(&mut self) {
        let next = self.lexer.peek();
        let next =
            if next.kind == Tok::Word { words::lookup(next.bytes(self.lexer.sql)).kw } else { Kw::None };
        match next {
            Kw::Update | Kw::Share => self.primary(Reason::LockingRead),
            Kw::SystemTime | Kw::Ordinality => {}
            Kw::Join | Kw::Order | Kw::GroupBy if self.before.is(Kw::Index) || self.before.is(Kw::Key) => {}
            _ if self.before.is(Kw::Value) => {
                self.effects |= Effects::MAY_COMMIT;
                self.primary(Reason::Sequence);
            }
            _ if self.substring & 1 == 1 => {}
            _ => self.primary(Reason::Unknown),
        }
    }

    fn open(&mut self, open: Token) {
        let in_substring = self.parenthesis(open);
        self.pending = None;
        self.depth = self.depth.saturating_add(1);
        self.substring = (self.substring << 1) | u128::from(in_substring);
        self.with <<= 1;
    }

    fn close(&mut self) {
        match self.depth.checked_sub(1) {
            Some(depth) => self.depth = depth,
            None => self.primary(Reason::Unknown),
        }
        self.substring >>= 1;
        self.with >>= 1;
    }
}
