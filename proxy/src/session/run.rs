//! Running a statement on a node: find it, reach it, send the command, pass the reply on, and remember.

use std::pin::pin;

use gtid::Flavor;
use sql::{Effects, Kind};
use wire::Execute;
use wire::command::CommandCode;
use wire::prepared::{set_statement_id, with_types};
use wire::reply::ClientView;
use wire::status::Status;

use super::decide::{NoNode, Search};
use super::reach::{Now, Unreachable};
use super::registry::Ending;
use super::speculate::Guess;
use super::understand::{Role, Statement};
use super::{End, Session};
use crate::backend::BackendError;
use crate::cluster::snapshot::{Node, NodeId};
use crate::config::Mode;
use crate::error::ClientError;
use crate::relay::{
    Asked, Command, Ended, Gate, Heard, OnReadOnly, Patience, RelayError, reply, send_now, send_rest,
};
use crate::route::{Go, Reason};

/// What became of a statement on one node.
pub(super) enum Tried {
    /// The client has its reply.
    Answered,
    /// It can run elsewhere, and the client has received nothing.
    Elsewhere,
}

impl Session {
    /// Runs a statement where it belongs, and elsewhere when a replica fails it before the client has a byte.
    pub(super) async fn run_statement(
        &mut self,
        command: &mut Command,
        statement: &Statement,
    ) -> Result<(), End> {
        if let Some(error) = self.stranded(statement) {
            return Err(End::Told(error));
        }
        if let Some(error) = self.looks_back_in_vain(statement) {
            return self.refuse(command, &error).await;
        }
        let excluded = self.backends.refusing(&self.instance.cluster);
        let mut search = Search::new(excluded, self.promise(statement));
        search.attempt.may_speculate = self.may_speculate(command, statement, search.promise.level);
        loop {
            let mut go = match self.decide(statement, &mut search).await {
                Ok(go) => go,
                Err(why) => return Box::pin(self.not_run(command, statement, why)).await,
            };
            if let Some(error) = self.characteristics_lost(&go) {
                return Box::pin(self.refuse(command, &error)).await;
            }
            self.name_split(&mut go);
            match self.try_on(&go, command, statement, &mut search).await? {
                Tried::Answered => return Ok(()),
                Tried::Elsewhere => {}
            }
        }
    }

    /// SET TRANSACTION for the next transaction was said on a node that is primary no more. The transaction would run
    /// without it here, and one that runs there later would have it.
    fn characteristics_lost(&mut self, go: &Go) -> Option<ClientError> {
        let set_on = self.next_transaction_on.filter(|node| *node != go.node)?;
        if self.instance.cluster.snapshot().primary != Some(go.node) {
            return None;
        }
        self.drop_connection(set_on);
        self.next_transaction_on = None;
        Some(ClientError::own(
            "the primary has changed since SET TRANSACTION; what it set for the next transaction is lost, and this \
             statement was not run",
        ))
    }

    /// BEGIN ends the transaction before it, and so does DDL. One that only read, on a replica, ends there, for what comes
    /// next may write. A BEGIN of MySQL may not when it does not say so: its transaction is read-only as the one before it
    /// was, and stays.
    pub(super) fn read_only_transaction_ended_by(&self, statement: &Statement) -> Option<NodeId> {
        let begins = match statement.kind {
            Kind::Begin => {
                self.flavor == Flavor::Mariadb || statement.effects.contains(Effects::READ_WRITE_TRANSACTION)
            }
            Kind::Ddl => {
                !statement.effects.intersects(Effects::CREATES_TEMPORARY_TABLE | Effects::DROPS_TEMPORARY)
            }
            kind => kind == Kind::BeginReadOnly,
        } && statement.role != Role::Prepare;
        let only_read = begins && self.status.contains(Status::IN_TRANS_READONLY);
        let node = self.transaction.filter(|_| only_read)?;
        (self.instance.cluster.snapshot().primary != Some(node)).then_some(node)
    }

    /// Ends it on its replica.
    pub(super) async fn end_read_only_transaction(&mut self, node: NodeId) {
        let Some(connection) = self.backends.get(node) else { return };
        if connection.ask(b"COMMIT AND NO CHAIN NO RELEASE").await.is_err() {
            self.drop_connection(node);
        }
        self.transaction = None;
        self.status = self.status.without(Status::IN_TRANS | Status::IN_TRANS_READONLY);
    }

