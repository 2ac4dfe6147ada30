//! A histogram of durations with fixed bounds.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets, in microseconds: from a wake-up within a host to a second, the longest timeout.
pub const BOUNDS_US: [u64; 13] =
    [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 250_000, 1_000_000, 10_000_000];

/// Counts durations by size.
#[derive(Debug, Default)]
pub struct Histogram {
    /// One count for each bound, and one for what is above all of them. Not cumulative.
    buckets: [AtomicU64; BOUNDS_US.len() + 1],
    sum_us: AtomicU64,
}

impl Histogram {
    /// Counts one duration.
    pub fn observe(&self, duration: Duration) {
        let us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let index = BOUNDS_US.iter().position(|bound| us <= *bound).unwrap_or(BOUNDS_US.len());
        if let Some(bucket) = self.buckets.get(index) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// The counts of the buckets, the last one without a bound.
    pub fn buckets(&self) -> [u64; BOUNDS_US.len() + 1] {
        std::array::from_fn(|index| {
            self.buckets.get(index).map_or(0, |bucket| bucket.load(Ordering::Relaxed))
        })
    }

    /// All durations together, in microseconds.
    pub fn sum_us(&self) -> u64 {
        self.sum_us.load(Ordering::Relaxed)
    }
}
