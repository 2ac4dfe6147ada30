//! The sessions' connections to each node: how many are open, who waits for one, and how often one was handed over.
//!
//! Counted where a connection is made and where it is dropped, by a value that the connection owns: no way of losing
//! one, an error or a cancelled session among them, can leave a count behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use crate::cluster::snapshot::NodeId;

/// What is counted of one node.
#[derive(Debug, Default)]
struct Counts {
    open: AtomicI64,
    waiting: AtomicI64,
    handed_over: AtomicU64,
}

/// Connections by node: those that are open, and of those that sessions share (`pool = "transaction"`) who waits for one and
/// how often one went to another session.
#[derive(Clone, Debug)]
pub struct NodeConnections(Arc<[Counts]>);

impl NodeConnections {
    /// None yet, to so many nodes.
    pub fn new(nodes: usize) -> Self {
        Self((0..nodes).map(|_| Counts::default()).collect())
    }

    /// Counts a connection for as long as the answer lives.
    pub fn opened(&self, node: NodeId) -> Counted {
        self.counted(node, |counts| &counts.open)
    }

    /// How many are open to the node now.
    pub fn open(&self, node: NodeId) -> i64 {
        self.0.get(node.index()).map_or(0, |counts| counts.open.load(Ordering::Relaxed))
    }

    /// Counts somebody who waits for a connection for as long as the answer lives.
    pub fn waits(&self, node: NodeId) -> Counted {
        self.counted(node, |counts| &counts.waiting)
    }

    fn counted(&self, node: NodeId, of: fn(&Counts) -> &AtomicI64) -> Counted {
        let counted = Counted { counts: self.clone(), node, of };
        counted.add(1);
        counted
    }

    /// How many wait for one now.
    pub fn waiting(&self, node: NodeId) -> i64 {
        self.0.get(node.index()).map_or(0, |counts| counts.waiting.load(Ordering::Relaxed))
    }

    /// One has gone from a session to another that needed it.
    pub fn hand_over(&self, node: NodeId) {
        if let Some(counts) = self.0.get(node.index()) {
            counts.handed_over.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How often that was.
    pub fn handed_over(&self, node: NodeId) -> u64 {
        self.0.get(node.index()).map_or(0, |counts| counts.handed_over.load(Ordering::Relaxed))
    }
}

/// Something that is counted as long as this lives.
#[derive(Debug)]
pub struct Counted {
    counts: NodeConnections,
    node: NodeId,
    of: fn(&Counts) -> &AtomicI64,
}

impl Counted {
    fn add(&self, number: i64) {
        if let Some(counts) = self.counts.0.get(self.node.index()) {
            (self.of)(counts).fetch_add(number, Ordering::Relaxed);
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.add(-1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_counts_as_long_as_it_lives() {
        let connections = NodeConnections::new(2);
        let (first, second) = (connections.opened(NodeId(1)), connections.opened(NodeId(1)));
        assert_eq!((connections.open(NodeId(0)), connections.open(NodeId(1))), (0, 2));
        drop(first);
        assert_eq!(connections.open(NodeId(1)), 1);
        drop(second);
        assert_eq!(connections.open(NodeId(1)), 0);
    }

    #[test]
    fn who_waits_counts_until_it_has_a_connection() {
        let connections = NodeConnections::new(1);
        let waiting = connections.waits(NodeId(0));
        connections.hand_over(NodeId(0));
        assert_eq!((connections.waiting(NodeId(0)), connections.handed_over(NodeId(0))), (1, 1));
        drop(waiting);
        assert_eq!((connections.waiting(NodeId(0)), connections.open(NodeId(0))), (0, 0));
    }

    #[test]
    fn a_node_that_does_not_exist_is_not_counted() {
        let connections = NodeConnections::new(1);
        let _open = connections.opened(NodeId(7));
        assert_eq!(connections.open(NodeId(7)), 0);
    }
}