    async fn try_on(
        &mut self,
        go: &Go,
        command: &mut Command,
        statement: &Statement,
        search: &mut Search,
    ) -> Result<Tried, End> {
        let now = self.now(go.node);
        let repeatable = self.may_run_elsewhere(go, now, command, statement, search);
        if go.proviso.is_some() && !repeatable {
            search.attempt.may_speculate = false;
            return Ok(Tried::Elsewhere);
        }
        let mut guess = self.guess(go, search);
        let mut reached = match repeatable {
            true => self.address(go.node, now, statement).await,
            false => self.reach(go.node, statement).await,
        };
        if reached.is_ok() {
            reached = self.catch_up(go, statement).await;
        }
        if let Err(unreachable) = reached {
            return Box::pin(self.not_reached(go, command, statement, unreachable, repeatable, search)).await;
        }
        if let Some(why) = self.called_off() {
            return Box::pin(self.not_run(command, statement, why)).await.map(|()| Tried::Answered);
        }
        self.arm(go, command, statement).map_err(|error| End::Told(ClientError::malformed(error)))?;
        let mut heard = Heard::default();
        let outcome = self.converse(go, command, statement, repeatable, guess.as_mut(), &mut heard).await;
        self.card.runs_nothing();
        let is_over = |ended: &Ended| !matches!(ended, Ended::Withheld { over: false });
        if outcome.as_ref().is_ok_and(is_over)
            && let Some(connection) = self.backends.get(go.node)
        {
            connection.has_answered();
        }
        match outcome {
            Ok(Ended::Answered) => {
                if let Some(guess) = guess {
                    self.guessed_right(go, guess);
                }
                let released = statement.effects.contains(Effects::RELEASES_CONNECTION)
                    && statement.role != Role::Prepare
                    && heard.error.is_none();
                self.remember(statement, go, command, heard, search).await;
                command.consume(&mut self.client);
                // COMMIT RELEASE: a server closes the connection now.
                if released { Err(End::Quit) } else { Ok(Tried::Answered) }
            }
            Ok(Ended::Withheld { over }) => {
                if !over {
                    self.abandon(go.node);
                }
                match guess.map_or(Ok(()), |guess| self.guessed_wrong(go, guess, search)) {
                    Ok(()) => Ok(Tried::Elsewhere),
                    Err(why) => {
                        Box::pin(self.not_run(command, statement, why)).await.map(|()| Tried::Answered)
                    }
                }
            }
            Ok(Ended::GoingAway) if repeatable => {
                self.drop_connection(go.node);
                search.attempt.excluded.insert(go.node);
                Ok(Tried::Elsewhere)
            }
            Ok(Ended::GoingAway) => {
                let name = self.node_name(go.node);
                self.drop_connection(go.node);
                Err(End::Told(ClientError::connection_lost(&name, "with a transaction open there")))
            }
            Ok(Ended::ReadOnly) if self.reads_only_on(go) => {
                Box::pin(self.refuse(command, &ClientError::read_only_transaction(self.flavor))).await?;
                Ok(Tried::Answered)
            }
            Ok(Ended::ReadOnly) => {
                search.attempt.excluded.insert(go.node);
                search.attempt.fallback = Some(Reason::ReadOnlyRefused);
                Ok(Tried::Elsewhere)
            }
            Err(RelayError::Server { source, answered: false })
                if self.only_a_cursor_breaks(go, statement) =>
            {
                tracing::warn!(session = self.id, node = self.node_name(go.node), error = %source, "connection to the node lost, and a cursor with it");
                self.drop_connection(go.node);
                self.refuse(command, &ClientError::cursor_lost(&self.node_name(go.node))).await?;
                Ok(Tried::Answered)
            }
            Err(error) => self.interrupted(go, statement, error, repeatable, search),
        }
    }

    /// Whether nothing is lost with the connection to a node but the cursor that the statement is about.
    fn only_a_cursor_breaks(&self, go: &Go, statement: &Statement) -> bool {
        self.has_cursor_on(go.node, statement)
            && !self.is_bound_to(go.node)
            && self.card.ending() != Ending::Killed
    }

