//! The session's connections: opened when a statement first goes to a node, brought to the session's state, and with
//! the statement prepared there when it is a prepared one.

use std::pin::pin;
use std::time::{Duration, Instant};

use smallvec::SmallVec;
use tokio::time::timeout;
use wire::capability::Capabilities;
use wire::reply::{ClientView, Expect};
use wire::status::Status;
use wire::wanted::Wanted;

use super::Session;
use super::understand::{Role, Statement};
use crate::backend::login::LoginRequest;
use crate::backend::pool::{Borrowed, Ticket};
use crate::backend::{BackendError, Connection, ServerError, Tracking, pool};
use crate::cluster::Cluster;
use crate::cluster::snapshot::{Node, NodeId};
use crate::config::Pool;
use crate::relay::{Heard, Sent, swallow};
use crate::route::NodeSet;

/// How long a node that refused the session's login is not tried again by it.
const REFUSED_FOR: Duration = Duration::from_secs(5);

/// How often it is looked whether a node that prepares a statement is still up.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Why a node cannot be used for a statement now.
#[derive(Debug)]
pub(super) enum Unreachable {
    /// Nothing was lost: another node may do.
    Failed(BackendError),
    /// The connection held what only it had: a transaction, temporary tables, locks.
    Lost(String),
    /// The statement is about a cursor, and the connection held that alone.
    CursorLost,
    /// The client has an ERR of the server coming: the statement cannot be prepared there.
    NotPrepared(ServerError),
}

/// What the cluster knows of a node now.
#[derive(Clone, Copy)]
pub(super) struct Now {
    /// Which life of it; `None` for no node of the cluster.
    incarnation: Option<u64>,
    pub(super) is_primary: bool,
}

/// The connections by node.
#[derive(Debug, Default)]
pub(super) struct Backends {
    connections: Vec<Option<Box<Connection>>>,
    /// For those that are lent out.
    tickets: Vec<(NodeId, Ticket)>,
    refused: Vec<(NodeId, Instant)>,
}

impl Backends {
    pub(super) fn get(&mut self, node: NodeId) -> Option<&mut Connection> {
        self.connections.get_mut(node.index())?.as_deref_mut()
    }

    pub(super) fn put(&mut self, connection: Box<Connection>) {
        let index = connection.node.index();
        if self.connections.len() <= index {
            self.connections.resize_with(index + 1, || None);
        }
        if let Some(slot) = self.connections.get_mut(index) {
            *slot = Some(connection);
        }
    }

    pub(super) fn take(&mut self, node: NodeId) -> Option<Box<Connection>> {
        self.connections.get_mut(node.index())?.take()
    }

    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.connections.iter_mut().flatten().map(Box::as_mut)
    }

    pub(super) fn take_all(&mut self) -> Vec<Connection> {
        self.connections.iter_mut().filter_map(Option::take).map(|connection| *connection).collect()
    }

    /// The nodes to which there are connections, but for those that are lent out.
    pub(super) fn nodes(&self) -> SmallVec<[NodeId; 4]> {
        self.connections.iter().flatten().map(|connection| connection.node).collect()
    }

    pub(super) fn lent(&mut self, node: NodeId, ticket: Ticket) {
        self.tickets.push((node, ticket));
    }

    pub(super) fn take_ticket(&mut self, node: NodeId) -> Option<Ticket> {
        let index = self.tickets.iter().position(|(lent, _)| *lent == node)?;
        Some(self.tickets.swap_remove(index).1)
    }

    /// The nodes to which connections are lent out.
    pub(super) fn nodes_lent(&self) -> SmallVec<[NodeId; 4]> {
        self.tickets.iter().map(|(node, _)| *node).collect()
    }

    /// A node that knows these types of a statement's parameters.
    pub(super) fn knowing_types(&self, id: u32, version: u32) -> Option<NodeId> {
        let mut open = self.connections.iter().flatten();
        open.find(|connection| connection.types_version(id) == version).map(|connection| connection.node)
    }

    pub(super) fn refuse(&mut self, node: NodeId) {
        self.refused.retain(|(refused, _)| *refused != node);
        self.refused.push((node, Instant::now()));
    }

    /// Nodes that refused the login a moment ago. The primary is not among them: nobody could take its place.
    pub(super) fn refusing(&mut self, cluster: &Cluster) -> NodeSet {
        let mut set = NodeSet::default();
        if !self.refused.is_empty() {
            self.refused.retain(|(_, at)| at.elapsed() < REFUSED_FOR);
            let primary = cluster.snapshot().primary;
            let others = self.refused.iter().filter(|(node, _)| Some(*node) != primary);
            others.for_each(|(node, _)| set.insert(*node));
        }
        set
    }
}

