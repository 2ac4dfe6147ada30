//! What was known when the primary was asked: its answer counts under that primary, in that life of it, and no other.

use std::sync::Arc;

use crate::cluster::{Cluster, Mark, Reign, Round};
use crate::route::PrimaryBound;

/// A question to the primary that is about to be asked.
pub(super) struct Question {
    cluster: Arc<Cluster>,
    epoch: u64,
    reign: Option<Reign>,
    mark: Option<Arc<Mark>>,
}

impl Question {
    /// Notes what is known now. `reign`: under whom the answer will be of use.
    pub(super) fn new(cluster: &Arc<Cluster>, reign: Option<Reign>) -> Self {
        let cluster = Arc::clone(cluster);
        let epoch = cluster.snapshot().epoch;
        let mark = cluster.acknowledged().is_kept().then(|| cluster.acknowledged().mark());
        Self { cluster, epoch, reign, mark }
    }

    /// The answer is needed now.
    pub(super) fn press(&self, round: Round) {
        self.cluster.press(round);
    }

    /// The primary has answered. Returns under whom; `None` when another one, or another life of it, has begun meanwhile, so
    /// that the session's past could be held against the wrong one.
    pub(super) fn answered(&self, bound: &PrimaryBound) -> Option<Reign> {
        if let Some(mark) = &self.mark {
            self.cluster.acknowledged().settle(mark, &bound.high, self.epoch);
        }
        self.reign.filter(|reign| self.cluster.snapshot().reign() == Some(*reign))
    }
}