    /// Whether a read-only transaction is open on this node. A replica answers a write in it that the server is read only;
    /// the primary, where the client believes to be, says that the transaction is.
    fn reads_only_on(&self, go: &Go) -> bool {
        self.transaction == Some(go.node) && self.status.contains(Status::IN_TRANS_READONLY)
    }

    /// Only a read on a replica, of which nothing has happened yet, and which nothing binds to the node. Who has lost two
    /// nodes by it does not try a third: it may be the statement that fells them.
    fn may_run_elsewhere(
        &self,
        go: &Go,
        now: Now,
        command: &Command,
        statement: &Statement,
        search: &Search,
    ) -> bool {
        command.whole
            && statement.request.target == sql::Target::Replica
            && !now.is_primary
            && !self.is_bound_to(go.node)
            && search.lost < 2
    }

    /// Parameters sent ahead count for one execution, whether it succeeds or not.
    fn forget_parameters(&mut self, statement: &Statement) {
        if let Role::Execute(id) = statement.role
            && let Some(prepared) = self.prepared.get_mut(id)
        {
            prepared.long_data.clear();
        }
    }

    /// What pins the session lives on a node where this statement cannot run: it can neither be carried on there, nor
    /// moved. Reads go on where a read-only transaction left something on a replica.
    fn stranded(&self, statement: &Statement) -> Option<ClientError> {
        let home = self.home?;
        let holds = self.endpoint.mode == Mode::ReadWrite && self.pins.hold_the_connection();
        if !holds || self.transaction.is_some() {
            return None;
        }
        let snapshot = self.instance.cluster.snapshot();
        if home == snapshot.primary? {
            return None;
        }
        let what = match statement.request.target {
            _ if self.home_since != snapshot.epoch => {
                "by a change of primary, and with it what this session kept there; connect again"
            }
            sql::Target::Replica | sql::Target::Previous => return None,
            _ if statement.request.reason == sql::Reason::UserVariable => return None,
            sql::Target::Primary | sql::Target::Proxy => {
                "for this statement: a read-only transaction has left there what cannot be moved to the primary, such as a \
                 user variable; connect again"
            }
        };
        Some(ClientError::connection_lost(&self.node_name(home), what))
    }

    pub(super) async fn not_reached(
        &mut self,
        go: &Go,
        command: &mut Command,
        statement: &Statement,
        unreachable: Unreachable,
        repeatable: bool,
        search: &mut Search,
    ) -> Result<Tried, End> {
        let name = self.node_name(go.node);
        match &unreachable {
            Unreachable::Lost(what) => return Err(End::Told(ClientError::connection_lost(&name, what))),
            Unreachable::CursorLost => {
                let error = ClientError::cursor_lost(&name);
                return self.refuse(command, &error).await.map(|()| Tried::Answered);
            }
            Unreachable::Failed(_) | Unreachable::NotPrepared(_) => {}
        }
        if repeatable {
            search.attempt.excluded.insert(go.node);
            return Ok(Tried::Elsewhere);
        }
        if let Unreachable::Failed(BackendError::Connect(_)) = unreachable {
            // Nothing was sent. A primary that restarts, or that gives way to another one, is waited for.
            match self.hold_on(search).await {
                Ok(true) => return Ok(Tried::Elsewhere),
                Ok(false) => {}
                Err(why) => return self.not_run(command, statement, why).await.map(|()| Tried::Answered),
            }
        }
        let error = match unreachable {
            // The node restarted and has forgotten the password. Only a client that connects anew tells it again.
            Unreachable::Failed(BackendError::PasswordNeeded) => {
                let what = "and it asks for the account's password again; connect anew";
                return Err(End::Told(ClientError::connection_lost(&name, what)));
            }
            Unreachable::Failed(error) => ClientError::from_backend(&name, &error),
            Unreachable::NotPrepared(error) => ClientError::from_server(&error),
            Unreachable::Lost(what) => ClientError::connection_lost(&name, &what),
            Unreachable::CursorLost => ClientError::cursor_lost(&name),
        };
        self.not_run(command, statement, NoNode::Refused(error)).await.map(|()| Tried::Answered)
    }

