//! Registers with one writer each: every read against all that was known when it began.
//!
//! One sweep over the beginnings and ends of all operations in the order of time. An end raises what is known; a
//! beginning is held against what is known by then. What happened at the same instant as a beginning did not happen
//! before it. Sorting takes n log n steps, all else n.

use std::collections::HashMap;

use super::Anomaly;
use super::verdict::{Fact, Proof, Verdict};
use crate::history::{History, Nanos, Read, Write};

/// What is known when a history begins; checking it carries that on to the next one.
#[derive(Debug, Clone, Default)]
pub struct Registers {
    /// By register: the highest value that anybody was told is written.
    acknowledged: Floor,
    /// By register: the highest value that anybody was shown.
    shown: Floor,
    /// By the number of a session that may go on: what it wrote, and what it was shown.
    sessions: HashMap<u32, (Floor, Floor)>,
    /// By register: the highest value that anybody began to write.
    begun: Vec<u32>,
}

/// The least that registers may show, and why; nothing for those of which nothing is known.
#[derive(Debug, Clone, Default)]
struct Floor(Vec<Option<Fact>>);

impl Floor {
    fn raise(&mut self, register: usize, fact: Fact) {
        if self.0.len() <= register {
            self.0.resize(register + 1, None);
        }
        if let Some(slot) = self.0.get_mut(register)
            && slot.is_none_or(|known| known.value < fact.value)
        {
            *slot = Some(fact);
        }
    }

    fn raise_to(&mut self, read: &Read) {
        for (register, value) in read.values.iter().enumerate() {
            let fact = Fact { value: *value, who: read.who, at: read.end, node: Some(read.node) };
            self.raise(register, fact);
        }
    }

    /// The register that lacks most, and what it lacks.
    fn missing(&self, read: &Read) -> Option<(usize, Fact)> {
        let lacking = self.0.iter().enumerate().filter_map(|(register, fact)| {
            let fact = (*fact)?;
            let value = read.values.get(register).copied().unwrap_or_default();
            (value < fact.value).then(|| (fact.value - value, register, fact))
        });
        lacking.max_by_key(|(lack, ..)| *lack).map(|(_, register, fact)| (register, fact))
    }
}

/// The order matters: at one instant beginnings come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    ReadBegins(usize),
    ReadEnds(usize),
    WriteEnds(usize),
}

impl Registers {
    /// Checks a history that follows those checked before.
    pub fn check(&mut self, history: &History) -> Verdict {
        let mut verdict = Verdict::default();
        self.hold_against_begun(history, &mut verdict);
        for (_, moment) in moments(history) {
            match moment {
                Moment::ReadBegins(index) => {
                    if let Some(read) = history.reads.get(index) {
                        self.hold_against_known(read, &mut verdict);
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
        torn(&history.reads, &mut verdict);
        verdict
    }

    /// Forgets sessions that have ended.
    pub fn forget_all_but(&mut self, sessions: &[u32]) {
        self.sessions.retain(|number, _| sessions.contains(number));
    }

    fn hold_against_known(&self, read: &Read, verdict: &mut Verdict) {
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
            if let Some((register, fact)) = floor.missing(read) {
                verdict.note(anomaly, read, || Proof::Known { register, fact });
                stale = true;
            }
        }
        if stale {
            verdict.note_stale(read.who.level);
        }
    }

    /// Values that were read and that nobody had begun to write by the end of the read.
    fn hold_against_begun(&mut self, history: &History, verdict: &mut Verdict) {
        let mut begun: Vec<Vec<(Nanos, u32)>> = self.begun.iter().map(|value| vec![(0, *value)]).collect();
        for write in &history.writes {
            if begun.len() <= write.register {
                begun.resize_with(write.register + 1, Vec::new);
            }
            if let Some(values) = begun.get_mut(write.register) {
                values.push((write.begin, write.value));
            }
        }
        begun.iter_mut().for_each(|values| values.sort_unstable());
        for read in &history.reads {
            let unknown = read.values.iter().enumerate().find(|(register, value)| {
                let values = begun.get(*register).map(Vec::as_slice).unwrap_or_default();
                let before = values.partition_point(|(begin, _)| *begin <= read.end);
                // One writer, one value after the other: the last is the highest.
                let highest =
                    before.checked_sub(1).and_then(|last| values.get(last)).map_or(0, |(_, value)| *value);
                **value > highest
            });
            if let Some((register, _)) = unknown {
                verdict.note(Anomaly::NeverWritten, read, || Proof::FromNowhere { register });
            }
        }
        self.begun =
            begun.iter().map(|values| values.iter().map(|(_, value)| *value).max().unwrap_or(0)).collect();
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

/// Snapshots of one history stand in one order. Sorted by how much they hold, each must hold all of the one before.
fn torn(reads: &[Read], verdict: &mut Verdict) {
    let mut by_size: Vec<(u64, &Read)> =
        reads.iter().map(|read| (read.values.iter().map(|value| u64::from(*value)).sum(), read)).collect();
    by_size.sort_by_key(|(size, _)| *size);
    for pair in by_size.windows(2) {
        if let [(_, smaller), (_, larger)] = pair
            && smaller.values.iter().zip(&larger.values).any(|(less, more)| less > more)
        {
            verdict.note(Anomaly::Torn, larger, || Proof::Other(Box::new((*smaller).clone())));
        }
    }
}

#[cfg(test)]
#[path = "registers_tests.rs"]
mod tests;
