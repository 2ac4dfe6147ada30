//! What a statement changed in the session's state: what moves with the session, and what pins it.

use gtid::Flavor;
use sql::set::What;
use sql::{Effects, Kind};
use wire::command::CommandCode;
use wire::wanted::{TransactionWanted, WantedVariables};

use super::Session;
use super::remember::runs_unseen;
use super::unasked::COLLATION;
use super::understand::{Role, Statement};
use crate::backend::BackendError;
use crate::backend::control::rows;
use crate::backend::state::{self, Shared, State};
use crate::relay::{Command, Heard};
use crate::route::Go;

/// Effects on temporary tables.
const TEMPORARY: Effects = Effects::CREATES_TEMPORARY_TABLE.union(Effects::DROPS_TEMPORARY);

/// Prefix of the variables that the proxy itself depends on.
pub(super) const TRACKERS: &[u8] = b"session_track_";

/// Bytes of user variables that are replayed on other nodes; a session with more keeps its reads of them on the primary.
pub(super) const USER_VARIABLES_LIMIT: usize = 64 * 1024;

/// Effects that leave nothing behind in the session.
const PASSING: Effects = Effects::MAY_COMMIT
    .union(Effects::MAY_COMMIT_THEN_FAIL)
    .union(Effects::READS_USER_VARIABLE)
    .union(Effects::USES_LAST_INSERT_ID)
    .union(Effects::CALC_FOUND_ROWS)
    .union(Effects::READS_TABLES);

impl Session {
    /// Whether the statement can have changed anything in the session's state. Nearly all statements that applications run
    /// have not: they read or write, and the server has told of nothing.
    pub(super) fn may_have_changed(&self, statement: &Statement, heard: &Heard) -> bool {
        let reads_or_writes = matches!(
            statement.kind,
            Kind::Select | Kind::Insert | Kind::Update | Kind::Delete | Kind::Replace
        );
        !reads_or_writes
            || !statement.effects.without(PASSING).is_empty()
            || heard.tells_of_state()
            || self.next_transaction_on.is_some()
            || self.home.is_some()
    }

    /// What moves with the session, and what pins it.
    pub(super) fn remember_state(
        &mut self,
        statement: &Statement,
        go: &Go,
        command: &Command,
        heard: &Heard,
    ) {
        let before = Shared::clone(&self.state);
        let was_held = self.pins.hold_the_connection();
        let text = self.text_of(statement, command);
        let mut explained = heard.schema.is_some();
        for (name, value) in &heard.variables {
            self.ties_reads(name, value);
            let value = if **name == *b"timestamp" { self.timestamp(&text, value) } else { value };
            if State::note_variable(&mut self.state, name, value) {
                explained = true;
                self.dialect_changed(name, value);
            }
        }
        State::note_taken_along(&mut self.state, &heard.variables);
        if let Some(schema) = &heard.schema {
            State::note_schema(&mut self.state, schema);
            self.in_system_schema = is_system_schema(schema);
            if schema.is_empty() {
                // It was dropped. No connection can be told to have none; others are made anew.
                self.drop_connections_but(go.node);
            }
        }
        if statement.effects.contains(Effects::SETS_USER_VARIABLE) {
            self.user_variables_changed(statement, go, &text);
        }
        // Behind the statement's own literals, which were read as texts were before it.
        if self.texts_are_read_otherwise(&before) {
            // Only the server still knows what they mean.
            Shared::make_mut(&mut self.state).user_variables.clear();
            self.pins.opaque_variables = true;
        }
        if self.sets_next_transaction(statement, command) {
            self.next_transaction_on = Some(go.node);
        } else if !leaves_next_transaction(statement.kind) {
            self.next_transaction_on = None;
        }
        match statement.kind {
            Kind::SetRole => Shared::make_mut(&mut self.state).role = Some(text.as_slice().into()),
            Kind::Multi => {
                if let Some(role) = self.last_role(&text) {
                    Shared::make_mut(&mut self.state).role = Some(role.into());
                }
            }
            _ if statement.role == Role::Plain(CommandCode::SetOption) => {
                if let Some(option) =
                    command.payload(&self.client).get(1..3).and_then(|option| option.try_into().ok())
                {
                    Shared::make_mut(&mut self.state).option = Some(option);
                    self.dialect.multi_statements = option == [0, 0];
                }
            }
            _ => {}
        }
        let was = self.pins.reason();
        // A procedure may have made a temporary table besides the variables that the server names.
        let unexplained = heard.state_changed && (!explained || runs_unseen(statement));
        self.pins.note(statement.effects, unexplained, statement.kind == Kind::Multi);
        if statement.effects.intersects(TEMPORARY) {
            self.note_temporary_tables(statement, &text);
        }
        if unexplained && only_writes(statement) {
            self.pins.note_trigger();
        }
        if self.home == Some(go.node) {
            self.pins.clear_doubt(heard.state_changed);
        }
        if let Some(reason) = self.pins.reason().filter(|reason| Some(*reason) != was) {
            self.endpoint.counters.pinned(reason);
        }
        if self.pins.hold_the_connection() && !was_held {
            self.settle_on(go.node);
        }
        if !Shared::ptr_eq(&before, &self.state) {
            let state = Shared::clone(&self.state);
            if let Some(connection) = self.backends.get(go.node) {
                connection.is_at(&state);
            }
        }
    }

