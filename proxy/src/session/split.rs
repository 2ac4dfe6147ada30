//! Transaction splitting: the reads before the first write of a transaction run on replicas.
//!
//! Where every statement has a snapshot of its own (READ COMMITTED and below), a transaction that has only read is one in
//! name alone. So BEGIN is answered here and no node hears of it: the transaction is *unopened*. Reads that are safe on a
//! replica go where they would go in autocommit; the client sees in each reply that its transaction is open. The first
//! statement that belongs on the primary, or is sent there for whatever reason, opens it there, after the primary shows
//! what the session has seen on replicas. From then on the transaction is like any other. The end of one that was never
//! opened is answered here as well.
//!
//! START TRANSACTION is sent alone, not in one write with the statement behind it: if the server refused it, a write
//! behind it would be committed at once and for good.
//!
//! Which transactions may be split is found out in `isolation`.
//!
//! Deliberately absent: autocommit off, where no statement says that a transaction begins.

use sql::{Effects, Kind, Target, TransactionControl, transaction_control};
use wire::Execute;
use wire::rows::QueryOutcome;
use wire::status::Status;

use super::isolation::Characteristics;
use super::reach::Unreachable;
use super::remember::runs_unseen;
use super::understand::{Role, Statement};
use super::{End, Session};
use crate::backend::BackendError;
use crate::cluster::snapshot::NodeId;
use crate::relay::Command;
use crate::route::{Go, Reason};

/// What a session knows of a transaction that no node has heard of, and of whether the next one may be such.
#[derive(Debug, Default)]
pub(super) struct Split {
    /// The client is in a transaction that is open nowhere.
    unopened: bool,
    /// The last statement was answered here, in a server's place.
    unheard: bool,
    /// Since a transaction was begun on a node, the characteristics of the next one alone may have been set.
    pub(super) next_is_set: bool,
    /// What the primary connection said.
    pub(super) answer: Option<Characteristics>,
}

impl Split {
    /// Whether the client is in a transaction that is open nowhere.
    pub(super) fn is_unopened(&self) -> bool {
        self.unopened
    }

    /// The transaction is open on a node, or over.
    pub(super) fn is_settled(&mut self) {
        self.unopened = false;
    }

    /// A node has answered a statement. `next_is_set`: the characteristics of the next transaction are known to be set.
    pub(super) fn note(&mut self, statement: &Statement, failed: bool, next_is_set: bool) {
        self.unheard = false;
        let several = statement.kind == Kind::Multi && statement.effects.contains(Effects::OPAQUE);
        let unseen = runs_unseen(statement) || several || statement.kind == Kind::Unknown;
        let begun = statement.kind == Kind::Begin && !failed;
        self.next_is_set = (self.next_is_set || next_is_set || unseen) && !begun;
    }
}

impl Session {
    /// Whether the client is in a transaction, be it open on a node or not.
    pub(super) fn in_transaction(&self) -> bool {
        self.transaction.is_some() || self.split.unopened
    }

    /// Answers a BEGIN that no node need hear of yet, and the end of a transaction that none has heard of. `false`: it
    /// must be run.
    pub(super) async fn answer_control(
        &mut self,
        command: &mut Command,
        statement: &Statement,
        control: TransactionControl,
    ) -> Result<bool, End> {
        let (begins, releases) = match control {
            TransactionControl::Begin if self.may_split(statement).await => (true, false),
            TransactionControl::End { chains, releases } if self.split.unopened => (chains, releases),
            _ => return Ok(false),
        };
        self.split.unopened = begins;
        self.split.unheard = true;
        let others = self.status.without(Status::IN_TRANS);
        self.status = if begins { others | Status::IN_TRANS } else { others };
        // Whoever asks about the previous statement asks about this one.
        self.previous = None;
        self.answer_ok(command).await?;
        if releases { Err(End::Quit) } else { Ok(true) }
    }

