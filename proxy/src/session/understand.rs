//! What the client wants: the command byte, the classifier's word on a statement, and what the session knows besides.

use std::rc::Rc;

use gtid::Flavor;
use sql::{Classified, Effects, KillKind, Kind, PreparedText, Source, SslStatus, Target, Victim};
use wire::Execute;
use wire::command::{CommandCode, query_text};
use wire::prepared::statement_id;
use wire::reply::Expect;

use super::Session;
use super::prepared::{LAST_STATEMENT, Prepared};
use crate::cluster::snapshot::{Node, NodeId, Role as NodeRole};
use crate::config::Mode;
use crate::error::ClientError;
use crate::relay::Command;
use crate::route::Request;

const SQL_MODE: &[u8] = b"sql_mode";

/// A command that a node answers.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) request: Request,
    pub(super) kind: Kind,
    pub(super) effects: Effects,
    pub(super) hints: sql::Hints,
    pub(super) expect: Expect,
    pub(super) role: Role,
    /// How many results it has at least, if none is an error; `u32::MAX`: each but the last is followed by another one.
    pub(super) results: u32,
}

/// What a statement is besides its text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Role {
    /// Nothing: the text stands in the command, at this range of its payload.
    Text(std::ops::Range<usize>),
    /// COM_STMT_PREPARE.
    Prepare,
    /// COM_STMT_EXECUTE of the statement with this id.
    Execute(u32),
    /// COM_STMT_FETCH.
    Fetch(u32),
    /// COM_STMT_RESET.
    Reset(u32),
    /// COM_INIT_DB, COM_SET_OPTION and others that change or ask for the state of a connection.
    Plain(CommandCode),
}

/// What to do about a command.
#[derive(Clone, Debug)]
pub(super) enum Understood {
    /// The client goes.
    Quit,
    /// The proxy says OK.
    Ping,
    /// A node is to run it.
    Run(Statement),
    /// A statement about the proxy, answered by it.
    Own(std::ops::Range<usize>),
    /// SELECT CONNECTION_ID().
    ConnectionId(std::ops::Range<usize>),
    /// SHOW STATUS about the client's TLS.
    SslStatus(SslStatus),
    /// KILL of a connection or its statement, by its id.
    Kill(KillKind, u64),
    /// COM_STMT_CLOSE: no answer.
    CloseStatement(u32),
    /// COM_STMT_SEND_LONG_DATA: no answer.
    LongData(u32),
    /// COM_BINLOG_DUMP, COM_BINLOG_DUMP_GTID: events follow, no reply.
    Follow(Statement),
    /// COM_CHANGE_USER.
    ChangeUser,
    /// COM_RESET_CONNECTION.
    ResetConnection,
    /// The client is told why not, and the session goes on.
    Refuse(ClientError),
}

impl Session {
    /// Understands a command.
    pub(super) fn understand(&self, command: &Command) -> Understood {
        let payload = command.payload(&self.client);
        let Some(code) = payload.first().copied().and_then(CommandCode::from_u8) else {
            return Understood::Refuse(ClientError::unknown_command());
        };
        match code {
            CommandCode::Quit => Understood::Quit,
            CommandCode::Ping => Understood::Ping,
            CommandCode::Query => self.understand_query(payload, command.whole),
            CommandCode::StmtPrepare => {
                let text = payload.get(1..).unwrap_or_default();
                let classified = self.classify(text);
                Understood::Run(self.statement(classified, Expect::Prepare, Role::Prepare, text))
            }
            CommandCode::StmtExecute => self.understand_execute(payload, command.whole),
            CommandCode::StmtBulkExecute => self.understand_bulk(payload),
            CommandCode::StmtFetch => self.about_statement(payload, Expect::Fetch, Role::Fetch),
            CommandCode::StmtReset => self.about_statement(payload, Expect::Single, Role::Reset),
            CommandCode::StmtClose => {
                self.statement_id(payload).map_or_else(malformed, Understood::CloseStatement)
            }
            CommandCode::StmtSendLongData => {
                self.statement_id(payload).map_or_else(malformed, Understood::LongData)
            }
            CommandCode::ChangeUser => Understood::ChangeUser,
            CommandCode::ResetConnection => Understood::ResetConnection,
            CommandCode::ProcessKill => match payload.get(1..5).and_then(|id| id.try_into().ok()) {
                Some(id) => Understood::Kill(KillKind::Connection, u64::from(u32::from_le_bytes(id))),
                None => Understood::Refuse(ClientError::malformed("a COM_PROCESS_KILL without an id")),
            },
            CommandCode::FieldList => {
                run(plain(code, Target::Replica, sql::Reason::MetadataRead, Expect::FieldList))
            }
            CommandCode::InitDb | CommandCode::SetOption => {
                run(plain(code, Target::Primary, sql::Reason::SessionState, Expect::Single))
            }
            CommandCode::Statistics => {
                run(plain(code, Target::Primary, sql::Reason::ServerState, Expect::Statistics))
            }
            CommandCode::RegisterSlave => {
                run(plain(code, Target::Primary, sql::Reason::ServerState, Expect::Single))
            }
            CommandCode::BinlogDump | CommandCode::BinlogDumpGtid => {
                Understood::Follow(plain(code, Target::Primary, sql::Reason::ServerState, Expect::Single))
            }
            CommandCode::ProcessInfo => {
                run(plain(code, Target::Primary, sql::Reason::ServerState, Expect::Query))
            }
            CommandCode::Debug | CommandCode::Refresh => {
                run(plain(code, Target::Primary, sql::Reason::ServerState, Expect::Single))
            }
            _ => Understood::Refuse(ClientError::unknown_command()),
        }
    }

