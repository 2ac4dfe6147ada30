//! What clients did and what they were told: the only thing that is judged.
//!
//! A register is a row with a number. Each has one writer, which writes 1, 2, 3 and so on: a number never returns, so
//! that what a read shows tells how far in the history it stands. A read shows all registers at once.

use std::fmt;

/// Nanoseconds since the run began, by one monotonic clock for all clients.
pub type Nanos = u64;

/// The promise that a session is under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Committed states only, of any age.
    Eventual,
    /// Its own writes, and nothing older than what it saw.
    Session,
    /// Whatever anybody was told or shown before.
    Global,
    /// Not through a proxy: on the primary itself. Nothing is promised that is checked here.
    Direct,
}

impl Level {
    /// Those that a proxy offers.
    pub const OFFERED: [Self; 3] = [Self::Eventual, Self::Session, Self::Global];

    /// Its name in configuration files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Eventual => "eventual",
            Self::Session => "session",
            Self::Global => "global",
            Self::Direct => "direct",
        }
    }
}

/// A session: one connection, from login to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Who {
    /// No other session of the run has it.
    pub number: u32,
    /// What it was promised.
    pub level: Level,
    /// The proxy it goes through, as a letter; `-` for none.
    pub proxy: char,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level {
            Level::Direct => write!(f, "session {} (direct)", self.number),
            level => write!(f, "session {} ({}, proxy {})", self.number, level.as_str(), self.proxy),
        }
    }
}

/// A read that was answered.
#[derive(Debug, Clone)]
pub struct Read {
    /// Who read.
    pub who: Who,
    /// Before the first byte was sent.
    pub begin: Nanos,
    /// After the last byte had come.
    pub end: Nanos,
    /// The server that answered, by its `server_id`.
    pub node: u32,
    /// What each register showed.
    pub values: Box<[u32]>,
    /// What each showed when it was read once more in the same snapshot.
    pub again: Option<Box<[u32]>>,
}

/// A write, acknowledged or not.
#[derive(Debug, Clone)]
pub struct Write {
    /// Who wrote.
    pub who: Who,
    /// The register.
    pub register: usize,
    /// The number written.
    pub value: u32,
    /// Before the first byte was sent.
    pub begin: Nanos,
    /// After the OK had come; `None` when none came: it may show, at any time, or never.
    pub end: Option<Nanos>,
}

/// What happened in a stretch of time at whose ends nothing was under way.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// In any order.
    pub reads: Vec<Read>,
    /// In any order.
    pub writes: Vec<Write>,
}

impl History {
    /// Adds what another client did meanwhile.
    pub fn add(&mut self, other: Self) {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
    }
}

/// A transaction on lists, to which elements are only ever appended. No element is written twice.
#[derive(Debug, Clone)]
pub struct Transaction {
    /// Whose.
    pub who: Who,
    /// Before the first byte was sent.
    pub begin: Nanos,
    /// When it was over, well or not.
    pub end: Nanos,
    /// The server that answered its reads; 0 when none was answered.
    pub node: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether all its reads are of one snapshot.
    pub snapshot: bool,
    /// What it did, as far as that was answered.
    pub steps: Vec<Step>,
}

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Its COMMIT was acknowledged.
    Committed,
    /// It was rolled back, and that was acknowledged.
    Aborted,
    /// Nobody said.
    InDoubt,
}

/// A step of a transaction on lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// This was put at the end of a list, or was to be.
    Append {
        /// The list.
        list: usize,
        /// The element.
        element: u32,
    },
    /// A list was read whole.
    Read {
        /// The list.
        list: usize,
        /// Its elements, the first one first.
        elements: Vec<u32>,
    },
}
