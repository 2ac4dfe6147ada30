//! The figures of a row of the table: one level under one kind of fault.

use std::collections::BTreeMap;

use crate::check::Verdict;
use crate::history::Level;
use crate::load::Log;

/// What is counted.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Reads, writes and transactions; reads only if they were answered.
    pub operations: u64,
    /// Of these, refused with an error or without an answer.
    pub failed: u64,
    /// Reads.
    pub reads: u64,
    /// Reads that a replica served.
    pub on_replicas: u64,
    /// Reads that lacked something that somebody knew of.
    pub stale: u64,
    /// Broken promises.
    pub violations: u64,
    latencies_us: Vec<u32>,
}

impl Tally {
    /// Of a hundred reads, how many replicas served.
    #[must_use]
    pub fn replica_share(&self) -> u64 {
        100 * self.on_replicas / self.reads.max(1)
    }

    /// How long a read took that is slower than so many of a hundred, in microseconds; 0 without any.
    #[must_use]
    pub fn percentile_us(&self, percent: usize) -> u32 {
        percentile(&mut self.latencies_us.clone(), percent)
    }

    /// Adds another one's figures.
    pub fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.failed += other.failed;
        self.reads += other.reads;
        self.on_replicas += other.on_replicas;
        self.stale += other.stale;
        self.violations += other.violations;
        self.latencies_us.extend(&other.latencies_us);
    }
}

/// The one that is larger than so many of a hundred; they are sorted for that. 0 without any.
pub(crate) fn percentile<T: Copy + Ord + Default>(figures: &mut [T], percent: usize) -> T {
    figures.sort_unstable();
    let index = (figures.len() * percent / 100).min(figures.len().saturating_sub(1));
    figures.get(index).copied().unwrap_or_default()
}

/// The figures of one stretch of time, by level. `primaries`: the servers that were primary in it.
pub(crate) fn count(log: &Log, verdict: &Verdict, primaries: &[u32]) -> BTreeMap<Level, Tally> {
    let mut tallies: BTreeMap<Level, Tally> = BTreeMap::new();
    let mut read = |level: Level, node: u32| {
        let tally = tallies.entry(level).or_default();
        tally.operations += 1;
        tally.reads += 1;
        tally.on_replicas += u64::from(!primaries.contains(&node));
    };
    log.history.reads.iter().chain(&log.looks).for_each(|one| read(one.who.level, one.node));
    log.lists.iter().filter(|one| one.snapshot).for_each(|one| read(one.who.level, one.node));
    let writes = log.history.writes.iter().map(|write| write.who.level);
    let transactions = log.lists.iter().filter(|one| !one.snapshot).map(|one| one.who.level);
    for level in writes.chain(transactions).chain(log.transfers.iter().copied()) {
        tallies.entry(level).or_default().operations += 1;
    }
    for level in &log.failed {
        tallies.entry(*level).or_default().failed += 1;
    }
    for (level, latency) in &log.latencies_us {
        tallies.entry(*level).or_default().latencies_us.push(*latency);
    }
    for (level, tally) in &mut tallies {
        tally.stale = verdict.stale(*level);
        tally.violations = verdict.violations(*level);
    }
    tallies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_sorted_values() {
        let tally = |latencies_us| Tally { latencies_us, ..Tally::default() };
        assert_eq!(tally(vec![]).percentile_us(99), 0);
        assert_eq!(tally(vec![7]).percentile_us(50), 7);
        let hundred = tally((0..100).rev().collect());
        assert_eq!((hundred.percentile_us(50), hundred.percentile_us(99)), (50, 99));
    }
}