    /// The last SET ROLE among several statements. MariaDB reports no role.
    fn last_role<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        sql::split(text, self.dialect)
            .filter_map(|range| text.get(range))
            .filter(|statement| sql::classify(statement, self.dialect).kind == Kind::SetRole)
            .last()
    }

    /// The value of the variable `timestamp` for other connections: a server reports the value that SET timestamp = DEFAULT
    /// ended, and for 0, which does the same, the time of day.
    fn timestamp<'a>(&self, text: &[u8], reported: &'a [u8]) -> &'a [u8] {
        let is_timestamp = |item: &sql::set::Assignment<'_>| item.name.eq_ignore_ascii_case(b"timestamp");
        match self.assigned(text, What::Session).filter(is_timestamp).last() {
            Some(item) if item.value.eq_ignore_ascii_case(b"DEFAULT") || item.value == b"0" => b"0",
            _ => reported,
        }
    }

    /// Whether literals of user variables that are texts would now be read as others than they were set to.
    fn texts_are_read_otherwise(&self, before: &State) -> bool {
        let reads = |name: &[u8]| name == b"sql_mode" || state::NAMES.contains(&name);
        let is_text = |literal: &[u8]| {
            let bits = matches!(literal.first(), Some(b'x' | b'X' | b'b' | b'B'));
            !bits && literal.iter().any(|byte| matches!(byte, b'\'' | b'"'))
        };
        self.state.user_variables.values().any(|literal| is_text(literal))
            && self
                .state
                .variables
                .iter()
                .any(|(name, value)| reads(name) && before.variables.get(name) != Some(value))
    }

    /// The text a statement ran with: its own, or the prepared one's. Copied only for statements that change state.
    fn text_of(&self, statement: &Statement, command: &Command) -> Vec<u8> {
        let sets = Effects::SETS_USER_VARIABLE | Effects::SETS_SESSION_VARIABLE | TEMPORARY;
        let leaves_state = statement.effects.intersects(sets)
            || matches!(statement.kind, Kind::SetRole | Kind::SetSession | Kind::SetTransaction)
            || (statement.kind == Kind::Multi && statement.request.target != sql::Target::Replica);
        match &statement.role {
            Role::Text(range) if leaves_state => {
                command.payload(&self.client).get(range.clone()).unwrap_or_default().to_vec()
            }
            Role::Execute(id) if leaves_state => {
                self.prepared.get(*id).map(|prepared| prepared.text.to_vec()).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// SET TRANSACTION without a scope holds for the next transaction, on the connection where it was said. It may stand
    /// among other assignments, and other statements.
    fn sets_next_transaction(&self, statement: &Statement, command: &Command) -> bool {
        let sets = match statement.kind {
            Kind::SetTransaction | Kind::SetSession | Kind::SetGlobal => true,
            kind => kind == Kind::Multi && statement.request.target != sql::Target::Replica,
        };
        let text = match &statement.role {
            Role::Text(range) => command.payload(&self.client).get(range.clone()),
            Role::Execute(id) => self.prepared.get(*id).map(|prepared| &*prepared.text),
            _ => None,
        };
        let text = text.filter(|_| sets).unwrap_or_default();
        self.assigned(text, What::Transaction).next().is_some()
    }

    fn dialect_changed(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"sql_mode" => self.dialect.set_sql_mode(value),
            b"character_set_client" => self.dialect.charset = sql::Charset::from_name(value),
            _ => {}
        }
    }

    /// Notes whether a variable keeps reads on the primary from now on.
    fn ties_reads(&mut self, name: &[u8], value: &[u8]) {
        if State::ties_reads(name, value) {
            self.tied_by.insert(name.into());
        } else {
            self.tied_by.remove(name);
        }
    }

    /// Literals are replayed where a read uses them; any other value is known to one server only. The primary keeps the reads
    /// that use it; a replica, to which the session may not come back, is asked for it.
    fn user_variables_changed(&mut self, statement: &Statement, go: &Go, text: &[u8]) {
        let on_replica = self.instance.cluster.snapshot().primary != Some(go.node)
            && !statement.effects.contains(Effects::OPAQUE);
        if statement.kind != Kind::SetSession {
            for name in sql::user_variables(text, self.dialect).filter(|_| on_replica) {
                self.value_is_known_to(go, name);
            }
            self.pins.opaque_variables |= !on_replica;
            return;
        }
        for assignment in
            sql::set::assignments(text, self.dialect).filter(|item| item.what == What::UserVariable)
        {
            let name = assignment.name;
            if assignment.literal && is_plain_variable(name) && !assignment.value.contains(&b'?') {
                self.knows_user_variable(name);
                self.keep_user_variable(&name.to_ascii_lowercase(), assignment.value);
            } else if on_replica {
                self.value_is_known_to(go, name);
            } else {
                self.pins.opaque_variables = true;
            }
        }
    }

    /// A node knows the value of a user variable, and nobody else.
    fn value_is_known_to(&mut self, go: &Go, name: &[u8]) {
        if is_plain_variable(name) {
            self.ask_for_user_variable(go.node, name);
        } else {
            self.pins.opaque_variables = true;
        }
    }

    /// Sees to what the trackers leave out: the collation that SET NAMES sets (MySQL), and variables that are reported
    /// under another's name (MariaDB 11.8 calls all that are bits of one word by the name of one of them).
    pub(super) async fn learn_unreported(
        &mut self,
        statement: &Statement,
        go: &Go,
        command: &Command,
        heard: &mut Heard,
    ) {
        let told = |name: &[u8]| heard.variables.iter().any(|(told, _)| **told == *name);
        let mut names: Vec<Vec<u8>> = Vec::new();
        if told(b"character_set_connection") && !told(COLLATION) {
            self.ask_for_collation(go.node);
        }
        // MariaDB does not report `SET @@x = y` without a scope.
        let may_be_untold = !heard.variables.is_empty() || self.flavor == Flavor::Mariadb;
        if statement.effects.contains(Effects::SETS_SESSION_VARIABLE) && may_be_untold {
            let text = self.text_of(statement, command);
            let set = self.assigned(&text, What::Session).map(|item| item.name.to_ascii_lowercase());
            names.extend(set.filter(|name| is_plain(name) && !told(name) && State::moves(name)));
        }
        if names.is_empty() {
            return;
        }
        let columns: Vec<_> = names.iter().map(|name| [b"@@session.`", &**name, b"`"].concat()).collect();
        let question = state::question(&columns);
        let Some(connection) = self.backends.get(go.node) else { return };
        match Box::pin(connection.ask(&question)).await.map(rows) {
            Ok(found) => {
                let values = found.into_iter().next().unwrap_or_default();
                let known = names.into_iter().zip(values).filter_map(|(name, value)| Some((name, value?)));
                heard.variables.extend(known.map(|(name, value)| (name.into(), value.into())));
            }
            // One of them is none of the session's, and the server knows best.
            Err(BackendError::Refused(_)) => {}
            Err(error) => {
                tracing::warn!(session = self.id, %error, "cannot learn what was set; the connection is given up");
                self.drop_connection(go.node);
            }
        }
    }

    /// What a text assigns of this kind, in all of its statements.
    fn assigned<'a>(
        &self,
        text: &'a [u8],
        what: What,
    ) -> impl Iterator<Item = sql::set::Assignment<'a>> + use<'a> {
        let dialect = self.dialect;
        let statements = sql::split(text, dialect).filter_map(|range| text.get(range));
        statements
            .flat_map(move |statement| sql::set::assignments(statement, dialect))
            .filter(move |item| item.what == what)
    }

    pub(super) fn user_variables_size(&self) -> usize {
        self.state.user_variables.iter().map(|(name, value)| name.len() + value.len()).sum()
    }

    /// The client has changed what it wants to be told. The proxy notes that, and takes its own trackers back. What was
    /// written behind the change in the same packet, or by the same procedure, may have gone untold.
    pub(super) async fn remember_trackers(&mut self, go: &Go, heard: &Heard) {
        for (name, value) in &heard.variables {
            let on = value.eq_ignore_ascii_case(b"ON");
            match &**name {
                b"session_track_schema" => self.wanted.schema = on,
                b"session_track_state_change" => self.wanted.state_change = on,
                b"session_track_gtids" => self.wanted.gtids = !value.eq_ignore_ascii_case(b"OFF"),
                b"session_track_transaction_info" => {
                    self.wanted.transaction = match value.to_ascii_uppercase().as_slice() {
                        b"STATE" => TransactionWanted::State,
                        b"CHARACTERISTICS" => TransactionWanted::Characteristics,
                        _ => TransactionWanted::Off,
                    };
                }
                b"session_track_system_variables" => self.wanted.variables = WantedVariables::parse(value),
                _ => {}
            }
        }
        self.needs.lost_track();
        let Some(connection) = self.backends.get(go.node) else { return };
        // A list without this variable itself in it is not reported any more: it must be asked for.
        let question = b"SELECT @@session.session_track_system_variables LIMIT 1";
        match connection.ask(question).await.map(rows) {
            Ok(found) => {
                let list = found.into_iter().flatten().flatten().next();
                if let Some(list) = list.filter(|list| list != b"*") {
                    self.wanted.variables = WantedVariables::parse(&list);
                }
                connection.trackers_changed();
            }
            Err(error) => {
                tracing::warn!(session = self.id, %error, "cannot take the trackers back; the connection is given up");
                self.drop_connection(go.node);
            }
        }
    }
}

