//! Which of several nodes: who is in rotation, who is fresh enough, and the choice among them by weight.

use std::time::Duration;

use super::Facts;
use super::freshness::{self, Required};
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
    let limit = match facts.settings.max_lag_ms {
        0 => Duration::MAX,
        limit => Duration::from_millis(u64::from(limit)),
    };
    let mut chosen = NodeSet::default();
    candidates().filter(|node| node.lag.unwrap_or_default() <= limit).for_each(|node| chosen.insert(node.id));
    while chosen.len() < u32::from(facts.settings.min_replicas) {
        let late = candidates().filter(|node| !chosen.contains(node.id)).min_by_key(|node| node.lag);
        match late {
            Some(node) => chosen.insert(node.id),
            None => break,
        }
    }
    chosen
}

/// The nodes that may serve the read now: those in rotation, and the primary when it has a weight.
pub(super) fn fresh(facts: &Facts<'_>, rotation: NodeSet, required: &Required) -> NodeSet {
    let mut chosen = NodeSet::default();
    for node in &facts.snapshot.nodes {
        let weighted_primary = facts.snapshot.primary == Some(node.id)
            && facts.standing.mode == Mode::ReadWrite
            && facts.request.node.is_none()
            && node.is_up()
            && !node.drained
            && weight(facts, node) > 0
            && !facts.attempt.excluded.contains(node.id);
        if (rotation.contains(node.id) || weighted_primary) && freshness::fulfils(node, required) {
            chosen.insert(node.id);
        }
    }
    chosen
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