    fn understand_query(&self, payload: &[u8], whole: bool) -> Understood {
        let range = match query_text(payload, self.capabilities) {
            Ok(range) => range,
            Err(error) => return Understood::Refuse(ClientError::malformed(error)),
        };
        let text = payload.get(range.clone()).unwrap_or_default();
        let classified = if whole { self.classify(text) } else { not_seen_whole() };
        match classified.target {
            Target::Proxy if classified.kind == Kind::Tidemark => return Understood::Own(range),
            Target::Proxy if classified.effects.contains(Effects::CONNECTION_ID) => {
                return Understood::ConnectionId(range);
            }
            Target::Proxy if classified.kind == Kind::Kill => return self.understand_kill(text, None),
            Target::Primary if classified.kind == Kind::Show => {
                if let Some(status) = sql::ssl_status(text, self.dialect) {
                    return Understood::SslStatus(status);
                }
            }
            _ if classified.kind != Kind::Kill && self.kills_out_of_sight(&classified, text) => {
                return Understood::Refuse(ClientError::kill_out_of_sight());
            }
            _ => {}
        }
        Understood::Run(self.statement(classified, Expect::Query, Role::Text(range), text))
    }

    /// KILL with a connection id, of which the servers know nothing. What only they can compute would name a stranger there.
    fn understand_kill(&self, text: &[u8], parameter: Option<u64>) -> Understood {
        match sql::kill_target(text, self.dialect) {
            Some((kind, Victim::Id(id))) => Understood::Kill(kind, id),
            Some((kind, Victim::Own)) => Understood::Kill(kind, u64::from(self.id)),
            Some((kind, Victim::Parameter)) if parameter.is_some() => {
                Understood::Kill(kind, parameter.unwrap_or_default())
            }
            _ => Understood::Refuse(ClientError::kill_out_of_sight()),
        }
    }

    /// Whether there is a KILL among several statements, or in one that is prepared as text.
    fn kills_out_of_sight(&self, classified: &Classified, text: &[u8]) -> bool {
        match classified.kind {
            Kind::PrepareText => match sql::prepared_text(text, self.dialect) {
                Some(PreparedText::Prepare { source: Source::Literal(literal), .. }) => {
                    let text = sql::string_value(literal, self.dialect);
                    self.classify(&text).effects.contains(Effects::KILLS)
                }
                _ => false,
            },
            _ => classified.effects.contains(Effects::KILLS),
        }
    }

    fn understand_execute(&self, payload: &[u8], whole: bool) -> Understood {
        let id = match self.statement_id(payload) {
            Ok(id) => id,
            Err(error) => return malformed(error),
        };
        let Some(prepared) = self.prepared.get(id) else {
            return Understood::Refuse(no_such_statement(id, "mysqld_stmt_execute"));
        };
        let execute = match Execute::parse(payload, prepared.params, self.capabilities) {
            Ok(execute) => execute,
            Err(error) => return malformed(error),
        };
        if prepared.classified.kind == Kind::Kill && prepared.classified.target == Target::Proxy {
            let types = execute.types.clone().and_then(|range| payload.get(range));
            let types = types.or(prepared.types.as_deref()).unwrap_or_default();
            return self.understand_kill(&prepared.text, execute.first_number(payload, types));
        }
        let mut statement =
            self.statement(prepared.classified, Expect::Execute, Role::Execute(id), &prepared.text);
        if !whole {
            statement.request.target = Target::Primary;
        }
        statement.request.node = statement.request.node.or_else(|| self.read_as_prepared(id, prepared));
        Understood::Run(statement)
    }

    /// COM_STMT_BULK_EXECUTE: always a write.
    fn understand_bulk(&self, payload: &[u8]) -> Understood {
        let id = match self.statement_id(payload) {
            Ok(id) => id,
            Err(error) => return malformed(error),
        };
        let Some(prepared) = self.prepared.get(id) else {
            return Understood::Refuse(no_such_statement(id, "mysqld_stmt_bulk_execute"));
        };
        let role = Role::Execute(id);
        let mut statement = self.statement(prepared.classified, Expect::Execute, role, &prepared.text);
        statement.request.target = Target::Primary;
        Understood::Run(statement)
    }

