//! Who has a connection to a node next, where sessions share a few (`pool = "transaction"`).
//!
//! A thread has places for so many connections to a node. A session that does not need its connection between two statements
//! lends it out: it lies here, and its owner has it back as it was unless somebody else needed it meanwhile. Who needs one takes
//! a free place, else the one that has lain longest, else stands in line, and who comes later stands behind.
//!
//! Pure but for the channels by which those in line are told: what is lent may be anything, and the time is given.
//!
//! Deliberately absent: opening, resetting and closing connections (`pool`).

use std::collections::VecDeque;
use std::time::Instant;

use tokio::sync::oneshot;

/// How many may stand in line for a node on a thread.
const LONGEST_LINE: usize = 4096;

/// What is lent out.
pub(super) trait Lendable {
    /// Whether somebody else may have it now. Its owner is told when the answer is yes.
    fn goes(&self) -> bool;
}

/// By which an owner asks for what it has lent out.
#[derive(Debug)]
pub struct Ticket {
    slot: usize,
    number: u64,
}

/// What somebody gets who asked.
#[derive(Debug)]
pub(super) enum Grant<T> {
    /// What somebody had lent out, with its place.
    Lent(T),
    /// A free place.
    Place,
}

/// What somebody hears who asks.
pub(super) enum Answer<T> {
    Granted(Grant<T>),
    /// It has to wait: for the grant, which is called by this number.
    InLine(u64, oneshot::Receiver<Grant<T>>),
    /// The line is as long as it may be.
    Full,
}

#[derive(Debug)]
struct Lent<T> {
    what: T,
    number: u64,
    /// Only its owner may have it before.
    kept_until: Option<Instant>,
}

/// What a thread has of one node.
#[derive(Debug)]
pub(super) struct Shelf<T> {
    slots: Vec<Option<Lent<T>>>,
    /// Those with nothing in them.
    free: Vec<usize>,
    /// Places that are taken: by what is lent out, and by what is in use.
    taken: usize,
    line: VecDeque<(u64, oneshot::Sender<Grant<T>>)>,
    last_number: u64,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), taken: 0, line: VecDeque::new(), last_number: 0 }
    }
}

impl<T: Lendable> Shelf<T> {
    /// Lends something out. Who is first in line has it at once, unless it is kept for its owner until then; the owner has no
    /// ticket for it any more.
    pub(super) fn lend(&mut self, mut what: T, kept_until: Option<Instant>) -> Option<Ticket> {
        while kept_until.is_none() && !self.line.is_empty() && what.goes() {
            let (_, first) = self.line.pop_front()?;
            match first.send(Grant::Lent(what)) {
                Ok(()) => return None,
                // It does not wait any more.
                Err(Grant::Lent(back)) => what = back,
                Err(Grant::Place) => return None,
            }
        }
        let number = self.next_number();
        let lent = Lent { what, number, kept_until };
        let slot = self.free.pop().unwrap_or(self.slots.len());
        match self.slots.get_mut(slot) {
            Some(free) => *free = Some(lent),
            None => self.slots.push(Some(lent)),
        }
        Some(Ticket { slot, number })
    }

    /// Gives an owner back what it has lent out, unless somebody has taken it.
    pub(super) fn give_back(&mut self, ticket: &Ticket) -> Option<T> {
        let lent = self.slots.get(ticket.slot)?.as_ref()?;
        if lent.number == ticket.number { self.take(ticket.slot) } else { None }
    }

    /// Asks for a connection where so many may be open.
    pub(super) fn ask(&mut self, places: usize, now: Instant) -> Answer<T> {
        if self.line.is_empty() {
            if self.taken < places {
                self.taken += 1;
                return Answer::Granted(Grant::Place);
            }
            if let Some(what) = self.take_oldest(now) {
                return Answer::Granted(Grant::Lent(what));
            }
        }
        if self.line.len() >= LONGEST_LINE {
            return Answer::Full;
        }
        let (number, (teller, told)) = (self.next_number(), oneshot::channel());
        self.line.push_back((number, teller));
        Answer::InLine(number, told)
    }

    /// Looks again for who waits: what was kept for its owner may be had now. It leaves the line with it.
    pub(super) fn ask_again(&mut self, number: u64, now: Instant) -> Option<T> {
        if self.line.front()?.0 != number {
            return None;
        }
        let what = self.take_oldest(now)?;
        self.line.pop_front();
        Some(what)
    }

    /// Who waits has waited long enough.
    pub(super) fn leave_line(&mut self, number: u64) {
        self.line.retain(|(waiting, _)| *waiting != number);
    }

    /// A connection is closed: its place is free for who is first in line.
    pub(super) fn free_place(&mut self) {
        while let Some((_, first)) = self.line.pop_front() {
            if first.send(Grant::Place).is_ok() {
                return;
            }
        }
        self.taken = self.taken.saturating_sub(1);
    }

    /// How many places are taken.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    /// Takes out what fits and may be had.
    pub(super) fn take_where(&mut self, fits: impl Fn(&T) -> bool) -> Vec<T> {
        let fit =
            |slot: &Option<Lent<T>>| slot.as_ref().is_some_and(|lent| fits(&lent.what) && lent.what.goes());
        let fitting: Vec<usize> =
            self.slots.iter().enumerate().filter(|(_, slot)| fit(slot)).map(|(index, _)| index).collect();
        fitting.into_iter().filter_map(|index| self.take(index)).collect()
    }

