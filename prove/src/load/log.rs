//! What clients bring back.

use crate::history::{History, Level, Read, Transaction};

/// What clients did in one stretch of time.
#[derive(Debug, Clone, Default)]
pub struct Log {
    /// On the registers.
    pub history: History,
    /// Looks at the accounts.
    pub looks: Vec<Read>,
    /// Transfers between accounts: the level of each.
    pub transfers: Vec<Level>,
    /// On the lists.
    pub lists: Vec<Transaction>,
    /// Operations that were refused with an error, or got no answer: the level of each.
    pub failed: Vec<Level>,
    /// How long single reads of the registers took, by level, in microseconds.
    pub latencies_us: Vec<(Level, u32)>,
    /// The first refusal, in the server's or the proxy's words.
    pub refusal: Option<String>,
}

impl Log {
    pub(super) fn failed(&mut self, level: Level, why: impl FnOnce() -> String) {
        self.failed.push(level);
        self.refusal.get_or_insert_with(why);
    }

    /// Adds what another client did.
    pub fn add(&mut self, other: Self) {
        self.history.add(other.history);
        self.looks.extend(other.looks);
        self.transfers.extend(other.transfers);
        self.lists.extend(other.lists);
        self.failed.extend(other.failed);
        self.latencies_us.extend(other.latencies_us);
        self.refusal = self.refusal.take().or(other.refusal);
    }
}