    /// The node on which a statement is read as its client prepared it, when that is not any node.
    ///
    /// MySQL prepares a statement anew when parameters of other types than before come, and reads it by the sql_mode of
    /// that moment: on a node where it ran with these types it will not. If that one takes no statements now, any may do.
    fn read_as_prepared(&self, id: u32, prepared: &Prepared) -> Option<NodeId> {
        let same_mode = Rc::ptr_eq(&prepared.state, &self.state)
            || prepared.state.variables.get(SQL_MODE) == self.state.variables.get(SQL_MODE);
        if same_mode || prepared.types_version == 0 || self.flavor == Flavor::Mariadb {
            return None;
        }
        let snapshot = self.instance.cluster.snapshot();
        let usable = |node: &Node| {
            node.is_up()
                && !node.drained
                && (self.endpoint.mode == Mode::ReadWrite || node.role == NodeRole::Replica)
        };
        let node = self.backends.knowing_types(id, prepared.types_version)?;
        snapshot.node(node).is_some_and(usable).then_some(node)
    }

    fn about_statement(&self, payload: &[u8], expect: Expect, role: fn(u32) -> Role) -> Understood {
        match self.statement_id(payload) {
            Ok(id) if self.prepared.get(id).is_none() => {
                let what = if expect == Expect::Fetch { "mysqld_stmt_fetch" } else { "mysqld_stmt_reset" };
                Understood::Refuse(no_such_statement(id, what))
            }
            Ok(id) => run(Statement {
                role: role(id),
                ..plain(CommandCode::StmtReset, Target::Previous, sql::Reason::Prepare, expect)
            }),
            Err(error) => malformed(error),
        }
    }

    /// The id of the statement that a command is about.
    fn statement_id(&self, payload: &[u8]) -> Result<u32, wire::Malformed> {
        let id = statement_id(payload)?;
        let is_last = id == LAST_STATEMENT && self.flavor == Flavor::Mariadb;
        Ok(if is_last { self.prepared.newest() } else { id })
    }

    fn classify(&self, text: &[u8]) -> Classified {
        sql::classify(text, self.dialect)
    }

    /// What the session knows besides the text: variables whose values cannot be moved, and that unqualified names
    /// mean system tables in a system schema.
    fn statement(&self, classified: Classified, expect: Expect, role: Role, text: &[u8]) -> Statement {
        let Classified { mut target, mut reason, kind, effects, hints, statements } = classified;
        if target == Target::Replica {
            if effects.contains(Effects::READS_USER_VARIABLE) && self.pins.opaque_variables {
                (target, reason) = (Target::Primary, sql::Reason::UserVariable);
            } else if self.in_system_schema && matches!(kind, Kind::Select | Kind::Show | Kind::Explain) {
                (target, reason) = (Target::Primary, sql::Reason::SystemSchema);
            } else if !self.tied_by.is_empty() {
                (target, reason) = (Target::Primary, sql::Reason::SessionState);
            } else if self.next_transaction_on.is_some() {
                (target, reason) = (Target::Primary, sql::Reason::TransactionControl);
            }
        }
        let node = hints.node.and_then(|(start, end)| {
            let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
            self.instance.cluster.node_id(text.get(start..end)?)
        });
        let sees = match target {
            Target::Replica => true,
            Target::Previous => effects.contains(Effects::READS_TABLES),
            Target::Primary | Target::Proxy => may_see(kind) || effects.contains(Effects::CHAINS_TRANSACTION),
        };
        let results = if kind == Kind::Call { u32::MAX } else { statements };
        Statement {
            request: Request { target, reason, node, sees },
            kind,
            effects,
            hints,
            expect,
            role,
            results,
        }
    }
}

fn run(statement: Statement) -> Understood {
    Understood::Run(statement)
}

fn malformed(error: wire::Malformed) -> Understood {
    Understood::Refuse(ClientError::malformed(error))
}

/// Whether a statement of this kind shows data to the client, or begins a transaction in which others do.
fn may_see(kind: Kind) -> bool {
    use Kind::{
        Begin, BeginReadOnly, Call, Compound, Do, ExecuteText, Explain, Handler, Multi, Select, Unknown,
    };
    matches!(
        kind,
        Begin
            | BeginReadOnly
            | Call
            | Compound
            | Do
            | ExecuteText
            | Explain
            | Handler
            | Multi
            | Select
            | Unknown
    )
}

/// ER_UNKNOWN_STMT_HANDLER.
fn no_such_statement(id: u32, what: &str) -> ClientError {
    ClientError::new(1243, b"HY000", format!("Unknown prepared statement handler ({id}) given to {what}"))
}

fn plain(code: CommandCode, target: Target, reason: sql::Reason, expect: Expect) -> Statement {
    Statement {
        request: Request { target, reason, node: None, sees: target == Target::Replica },
        kind: Kind::Admin,
        effects: Effects::NONE,
        hints: sql::Hints::default(),
        expect,
        role: Role::Plain(code),
        results: 1,
    }
}

/// A statement too large to be read before it is sent on: it may do anything.
fn not_seen_whole() -> Classified {
    Classified {
        target: Target::Primary,
        reason: sql::Reason::Unknown,
        kind: Kind::Unknown,
        effects: Effects::UNKNOWN,
        hints: sql::Hints::default(),
        statements: 1,
    }
}