    fn take_oldest(&mut self, now: Instant) -> Option<T> {
        let is_free = |lent: &Lent<T>| lent.kept_until.is_none_or(|until| until <= now);
        let lent = self.slots.iter().enumerate().filter_map(|(index, slot)| Some((index, slot.as_ref()?)));
        let mut free: Vec<(usize, &Lent<T>)> = lent.filter(|(_, lent)| is_free(lent)).collect();
        free.sort_unstable_by_key(|(_, lent)| lent.number);
        let oldest = free.into_iter().find(|(_, lent)| lent.what.goes())?.0;
        self.take(oldest)
    }

    fn take(&mut self, slot: usize) -> Option<T> {
        let lent = self.slots.get_mut(slot)?.take()?;
        self.free.push(slot);
        Some(lent.what)
    }

    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A connection by its number, and whether it goes.
    #[derive(Debug, PartialEq, Eq)]
    struct Thing(u32, bool);

    impl Lendable for Thing {
        fn goes(&self) -> bool {
            self.1
        }
    }

    fn granted(answer: Answer<Thing>) -> Option<u32> {
        match answer {
            Answer::Granted(Grant::Lent(thing)) => Some(thing.0),
            Answer::Granted(Grant::Place) => Some(0),
            Answer::InLine(..) | Answer::Full => None,
        }
    }

    fn in_line(answer: Answer<Thing>) -> (u64, oneshot::Receiver<Grant<Thing>>) {
        match answer {
            Answer::InLine(number, told) => (number, told),
            Answer::Granted(_) | Answer::Full => panic!("it should wait"),
        }
    }

    fn told(told: &mut oneshot::Receiver<Grant<Thing>>) -> Option<u32> {
        match told.try_recv().ok()? {
            Grant::Lent(thing) => Some(thing.0),
            Grant::Place => Some(0),
        }
    }

    #[test]
    fn an_owner_has_its_own_back_once() {
        let mut shelf = Shelf::default();
        let (first, second) =
            (shelf.lend(Thing(1, true), None).unwrap(), shelf.lend(Thing(2, true), None).unwrap());
        assert_eq!(shelf.give_back(&first), Some(Thing(1, true)));
        assert_eq!(shelf.give_back(&first), None);
        // The place is used again, and the old ticket does not fit.
        let third = shelf.lend(Thing(3, true), None).unwrap();
        assert_eq!(shelf.give_back(&first), None);
        assert_eq!(shelf.give_back(&second), Some(Thing(2, true)));
        assert_eq!(shelf.give_back(&third), Some(Thing(3, true)));
    }

    #[test]
    fn places_first_then_what_lies_longest() {
        let (mut shelf, now) = (Shelf::default(), Instant::now());
        assert_eq!(granted(shelf.ask(2, now)), Some(0));
        assert_eq!(granted(shelf.ask(2, now)), Some(0));
        let oldest = shelf.lend(Thing(1, true), None).unwrap();
        shelf.lend(Thing(2, true), None).unwrap();
        assert_eq!(granted(shelf.ask(2, now)), Some(1));
        assert_eq!(shelf.give_back(&oldest), None, "somebody has it");
        assert_eq!(granted(shelf.ask(2, now)), Some(2));
        assert_eq!(granted(shelf.ask(2, now)), None);
    }

    #[test]
    fn who_waits_is_served_in_order() {
        let (mut shelf, now) = (Shelf::default(), Instant::now());
        assert_eq!(granted(shelf.ask(1, now)), Some(0));
        let [mut first, mut second, mut third] = [(); 3].map(|()| in_line(shelf.ask(1, now)).1);
        assert!(shelf.lend(Thing(1, true), None).is_none());
        assert_eq!((told(&mut first), told(&mut second)), (Some(1), None));
        // Who comes later stands behind, also when there is room again.
        let mut fourth = in_line(shelf.ask(9, now)).1;
        drop(second);
        shelf.free_place();
        assert_eq!((told(&mut third), told(&mut fourth)), (Some(0), None));
        assert_eq!(shelf.taken(), 1);
        assert!(shelf.lend(Thing(2, true), None).is_none());
        assert_eq!(told(&mut fourth), Some(2));
        shelf.free_place();
        assert_eq!(shelf.taken(), 0);
    }

    #[test]
    fn what_is_kept_or_does_not_go_stays() {
        let (mut shelf, now) = (Shelf::default(), Instant::now());
        let later = now + Duration::from_secs(1);
        assert_eq!(granted(shelf.ask(1, now)), Some(0));
        shelf.lend(Thing(1, false), None).unwrap();
        shelf.lend(Thing(2, true), Some(later)).unwrap();
        let (number, _told) = in_line(shelf.ask(1, now));
        let (second, _told) = in_line(shelf.ask(1, now));
        assert_eq!(shelf.ask_again(number, now), None);
        assert_eq!(shelf.ask_again(second, later), None, "it is not its turn");
        assert_eq!(shelf.ask_again(number, later), Some(Thing(2, true)));
        shelf.leave_line(second);
        assert_eq!(shelf.take_where(|thing| thing.0 == 1), [], "it does not go");
    }

    #[test]
    fn a_line_has_an_end() {
        let (mut shelf, now) = (Shelf::default(), Instant::now());
        let line: Vec<_> = (0..LONGEST_LINE).map(|_| in_line(shelf.ask(0, now))).collect();
        assert!(matches!(shelf.ask(0, now), Answer::Full));
        shelf.leave_line(line[0].0);
        assert!(matches!(shelf.ask(0, now), Answer::InLine(..)));
    }
}
