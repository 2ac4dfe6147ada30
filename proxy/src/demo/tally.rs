//! What the clients of one endpoint have seen.

use std::time::Duration;

/// Reads of one second whose latency is kept, so that a report that comes late costs no memory without end. The load
/// makes some hundred in a second.
const LATENCIES_MAX: usize = 100_000;

/// Counts since the start, and the latencies since the last report.
#[derive(Debug, Default)]
pub(super) struct Tally {
    reads: u64,
    stale: u64,
    latencies_us: Vec<u64>,
    trouble: Option<String>,
}

/// What is reported of a second.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Second {
    /// Reads since the start.
    pub(super) reads: u64,
    /// Those among them that did not return what was written before.
    pub(super) stale: u64,
    /// The median latency of this second's reads, in microseconds; `None` without reads.
    pub(super) p50_us: Option<u64>,
    /// The latency that one read in a hundred exceeded.
    pub(super) p99_us: Option<u64>,
    /// Why a client had to connect again, if one had to.
    pub(super) trouble: Option<String>,
}

impl Tally {
    /// A read took so long.
    pub(super) fn read(&mut self, latency: Duration, stale: bool) {
        self.reads += 1;
        self.stale += u64::from(stale);
        if self.latencies_us.len() < LATENCIES_MAX {
            self.latencies_us.push(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX));
        }
    }

    /// A client was refused, or lost its connection.
    pub(super) fn trouble(&mut self, error: &dyn std::fmt::Display) {
        self.trouble = Some(error.to_string());
    }

    /// Ends the second.
    pub(super) fn take(&mut self) -> Second {
        self.latencies_us.sort_unstable();
        let second = Second {
            reads: self.reads,
            stale: self.stale,
            p50_us: percentile(&self.latencies_us, 50),
            p99_us: percentile(&self.latencies_us, 99),
            trouble: self.trouble.take(),
        };
        self.latencies_us.clear();
        second
    }
}

/// The smallest value that at least `percent` of the sorted values do not exceed.
fn percentile(sorted: &[u64], percent: usize) -> Option<u64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(percentile(&hundred, 50), Some(50));
        assert_eq!(percentile(&hundred, 99), Some(99));
        assert_eq!(percentile(&[7], 99), Some(7));
        assert_eq!(percentile(&[1, 2], 50), Some(1));
        assert_eq!(percentile(&[], 50), None);
    }

    #[test]
    fn a_second_ends_and_the_counts_go_on() {
        let mut tally = Tally::default();
        tally.read(Duration::from_micros(10), true);
        tally.read(Duration::from_micros(30), false);
        tally.trouble(&"gone");
        let first = tally.take();
        assert_eq!((first.reads, first.stale, first.p50_us, first.p99_us), (2, 1, Some(10), Some(30)));
        assert_eq!(first.trouble.as_deref(), Some("gone"));
        assert_eq!(tally.take(), Second { reads: 2, stale: 1, p50_us: None, p99_us: None, trouble: None });
    }
}
