//! What registers (or lists, by their lengths) must show at least, as time goes on.
//!
//! One sweep over the beginnings and ends of all operations in the order of time. An end raises what is known; a
//! beginning is held against what is known by then. What happened at the same instant as a beginning did not happen
//! before it. Sorting takes n log n steps, all else n.

use std::collections::HashMap;

use super::{Anomaly, Verdict, explain};
use crate::history::{History, Nanos, Read, Who, Write};

/// The value of what a read did not look at.
pub(super) const NOT_READ: u32 = u32::MAX;

/// Why something must show at least a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) value: u32,
    /// Who knew.
    pub(super) who: Who,
    /// Since when.
    pub(super) at: Nanos,
    /// The server on which it was read; `None` when it was written.
    pub(super) node: Option<u32>,
}

/// The least that each may show, and why; nothing for those of which nothing is known.
#[derive(Debug, Clone, Default)]
struct Floor(Vec<Option<Fact>>);

impl Floor {
    fn raise(&mut self, index: usize, fact: Fact) {
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        if let Some(slot) = self.0.get_mut(index)
            && slot.is_none_or(|known| known.value < fact.value)
        {
            *slot = Some(fact);
        }
    }

    fn raise_to(&mut self, read: &Read) {
        for (index, value) in read.values.iter().enumerate().filter(|(_, value)| **value != NOT_READ) {
            let fact = Fact { value: *value, who: read.who, at: read.end, node: Some(read.node) };
            self.raise(index, fact);
        }
    }

    /// What lacks most in a read, and what it lacks.
    fn missing(&self, read: &Read) -> Option<(usize, Fact)> {
        let lacking = self.0.iter().enumerate().filter_map(|(index, fact)| {
            let fact = (*fact)?;
            let value = read.values.get(index).copied().unwrap_or_default();
            (value < fact.value).then(|| (fact.value - value, index, fact))
        });
        lacking.max_by_key(|(lack, ..)| *lack).map(|(_, index, fact)| (index, fact))
    }
}

/// What is known: of everybody, and of each session.
#[derive(Debug, Clone, Default)]
pub(super) struct Floors {
    /// The highest that anybody was told is written.
    acknowledged: Floor,
    /// The highest that anybody was shown.
    shown: Floor,
    /// By the number of a session: what it wrote, and what it was shown.
    sessions: HashMap<u32, (Floor, Floor)>,
}

/// The order matters: at one instant beginnings come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    ReadBegins(usize),
    ReadEnds(usize),
    WriteEnds(usize),
}

impl Floors {
    /// Holds every read against what is known when it begins. `what`: what the numbers stand for.
    pub(super) fn sweep(&mut self, history: &History, what: &str, verdict: &mut Verdict) {
        for (_, moment) in moments(history) {
            match moment {
                Moment::ReadBegins(index) => {
                    if let Some(read) = history.reads.get(index) {
                        self.hold_against(read, what, verdict);
                    }
                }
                Moment::ReadEnds(index) => {
                    if let Some(read) = history.reads.get(index) {
                        self.shown.raise_to(read);
                        self.sessions.entry(read.who.number).or_default().1.raise_to(read);
                    }
                }
                Moment::WriteEnds(index) => {
                    if let Some(Write { who, register, value, end: Some(at), .. }) = history.writes.get(index)
                    {
                        let fact = Fact { value: *value, who: *who, at: *at, node: None };
                        self.acknowledged.raise(*register, fact);
                        self.sessions.entry(who.number).or_default().0.raise(*register, fact);
                    }
                }
            }
        }
    }

    /// Forgets sessions that have ended.
    pub(super) fn forget_all_but(&mut self, sessions: &[u32]) {
        self.sessions.retain(|number, _| sessions.contains(number));
    }

    fn hold_against(&self, read: &Read, what: &str, verdict: &mut Verdict) {
        let nothing = (Floor::default(), Floor::default());
        let (own, seen) = self.sessions.get(&read.who.number).unwrap_or(&nothing);
        let floors = [
            (Anomaly::OwnWrite, own),
            (Anomaly::WentBack, seen),
            (Anomaly::Acknowledged, &self.acknowledged),
            (Anomaly::Shown, &self.shown),
        ];
        let mut stale = false;
        for (anomaly, floor) in floors {
            if let Some((index, fact)) = floor.missing(read) {
                verdict.note(anomaly, read.who.level, || explain::missing(read, what, index, &fact));
                stale = true;
            }
        }
        if stale {
            verdict.note_stale(read.who.level);
        }
    }
}

fn moments(history: &History) -> Vec<(Nanos, Moment)> {
    let reads = history.reads.iter().enumerate().flat_map(|(index, read)| {
        [(read.begin, Moment::ReadBegins(index)), (read.end, Moment::ReadEnds(index))]
    });
    let writes = history.writes.iter().enumerate();
    let writes = writes.filter_map(|(index, write)| Some((write.end?, Moment::WriteEnds(index))));
    let mut moments: Vec<_> = reads.chain(writes).collect();
    moments.sort_unstable();
    moments
}
