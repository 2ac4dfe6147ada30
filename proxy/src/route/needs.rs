//! What a session has written and seen: the least that its next read must show.

use std::time::{Duration, Instant};

use gtid::Position;

use super::demand::Demand;
use crate::cluster::snapshot::{Node, NodeId, Reign};

/// The session's side of the promise.
///
/// Two bounds are kept because the primary is a node like any other: it shows this session's own writes (their OK
/// came after they were visible there), but a replica can have shown a transaction that the primary itself does not
/// show yet, for the binary log is sent before the engine commits.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Own writes, acknowledged by the primary.
    pub written: Position,
    /// What was learnt from elsewhere: other nodes' bounds, or a token of another session.
    pub bound: Position,
    /// What the session saw last.
    pub seen: Seen,
    /// Something was written and its position is not known; the primary must be asked.
    pub unknown: bool,
    /// The present primary was not asked yet whether it has all this: it was noted under an earlier one, or an earlier
    /// life of it, or came from elsewhere.
    pub unproven: bool,
    /// Under whom all this was noted; `None` before the first statement.
    reign: Option<Reign>,
    /// When the first of the results came that the session saw on the node of `seen` in a row.
    anchored: Option<Instant>,
}

/// What the session saw last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seen {
    /// Nothing that its writes and bound do not cover.
    #[default]
    Covered,
    /// A result of this node; nothing that it shows later is older.
    On {
        /// The node.
        node: NodeId,
        /// Its life; another life may show less.
        incarnation: u64,
        /// When the result had come whole.
        until: Instant,
    },
}

/// What the primary answered to a question that was sent after the statement arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimaryBound {
    /// Everything anyone can have seen or been told of, anywhere, before the question.
    pub high: Position,
    /// What the primary itself showed when it answered, as far as its answer says; `None` where the servers cannot
    /// say it in the same answer.
    pub shown: Option<Position>,
}

impl PrimaryBound {
    /// What must still become visible on the primary before it may serve the read.
    pub fn to_show(&self, primary: &Node) -> Option<Position> {
        let shown = self.shown.as_ref().is_some_and(|shown| shown.covers(&self.high))
            || primary.low.covers(&self.high);
        (!shown).then(|| self.high.clone())
    }
}

impl Needs {
    /// A write was acknowledged with this position. In the primary's log it stands behind everything that this
    /// session read before, so that it alone is what the next read must show.
    ///
    /// `one_order`: replicas apply that log in its order. MariaDB does so within each domain only; where there are
    /// several, a replica that has the write may still lack what was read before it.
    pub fn wrote(&mut self, position: Position, one_order: bool) {
        if self.written.is_empty() || self.written.advance(&position).is_err() {
            self.written = position;
        }
        if one_order {
            self.bound = Position::empty(self.written.flavor());
            // Whatever was written or seen before without a position stands before this in the log.
            self.unknown = false;
        } else {
            self.unknown |= self.seen != Seen::Covered;
        }
        self.seen = Seen::Covered;
    }

    /// A result came from this node. `checked`: it had been found fresh enough, so that what it shows from now on covers
    /// what was seen before. If it was not, only the primary can bound what another node has shown.
    pub fn saw(&mut self, node: NodeId, incarnation: u64, until: Instant, checked: bool) {
        let elsewhere = match self.seen {
            Seen::Covered => false,
            Seen::On { node: last, incarnation: life, .. } => (last, life) != (node, incarnation),
        };
        self.unknown |= elsewhere && !checked;
        if elsewhere || self.seen == Seen::Covered {
            self.anchored = Some(until);
        }
        self.seen = Seen::On { node, incarnation, until };
    }

    /// Another primary, or another life of it, may have lost something: the session asks once what still holds.
    pub fn under(&mut self, reign: Reign) {
        if self.reign != Some(reign) {
            self.doubt();
            self.reign = Some(reign);
        }
    }

    /// The primary may be in another life than the one under which all this was noted. Returns whether it is to be asked.
    pub fn doubt(&mut self) -> bool {
        let has_past = self.demand() != Demand::default() || self.seen != Seen::Covered || self.unknown;
        self.unproven |= self.reign.is_some() && has_past;
        self.unknown |= self.unproven;
        self.unproven
    }

    /// How long the session has read on one node by now without it being known whether another would do.
    pub fn anchored_for(&self) -> Duration {
        match (self.seen, self.anchored) {
            (Seen::On { until, .. }, Some(since)) => until.saturating_duration_since(since),
            _ => Duration::ZERO,
        }
    }

    /// The session was free to move and stayed: it is not asked about again for a while.
    pub fn stays(&mut self, now: Instant) {
        self.anchored = self.anchored.map(|_| now);
    }

    /// A write may have happened, and nobody said where it stands in the log.
    pub fn lost_track(&mut self) {
        self.unknown = true;
    }

    /// Everything up to the primary's answer is needed from now on, and nothing that this primary has not got: what an
    /// earlier one lost can be awaited for ever.
    pub fn learnt(&mut self, bound: &PrimaryBound) {
        self.written = Position::empty(bound.high.flavor());
        self.bound = bound.high.clone();
        self.unknown = false;
        self.unproven = false;
        self.seen = Seen::Covered;
    }

    /// At least this is needed from now on. `proven`: the primary is known to have it. What it does not have nobody can
    /// wait for.
    pub fn raise(&mut self, position: &Position, proven: bool) {
        self.unproven |= !proven;
        self.unknown |= self.unproven;
        if self.bound.is_empty() || self.bound.merge(position).is_err() {
            self.bound = position.clone();
        }
    }

    /// Own writes and the bound together: what a replica must have applied.
    pub fn demand(&self) -> Demand<'_> {
        #[cfg(feature = "sabotage")]
        if super::sabotage::ignores(super::sabotage::Rule::Need) {
            return Demand::default();
        }
        Demand::default().and(&self.written).and(&self.bound)
    }

    /// The same as one position.
    pub fn position(&self) -> Position {
        self.demand().to_position()
    }
}
