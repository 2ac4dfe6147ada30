//! Parentheses: which of them call something, and what the call means.
//!
//! In both grammars a name and a parenthesis make a call wherever an expression can stand. The exceptions are lists of columns
//! and types, which stand where no expression can.

use crate::dialect::Flavor;
use crate::effects::Effects;
use crate::lexer::is_space;
use crate::reason::Reason;
use crate::scan::Scan;
use crate::token::{Tok, Token};
use crate::words::{Family, Function, Kw, Meaning, Role, Space};

/// What stands between the name of a function and its parenthesis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    Nothing,
    Space,
    /// Perhaps among space.
    Comment,
}

impl Scan<'_, '_> {
    /// Explains a parenthesis by what stands before it; true if it is SUBSTRING's.
    pub(crate) fn parenthesis(&mut self, open: Token) -> bool {
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
                    self.call(function, self.gap(before.token.end, open.start));
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
        self.effects |= Effects::OPAQUE | Effects::MAY_COMMIT | Effects::SETS_USER_VARIABLE;
        self.primary(Reason::UnknownFunction);
    }

    /// What stands between a name and its parenthesis.
    fn gap(&self, from: usize, to: usize) -> Gap {
        match self.lexer.sql.get(from..to) {
            Some([]) => Gap::Nothing,
            Some(between) if between.iter().copied().all(is_space) => Gap::Space,
            _ => Gap::Comment,
        }
    }

    fn call(&mut self, function: Function, gap: Gap) {
        match function {
            Function::Pure(family, space) if self.is_built_in(family, space, gap) => {}
            Function::Point if self.is_mysql() || self.arguments() == Some(2) => {}
            Function::Geometry if self.is_mysql() || self.lexer.peek().kind != Tok::Close => {}
            Function::JsonTable if self.table_may_stand() => {}
            Function::Pure(..) | Function::Point | Function::Geometry | Function::JsonTable => {
                self.name_before_parenthesis(false);
            }
            Function::LastInsertId => {
                self.effects |= Effects::USES_LAST_INSERT_ID;
                if self.lexer.peek().kind != Tok::Close {
                    self.effects |= Effects::SETS_LAST_INSERT_ID;
                }
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

    fn is_built_in(&self, family: Family, space: Space, gap: Gap) -> bool {
        let dialect = self.lexer.dialect();
        let mariadb = dialect.flavor == Flavor::Mariadb;
        // IGNORE_SPACE has the servers look past space, and not past a comment (`find_keyword` of their `sql_lex.cc`).
        let close = gap == Gap::Nothing || (gap == Gap::Space && dialect.ignore_space);
        let spelt_as_function = match space {
            Space::Allowed => true,
            Space::Forbidden => close,
            Space::ForbiddenInMariadb => close || !mariadb,
        };
        spelt_as_function
            && match family {
                Family::Both => true,
                Family::Mysql => !mariadb,
                Family::Mariadb => mariadb,
                Family::MariadbSince(version) => mariadb && dialect.version >= version,
                Family::MysqlAndMariadbSince(version) => !mariadb || dialect.version >= version,
                Family::MariadbAndMysqlBefore(version) => mariadb || (1..version).contains(&dialect.version),
            }
    }

    /// How many arguments stand behind the parenthesis that was taken last; `None` if that is not to be told.
    fn arguments(&self) -> Option<u32> {
        let mut ahead = *self.lexer;
        let (mut depth, mut commas, mut any) = (0u32, 0, false);
        loop {
            match ahead.next().kind {
                Tok::Close if depth == 0 => return Some(if any { commas + 1 } else { 0 }),
                Tok::Close => depth -= 1,
                Tok::Open => depth += 1,
                Tok::Comma if depth == 0 => commas += 1,
                Tok::End | Tok::Semicolon | Tok::Bad => return None,
                _ => {}
            }
            any = true;
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
