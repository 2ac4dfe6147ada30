//! What can be wrong with a read, and at which level that breaks a promise.

use crate::history::Level;

/// Something that a read should have shown, and did not; or showed, and should not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Anomaly {
    /// S1: a write of the same session, acknowledged before the read began, is missing.
    OwnWrite,
    /// S2: older than what the same session was shown before.
    WentBack,
    /// G1: a write of anybody, acknowledged before the read began, is missing.
    Acknowledged,
    /// G2: older than what anybody had been shown before the read began.
    Shown,
    /// A value that nobody had begun to write.
    NeverWritten,
    /// Two snapshots each of which lacks something the other has: there is no order in which both existed.
    Torn,
    /// A snapshot that changed while its transaction was open.
    Unrepeatable,
    /// A snapshot that shows a part of a transaction and not the rest of it.
    Fractured,
    /// What a transaction wrote that was rolled back, or had not come to its end and went on to write more.
    Uncommitted,
    /// Something that was written once and shows twice.
    Twice,
    /// An acknowledged write that is not there in the end.
    Lost,
}

impl Anomaly {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::OwnWrite,
        Self::WentBack,
        Self::Acknowledged,
        Self::Shown,
        Self::NeverWritten,
        Self::Torn,
        Self::Unrepeatable,
        Self::Fractured,
        Self::Uncommitted,
        Self::Twice,
        Self::Lost,
    ];

    /// Its short name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OwnWrite => "S1",
            Self::WentBack => "S2",
            Self::Acknowledged => "G1",
            Self::Shown => "G2",
            Self::NeverWritten => "never written",
            Self::Torn => "torn",
            Self::Unrepeatable => "unrepeatable",
            Self::Fractured => "fractured",
            Self::Uncommitted => "uncommitted",
            Self::Twice => "twice",
            Self::Lost => "lost",
        }
    }

    /// Whether a level promises that it does not happen. Who reads around the proxies is promised only what the servers
    /// keep by themselves.
    #[must_use]
    pub fn is_excluded_by(self, level: Level) -> bool {
        match self {
            Self::OwnWrite | Self::WentBack => matches!(level, Level::Session | Level::Global),
            Self::Acknowledged | Self::Shown => level == Level::Global,
            Self::NeverWritten
            | Self::Torn
            | Self::Unrepeatable
            | Self::Fractured
            | Self::Uncommitted
            | Self::Twice
            | Self::Lost => true,
        }
    }

    /// Whether it makes a read *stale*: it lacks something that somebody knew of.
    #[must_use]
    pub fn is_staleness(self) -> bool {
        matches!(self, Self::OwnWrite | Self::WentBack | Self::Acknowledged | Self::Shown)
    }
}
