//! Whether a replica holds transactions that its primary does not have: written to it directly, or left from a life as
//! primary. Such a node shows what nobody else will ever show, and takes no reads that look at positions.
//!
//! A replica is often ahead of what its primary says at the same moment: the binary log is sent before the engine
//! commits. So the replica's position must have been read *before* the primary's upper bound was asked for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gtid::{BinlogState, Position};

/// A node found pure is looked at again after so long; the comparison of large sets is not free.
const RECHECK: Duration = Duration::from_secs(1);

/// MariaDB's `@@gtid_binlog_state`, with the times around the question.
#[derive(Clone, Debug)]
pub(super) struct LogState {
    pub(super) state: BinlogState,
    pub(super) sent_at: Instant,
    pub(super) received_at: Instant,
}

/// What is known of the primary's history.
#[derive(Clone, Copy, Debug)]
pub(super) struct History<'a> {
    /// Everything it is known to have.
    pub(super) position: &'a Position,
    /// When that was asked for; `None` when it does not answer now.
    pub(super) sent_at: Option<Instant>,
    /// MariaDB: what it applied as a replica, before it was primary.
    pub(super) applied: &'a Position,
    /// MariaDB: who wrote what in its log.
    pub(super) log: Option<&'a LogState>,
}

/// What is known of a replica's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present<'a> {
    /// What it has applied.
    pub(super) position: &'a Arc<Position>,
    /// When its answer was there.
    pub(super) received_at: Instant,
    /// MariaDB: who wrote what in its log.
    pub(super) log: Option<&'a LogState>,
}

/// The state of the question for one replica, in one life of it under one primary.
#[derive(Clone, Debug, Default)]
pub(super) struct Purity {
    verdict: Option<Verdict>,
    suspect: Option<(Position, Instant)>,
    looked_at: Option<Instant>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Verdict {
    Pure,
    Errant(String),
}

impl Purity {
    /// Whether it is known to hold nothing of its own.
    pub(super) fn is_pure(&self) -> bool {
        self.verdict == Some(Verdict::Pure)
    }

    /// Whether the primary's next answer may change the verdict.
    pub(super) fn is_open(&self) -> bool {
        !self.is_pure() || self.suspect.is_some()
    }

    /// The transactions that only it has, as text.
    pub(super) fn errant(&self) -> Option<&str> {
        match &self.verdict {
            Some(Verdict::Errant(what)) => Some(what),
            _ => None,
        }
    }