impl Session {
    /// Makes the connection to `node` ready for the statement.
    pub(super) async fn reach(&mut self, node: NodeId, statement: &Statement) -> Result<(), Unreachable> {
        self.address(node, self.now(node), statement).await?;
        let Some(connection) = self.backends.get(node) else {
            return Err(Unreachable::Lost("no connection".to_owned()));
        };
        let settled = connection.settle().await;
        settled.map_err(|error| self.failed(node, error))
    }

    /// The same, but the session's state goes along with the statement: whether the node takes it is known when the statement
    /// has run. That is for reads that can be run elsewhere.
    pub(super) async fn address(
        &mut self,
        node: NodeId,
        now: Now,
        statement: &Statement,
    ) -> Result<(), Unreachable> {
        if self.is_known_elsewhere(node) {
            Box::pin(self.ask_before(node)).await?;
        }
        self.have_back(node);
        self.drop_if_dead(node, now, statement)?;
        let is_new = self.backends.get(node).is_none();
        if is_new {
            let mut connection = Box::pin(self.connect(node)).await.map_err(Unreachable::Failed)?;
            self.restore_insert_id(&mut connection);
            self.backends.put(connection);
        }
        if self.insert_id.is_missed_by(statement) {
            return Err(Unreachable::Lost("and with it what LAST_INSERT_ID() had been set to".to_owned()));
        }
        if let Role::Execute(id) | Role::Reset(id) | Role::Fetch(id) = statement.role {
            self.prepare_on(node, id).await?;
        }
        // What asks about the statement before it, such as SHOW WARNINGS, must be the next one that the server sees. The
        // connection is at the session's state, for that statement ran there.
        if !is_new && statement.request.target == sql::Target::Previous && self.previous == Some(node) {
            return Ok(());
        }
        let in_transaction = self.transaction == Some(node);
        let tracking = if self.changes_nothing(now, statement) { Tracking::Default } else { Tracking::Full };
        let Some(connection) = self.backends.get(node) else {
            return Err(Unreachable::Lost("no connection".to_owned()));
        };
        connection.bring_to(&self.state, tracking, in_transaction);
        Ok(())
    }

    /// LAST_INSERT_ID() outlives the connection on which it was made.
    fn restore_insert_id(&mut self, connection: &mut Connection) {
        if self.instance.cluster.snapshot().primary == Some(connection.node)
            && let Some(id) = self.insert_id.for_a_new_connection()
        {
            connection.insert_id_is(id);
        }
    }

    /// Reads that are safe on a replica change nothing that would have to be told. On the primary they may: a view can
    /// call a function that writes, which a replica refuses. And what begins a transaction is no such read: the statements
    /// behind it may change something, and inside of a transaction MySQL refuses to begin to track GTIDs.
    fn changes_nothing(&self, now: Now, statement: &Statement) -> bool {
        statement.request.target == sql::Target::Replica
            && !statement.effects.contains(sql::Effects::READ_ONLY_TRANSACTION)
            && self.autocommit
            && self.transaction.is_none()
            && !now.is_primary
    }

    pub(super) fn now(&self, node: NodeId) -> Now {
        let snapshot = self.instance.cluster.snapshot();
        let incarnation = snapshot.node(node).map(|node| node.incarnation);
        Now { incarnation, is_primary: snapshot.primary == Some(node) }
    }

