//! How late a replica is, measured in the primary's time: no clock of a server is asked.
//!
//! The primary's position is noted as it grows. A replica is as late as the oldest noted position that it does not
//! cover is old. Servers that are paused, delayed or cut off all show the same way, and two clocks never meet. Only what
//! was late already when the proxy began to look is taken from `Seconds_Behind_Source`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gtid::Position;

/// Every second note is at least this far behind: lag may be shown so much too small.
const SPACING: Duration = Duration::from_millis(20);

/// Older notes may be apart by this fraction of their age, so that a week of lag needs a thousand notes; lag is shown
/// too small by as much, and never too large.
const RESOLUTION: u32 = 32;

/// Notes older than this are forgotten: the largest `max_lag_ms` that can be set.
const MEMORY: Duration = Duration::from_secs(7 * 24 * 3600);

/// New notes between two thinnings.
const THINNING: usize = 64;

/// The primary's positions over time, oldest first.
#[derive(Debug, Default)]
pub(super) struct Lag {
    notes: VecDeque<(Instant, Arc<Position>)>,
    fresh: usize,
}

impl Lag {
    /// The primary was seen at this position.
    pub(super) fn note(&mut self, now: Instant, position: &Arc<Position>) {
        if self.notes.back().is_some_and(|(_, last)| last.covers(position)) {
            return;
        }
        // The last note is always exact; it gives way to the next while both stand close behind the one before.
        let before = self.notes.len().checked_sub(2).and_then(|index| self.notes.get(index));
        if before.is_some_and(|(at, _)| now.saturating_duration_since(*at) < SPACING) {
            self.notes.pop_back();
        }
        self.notes.push_back((now, Arc::clone(position)));
        self.fresh += 1;
        if self.fresh >= THINNING {
            self.fresh = 0;
            self.thin(now);
        }
    }

    /// How late a node is that has applied `low`; `None` while the primary was never seen.
    ///
    /// `own_word`: what the node itself says. It counts only for what happened before the first note.
    pub(super) fn of(&self, now: Instant, low: &Position, own_word: Option<Duration>) -> Option<Duration> {
        self.notes.back()?;
        // Positions grow, so what the node covers is a prefix.
        let covered = self.notes.partition_point(|(_, position)| low.covers(position));
        let age =
            self.notes.get(covered).map_or(Duration::ZERO, |(at, _)| now.saturating_duration_since(*at));
        Some(if covered == 0 { age.max(own_word.unwrap_or_default()) } else { age })
    }

    /// Another primary, or another history of the same: what was noted means nothing any more.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Leaves out every note whose neighbours are near enough to each other to stand for it.
    fn thin(&mut self, now: Instant) {
        let mut kept: VecDeque<(Instant, Arc<Position>)> = VecDeque::with_capacity(self.notes.len());
        while let Some((at, position)) = self.notes.pop_front() {
            let age = now.saturating_duration_since(at);
            let before = kept.back().map(|(before, _)| *before);
            let distance = before
                .zip(self.notes.front())
                .map(|(before, (next, _))| next.saturating_duration_since(before));
            let needless = distance.is_some_and(|distance| distance <= SPACING.max(age / RESOLUTION));
            let forgotten = age > MEMORY && !self.notes.is_empty();
            if !needless && !forgotten {
                kept.push_back((at, position));
            }
        }
        self.notes = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtid::Flavor;
    use proptest::prelude::*;

    fn at(last: u64) -> Arc<Position> {
        Arc::new(Position::parse(Flavor::Mariadb, format!("0-1-{last}").as_bytes()).unwrap())
    }

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn is_the_age_of_the_oldest_position_not_covered() {
        let start = Instant::now();
        let mut lag = Lag::default();
        assert_eq!(lag.of(start, &at(1), None), None);
        for step in 0..10 {
            lag.note(start + ms(step * 100), &at(step * 10 + 10));
        }
        let now = start + ms(1000);
        assert_eq!(lag.of(now, &at(100), None), Some(ms(0)));
        assert_eq!(lag.of(now, &at(99), None), Some(ms(100)));
        assert_eq!(lag.of(now, &at(55), None), Some(ms(500)));
        assert_eq!(lag.of(now, &at(9), None), Some(ms(1000)));
    }

    #[test]
    fn what_came_before_the_first_note_is_as_old_as_the_node_says() {
        let start = Instant::now();
        let mut lag = Lag::default();
        lag.note(start, &at(10));
        let hour = Some(Duration::from_secs(3600));
        assert_eq!(lag.of(start + ms(5), &at(9), hour), hour);
        assert_eq!(lag.of(start + ms(5), &at(9), None), Some(ms(5)));
        assert_eq!(lag.of(start + ms(5), &at(10), hour), Some(ms(0)));
    }

    #[test]
    fn a_primary_at_rest_makes_nobody_late() {
        let start = Instant::now();
        let mut lag = Lag::default();
        (0..1000).for_each(|step| lag.note(start + ms(step * 100), &at(5)));
        assert_eq!(lag.of(start + ms(100_000), &at(5), None), Some(ms(0)));
        assert_eq!(lag.notes.len(), 1);
    }

    #[test]
    fn a_week_fits_in_a_thousand_notes_within_three_percent() {
        let start = Instant::now();
        let mut lag = Lag::default();
        let week = 7 * 24 * 3600u64;
        // Every five seconds, then a minute of the finest spacing.
        (0..week / 5).for_each(|step| lag.note(start + Duration::from_secs(step * 5), &at(step + 1)));
        let late = start + Duration::from_secs(week);
        (0..3000).for_each(|step| lag.note(late + ms(step * 20), &at(week + step)));
        let now = late + ms(60_000);
        assert!(lag.notes.len() < 1100, "{} notes", lag.notes.len());
        for behind in [10u64, 3600, 86_400, 6 * 86_400] {
            let step = (week - behind) / 5;
            let truth = now - (start + Duration::from_secs(step * 5));
            let shown = lag.of(now, &at(step), None).unwrap();
            assert!(shown <= truth + ms(20), "{shown:?} {truth:?}");
            assert!(
                shown.as_secs_f64() > truth.as_secs_f64() * (1.0 - 1.0 / 32.0) - 6.0,
                "{shown:?} {truth:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn never_more_than_the_truth_and_hardly_less(
            steps in prop::collection::vec((1u64..500, 1u64..5), 1..400),
            applied in 1u64..1500,
        ) {
            let start = Instant::now();
            let mut lag = Lag::default();
            let (mut now, mut last) = (start, 0);
            let mut first_missed = None;
            for (wait, written) in steps {
                now += ms(wait);
                last += written;
                if last > applied && first_missed.is_none() {
                    first_missed = Some(now);
                }
                lag.note(now, &at(last));
                let shown = lag.of(now, &at(applied), None).unwrap();
                match first_missed {
                    None => prop_assert_eq!(shown, Duration::ZERO),
                    Some(since) => {
                        let truth = now - since;
                        prop_assert!(shown <= truth);
                        prop_assert!(shown + truth / 32 + 2 * SPACING >= truth, "{shown:?} {truth:?}");
                    }
                }
            }
        }
    }
}