    /// Compares the two histories. Returns whether the answer changed.
    pub(super) fn look(&mut self, now: Instant, replica: Present<'_>, primary: History<'_>) -> bool {
        let settled = self.verdict.is_some() && self.suspect.is_none();
        if settled && self.looked_at.is_some_and(|at| now.saturating_duration_since(at) < RECHECK) {
            return false;
        }
        self.looked_at = Some(now);
        let before = self.verdict.clone();
        let (position, received_at) = match self.suspect.take() {
            Some((position, received_at)) => (position, received_at),
            None => (Position::clone(replica.position), replica.received_at),
        };
        let missing = position.missing_from(primary.position);
        let foreign = foreign(replica.log, primary);
        if !missing.is_empty() {
            if primary.sent_at.is_some_and(|sent_at| sent_at >= received_at) {
                self.verdict = Some(Verdict::Errant(missing.to_string()));
            } else {
                self.suspect = Some((missing, received_at));
            }
        } else {
            match foreign {
                Foreign::None => self.verdict = Some(Verdict::Pure),
                Foreign::Some(what) => self.verdict = Some(Verdict::Errant(what)),
                Foreign::NotKnown => {}
            }
        }
        self.verdict != before
    }
}

/// MariaDB: entries of the replica's log that no position shows, because the number was given twice.
enum Foreign {
    None,
    Some(String),
    NotKnown,
}

fn foreign(replica: Option<&LogState>, primary: History<'_>) -> Foreign {
    let (Some(replica), Some(log)) = (replica, primary.log) else {
        return Foreign::None;
    };
    let came_before = |gtid: gtid::DomainGtid| match primary.applied {
        Position::Mariadb(applied) => {
            applied.get(gtid.domain).is_some_and(|last| last.sequence >= gtid.sequence)
        }
        Position::Mysql(_) => false,
    };
    let foreign: Vec<String> = replica
        .state
        .iter()
        .filter(|gtid| !log.state.contains(*gtid) && !came_before(*gtid))
        .map(|gtid| gtid.to_string())
        .collect();
    if foreign.is_empty() {
        Foreign::None
    } else if log.sent_at >= replica.received_at {
        Foreign::Some(foreign.join(","))
    } else {
        Foreign::NotKnown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtid::Flavor;

    const U: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";

    fn mysql(last: u64) -> Arc<Position> {
        Arc::new(Position::parse(Flavor::Mysql, format!("{U}:1-{last}").as_bytes()).unwrap())
    }

    fn mariadb(text: &str) -> Arc<Position> {
        Arc::new(Position::parse(Flavor::Mariadb, text.as_bytes()).unwrap())
    }

    fn look(
        purity: &mut Purity,
        now: Instant,
        replica: (&Arc<Position>, Instant),
        primary: (&Position, Option<Instant>),
    ) -> bool {
        let none = Position::default();
        purity.look(
            now,
            Present { position: replica.0, received_at: replica.1, log: None },
            History { position: primary.0, sent_at: primary.1, applied: &none, log: None },
        )
    }

    #[test]
    fn being_ahead_of_an_older_answer_proves_nothing() {
        let start = Instant::now();
        let later = start + Duration::from_millis(10);
        let mut purity = Purity::default();
        assert!(!look(&mut purity, later, (&mysql(6), later), (&mysql(5), Some(start))));
        assert!(!purity.is_pure() && purity.errant().is_none());
        // The primary's next answer has it, although the replica is ahead again.
        assert!(look(
            &mut purity,
            later,
            (&mysql(7), later + Duration::from_millis(2)),
            (&mysql(6), Some(later))
        ));
        assert!(purity.is_pure());
    }

    #[test]
    fn what_a_later_answer_of_the_primary_lacks_is_errant() {
        let start = Instant::now();
        let later = start + Duration::from_millis(10);
        let mut purity = Purity::default();
        look(&mut purity, later, (&mysql(6), start), (&mysql(5), Some(later)));
        assert_eq!(purity.errant(), Some(format!("{U}:6").as_str()));
    }

    #[test]
    fn a_silent_primary_is_enough_when_nothing_is_ahead_of_it() {
        let start = Instant::now();
        let mut purity = Purity::default();
        look(&mut purity, start, (&mysql(5), start), (&mysql(5), None));
        assert!(purity.is_pure());
        let mut purity = Purity::default();
        look(&mut purity, start, (&mysql(6), start), (&mysql(5), None));
        assert!(!purity.is_pure() && purity.errant().is_none());
    }

    #[test]
    fn a_number_given_twice_is_found_in_the_logs() {
        let start = Instant::now();
        let state = |text: &str| LogState {
            state: BinlogState::parse(text.as_bytes()).unwrap(),
            sent_at: start,
            received_at: start,
        };
        let (position, applied) = (mariadb("0-2-8"), mariadb("0-1-6"));
        let check = |replica: &LogState, primary: &LogState| {
            let mut purity = Purity::default();
            purity.look(
                start,
                Present { position: &position, received_at: start, log: Some(replica) },
                History { position: &position, sent_at: Some(start), applied: &applied, log: Some(primary) },
            );
            (purity.is_pure(), purity.errant().map(str::to_owned))
        };
        // The old primary came back with 0-1-7, which the new one never had.
        assert_eq!(check(&state("0-1-7,0-2-8"), &state("0-2-8")), (false, Some("0-1-7".to_owned())));
        // What the new primary applied before it logged anything is no such thing.
        assert_eq!(check(&state("0-1-6,0-2-8"), &state("0-2-8")), (true, None));
        assert_eq!(check(&state("0-1-6,0-2-8"), &state("0-1-6,0-2-8")), (true, None));
    }
}
