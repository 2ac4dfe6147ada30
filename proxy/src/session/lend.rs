//! Lending out connections between two statements (`pool = "transaction"`), and having them back.
//!
//! What is lent may be somebody else's when the session comes back: it is as if the connection had broken while nothing was
//! bound to it. What a new connection would not have keeps it from being lent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sql::{Effects, Kind};

use super::Session;
use super::insert_id::InsertId;
use super::understand::{Role, Statement};
use crate::backend::pool;
use crate::cluster::snapshot::NodeId;
use crate::config::Pool;
use crate::error::ClientError;
use crate::relay::Heard;

/// How long what a statement left may be asked for before its connection can be somebody else's: drivers ask for warnings at
/// once.
const ASKED_WITHIN: Duration = Duration::from_secs(1);

/// What the last statement left on its connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Left {
    /// Warnings or an error.
    diagnostics: bool,
    /// What is likely to be asked for.
    wanted: bool,
    /// This session asks such things.
    asks: bool,
    /// Somebody else has the connection.
    lost: bool,
}

impl Left {
    /// A statement has run.
    pub(super) fn note(&mut self, statement: &Statement, heard: &Heard) {
        let has = |effect| statement.effects.contains(effect);
        let warned = heard.warnings > 0 || heard.prepared.is_some_and(|ok| ok.warnings > 0);
        self.diagnostics = warned || heard.error.is_some();
        self.wanted = self.diagnostics || self.asks || has(Effects::CALC_FOUND_ROWS);
        self.lost = false;
    }
}

impl Session {
    /// Lends out what the session does not need before its next statement.
    pub(super) async fn lend(&mut self) {
        if self.endpoint.config.pool != Pool::Transaction || self.keeps_all() {
            return;
        }
        if !self.all_is_known() {
            Box::pin(self.ask_before_lending()).await;
        }
        let kept_until = self.left.wanted.then(|| Instant::now() + ASKED_WITHIN);
        for node in self.backends.nodes() {
            if self.keeps(node) {
                continue;
            }
            let Some(connection) = self.backends.take(node) else { continue };
            let kept_until = kept_until.filter(|_| self.previous == Some(node));
            let owner = Arc::clone(&self.card);
            match pool::lend(connection, owner, kept_until) {
                Some(ticket) => self.backends.lent(node, ticket),
                None => self.lost_what_was_lent(node),
            }
        }
    }

    /// What holds for the session wherever it goes, and for no new connection.
    fn keeps_all(&self) -> bool {
        self.in_transaction()
            || self.next_transaction_on.is_some()
            || !self.tied_by.is_empty()
            || self.expired
            // What was noted the connection knows alone.
            || self.state.variables.contains_key(b"profiling".as_slice())
            // To ask now would end what the client may ask.
            || (self.left.wanted && !self.all_is_known())
    }

    /// Whether the connection to this node is not to be lent.
    fn keeps(&mut self, node: NodeId) -> bool {
        let (is_primary, has_init_connect) = {
            let snapshot = self.instance.cluster.snapshot();
            let facts = snapshot.node(node).and_then(|node| node.facts.as_ref());
            (snapshot.primary == Some(node), facts.is_none_or(|facts| facts.has_init_connect))
        };
        has_init_connect
            || self.is_bound_to(node)
            || self.prepared.have_cursors_on(node)
            || (is_primary && self.insert_id == InsertId::Untold)
            || self.backends.get(node).is_none_or(|connection| !connection.can_rest())
    }

    /// Has the connection to a node back, if it was lent out and nobody else has it.
    pub(super) fn have_back(&mut self, node: NodeId) {
        let Some(ticket) = self.backends.take_ticket(node) else { return };
        match pool::have_back(node, &ticket) {
            Some(connection) => self.backends.put(connection),
            None => self.lost_what_was_lent(node),
        }
    }

    /// The same of every connection.
    pub(super) fn have_all_back(&mut self) {
        self.backends.nodes_lent().into_iter().for_each(|node| self.have_back(node));
    }

    fn lost_what_was_lent(&mut self, node: NodeId) {
        if self.previous == Some(node) {
            self.previous = None;
            self.left.lost = true;
        }
    }

    /// What the statement before this one left went with its connection: nothing else can tell it.
    pub(super) fn looks_back_in_vain(&mut self, statement: &Statement) -> Option<ClientError> {
        if !statement.effects.contains(Effects::LOOKS_BACK) || statement.role == Role::Prepare {
            return None;
        }
        self.left.asks = true;
        if let Some(node) = self.previous {
            self.have_back(node);
        }
        // A connection that has not run anything has no warnings either.
        let same = statement.kind == Kind::Show && !self.left.diagnostics;
        (self.left.lost && !same).then(|| {
            ClientError::own(
                "what the statement before this one left (FOUND_ROWS, ROW_COUNT, warnings) went with its connection, which \
                 another client has now: ask within the transaction, or use an endpoint without pool = \"transaction\"",
            )
        })
    }
}
