//! Whether a replica holds transactions that its primary does not have: written to it directly, or left from a life as
//! primary. Such a node shows what nobody else will ever show, and takes no reads that look at positions.
//!
//! A replica is often ahead of what its primary says at the same moment: the binary log is sent before the engine
//! commits. So the replica must have been asked *before* the primary was.

use std::time::{Duration, Instant};

use super::sample::Sample;
use super::stray::{History, Stray};

/// A node found pure is looked at again after so long; the comparison of large sets is not free.
const RECHECK: Duration = Duration::from_secs(1);

/// The state of the question for one replica, in one life of it under one primary.
#[derive(Clone, Debug, Default)]
pub(super) struct Purity {
    verdict: Option<Verdict>,
    suspect: Option<(Stray, Instant)>,
    looked_at: Option<Instant>,
}

#[derive(Clone, Debug)]
enum Verdict {
    Pure,
    Errant(Errant),
}

/// Transactions that only the replica has.
#[derive(Clone, Debug)]
pub(super) struct Errant {
    /// Which.
    pub(super) what: Stray,
    /// When it was heard that it has them.
    pub(super) heard_at: Instant,
}

impl Purity {
    /// Whether it is known to hold nothing of its own.
    pub(super) fn is_pure(&self) -> bool {
        matches!(self.verdict, Some(Verdict::Pure))
    }

    /// Whether the primary's next answer may change the verdict.
    pub(super) fn is_open(&self) -> bool {
        !self.is_pure() || self.suspect.is_some()
    }

    /// The transactions that only it has.
    pub(super) fn errant(&self) -> Option<&Errant> {
        match &self.verdict {
            Some(Verdict::Errant(errant)) => Some(errant),
            _ => None,
        }
    }

    /// Compares the replica's last answer with the primary's history. Returns whether the verdict changed.
    pub(super) fn look(&mut self, now: Instant, replica: &Sample, primary: History<'_>) -> bool {
        let settled = self.verdict.is_some() && self.suspect.is_none();
        if settled && self.looked_at.is_some_and(|at| now.saturating_duration_since(at) < RECHECK) {
            return false;
        }
        self.looked_at = Some(now);
        let (suspect, received_at) =
            self.suspect.take().unwrap_or_else(|| (Stray::all_of(replica), replica.received_at));
        let stray = suspect.without(primary);
        let verdict = if stray.is_empty() {
            Verdict::Pure
        } else if primary.sent_at.is_some_and(|sent_at| sent_at >= received_at) {
            Verdict::Errant(Errant { what: stray, heard_at: received_at })
        } else {
            self.suspect = Some((stray, received_at));
            return false;
        };
        let changed = match (&self.verdict, &verdict) {
            (Some(Verdict::Pure), Verdict::Pure) => false,
            (Some(Verdict::Errant(before)), Verdict::Errant(now)) => before.what != now.what,
            _ => true,
        };
        self.verdict = Some(verdict);
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtid::{Flavor, Position};
    use std::sync::Arc;

    const U: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";

    fn mysql(last: u64) -> Position {
        Position::parse(Flavor::Mysql, format!("{U}:1-{last}").as_bytes()).unwrap()
    }

    fn look(
        purity: &mut Purity,
        now: Instant,
        replica: (u64, Instant),
        primary: (u64, Option<Instant>),
    ) -> bool {
        let position = Arc::new(mysql(replica.0));
        let sample = Sample {
            identity: U.to_owned(),
            writable: false,
            applied: Arc::clone(&position),
            logged: position,
            log: None,
            sent_at: replica.1,
            received_at: replica.1,
        };
        purity.look(now, &sample, History { position: &mysql(primary.0), log: None, sent_at: primary.1 })
    }

    #[test]
    fn ahead_of_an_older_answer_is_no_proof_of_anything() {
        let start = Instant::now();
        let later = start + Duration::from_millis(10);
        let mut purity = Purity::default();
        assert!(!look(&mut purity, later, (6, later), (5, Some(start))));
        assert!(!purity.is_pure() && purity.errant().is_none());
        // The primary's next answer has it, although the replica is ahead again.
        assert!(look(&mut purity, later, (7, later + Duration::from_millis(2)), (6, Some(later))));
        assert!(purity.is_pure());
    }

    #[test]
    fn what_a_later_answer_of_the_primary_lacks_is_errant() {
        let start = Instant::now();
        let later = start + Duration::from_millis(10);
        let mut purity = Purity::default();
        look(&mut purity, later, (6, start), (5, Some(later)));
        assert_eq!(purity.errant().unwrap().what.to_string(), format!("{U}:6"));
    }

    #[test]
    fn a_silent_primary_is_enough_when_nothing_is_ahead_of_it() {
        let start = Instant::now();
        let mut purity = Purity::default();
        look(&mut purity, start, (5, start), (5, None));
        assert!(purity.is_pure());
        let mut purity = Purity::default();
        look(&mut purity, start, (6, start), (5, None));
        assert!(!purity.is_pure() && purity.errant().is_none());
    }
}
