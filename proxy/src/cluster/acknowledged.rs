//! What this instance has told its clients is written: all that a read at the level `global` must show when
//! `global_scope = "proxy"` says that nobody writes but through here.
//!
//! It is raised before the OK goes to the client, so that whoever hears of the write and reads finds it here. What is not
//! known exactly (a write without a position, another primary) makes the next such read ask the primary once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use gtid::Position;

/// The common position. Kept from the first read on that needs it.
#[derive(Debug, Default)]
pub struct Acknowledged {
    kept: AtomicBool,
    mark: ArcSwap<Mark>,
}

/// The position at one moment.
#[derive(Clone, Debug, Default)]
pub struct Mark {
    /// Everything acknowledged in this epoch, when `known`.
    position: Position,
    known: bool,
    epoch: u64,
    /// Counts what made it unknown.
    round: u64,
}

impl Mark {
    /// Everything that was acknowledged; `None` when the primary must be asked.
    pub fn position(&self, epoch: u64) -> Option<&Position> {
        (self.known && self.epoch == epoch).then_some(&self.position)
    }
}

impl Acknowledged {
    /// Whether somebody needs it.
    pub fn is_kept(&self) -> bool {
        self.kept.load(Ordering::SeqCst)
    }

    /// The position now, for a read that begins. From the first call on it is kept.
    pub fn mark(&self) -> Arc<Mark> {
        // Whoever found it not kept had its OK before this; the question that the first caller asks covers that.
        self.kept.store(true, Ordering::SeqCst);
        self.mark.load_full()
    }

    /// A write is about to be acknowledged.
    pub fn note(&self, written: &Position, epoch: u64) {
        if self.mark.load().position(epoch).is_some_and(|known| known.covers(written)) {
            return;
        }
        self.mark.rcu(|mark| {
            let mut mark = Mark::clone(mark);
            if mark.epoch < epoch {
                mark.begin(epoch);
            }
            if mark.epoch == epoch && mark.position.merge(written).is_err() {
                mark.forget();
            }
            mark
        });
    }

    /// A write is about to be acknowledged whose position nobody knows.
    pub fn lost_track(&self) {
        self.mark.rcu(|mark| {
            let mut mark = Mark::clone(mark);
            mark.forget();
            mark
        });
    }

    /// The primary has answered a question that was sent after `since` was taken.
    pub fn settle(&self, since: &Mark, answer: &Position, epoch: u64) {
        self.mark.rcu(|mark| {
            let mut mark = Mark::clone(mark);
            if mark.round != since.round || mark.epoch > epoch {
                return mark;
            }
            if mark.epoch < epoch {
                mark.begin(epoch);
            }
            mark.known = mark.position.merge(answer).is_ok();
            mark
        });
    }
}

impl Mark {
    /// Another primary: what the one before acknowledged may be lost.
    fn begin(&mut self, epoch: u64) {
        self.position = Position::default();
        self.epoch = epoch;
        self.known = false;
    }

    fn forget(&mut self) {
        self.known = false;
        self.round += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtid::Flavor;

    fn at(last: u64) -> Position {
        Position::parse(Flavor::Mariadb, format!("0-1-{last}").as_bytes()).unwrap()
    }

    fn known(acknowledged: &Acknowledged, epoch: u64) -> Option<String> {
        acknowledged.mark().position(epoch).map(ToString::to_string)
    }

    #[test]
    fn the_first_reader_asks_and_the_next_ones_know() {
        let acknowledged = Acknowledged::default();
        assert!(!acknowledged.is_kept());
        let mark = acknowledged.mark();
        assert!(acknowledged.is_kept() && mark.position(1).is_none());
        acknowledged.settle(&mark, &at(5), 1);
        assert_eq!(known(&acknowledged, 1).as_deref(), Some("0-1-5"));
        acknowledged.note(&at(7), 1);
        acknowledged.note(&at(6), 1);
        assert_eq!(known(&acknowledged, 1).as_deref(), Some("0-1-7"));
    }

    #[test]
    fn what_is_unknown_is_asked_for_anew_and_an_older_answer_does_not_settle_it() {
        let acknowledged = Acknowledged::default();
        let before = acknowledged.mark();
        acknowledged.lost_track();
        acknowledged.settle(&before, &at(5), 1);
        assert_eq!(known(&acknowledged, 1), None);
        let after = acknowledged.mark();
        acknowledged.settle(&after, &at(6), 1);
        assert_eq!(known(&acknowledged, 1).as_deref(), Some("0-1-6"));
    }

    #[test]
    fn another_primary_has_a_mark_of_its_own() {
        let acknowledged = Acknowledged::default();
        acknowledged.settle(&acknowledged.mark(), &at(100), 1);
        assert_eq!(known(&acknowledged, 2), None);
        acknowledged.settle(&acknowledged.mark(), &at(90), 2);
        assert_eq!(known(&acknowledged, 2).as_deref(), Some("0-1-90"));
        acknowledged.note(&at(95), 3);
        acknowledged.settle(&acknowledged.mark(), &at(94), 3);
        assert_eq!(known(&acknowledged, 3).as_deref(), Some("0-1-95"), "noted before the first answer");
        // An OK of the primary before, and a late answer of it.
        acknowledged.note(&at(101), 1);
        acknowledged.settle(&acknowledged.mark(), &at(102), 1);
        assert_eq!(known(&acknowledged, 3).as_deref(), Some("0-1-95"));
    }
}
