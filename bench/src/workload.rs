//! What the clients do.

use std::fmt;

use clap::ValueEnum;

use crate::parties::{Level, Party, Purpose};

/// A kind of load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Workload {
    /// Memory for each of 1,000 clients that have read once and are silent now.
    Memory,
    /// One row by its key, as text.
    PointText,
    /// One row by its key, prepared.
    PointPrepared,
    /// One row by its key, as text, before replicas that answer it from memory.
    Responder,
    /// One row of 64 KiB.
    #[value(name = "row-64k")]
    Row64k,
    /// A result of 100 MB, in rows of 1,000 bytes, 4 connections.
    #[value(name = "result-100m")]
    Result100m,
    /// A transaction of 10 point reads, 4 range reads and 4 writes.
    ReadWrite,
    /// The same statements without a transaction: what splits can send the reads to the replicas.
    ReadWriteSplit,
    /// Connect, one read, quit.
    Connect,
    /// Nine reads for each write, 16 connections, at each level.
    Mixed,
}

/// Connections of the workload `mixed`.
const MIXED_CONNECTIONS: usize = 16;

/// Connections that fetch results of 100 MB.
const BULK_CONNECTIONS: usize = 4;

impl Workload {
    /// Its name, as options and tables have it.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// What it does, in a few words.
    pub(crate) fn meaning(self) -> String {
        let help = self.to_possible_value().and_then(|value| value.get_help().map(ToString::to_string));
        help.unwrap_or_default()
    }

    /// How many connections work at the same time, when so many are asked for.
    pub(crate) fn connections(self, asked: usize) -> usize {
        match self {
            Self::Mixed => MIXED_CONNECTIONS.min(asked),
            Self::Result100m => BULK_CONNECTIONS.min(asked),
            _ => asked,
        }
    }

    /// Whether the megabytes count rather than the statements.
    pub(crate) fn is_bulk(self) -> bool {
        matches!(self, Self::Row64k | Self::Result100m)
    }

    /// What is to be measured before this party.
    pub(crate) fn targets(self, party: &Party) -> Vec<(String, Purpose)> {
        let name = party.name.to_owned();
        match self {
            Self::Mixed if party.has_levels() => Level::ALL
                .iter()
                .map(|level| (format!("{name} {}", level.as_str()), Purpose::At(*level)))
                .collect(),
            Self::Mixed | Self::ReadWrite | Self::ReadWriteSplit => vec![(name, Purpose::All)],
            _ => vec![(name, Purpose::Reads)],
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_meanings_are_told() {
        for workload in Workload::value_variants() {
            assert_eq!(Workload::from_str(&workload.name(), false), Ok(*workload));
            assert!(!workload.meaning().is_empty(), "{workload}");
        }
    }
}