    /// A connection on which the server has said goodbye, or to an earlier life of the node, is of no use.
    fn drop_if_dead(&mut self, node: NodeId, now: Now, statement: &Statement) -> Result<(), Unreachable> {
        let bound = self.is_bound_to(node);
        let has_cursors = self.prepared.have_cursors_on(node);
        let Some(connection) = self.backends.get(node) else {
            return if bound { Err(Unreachable::Lost("before this statement".to_owned())) } else { Ok(()) };
        };
        // What a statement asks of the one before it only this connection knows.
        let looks_back = statement.request.target == sql::Target::Previous
            || statement.effects.contains(sql::Effects::USES_LAST_INSERT_ID);
        let outlived = now.incarnation.is_some_and(|incarnation| incarnation != connection.incarnation)
            || connection.cannot_become(&self.state);
        if connection.channel.has_news() || (outlived && !bound && !has_cursors && !looks_back) {
            let cursor_lost = self.has_cursor_on(node, statement);
            self.drop_connection(node);
            if bound {
                return Err(Unreachable::Lost("while it was idle".to_owned()));
            }
            if cursor_lost {
                return Err(Unreachable::CursorLost);
            }
        }
        Ok(())
    }

    /// Whether the statement is about a cursor that is open on this node.
    pub(super) fn has_cursor_on(&self, node: NodeId, statement: &Statement) -> bool {
        let (Role::Fetch(id) | Role::Reset(id)) = statement.role else { return false };
        self.prepared.get(id).is_some_and(|prepared| prepared.cursor == Some(node))
    }

    /// Whether the connection to this node holds what a new one would not have. Cursors do not count: what is lost with one
    /// is told to who fetches from it.
    pub(super) fn is_bound_to(&self, node: NodeId) -> bool {
        self.transaction == Some(node)
            || (self.home == Some(node) && self.pins.hold_the_connection())
            || self.prepared.depend_on(node)
            || self.is_to_be_asked(node)
    }

    /// Forgets the connection to a node, and what lived there.
    pub(super) fn drop_connection(&mut self, node: NodeId) {
        self.cannot_be_asked(node);
        self.backends.take_ticket(node);
        self.backends.take(node);
        self.prepared.forget_node(node);
        if self.previous == Some(node) {
            self.previous = None;
        }
    }

    /// Forgets the connections to all other nodes.
    pub(super) fn drop_connections_but(&mut self, node: NodeId) {
        self.have_all_back();
        let others: Vec<NodeId> =
            self.backends.all().map(|connection| connection.node).filter(|other| *other != node).collect();
        others.into_iter().for_each(|other| self.drop_connection(other));
    }

    /// The connection to a node is of no use any more.
    pub(super) fn failed(&mut self, node: NodeId, error: BackendError) -> Unreachable {
        let bound = self.is_bound_to(node);
        self.drop_connection(node);
        if let BackendError::Refused(_) = error {
            // It will refuse that part of the state for the next statement as well.
            self.backends.refuse(node);
        }
        if bound { Unreachable::Lost(format!("({error})")) } else { Unreachable::Failed(error) }
    }

    async fn connect(&mut self, node: NodeId) -> Result<Box<Connection>, BackendError> {
        let found = self.instance.cluster.snapshot().node(node).cloned();
        let Some(found) = found else {
            return Err(BackendError::Protocol("no such node".to_owned()));
        };
        let (incarnation, flavor) = (found.incarnation, self.flavor);
        let request = LoginRequest {
            user: &self.account.user,
            secret: &self.account.secret,
            schema: self.state.schema.as_deref(),
            collation: self.account.collation,
            capabilities: self.capabilities,
            extended: self.extended,
            attributes: self.account.attributes.as_deref(),
            compression: self.instance.compression_to_servers(self.client.compression()),
        };
        let tls = &self.instance.server_tls;
        let connected = match self.endpoint.config.pool {
            Pool::Transaction => {
                pool::borrow(&found, (self.endpoint.places(&found), &self.instance.connections), tls, request)
                    .await
            }
            kind => pool::log_in(&found, kind == Pool::Session, tls, request).await.map(Borrowed::New),
        };
        match connected {
            Ok(Borrowed::Reset(connection)) => Ok(connection),
            Ok(Borrowed::New(logged_in)) => {
                let counted = self.instance.connections.opened(node);
                let login = (&*self.account.user, self.state.schema.as_deref());
                Ok(Box::new(Connection::new(logged_in, node, incarnation, flavor, login, counted)))
            }
            Err(error) => {
                if let BackendError::Connect(_) = error {
                    self.instance.cluster.report_failure(node, &error.to_string());
                }
                if let BackendError::PasswordNeeded = error {
                    // The node has forgotten the account. The next client that logs in is asked for the password, and every
                    // node is shown it again.
                    self.instance.accounts.forget(&self.account.user);
                }
                self.backends.refuse(node);
                tracing::debug!(session = self.id, node = node.index(), %error, "cannot log in to a node");
                Err(error)
            }
        }
    }