    /// No node runs the statement: the client is told, or the session ends.
    pub(super) async fn not_run(
        &mut self,
        command: &mut Command,
        statement: &Statement,
        why: NoNode,
    ) -> Result<(), End> {
        match why {
            NoNode::Refused(error) => {
                self.forget_parameters(statement);
                self.refuse(command, &error).await
            }
            NoNode::Ended(end) => Err(end),
        }
    }

    /// A relay broke. A read of which the client has nothing runs elsewhere; else the session cannot go on, for nobody
    /// knows what became of the statement.
    fn interrupted(
        &mut self,
        go: &Go,
        statement: &Statement,
        error: RelayError,
        repeatable: bool,
        search: &mut Search,
    ) -> Result<Tried, End> {
        let name = self.node_name(go.node);
        if self.card.ending() == Ending::Killed {
            self.drop_connection(go.node);
            // Servers say nothing more to whom they cut off under a statement.
            return Err(if error.may_be_repeated() { End::Dismissed } else { End::Broken });
        }
        match &error {
            // The node may be owed the rest of a command: not a byte more must reach it, not even a goodbye.
            RelayError::Client(_) => {
                if repeatable {
                    self.abandon(go.node)
                } else {
                    self.drop_connection(go.node)
                }
                return Err(End::ClientGone);
            }
            RelayError::ClientProtocol(what) => {
                self.drop_connection(go.node);
                return Err(End::Told(ClientError::malformed(what)));
            }
            RelayError::Refused { error: refused, client_first } => {
                self.drop_connection(go.node);
                tracing::info!(session = self.id, endpoint = self.endpoint.name, node = name, %error, "session closed");
                return Err(End::ToldAt(ClientError::from_server(refused), *client_first));
            }
            RelayError::ServerProtocol { .. } => {
                self.endpoint.counters.protocol_errors.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                tracing::error!(session = self.id, endpoint = self.endpoint.name, node = name, %error, "connection to the node closed");
            }
            RelayError::Setup(BackendError::Refused(_)) => {
                self.backends.refuse(go.node);
                tracing::warn!(session = self.id, endpoint = self.endpoint.name, node = name, %error, "another node is used");
            }
            RelayError::Setup(_) | RelayError::Server { .. } => {
                tracing::warn!(session = self.id, endpoint = self.endpoint.name, node = name, kind = statement.kind.as_str(), %error,
                    "connection to the node lost under a statement");
            }
        }
        self.drop_connection(go.node);
        if repeatable && error.may_be_repeated() {
            search.lost += 1;
            search.attempt.excluded.insert(go.node);
            return Ok(Tried::Elsewhere);
        }
        let answered = !error.may_be_repeated();
        if answered {
            return Err(End::Broken);
        }
        Err(End::Told(ClientError::connection_lost(
            &name,
            "under this statement; whether it was carried out is not known",
        )))
    }

    /// Puts into the command what the node knows the statement by, and in front of it what must be sent ahead.
    fn arm(&mut self, go: &Go, command: &mut Command, statement: &Statement) -> Result<(), wire::Malformed> {
        let (Role::Execute(id) | Role::Fetch(id) | Role::Reset(id)) = statement.role else {
            return Ok(());
        };
        let Some(server_id) = self.backends.get(go.node).and_then(|connection| connection.statement(id))
        else {
            return Ok(());
        };
        if matches!(statement.role, Role::Execute(_)) {
            self.prepared.note_types(id, command.payload(&self.client), self.capabilities);
            if let Some(prepared) = self.prepared.get_mut(id)
                && !prepared.long_data.is_empty()
                && let Some(connection) = self.backends.get(go.node)
            {
                connection.send_ahead(&prepared.long_data, server_id);
            }
        }
        set_statement_id(command.payload_mut(&mut self.client), server_id)
    }

