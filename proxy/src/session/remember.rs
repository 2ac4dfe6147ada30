//! What a reply means for the session: its transaction, its position in the log, its prepared statements. What of the
//! session's state it changed is noted in `changes`.

use std::time::Instant;

use gtid::{Flavor, Position};
use sql::{Effects, Kind};
use wire::status::Status;

use super::decide::Search;
use super::understand::{Role, Statement};
use super::{LastRoute, Session};
use crate::backend::MUST_CHANGE_PASSWORD;
use crate::backend::state::Shared;
use crate::cluster::snapshot::{self, NodeId};
use crate::config::Level;
use crate::relay::{Command, Heard};
use crate::route::{Go, Outcome, Reason};

impl Session {
    /// Notes everything a reply said. The command's bytes are still there.
    pub(super) async fn remember(
        &mut self,
        statement: &Statement,
        go: &Go,
        command: &Command,
        mut heard: Heard,
        search: &Search,
    ) {
        if let Role::Reset(id) = statement.role {
            Box::pin(self.reset_elsewhere(id, go.node)).await;
        }
        let on_primary = self.count(go, search);
        self.remember_transaction(statement, go, &heard);
        if statement.role == Role::Prepare {
            // What it will do it has not done yet. MariaDB keeps what can be asked about the statement before it.
            self.remember_statement(statement, go, command, &heard);
            let kept = self.flavor == Flavor::Mariadb && heard.prepared.is_some_and(|ok| ok.warnings == 0);
            if !kept || self.previous.is_none() {
                self.left.note(statement, &heard);
                self.previous = Some(go.node);
            }
            return;
        }
        self.remember_expiry(statement, go, &heard);
        self.remember_position(statement, go, &heard, on_primary, search);
        self.remember_statement(statement, go, command, &heard);
        if (heard.error.is_none() || heard.oks > 0) && self.may_have_changed(statement, &heard) {
            self.learn_unreported(statement, go, command, &mut heard).await;
            self.remember_state(statement, go, command, &heard);
        }
        if heard.error.is_some() && runs_unseen(statement) {
            self.remember_failure(go);
        }
        if statement.effects.contains(Effects::SETS_TRACKERS)
            || heard.variables.iter().any(|(name, _)| name.starts_with(super::changes::TRACKERS))
        {
            Box::pin(self.remember_trackers(go, &heard)).await;
        }
        self.left.note(statement, &heard);
        self.split.note(statement, heard.error.is_some(), self.next_transaction_on.is_some());
        self.previous = Some(go.node);
    }

    /// An expired password was changed: connections that logged in with it stay of no use.
    fn remember_expiry(&mut self, statement: &Statement, go: &Go, heard: &Heard) {
        if heard.error == Some(MUST_CHANGE_PASSWORD) {
            self.expired = true;
        } else if self.expired
            && heard.error.is_none()
            && matches!(statement.kind, Kind::SetGlobal | Kind::Ddl)
        {
            self.expired = false;
            self.drop_connections_but(go.node);
        }
    }

    /// Counts the statement, and keeps the decision for TIDEMARK SHOW ROUTE. Returns whether a primary ran it.
    ///
    /// Counted is what was answered: a read that one node failed and another served is one read.
    fn count(&mut self, go: &Go, search: &Search) -> bool {
        let role = {
            let snapshot = self.instance.cluster.snapshot();
            snapshot.node(go.node).map_or(snapshot::Role::Unknown, |node| node.role)
        };
        self.endpoint.counters.statement(go.node, role, go.reason);
        if let Some(outcome) = go.outcome {
            self.count_promise(outcome, search);
        }
        let waited = search.waited.unwrap_or_default();
        self.last = Some(LastRoute { node: go.node, role, reason: go.reason, waited });
        role == snapshot::Role::Primary
    }

    /// Counts how a read under a level ended, and how long it waited for that.
    pub(super) fn count_promise(&self, outcome: Outcome, search: &Search) {
        self.endpoint.counters.outcome(search.promise.level, outcome);
        if let Some(waited) = search.waited {
            self.endpoint.counters.waited(search.promise.level, waited);
        }
    }

    /// Transactions are where the server says they are. An error alone says nothing about them; nor does a node to which
    /// only a cursor led, or one that served a read beside a transaction of which no node knows.
    fn remember_transaction(&mut self, statement: &Statement, go: &Go, heard: &Heard) {
        match heard.status {
            Some(_) if self.transaction != Some(go.node) && follows_cursor(statement) => {}
            Some(status) if self.split.is_unopened() && !is_open(status) => {}
            Some(status) => self.stands_at(go.node, status),
            None => {}
        }
    }

    /// What a node says of the session's transaction is so.
    pub(super) fn stands_at(&mut self, node: NodeId, status: Status) {
        self.status = status.lasting();
        self.autocommit = status.contains(Status::AUTOCOMMIT);
        self.transaction = is_open(status).then_some(node);
        self.split.is_settled();
    }

    /// A procedure that failed may have left a transaction open, or temporary tables. The session stays where it is; its
    /// next statement there tells about the transaction.
    fn remember_failure(&mut self, go: &Go) {
        self.pins.note_failure();
        self.settle_on(go.node);
    }

