//! COM_BINLOG_DUMP: a replica, or a program that captures changes, follows a node through the proxy.
//!
//! From the command on the connection carries events and acknowledgements, which nobody here reads: both directions are
//! passed through as they are, and neither is read while the other side has not taken what came before. It ends with either
//! side, with the session, and with a change of primary, so that who follows connects again and follows the new one.

use std::io;

use super::decide::Search;
use super::registry::Ending;
use super::understand::Statement;
use super::{End, Session};
use crate::cluster::snapshot::{Node, NodeId};
use crate::config::Mode;
use crate::relay::{Command, send};
use crate::route::NodeSet;

/// What happened first.
enum Event {
    /// Bytes came from one of the sides, or its end.
    Bytes(io::Result<usize>),
    /// There may be a reason to end.
    Called,
}

impl Session {
    /// Passes the conversation through until it ends; the session ends with it.
    pub(super) async fn tunnel(&mut self, command: &mut Command, statement: &Statement) -> Result<(), End> {
        let mut search = Search::new(NodeSet::default(), self.promise(statement));
        let go = match self.decide(statement, &mut search).await {
            Ok(go) => go,
            Err(why) => return self.not_run(command, statement, why).await,
        };
        if let Err(unreachable) = self.reach(go.node, statement).await {
            let tried = self.not_reached(&go, command, statement, unreachable, false, &mut search).await;
            return tried.map(|_| ());
        }
        let name = self.node_name(go.node);
        tracing::info!(
            session = self.id,
            endpoint = self.endpoint.name,
            node = name,
            client = %self.peer,
            "the binary log is followed through this connection"
        );
        let end = self.pass_through(command, go.node).await;
        self.card.runs_nothing();
        // Where the stream stands nobody knows here, and nothing else can be said on this connection.
        self.drop_connection(go.node);
        tracing::info!(session = self.id, node = name, ?end, "the binary log is not followed any more");
        Err(end)
    }

    async fn pass_through(&mut self, command: &mut Command, node: NodeId) -> End {
        let Some(mut connection) = self.backends.take(node) else { return End::Broken };
        self.card.runs_on(node, connection.incarnation, connection.thread);
        if send(command, &mut self.client, &mut connection, None).await.is_err() {
            return End::Broken;
        }
        command.consume(&mut self.client);
        let mut changes = self.instance.cluster.changes();
        loop {
            let (client, server) = (&mut self.client, &mut connection.channel);
            let passed = match (server.unread().len(), client.unread().len()) {
                (0, 0) => Ok(()),
                (0, count) => client.forward(count, server).await,
                (count, _) => server.forward(count, client).await,
            };
            if passed.is_err() {
                return End::Broken;
            }
            if !client.unread().is_empty() {
                continue;
            }
            // Whoever sends all the time must not keep the other side from being heard.
            let event = tokio::select! {
                () = self.card.wake.rung() => Event::Called,
                _ = changes.changed() => Event::Called,
                read = server.fill() => Event::Bytes(read),
                read = client.fill() => Event::Bytes(read),
            };
            match event {
                Event::Bytes(Ok(0) | Err(_)) => return End::Broken,
                Event::Bytes(Ok(_)) => {}
                Event::Called if self.ends_here(node) => return End::Broken,
                Event::Called => {}
            }
        }
    }

    /// Whether the session is to end, or the node is not the one that is to be followed any more.
    fn ends_here(&self, node: NodeId) -> bool {
        self.card.take_interrupt();
        let snapshot = self.instance.cluster.snapshot();
        let replaced = snapshot.primary.is_some_and(|primary| primary != node);
        let is_up = snapshot.node(node).is_some_and(Node::is_up);
        self.card.ending() != Ending::No || !is_up || (replaced && self.endpoint.mode == Mode::ReadWrite)
    }
}