/// Whether a user variable can be named in backticks as it stands.
fn is_plain_variable(name: &[u8]) -> bool {
    name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.$".contains(byte))
}

/// Whether the statement changes rows and nothing of the session: what else has changed, a trigger did.
fn only_writes(statement: &Statement) -> bool {
    let own = Effects::SETS_USER_VARIABLE
        | Effects::SETS_SESSION_VARIABLE
        | Effects::CREATES_TEMPORARY_TABLE
        | Effects::DROPS_TEMPORARY
        | Effects::PREPARED_TEXT;
    let writes = matches!(
        statement.kind,
        Kind::Insert | Kind::Update | Kind::Delete | Kind::Replace | Kind::Load | Kind::Multi
    );
    writes && !statement.effects.intersects(own)
}

fn is_plain(name: &[u8]) -> bool {
    name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Statements that neither begin the next transaction nor are one.
fn leaves_next_transaction(kind: Kind) -> bool {
    matches!(kind, Kind::SetTransaction | Kind::SetSession | Kind::Use | Kind::Empty | Kind::Admin)
}

/// Schemas in which an unqualified name means a table about the server.
pub(super) fn is_system_schema(schema: &[u8]) -> bool {
    let system: [&[u8]; 4] = [b"information_schema", b"performance_schema", b"mysql", b"sys"];
    system.iter().any(|name| schema.eq_ignore_ascii_case(name))
}
