//! How often a node is asked: at once while somebody waits, seldom while nothing happens, and never so often that the
//! asking shows in the node's processor time.
//!
//! An idle node holds the question until its position moves (a long poll); the limit keeps the upper bound young,
//! which speaks only about what ended before the question was sent. After a move the next question rests a little, so
//! that one answer speaks for several transactions. A busy node is asked plainly: a question that waits would be
//! woken by each of its commits.

use std::time::{Duration, Instant};

/// How long a question may be held while nobody waits.
const LONG_POLL: Duration = Duration::from_millis(100);

/// How long while somebody does: who comes in between with a nearer position waits at most this much longer.
const WAITED_POLL: Duration = Duration::from_millis(4);

/// The rest between an answer that moved and the next question. A timer of the runtime ticks in milliseconds.
const REST: Duration = Duration::from_millis(1);

/// Between two plain questions to a node that cannot hold one, while it moves and while it does not.
const PLAIN: Duration = Duration::from_millis(10);
const PLAIN_IDLE: Duration = Duration::from_millis(50);

/// How long after its last move a node counts as idle.
const IDLE_AFTER: Duration = Duration::from_secs(1);

/// Moves per second from which plain questions cost less.
const BUSY: f64 = 500.0;

/// The weight of one answer in the average.
const SMOOTHING: f64 = 0.05;

/// What to do before and with the next question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Plan {
    /// Rest so long, unless somebody comes to wait.
    pub(super) rest: Duration,
    /// Let the node hold the question at most so long; `None` for a plain one.
    pub(super) hold: Option<Duration>,
}

/// The pace of one node's watcher.
#[derive(Debug)]
pub(super) struct Pace {
    holds: bool,
    moved_at: Instant,
    answered_at: Instant,
    moved: bool,
    moves_per_second: f64,
}

impl Pace {
    /// A new connection. `holds`: whether this kind of node can hold a question until its position moves.
    pub(super) fn new(now: Instant, holds: bool) -> Self {
        Self { holds, moved_at: now, answered_at: now, moved: false, moves_per_second: 0.0 }
    }

    /// The rest before a plain question where a held one was planned, but nothing is known to wait for.
    pub(super) fn without_target() -> Duration {
        PLAIN
    }

    /// Whether it can hold questions changes with the node's role.
    pub(super) fn set_holds(&mut self, holds: bool) {
        self.holds = holds;
    }

    /// An answer came in which the position had moved by so many transactions.
    pub(super) fn answered(&mut self, now: Instant, transactions: u64) {
        let elapsed = now.saturating_duration_since(self.answered_at).as_secs_f64().max(0.0001);
        #[allow(clippy::cast_precision_loss, reason = "a rate")]
        let rate = transactions as f64 / elapsed;
        self.moves_per_second += (rate - self.moves_per_second) * SMOOTHING.max(elapsed.min(1.0));
        self.answered_at = now;
        self.moved = transactions > 0;
        if self.moved {
            self.moved_at = now;
        }
    }

    /// The next question.
    pub(super) fn plan(&self, now: Instant, somebody_waits: bool) -> Plan {
        let idle = now.saturating_duration_since(self.moved_at) >= IDLE_AFTER;
        match (self.holds, somebody_waits) {
            (true, true) => Plan { rest: Duration::ZERO, hold: Some(WAITED_POLL) },
            (true, false) if self.moves_per_second > BUSY => Plan { rest: REST, hold: None },
            (true, false) if self.moved => Plan { rest: REST, hold: Some(LONG_POLL) },
            (true, false) => Plan { rest: Duration::ZERO, hold: Some(LONG_POLL) },
            // Such a node's lower bound does not move by asking, so nobody is helped by haste.
            (false, _) if idle => Plan { rest: PLAIN_IDLE, hold: None },
            (false, _) => Plan { rest: PLAIN, hold: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(answers: impl Iterator<Item = (u64, u64)>) -> (Pace, Instant) {
        let mut now = Instant::now();
        let mut pace = Pace::new(now, true);
        for (ms, transactions) in answers {
            now += Duration::from_millis(ms);
            pace.answered(now, transactions);
        }
        (pace, now)
    }

    #[test]
    fn an_idle_node_holds_the_question() {
        let (pace, now) = after((0..20).map(|_| (100, 0)));
        assert_eq!(pace.plan(now, false), Plan { rest: Duration::ZERO, hold: Some(LONG_POLL) });
    }

    #[test]
    fn after_a_move_the_next_question_rests_unless_somebody_waits() {
        let (pace, now) = after((0..20).map(|_| (10, 1)));
        assert_eq!(pace.plan(now, false), Plan { rest: REST, hold: Some(LONG_POLL) });
        assert_eq!(pace.plan(now, true), Plan { rest: Duration::ZERO, hold: Some(WAITED_POLL) });
    }

    #[test]
    fn a_busy_node_is_asked_plainly_and_calms_down_again() {
        let busy = (0..100).map(|_| (2, 4));
        let (pace, now) = after(busy.clone());
        assert_eq!(pace.plan(now, false), Plan { rest: REST, hold: None });
        let (pace, now) = after(busy.chain((0..20).map(|_| (100, 1))));
        assert_eq!(pace.plan(now, false).hold, Some(LONG_POLL));
    }

    #[test]
    fn a_node_that_cannot_hold_a_question_is_asked_at_intervals() {
        let now = Instant::now();
        let mut pace = Pace::new(now, true);
        pace.set_holds(false);
        assert_eq!(pace.plan(now, false), Plan { rest: PLAIN, hold: None });
        assert_eq!(pace.plan(now + IDLE_AFTER, false), Plan { rest: PLAIN_IDLE, hold: None });
    }
}