    /// What a statement does to transactions, if that is all it does.
    pub(super) fn control(&self, command: &Command, statement: &Statement) -> Option<TransactionControl> {
        let Role::Text(range) = &statement.role else { return None };
        if !matches!(statement.kind, Kind::Begin | Kind::Commit | Kind::Rollback) {
            return None;
        }
        transaction_control(command.payload(&self.client).get(range.clone())?, self.dialect)
    }

    /// A statement as it is to be routed while its transaction is unopened: what shows data on the primary must not show
    /// less than the replicas did, and whatever is no plain read opens the transaction.
    pub(super) fn within_unopened(&self, command: &Command, mut statement: Statement) -> Statement {
        if !self.split.unopened
            || !matches!(statement.role, Role::Text(_) | Role::Execute(_) | Role::Plain(_))
        {
            return statement;
        }
        // What asks about the statement before it opens nothing where that one ran on a replica.
        let primary = self.instance.cluster.snapshot().primary;
        let on_replica = self.previous.is_some() && self.previous != primary;
        statement.request.sees |= statement.request.target != Target::Previous || !on_replica;
        // Rows of a cursor are fetched when the transaction may be over, or open elsewhere.
        let into_cursor = matches!(statement.role, Role::Execute(id) if self.wants_cursor(command, id));
        let plain_read = matches!(statement.request.reason, sql::Reason::Read | sql::Reason::MetadataRead);
        let begins_anew = statement.kind == Kind::BeginReadOnly;
        if statement.request.target == Target::Replica && !begins_anew && (into_cursor || !plain_read) {
            statement.request.target = Target::Primary;
            statement.request.reason = sql::Reason::Transaction;
        }
        statement
    }

    fn wants_cursor(&self, command: &Command, id: u32) -> bool {
        let params = self.prepared.get(id).map_or(0, |prepared| prepared.params);
        Execute::parse(command.payload(&self.client), params, self.capabilities)
            .is_ok_and(|execute| execute.wants_cursor())
    }

    /// Names the reason of a read that only splitting has brought to a replica.
    pub(super) fn name_split(&self, go: &mut Go) {
        let read = matches!(go.reason, Reason::Statement(sql::Reason::Read | sql::Reason::MetadataRead));
        if self.split.unopened && read && Some(go.node) != self.instance.cluster.snapshot().primary {
            go.reason = Reason::Split;
        }
    }

    /// Tells the node, which is ready for the statement, what was answered in its place and must come before it.
    pub(super) async fn catch_up(&mut self, go: &Go, statement: &Statement) -> Result<(), Unreachable> {
        if self.split.unopened {
            if !self.runs_beside(go, statement) {
                let status = Box::pin(self.say(go.node, b"START TRANSACTION")).await?;
                self.stands_at(go.node, status);
            }
        } else if self.split.unheard && statement.request.target == Target::Previous {
            // It ended a transaction, and left no warnings and no rows behind, as this does.
            Box::pin(self.say(go.node, b"COMMIT")).await?;
        }
        Ok(())
    }

    /// Whether a statement runs beside the unopened transaction: a read on a replica, what only a replica can answer, and
    /// what touches no data.
    fn runs_beside(&self, go: &Go, statement: &Statement) -> bool {
        if matches!(statement.role, Role::Prepare | Role::Fetch(_) | Role::Reset(_)) {
            return true;
        }
        let may = matches!(statement.request.target, Target::Replica | Target::Previous) || go.reason.pins();
        may && Some(go.node) != self.instance.cluster.snapshot().primary
    }

    /// Says a statement without rows to a node. Returns the status flags of its OK.
    async fn say(&mut self, node: NodeId, text: &[u8]) -> Result<Status, Unreachable> {
        let Some(connection) = self.backends.get(node) else {
            return Err(Unreachable::Lost("no connection".to_owned()));
        };
        match connection.ask(text).await {
            Ok(outcomes) => match outcomes.last() {
                Some(QueryOutcome::Ok(ok)) => Ok(ok.status),
                _ => Err(self.failed(node, BackendError::Protocol("no OK where it was due".to_owned()))),
            },
            Err(error) => Err(self.failed(node, error)),
        }
    }
}
