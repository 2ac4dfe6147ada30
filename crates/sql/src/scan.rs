//! One pass over the tokens of a statement: which of them speak against a replica, and what they leave behind.
//!
//! This is no parser. A read is safe on a replica when every word of it is known to be harmless or is only a name, every
//! parenthesis behind a name can be explained, every variable is known, and no byte was doubtful. The servers' grammars
//! make that enough: whatever makes a read more than a read begins with a reserved word, a call or an `@`.
//!
//! The same pass runs over statements that write, where only the effects matter.

use crate::dialect::Flavor;
use crate::effects::Effects;
use crate::lexer::Lexer;
use crate::reason::Reason;
use crate::schema;
use crate::target::Target;
use crate::token::{Tok, Token};
use crate::variable;
use crate::words::{self, Denied, Family, Function, Kw, Meaning, Role, Schema, Space};

/// Whether a hint toward a replica can overrule this reason: the statement only asks for what belongs to one node.
pub(crate) fn yields_to_hint(reason: Reason) -> bool {
    matches!(reason, Reason::SystemSchema | Reason::GlobalVariable | Reason::ServerState)
}

/// A token with what is known of it.
#[derive(Clone, Copy)]
struct Seen {
    token: Token,
    meaning: Meaning,
    /// A word right behind a point: a name whatever it spells.
    part: bool,
}

impl Seen {
    const NOTHING: Seen =
        Seen { token: Token { kind: Tok::End, start: 0, end: 0 }, meaning: Meaning::NAME, part: false };

    fn is(&self, kw: Kw) -> bool {
        self.meaning.kw == kw
    }
}

