//! What one client brings back.

use crate::history::{History, Level};

/// What clients did in one stretch of time.
#[derive(Debug, Clone, Default)]
pub struct Log {
    /// For the judge.
    pub history: History,
    /// Operations by level that were refused with an error, or got no answer.
    pub failed: Vec<(Level, u64)>,
    /// How long single reads took, by level, in microseconds.
    pub latencies_us: Vec<(Level, u32)>,
    /// The first refusal, in the server's or the proxy's words.
    pub refusal: Option<String>,
    /// Snapshots that changed while their transaction was open, explained.
    pub unrepeatable: Vec<(Level, String)>,
}

impl Log {
    pub(super) fn failed(&mut self, level: Level, why: impl FnOnce() -> String) {
        self.failed.push((level, 1));
        self.refusal.get_or_insert_with(why);
    }

    /// Adds what another client did.
    pub fn add(&mut self, other: Self) {
        self.history.add(other.history);
        self.failed.extend(other.failed);
        self.latencies_us.extend(other.latencies_us);
        self.refusal = self.refusal.take().or(other.refusal);
        self.unrepeatable.extend(other.unrepeatable);
    }
}
