//! How many connections the sessions have open to each node.
//!
//! Counted where a connection is made and where it is dropped, by a value that the connection owns: no way of losing
//! one, an error or a cancelled session among them, can leave a count behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::cluster::snapshot::NodeId;

/// Open connections by node.
#[derive(Clone, Debug)]
pub struct NodeConnections(Arc<[AtomicI64]>);

impl NodeConnections {
    /// None yet, to so many nodes.
    pub fn new(nodes: usize) -> Self {
        Self((0..nodes).map(|_| AtomicI64::new(0)).collect())
    }

    /// Counts a connection for as long as the answer lives.
    pub fn opened(&self, node: NodeId) -> OpenConnection {
        let open = OpenConnection { counts: self.clone(), node };
        open.add(1);
        open
    }

    /// How many are open to the node now.
    pub fn open(&self, node: NodeId) -> i64 {
        self.0.get(node.index()).map_or(0, |count| count.load(Ordering::Relaxed))
    }
}

/// A connection that is counted. Dropped together with it.
#[derive(Debug)]
pub struct OpenConnection {
    counts: NodeConnections,
    node: NodeId,
}

impl OpenConnection {
    fn add(&self, number: i64) {
        if let Some(count) = self.counts.0.get(self.node.index()) {
            count.fetch_add(number, Ordering::Relaxed);
        }
    }
}

impl Drop for OpenConnection {
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
    fn a_node_that_does_not_exist_is_not_counted() {
        let connections = NodeConnections::new(1);
        let _open = connections.opened(NodeId(7));
        assert_eq!(connections.open(NodeId(7)), 0);
    }
}
