//! What came of a check: how often each anomaly was found at each level, and the ones that break a promise, explained.

use std::collections::BTreeMap;
use std::fmt;

use super::Anomaly;
use crate::history::{Level, Nanos, Read, Who};

/// Findings that are kept for each anomaly at each level; the rest is only counted.
const KEPT: usize = 3;

/// Why a register must show at least a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact {
    /// The value.
    pub value: u32,
    /// Who knew.
    pub who: Who,
    /// Since when.
    pub at: Nanos,
    /// The server on which it was read; `None` when it was written.
    pub node: Option<u32>,
}

/// A broken promise.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Which.
    pub anomaly: Anomaly,
    /// The read that shows it.
    pub read: Read,
    /// What proves it.
    pub proof: Proof,
}

/// What a read is held against.
#[derive(Debug, Clone)]
pub enum Proof {
    /// This register should have shown at least this.
    Known {
        /// The register.
        register: usize,
        /// What was known of it.
        fact: Fact,
    },
    /// This register showed a value that nobody had begun to write.
    FromNowhere {
        /// The register.
        register: usize,
    },
    /// The other snapshot.
    Other(Box<Read>),
}

/// The result of a check.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    counts: BTreeMap<(Level, Anomaly), u64>,
    /// Reads with at least one anomaly of staleness, by level.
    stale: BTreeMap<Level, u64>,
    findings: Vec<Finding>,
}

impl Verdict {
    pub(super) fn note(&mut self, anomaly: Anomaly, read: &Read, proof: impl FnOnce() -> Proof) {
        let level = read.who.level;
        *self.counts.entry((level, anomaly)).or_default() += 1;
        let alike = |finding: &&Finding| finding.anomaly == anomaly && finding.read.who.level == level;
        let kept = self.findings.iter().filter(alike).count();
        if anomaly.is_excluded_by(level) && kept < KEPT {
            self.findings.push(Finding { anomaly, read: read.clone(), proof: proof() });
        }
    }

    pub(super) fn note_stale(&mut self, level: Level) {
        *self.stale.entry(level).or_default() += 1;
    }

    /// How many reads at a level had an anomaly.
    #[must_use]
    pub fn count(&self, level: Level, anomaly: Anomaly) -> u64 {
        self.counts.get(&(level, anomaly)).copied().unwrap_or_default()
    }

    /// How often a level's promise was broken.
    #[must_use]
    pub fn violations(&self, level: Level) -> u64 {
        Anomaly::ALL
            .iter()
            .filter(|anomaly| anomaly.is_excluded_by(level))
            .map(|anomaly| self.count(level, *anomaly))
            .sum()
    }

    /// Reads at a level that lacked something that somebody knew of, promised or not.
    #[must_use]
    pub fn stale(&self, level: Level) -> u64 {
        self.stale.get(&level).copied().unwrap_or_default()
    }

    /// Broken promises, the first few of each kind.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Adds another check's result.
    pub fn add(&mut self, other: Self) {
        for (key, count) in other.counts {
            *self.counts.entry(key).or_default() += count;
        }
        for (level, count) in other.stale {
            *self.stale.entry(level).or_default() += count;
        }
        self.findings.extend(other.findings);
    }
}

/// Seconds with six places, as all times are told.
struct Seconds(Nanos);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06} s", self.0 / 1_000_000_000, self.0 / 1000 % 1_000_000)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Read { who, begin, end, node, values } = &self.read;
        let from = |register: &usize| values.get(*register).copied().unwrap_or_default();
        write!(
            f,
            "{}: {who}, on server {node}, from {} to {}, ",
            self.anomaly.as_str(),
            Seconds(*begin),
            Seconds(*end)
        )?;
        match &self.proof {
            Proof::Known { register, fact } => {
                let Fact { value, who: knower, at, node } = fact;
                write!(
                    f,
                    "read register {register} as {} and should have read {value} or more: ",
                    from(register)
                )?;
                if who.number == knower.number {
                    write!(f, "the same session")?;
                } else {
                    write!(f, "{knower}")?;
                }
                match node {
                    Some(node) => write!(f, " read {value} on server {node}, answered at {}", Seconds(*at))?,
                    None => write!(f, " wrote {value}, acknowledged at {}", Seconds(*at))?,
                }
                write!(f, ", {} us before", begin.saturating_sub(*at) / 1000)
            }
            Proof::FromNowhere { register } => {
                write!(f, "read register {register} as {}, which nobody had begun to write", from(register))
            }
            Proof::Other(other) => write!(
                f,
                "read {values:?}; {}, on server {}, from {} to {}, read {:?}: each lacks something that the other has",
                other.who,
                other.node,
                Seconds(other.begin),
                Seconds(other.end),
                other.values
            ),
        }
    }
}