    /// What was written and what was seen.
    fn remember_position(
        &mut self,
        statement: &Statement,
        go: &Go,
        heard: &Heard,
        on_primary: bool,
        search: &Search,
    ) {
        let untold = on_primary
            && statement.effects.contains(Effects::MAY_COMMIT)
            && heard.position.is_none()
            && self.backends.get(go.node).is_some_and(|connection| !connection.tells_positions());
        self.insert_id.note(statement, heard);
        match &heard.position {
            Some(position) if on_primary => {
                let one_order = self.has_one_order();
                self.needs.wrote(position.clone(), one_order);
                if !one_order && statement.effects.contains(Effects::OPAQUE) {
                    // MariaDB tells the last of a procedure's commits; others may stand in other domains.
                    self.needs.lost_track();
                }
                // What such a statement showed behind its write, the write does not cover.
                if runs_several(statement) {
                    self.note_sight(go, true);
                }
            }
            // The node was demoted meanwhile, or the account may write on a replica: no other node need ever have it.
            Some(_) => self.needs.lost_track(),
            // Also a duplicate key, or no row to change, tells the client how the data stand.
            None if statement.request.sees || statement.effects.contains(Effects::MAY_COMMIT) => {
                let checked = statement.request.sees
                    && search.promise.level != Level::Eventual
                    && go.outcome != Some(Outcome::Stale);
                self.note_sight(go, checked);
            }
            None => {}
        }
        if heard.unreadable || untold {
            self.needs.lost_track();
        }
        // An error carries no position. Even a single INSERT may have left rows behind: in a table without transactions.
        let may_have_written =
            statement.effects.contains(Effects::MAY_COMMIT) || go.reason == Reason::ReadOnlyRefused;
        if heard.error.is_some() && may_have_written && !heard.only_read_only_refusal() {
            self.needs.lost_track();
        }
    }

    fn note_sight(&mut self, go: &Go, checked: bool) {
        if let Some(incarnation) = self.backends.get(go.node).map(|connection| connection.incarnation) {
            self.needs.saw(go.node, incarnation, Instant::now(), checked);
        }
    }

    /// Whether the primary's log is one sequence, as far as is known.
    pub(super) fn has_one_order(&self) -> bool {
        let snapshot = self.instance.cluster.snapshot();
        match snapshot.primary().and_then(|primary| primary.high.as_ref()).map(|high| &*high.position) {
            Some(Position::Mariadb(position)) => position.domains() <= 1,
            Some(Position::Mysql(_)) | None => self.flavor == Flavor::Mysql,
        }
    }

    /// What a prepared statement has left on the node.
    fn remember_statement(&mut self, statement: &Statement, go: &Go, command: &Command, heard: &Heard) {
        match &statement.role {
            Role::Prepare => {
                let other = self.text_to_prepare(command, statement);
                let text = other.as_deref().or_else(|| command.payload(&self.client).get(1..));
                if let (Some(ok), Some(text)) = (heard.prepared, text) {
                    let id = self.prepared.next_id();
                    let classified = sql::classify(text, self.dialect);
                    self.prepared.add(id, text, classified, ok.params, Shared::clone(&self.state));
                    if let Some(connection) = self.backends.get(go.node) {
                        connection.prepared(id, ok.statement_id);
                    }
                } else {
                    self.prepared.note_failure();
                }
            }
            Role::Execute(id) => {
                if let Some(prepared) = self.prepared.get_mut(*id) {
                    prepared.sent_ahead_to = None;
                    prepared.long_data.clear();
                    prepared.cursor =
                        heard.status.filter(|status| status.contains(Status::CURSOR_EXISTS)).map(|_| go.node);
                    if prepared.cursor.is_some() {
                        self.prepared.note_busy(*id);
                    }
                }
            }
            Role::Fetch(id) => {
                let over = heard.status.is_none_or(|status| status.contains(Status::LAST_ROW_SENT));
                if let Some(prepared) = self.prepared.get_mut(*id).filter(|_| over) {
                    prepared.cursor = None;
                }
            }
            Role::Reset(id) => {
                if let Some(prepared) = self.prepared.get_mut(*id) {
                    prepared.cursor = None;
                    prepared.sent_ahead_to = None;
                    prepared.long_data.clear();
                }
            }
            Role::Text(_) | Role::Plain(_) => {}
        }
    }
}

/// Whether a transaction is open.
fn is_open(status: Status) -> bool {
    status.contains(Status::IN_TRANS) || status.contains(Status::IN_TRANS_READONLY)
}

/// Whether it went where it went for a cursor's sake alone.
fn follows_cursor(statement: &Statement) -> bool {
    matches!(statement.role, Role::Fetch(_) | Role::Reset(_))
}

/// Whether the statement may show something after it has committed something.
fn runs_several(statement: &Statement) -> bool {
    runs_unseen(statement) || matches!(statement.kind, Kind::Multi | Kind::Unknown)
}

/// Whether the statement runs others that cannot be seen here.
pub(super) fn runs_unseen(statement: &Statement) -> bool {
    matches!(statement.kind, Kind::Call | Kind::Compound | Kind::ExecuteText)
}
