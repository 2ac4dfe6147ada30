//! Tells the instance of a write before its client hears of it: whoever is told by that client, and reads at the level
//! `global` with `global_scope = "proxy"`, must find it.

use std::sync::Arc;

use sql::Effects;

use super::Session;
use super::understand::Statement;
use crate::cluster::Cluster;
use crate::relay::Heard;
use crate::route::Go;

/// Listens to the reply of one statement on the primary.
pub(super) struct Herald {
    cluster: Arc<Cluster>,
    epoch: u64,
    /// The statement may have written what its reply does not tell.
    may_hide: bool,
    /// The reply tells less than was written.
    hides: bool,
}

impl Session {
    /// A herald for the statement, when somebody listens.
    pub(super) fn herald(&mut self, statement: &Statement, go: &Go) -> Option<Herald> {
        let cluster = &self.instance.cluster;
        if !cluster.acknowledged().is_kept() {
            return None;
        }
        let snapshot = cluster.snapshot();
        if snapshot.primary != Some(go.node) {
            return None;
        }
        let (cluster, epoch) = (Arc::clone(cluster), snapshot.epoch);
        drop(snapshot);
        // MariaDB tells only the last of a procedure's commits; others may stand in other domains.
        let hides = statement.effects.contains(Effects::OPAQUE) && !self.has_one_order();
        let tells = self.backends.get(go.node).is_some_and(|connection| connection.tells_positions());
        let may_hide = statement.effects.contains(Effects::MAY_COMMIT) && !tells;
        Some(Herald { cluster, epoch, may_hide, hides })
    }
}

impl Herald {
    /// What was heard so far, before the client hears it.
    pub(super) fn hear(&self, heard: &Heard) {
        let acknowledged = self.cluster.acknowledged();
        match &heard.position {
            Some(position) => {
                acknowledged.note(position, self.epoch);
                if self.hides || heard.unreadable {
                    acknowledged.lost_track();
                }
            }
            None if heard.oks > 0 && (self.may_hide || heard.unreadable) => acknowledged.lost_track(),
            None => {}
        }
    }
}
