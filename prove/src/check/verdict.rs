//! What came of a check: how often each anomaly was found at each level, and the first few that break a promise,
//! explained.

use std::collections::BTreeMap;
use std::fmt;

use super::Anomaly;
use crate::history::Level;

/// Findings that are kept for each anomaly at each level; the rest is only counted.
const KEPT: usize = 3;

/// A broken promise.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The level that promises otherwise.
    pub level: Level,
    /// What is wrong.
    pub anomaly: Anomaly,
    /// Who read what, when, on which server, and what proves that it is wrong.
    pub explanation: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.anomaly.as_str(), self.explanation)
    }
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
    pub(super) fn note(&mut self, anomaly: Anomaly, level: Level, explain: impl FnOnce() -> String) {
        *self.counts.entry((level, anomaly)).or_default() += 1;
        let alike = |finding: &&Finding| finding.anomaly == anomaly && finding.level == level;
        if anomaly.is_excluded_by(level) && self.findings.iter().filter(alike).count() < KEPT {
            self.findings.push(Finding { level, anomaly, explanation: explain() });
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
