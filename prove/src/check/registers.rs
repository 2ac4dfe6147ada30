//! Registers with one writer each: every read against all that was known when it began.

use super::floor::Floors;
use super::{Anomaly, Verdict, explain, snapshots};
use crate::history::{History, Nanos};

/// What is known when a history begins; checking it carries that on to the next one.
#[derive(Debug, Clone, Default)]
pub struct Registers {
    floors: Floors,
    /// By register: the highest value that anybody began to write.
    begun: Vec<u32>,
}

impl Registers {
    /// Checks a history that follows those checked before.
    pub fn check(&mut self, history: &History) -> Verdict {
        let mut verdict = Verdict::default();
        self.hold_against_begun(history, &mut verdict);
        self.floors.sweep(history, "register", &mut verdict);
        snapshots::in_one_order(&history.reads, &mut verdict);
        snapshots::repeat(&history.reads, &mut verdict);
        verdict
    }

    /// Forgets sessions that have ended.
    pub fn forget_all_but(&mut self, sessions: &[u32]) {
        self.floors.forget_all_but(sessions);
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
                let last = before.checked_sub(1).and_then(|last| values.get(last));
                **value > last.map_or(0, |(_, value)| *value)
            });
            if let Some((register, value)) = unknown {
                verdict.note(Anomaly::NeverWritten, read.who.level, || {
                    format!(
                        "{}, read register {register} as {value}, which nobody had begun to write",
                        explain::place(read)
                    )
                });
            }
        }
        let highest = |values: &Vec<(Nanos, u32)>| values.iter().map(|(_, value)| *value).max().unwrap_or(0);
        self.begun = begun.iter().map(highest).collect();
    }
}

#[cfg(test)]
#[path = "registers_tests.rs"]
mod tests;
