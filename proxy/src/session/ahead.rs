//! COM_STMT_SEND_LONG_DATA and COM_STMT_CLOSE: commands without a reply.

use wire::command::CommandCode;
use wire::prepared::set_statement_id;

use super::prepared::LONG_DATA_LIMIT;
use super::reach::Unreachable;
use super::understand::{Role, Statement};
use super::{End, Session};
use crate::cluster::snapshot::NodeId;
use crate::config::Mode;
use crate::error::ClientError;
use crate::relay::{Command, send};
use crate::route::Request;

impl Session {
    /// Keeps a piece of a parameter until the statement runs; when it becomes too much, sends all of it to the primary,
    /// where the statement then runs too.
    pub(super) async fn long_data(&mut self, command: &mut Command, id: u32) -> Result<(), End> {
        let kept = self.prepared.long_data_size();
        let primary = self.place_for_long_data();
        self.prepared.note_busy(id);
        let Some(prepared) = self.prepared.get_mut(id) else {
            // As the servers do: an unknown id is found out when it is executed.
            return self.forget_command(command).await.map(|_| ());
        };
        let size = kept + command.available;
        if command.whole && prepared.sent_ahead_to.is_none() && size <= LONG_DATA_LIMIT {
            prepared.long_data.extend_from_slice(command.bytes(&self.client));
            command.consume(&mut self.client);
            return Ok(());
        }
        let Some(node) = prepared.sent_ahead_to.or(primary) else {
            return Err(End::Told(ClientError::own(
                "no node is primary now, and a parameter this large needs one",
            )));
        };
        self.reach(node, &carrier(id)).await.map_err(|unreachable| self.lost_ahead(node, &unreachable))?;
        let (Some(connection), Some(prepared)) = (self.backends.get(node), self.prepared.get_mut(id)) else {
            return Err(End::Broken);
        };
        let server_id = connection.statement(id).unwrap_or_default();
        connection.send_ahead(&std::mem::take(&mut prepared.long_data), server_id);
        prepared.sent_ahead_to = Some(node);
        let armed = set_statement_id(command.payload_mut(&mut self.client), server_id);
        armed.map_err(|error| End::Told(ClientError::malformed(error)))?;
        let sent = send(command, &mut self.client, connection, None).await;
        command.consume(&mut self.client);
        sent.map(|_| ()).map_err(|error| {
            tracing::warn!(session = self.id, %error, "connection to the node lost while parameters were sent ahead");
            End::Broken
        })
    }

    /// Where parameters go that are too large to keep: the primary; on a read-only endpoint the replica at hand.
    fn place_for_long_data(&self) -> Option<NodeId> {
        let snapshot = self.instance.cluster.snapshot();
        let replica = || snapshot.nodes.iter().find(|node| node.takes_reads()).map(|node| node.id);
        match self.endpoint.mode {
            Mode::ReadWrite => self.transaction.or(snapshot.primary),
            Mode::ReadOnly => self.transaction.or(self.previous).or_else(replica),
        }
    }

    fn lost_ahead(&mut self, node: NodeId, unreachable: &Unreachable) -> End {
        let name = self.node_name(node);
        tracing::warn!(
            session = self.id,
            node = name,
            ?unreachable,
            "no connection for parameters sent ahead"
        );
        End::Told(ClientError::connection_lost(&name, "before parameters could be sent ahead"))
    }

    /// COM_STMT_RESET has run where the statement's cursor was; parameters may have been sent ahead to another node.
    pub(super) async fn reset_elsewhere(&mut self, id: u32, node: NodeId) {
        let elsewhere = self.prepared.get(id).and_then(|prepared| prepared.sent_ahead_to);
        let Some(other) = elsewhere.filter(|other| *other != node) else { return };
        let Some(connection) = self.backends.get(other) else { return };
        let Some(server_id) = connection.statement(id) else { return };
        if let Err(error) = connection.command(CommandCode::StmtReset, &server_id.to_le_bytes()).await {
            tracing::warn!(session = self.id, %error, "a statement could not be reset; the connection is given up");
            self.drop_connection(other);
        }
    }

    /// Closes a statement here and wherever it is prepared.
    pub(super) async fn close_statement(&mut self, command: &mut Command, id: u32) -> Result<(), End> {
        if self.prepared.remove(id) {
            self.have_all_back();
            for connection in self.backends.all() {
                connection.close_statement(id);
                // A connection that broke meanwhile is found out by the next statement on it.
                let _ = connection.flush_if_full().await;
            }
        }
        self.forget_command(command).await.map(|_| ())
    }
}

/// Stands for the statement that the parameters are for.
fn carrier(id: u32) -> Statement {
    Statement {
        request: Request {
            target: sql::Target::Primary,
            reason: sql::Reason::Prepare,
            node: None,
            sees: false,
        },
        kind: sql::Kind::Admin,
        effects: sql::Effects::NONE,
        hints: sql::Hints::default(),
        expect: wire::Expect::Execute,
        role: Role::Execute(id),
        results: 1,
    }
}