/// What the pass has found so far.
pub(crate) struct Scan<'s, 'a> {
    lexer: &'s mut Lexer<'a>,
    /// Where the statement can go. It only ever gets worse: replica, previous, primary.
    pub(crate) target: Target,
    pub(crate) reason: Reason,
    pub(crate) effects: Effects,
    /// The verb of a write that stands where a read could: `WITH ... UPDATE`.
    pub(crate) verb: Option<Kw>,
    /// Names before the first VALUES, SELECT or SET may have a list of columns behind them: INSERT.
    columns_follow: bool,
    before: Seen,
    before_that: Seen,
    /// A keyword that is a function only if a parenthesis follows.
    pending: Option<Kw>,
    depth: u32,
    /// One bit for each open parenthesis, the innermost lowest: it belongs to SUBSTRING, where FOR is no clause.
    substring: u128,
    /// Likewise: a WITH list is open at this level, so that `name (columns) AS` may stand there.
    with: u128,
    into: bool,
    schema: Option<Schema>,
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
        if !self.step(first) {
            self.run();
        }
    }

    /// Reads to the end of the statement; the lexer then stands behind its `;`.
    pub(crate) fn run(&mut self) {
        loop {
            let token = self.lexer.next();
            if self.step(token) {
                return;
            }
        }
    }

    /// Reads the tokens that start before `end`.
    pub(crate) fn run_until(&mut self, end: usize) {
        loop {
            let token = self.lexer.next();
            if token.start >= end || self.step(token) {
                return;
            }
        }
    }

    /// Speaks for the primary. The first reason stays, but one that a hint can overrule gives way to one that it cannot.
    pub(crate) fn primary(&mut self, reason: Reason) {
        if self.target != Target::Primary || (yields_to_hint(self.reason) && !yields_to_hint(reason)) {
            self.target = Target::Primary;
            self.reason = reason;
        }
    }

    fn previous(&mut self) {
        if self.target == Target::Replica {
            self.target = Target::Previous;
            self.reason = Reason::PreviousResult;
        }
    }

    /// Takes one token; true at the statement's end.
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
            Kw::Table => self.with &= !1,
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

    /// A point behind the name of a system schema.
    fn dot(&mut self) {
        if self.before.part || self.lexer_is_past_schema() {
            return;
        }
        let role = match self.before.token.kind {
            Tok::Word => self.before.meaning.role,
            Tok::Quoted => schema::role_of_quoted(self.before.token.bytes(self.lexer.sql)),
            _ => Role::Plain,
        };
        if let Role::Schema(schema) = role {
            self.schema = Some(schema);
        }
    }

    fn lexer_is_past_schema(&self) -> bool {
        self.before_that.token.kind == Tok::Dot && self.before_that.token.end == self.before.token.start
    }

    fn system_table(&mut self, schema: Schema, table: Token) {
        let name = table.bytes(self.lexer.sql);
        if schema == Schema::Information && schema::is_about_objects(name) {
            if self.target == Target::Replica {
                self.reason = Reason::MetadataRead;
            }
        } else {
            self.primary(Reason::SystemSchema);
        }
    }

    fn user_variable(&mut self) {
        let assigned = self.lexer.peek().kind == Tok::Assign;
        if assigned || self.into {
            self.effects |= Effects::SETS_USER_VARIABLE;
            self.primary(Reason::UserVariable);
        } else {
            self.effects |= Effects::READS_USER_VARIABLE;
        }
    }

    /// Takes the name behind `@@`.
    fn system_variable(&mut self) {
        match variable::read(self.lexer) {
            variable::Read::Replica => {}
            variable::Read::Previous => self.previous(),
            variable::Read::LastInsertId => {
                self.effects |= Effects::USES_LAST_INSERT_ID;
                self.primary(Reason::LastInsertId);
            }
            variable::Read::ConnectionId => self.primary(Reason::ConnectionId),
            variable::Read::Primary => self.primary(Reason::GlobalVariable),
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

    /// Explains a parenthesis by what stands before it; true if it is SUBSTRING's.
    fn parenthesis(&mut self, open: Token) -> bool {
        let before = self.before;
        match before.token.kind {
            // Also with space behind the point, where the server takes no keyword for a name but a function for one.
            Tok::Word if before.part || self.before_that.token.kind == Tok::Dot => {
                self.name_before_parenthesis(true);
            }
            Tok::Quoted => self.name_before_parenthesis(before.part),
            Tok::Word => match before.meaning.role {
                Role::Group | Role::DenyUnlessCalled | Role::Deny(_) => {}
                Role::Call(function) => {
                    self.call(function, before.token.end == open.start);
                    return matches!(before.meaning.kw, Kw::Substring | Kw::Substr | Kw::Mid);
                }
                Role::Type if self.type_may_stand() => {}
                Role::Plain | Role::Type | Role::Schema(_) => {
                    if !self.keyword_before_parenthesis(before.meaning.kw) {
                        self.name_before_parenthesis(false);
                    }
                }
            },
            Tok::Str | Tok::Number | Tok::UserVar | Tok::Null => self.primary(Reason::Unknown),
            _ => {}
        }
        false
    }

    /// Keywords that are not reserved everywhere, in the only places where they are keywords.
    fn keyword_before_parenthesis(&self, kw: Kw) -> bool {
        let earlier = &self.before_that;
        match kw {
            Kw::Of => earlier.is(Kw::Member) || earlier.is(Kw::As),
            Kw::Against => earlier.token.kind == Tok::Close,
            Kw::Columns => earlier.token.kind == Tok::Str,
            Kw::Rollup | Kw::Cube => earlier.is(Kw::By) && self.is_mysql(),
            Kw::SqlNoCache => earlier.is(Kw::Select),
            Kw::Any | Kw::Some_ => earlier.token.kind == Tok::Op,
            Kw::Lateral => earlier.is(Kw::Join) || (earlier.token.kind == Tok::Comma && self.is_mysql()),
            _ => false,
        }
    }

    /// Whether the word before last lets a type follow: AS, or the name of a column of JSON_TABLE.
    fn type_may_stand(&self) -> bool {
        let earlier = &self.before_that;
        match earlier.token.kind {
            Tok::Quoted => true,
            Tok::Word => earlier.is(Kw::As) || earlier.part || earlier.meaning == Meaning::NAME,
            _ => false,
        }
    }

    /// A name and a parenthesis: a list of columns where one can stand, else a call.
    fn name_before_parenthesis(&mut self, qualified: bool) {
        let earlier = self.before_that;
        let lists_columns = if qualified {
            false
        } else {
            earlier.is(Kw::As)
                || earlier.token.kind == Tok::Close
                || (self.with & 1 == 1
                    && (earlier.is(Kw::With)
                        || earlier.is(Kw::Recursive)
                        || earlier.token.kind == Tok::Comma))
        };
        if lists_columns || (self.columns_follow && self.depth == 0) {
            return;
        }
        self.effects |= Effects::OPAQUE | Effects::MAY_COMMIT;
        self.primary(Reason::UnknownFunction);
    }

    fn call(&mut self, function: Function, adjacent: bool) {
        match function {
            Function::Pure(family, space) if self.is_built_in(family, space, adjacent) => {}
            Function::JsonTable if self.table_may_stand() => {}
            Function::Pure(..) | Function::JsonTable => self.name_before_parenthesis(false),
            Function::LastInsertId => {
                self.effects |= Effects::USES_LAST_INSERT_ID;
                self.primary(Reason::LastInsertId);
            }
            Function::PreviousResult => self.previous(),
            Function::GetLock => self.lock_function(Effects::TAKES_LOCK),
            Function::ReleaseLock => self.lock_function(Effects::RELEASES_LOCK),
            Function::ReleaseAllLocks => self.lock_function(Effects::RELEASES_ALL_LOCKS),
            Function::InspectLock => self.lock_function(Effects::NONE),
            Function::Sequence => {
                self.effects |= Effects::MAY_COMMIT;
                self.primary(Reason::Sequence);
            }
            Function::Server => self.primary(Reason::ServerState),
            Function::ConnectionId => self.primary(Reason::ConnectionId),
        }
    }

    fn is_built_in(&self, family: Family, space: Space, adjacent: bool) -> bool {
        let dialect = self.lexer.dialect();
        let mariadb = dialect.flavor == Flavor::Mariadb;
        let spelt_as_function = match space {
            Space::Allowed => true,
            Space::Forbidden => adjacent || dialect.ignore_space,
            Space::ForbiddenInMariadb => adjacent || dialect.ignore_space || !mariadb,
        };
        spelt_as_function
            && match family {
                Family::Both => true,
                Family::Mysql => !mariadb,
                Family::Mariadb => mariadb,
            }
    }

    /// Whether a table function may stand here. In MySQL its name is reserved; in MariaDB a comma may be that of a list
    /// of expressions.
    fn table_may_stand(&self) -> bool {
        let earlier = &self.before_that;
        earlier.is(Kw::From) || earlier.is(Kw::Join) || self.is_mysql()
    }

    fn is_mysql(&self) -> bool {
        self.lexer.dialect().flavor == Flavor::Mysql
    }

    fn lock_function(&mut self, effects: Effects) {
        self.effects |= effects;
        self.primary(Reason::LockFunction);
    }
}
