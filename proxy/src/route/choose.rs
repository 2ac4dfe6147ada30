//! Which of several nodes: who is in rotation, who is fresh enough, and the choice among them by weight.

use std::time::Duration;

use super::Facts;
use super::freshness::{self, OnPrimary, Required};
use crate::cluster::snapshot::{Node, NodeId, Role};
use crate::config::{Level, Mode};

/// A set of nodes. A cluster has at most 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeSet(u64);

impl NodeSet {
    /// The set of one node.
    pub fn only(node: NodeId) -> Self {
        let mut set = Self::default();
        set.insert(node);
        set
    }

    /// Adds a node.
    pub fn insert(&mut self, node: NodeId) {
        self.0 |= 1u64.checked_shl(u32::from(node.0)).unwrap_or(0);
    }

    /// Whether the node is in it.
    pub fn contains(self, node: NodeId) -> bool {
        self.0 & 1u64.checked_shl(u32::from(node.0)).unwrap_or(0) != 0
    }

    /// Whether nothing is in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn len(self) -> u32 {
        self.0.count_ones()
    }
}

/// The weight of a node in these settings: 0 takes no reads, except as the last resort.
fn weight(facts: &Facts<'_>, node: &Node) -> u16 {
    facts.settings.weight(node.id.index(), node.role != Role::Replica)
}

/// The replicas that reads may go to, or wait for: up, not drained, with a weight, and not too far behind; but the
/// least late are kept, as many as `min_replicas` says. Where positions count, only those whose positions prove
/// something: to wait for the others would be in vain. One with transactions of its own takes no reads at all.
///
/// `in_time` tells which of them are there although they are late.
pub(super) fn rotation(facts: &Facts<'_>) -> NodeSet {
    let candidates = || {
        facts.snapshot.nodes.iter().filter(|node| {
            node.takes_reads()
                && node.errant.is_none()
                && (node.follows || facts.promise.level == Level::Eventual)
                && weight(facts, node) > 0
                && !facts.attempt.excluded.contains(node.id)
        })
    };
    let mut chosen = NodeSet::default();
    candidates().filter(|node| is_in_time(facts, node)).for_each(|node| chosen.insert(node.id));
    while chosen.len() < u32::from(facts.settings.min_replicas) {
        let late = candidates().filter(|node| !chosen.contains(node.id)).min_by_key(|node| node.lag);
        match late {
            Some(node) => chosen.insert(node.id),
            None => break,
        }
    }
    chosen
}

/// Those that it is worth waiting for: one that is too late, and in rotation only so that somebody is, may never come.
pub(super) fn in_time(facts: &Facts<'_>, rotation: NodeSet) -> NodeSet {
    let mut chosen = NodeSet::default();
    let nodes = facts.snapshot.nodes.iter().filter(|node| rotation.contains(node.id));
    nodes.filter(|node| is_in_time(facts, node)).for_each(|node| chosen.insert(node.id));
    chosen
}

fn is_in_time(facts: &Facts<'_>, node: &Node) -> bool {
    let limit = match facts.settings.max_lag_ms {
        0 => Duration::MAX,
        limit => Duration::from_millis(u64::from(limit)),
    };
    node.lag.unwrap_or_default() <= limit
}

/// The nodes that may serve the read now: those in rotation, and the primary when it has a weight.
pub(super) fn fresh(facts: &Facts<'_>, rotation: NodeSet, required: &Required<'_>) -> NodeSet {
    let mut chosen = NodeSet::default();
    for node in &facts.snapshot.nodes {
        if (rotation.contains(node.id) || weighted_primary(facts, node)) && freshness::fulfils(node, required)
        {
            chosen.insert(node.id);
        }
    }
    chosen
}

/// The primary, when it shows enough, and its weight against that of all who are behind has it serve this read: what the
/// session wrote it shows, whether that is known of its position yet or not.
pub(super) fn primary_at_once(facts: &Facts<'_>, rotation: NodeSet) -> Option<NodeId> {
    let primary = facts.snapshot.primary().filter(|node| weighted_primary(facts, node))?;
    let mut all = rotation;
    all.insert(primary.id);
    let shows = || freshness::on_primary(facts, primary) == OnPrimary::Shows(None);
    by_weight(facts, all).filter(|chosen| *chosen == primary.id && shows())
}

/// Whether this is the primary, and it takes a share of the reads.
fn weighted_primary(facts: &Facts<'_>, node: &Node) -> bool {
    facts.snapshot.primary == Some(node.id)
        && facts.standing.mode == Mode::ReadWrite
        && facts.request.node.is_none()
        && node.is_up()
        && !node.drained
        && weight(facts, node) > 0
        && !facts.attempt.excluded.contains(node.id)
}

/// One node of the set, in proportion to the weights.
pub(super) fn by_weight(facts: &Facts<'_>, set: NodeSet) -> Option<NodeId> {
    let nodes = || facts.snapshot.nodes.iter().filter(|node| set.contains(node.id));
    let total: u32 = nodes().map(|node| u32::from(weight(facts, node))).sum();
    let mut rest = facts.dice.checked_rem(total).unwrap_or(0);
    for node in nodes() {
        let own = u32::from(weight(facts, node));
        if rest < own {
            return Some(node.id);
        }
        rest -= own;
    }
    nodes().next().map(|node| node.id)
}

/// The same, but at the level global mostly the node that ran the session's previous statement: what a server keeps for a
/// connection is warm there. Now and then the weights choose anew, so that over many reads they are kept all the same.
pub(super) fn steadily(facts: &Facts<'_>, set: NodeSet) -> Option<NodeId> {
    let stays = facts.promise.level == Level::Global && facts.dice >> 27 != 0;
    let previous = facts.standing.previous.filter(|node| stays && set.contains(*node));
    previous.or_else(|| by_weight(facts, set))
}
