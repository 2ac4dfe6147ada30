//! What the operator is told when roles change: once, with what is done about it.

use std::sync::Arc;

use tracing::{error, info, warn};

use super::board::CATCH_UP_LIMIT;
use super::discover::{Roles, Verdict};

/// One change of the roles.
pub(super) struct Change<'a> {
    /// The nodes' names.
    pub(super) names: Vec<Arc<str>>,
    /// What was thought before.
    pub(super) before: &'a Roles,
    /// What is thought now.
    pub(super) after: &'a Roles,
    /// The last primary there was.
    pub(super) reigning: Option<usize>,
    /// The number of its time.
    pub(super) epoch: u64,
}

impl Change<'_> {
    /// Writes it to the log; nothing when nothing changed.
    pub(super) fn log(&self) {
        for index in 0..self.names.len() {
            self.log_role(index);
        }
        if self.after.primary != self.before.primary {
            self.log_primary();
        }
        if self.after.verdict != self.before.verdict {
            self.log_verdict();
        }
    }

    fn name(&self, index: usize) -> &str {
        self.names.get(index).map_or("?", |name| name)
    }

    fn names(&self, indices: &[usize]) -> String {
        indices.iter().map(|index| self.name(*index)).collect::<Vec<_>>().join(",")
    }

    fn log_role(&self, index: usize) {
        let Some(role) = self.after.roles.get(index) else { return };
        let sources = self.after.sources.get(index);
        if self.before.roles.get(index) != Some(role) || self.before.sources.get(index) != sources {
            let source = self.names(sources.map(Vec::as_slice).unwrap_or_default());
            info!(node = self.name(index), role = role.as_str(), source, "role");
        }
    }

    fn log_primary(&self) {
        match (self.after.primary, self.reigning) {
            (None, last) => {
                let was = last.map_or("none", |index| self.name(index));
                warn!(was, "there is no primary; what needs one waits for it, failover_hold_ms at most");
            }
            (Some(primary), None) => {
                info!(primary = self.name(primary), epoch = self.epoch + 1, "primary found")
            }
            (Some(primary), Some(last)) if primary == last => {
                info!(primary = self.name(primary), "the primary takes writes again");
            }
            (Some(primary), Some(last)) => warn!(
                primary = self.name(primary),
                was = self.name(last),
                epoch = self.epoch + 1,
                "another primary; positions are believed again when its replicas have been compared with it"
            ),
        }
    }

    fn log_verdict(&self) {
        let kept = self.after.primary.map_or("none", |index| self.name(index));
        match &self.after.verdict {
            Verdict::TooEarly | Verdict::Clear => {}
            Verdict::NoneWritable => warn!(
                primary = kept,
                "no node that answers takes writes; bring back the primary, or promote another node if it is gone for good"
            ),
            Verdict::SeveralWritable(nodes) => error!(
                nodes = self.names(nodes),
                primary = kept,
                "several nodes take writes and nothing tells which is meant; SET GLOBAL read_only = ON on the others"
            ),
            Verdict::Behind(index) => warn!(
                node = self.name(*index),
                primary = kept,
                limit_s = CATCH_UP_LIMIT.as_secs(),
                "the next primary has not executed all that it was sent as a replica; writes wait until it has, or \
                 until the limit. START REPLICA SQL_THREAD (START SLAVE SQL_THREAD) if its thread is stopped, or RESET \
                 REPLICA ALL (RESET SLAVE ALL) to give that up at once"
            ),
            Verdict::Unproven(index) => error!(
                node = self.name(*index),
                primary = kept,
                "the only writable node that answers is not followed by the others; make them replicate from it, or \
                 stop their replication"
            ),
        }
    }
}