    async fn converse(
        &mut self,
        go: &Go,
        command: &mut Command,
        statement: &Statement,
        repeatable: bool,
        guess: Option<&mut Guess>,
        heard: &mut Heard,
    ) -> Result<Ended, RelayError> {
        let instead = self
            .with_remembered_types(go, command, statement)
            .or_else(|| self.with_another_text(command, statement));
        let statement_id = self.prepared.next_id();
        let hold = repeatable || self.reads_only_on(go);
        let herald = self.herald(statement, go);
        let added = if self.split.is_unopened() { Status::IN_TRANS } else { Status::default() };
        let Some(connection) = self.backends.get(go.node) else {
            return Err(RelayError::Server {
                source: std::io::ErrorKind::NotConnected.into(),
                answered: false,
            });
        };
        self.card.runs_on(go.node, connection.incarnation, connection.thread);
        let (card, cluster) = (&self.card, &self.instance.cluster);
        let is_over = |answered: bool| {
            let is_up = || cluster.snapshot().node(go.node).is_some_and(Node::is_up);
            card.ending() == Ending::Killed || (repeatable && !answered && !is_up())
        };
        let patience = Patience { bell: &card.wake, is_over: &is_over };
        // Without a future for what nearly always goes at once.
        let sent = match send_now(command, &self.client, connection, instead.as_deref())? {
            Some(sent) => sent,
            None => {
                let rest = Box::pin(send_rest(command, &mut self.client, connection, instead));
                patience.wait(rest, true).await.map_err(RelayError::Client)??
            }
        };
        if let Role::Execute(id) = statement.role
            && let Some(prepared) = self.prepared.get(id)
        {
            connection.has_types(id, prepared.types_version);
        }
        if connection.is_owed() {
            let settled = patience.wait(Box::pin(connection.settle()), false).await;
            settled
                .map_err(|source| RelayError::Server { source, answered: false })?
                .map_err(RelayError::Setup)?;
        }
        let note = herald.as_ref().map(|herald| |heard: &Heard| herald.hear(heard));
        let mut walker =
            sent.walker(statement.expect, connection).with_results(statement.results).with_status(added);
        if self.client.compression().is_some() {
            walker = walker.with_stops();
        }
        let asked = Asked {
            walker,
            view: ClientView {
                capabilities: self.capabilities,
                wanted: &self.wanted,
                statement_id,
                status: self.status,
            },
            flavor: self.flavor,
            on_read_only: if hold { OnReadOnly::Hold } else { OnReadOnly::PassOn },
            witness: note.as_ref().map(|note| note as &dyn Fn(&Heard)),
            patience,
        };
        let (press, opens) = guess.map(Guess::gate).unzip();
        let mut opens = pin!(opens);
        let gate = opens.as_mut().as_pin_mut().zip(press.as_ref());
        let gate = gate.map(|(opens, press)| Gate { opens, press });
        reply(&mut self.client, &mut connection.channel, command, asked, gate, heard).await
    }

    /// A statement that is prepared with another text than its client's.
    fn with_another_text(&self, command: &Command, statement: &Statement) -> Option<Vec<u8>> {
        let text = self.text_to_prepare(command, statement)?;
        Some([&[CommandCode::StmtPrepare.to_u8()], text.as_slice()].concat())
    }

    /// The text to prepare where it is not the client's.
    pub(super) fn text_to_prepare(&self, command: &Command, statement: &Statement) -> Option<Vec<u8>> {
        let asks_id = statement.role == Role::Prepare && statement.effects.contains(Effects::CONNECTION_ID);
        let text = command.payload(&self.client).get(1..).filter(|_| asks_id)?;
        Some(self.connection_id_statement(text))
    }

    /// An execution without types goes to a node that has not seen the last ones: they are put in.
    fn with_remembered_types(
        &mut self,
        go: &Go,
        command: &Command,
        statement: &Statement,
    ) -> Option<Vec<u8>> {
        let Role::Execute(id) = statement.role else { return None };
        let prepared = self.prepared.get(id)?;
        let connection = self.backends.get(go.node)?;
        let types = prepared.types.as_deref()?;
        if connection.types_version(id) == prepared.types_version {
            return None;
        }
        let payload = command.payload(&self.client);
        let execute = Execute::parse(payload, prepared.params, self.capabilities).ok()?;
        if execute.types.is_some() {
            return None;
        }
        with_types(payload, &execute, types).ok()
    }
}