    /// Prepares a statement on a node where it is not prepared yet, in the state in which its client prepared it.
    async fn prepare_on(&mut self, node: NodeId, id: u32) -> Result<(), Unreachable> {
        let is_there = self.backends.get(node).is_none_or(|connection| connection.statement(id).is_some());
        if is_there {
            return Ok(());
        }
        Box::pin(self.prepare_anew(node, id)).await
    }

    async fn prepare_anew(&mut self, node: NodeId, id: u32) -> Result<(), Unreachable> {
        let (Some(connection), Some(prepared)) = (self.backends.get(node), self.prepared.get(id)) else {
            return Ok(());
        };
        connection.bring_to(&prepared.state, Tracking::Default, false);
        let mut command = Vec::with_capacity(prepared.text.len() + 8);
        wire::prepared::write_prepare(&mut command, &prepared.text);
        let mut heard = Heard::default();
        let nobody = Wanted::default();
        let view = ClientView {
            capabilities: Capabilities::DEPRECATE_EOF | Capabilities::SESSION_TRACK,
            wanted: &nobody,
            statement_id: id,
            status: Status::default(),
        };
        let flavor = self.flavor;
        let cluster = &self.instance.cluster;
        let prepared = async {
            connection.send(&command).await?;
            connection.settle().await?;
            let mut walker = Sent::WHOLE.walker(Expect::Prepare, connection);
            swallow(&mut connection.channel, &mut walker, &view, flavor, &mut heard)
                .await
                .map_err(|error| BackendError::Protocol(error.to_string()))
        };
        let is_up = || cluster.snapshot().node(node).is_some_and(Node::is_up);
        let outcome = while_up(prepared, is_up).await.flatten();
        match (outcome, heard.prepared) {
            (Ok(()), Some(ok)) => {
                connection.prepared(id, ok.statement_id);
                connection.has_answered();
                Ok(())
            }
            (Ok(()), None) => Err(Unreachable::NotPrepared(heard.refused.unwrap_or_else(|| ServerError {
                code: crate::error::UNKNOWN,
                sql_state: *b"HY000",
                message: b"Tidemark: the node did not prepare the statement".to_vec(),
            }))),
            (Err(error), _) => Err(self.failed(node, error)),
        }
    }
}

/// Waits for a node's answer for as long as the node is up. To prepare a statement may take long: it waits for locks.
async fn while_up<T>(answer: impl Future<Output = T>, is_up: impl Fn() -> bool) -> Result<T, BackendError> {
    let (mut answer, began) = (pin!(answer), Instant::now());
    loop {
        match timeout(LOOK_AGAIN, answer.as_mut()).await {
            Ok(answer) => return Ok(answer),
            Err(_) if is_up() => {}
            Err(_) => {
                let waited_ms = began.elapsed().as_millis();
                return Err(BackendError::Silent(u64::try_from(waited_ms).unwrap_or(u64::MAX)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn an_answer_is_waited_for_while_the_node_is_up() {
        assert!(matches!(while_up(ready(1), || false).await, Ok(1)));
        let looks = Cell::new(0);
        let is_up = || {
            looks.set(looks.get() + 1);
            looks.get() < 3
        };
        assert!(matches!(while_up(pending::<()>(), is_up).await, Err(BackendError::Silent(700..))));
        assert_eq!(looks.get(), 3);
    }
}
