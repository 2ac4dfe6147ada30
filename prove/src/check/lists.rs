//! Lists to which transactions append: what anybody reads of a list is a beginning of what it is in the end, so that all
//! that was ever read shows where in the history it stands.

use std::collections::HashMap;

use super::explain::Seconds;
use super::floor::{Floors, NOT_READ};
use super::{Anomaly, Verdict, snapshots};
use crate::history::{History, Outcome, Read, Step, Transaction, Write};

/// Holds transactions against each other, and against what the lists are in the end, when nothing is under way any more.
#[must_use]
pub fn lists(transactions: &[Transaction], last: &[Vec<u32>]) -> Verdict {
    let mut verdict = Verdict::default();
    let story = Story::of(transactions, last);
    for transaction in transactions {
        story.check_reads(transaction, &mut verdict);
        story.check_outcome(transaction, &mut verdict);
    }
    let snapshots = story.snapshots();
    snapshots::in_one_order(&snapshots, &mut verdict);
    story.check_whole(&snapshots, &mut verdict);
    let history = History { reads: [snapshots, story.single_reads()].concat(), writes: story.writes() };
    Floors::default().sweep(&history, "the length of list", &mut verdict);
    verdict
}

/// All transactions, and where the elements are in the end.
struct Story<'a> {
    transactions: &'a [Transaction],
    last: &'a [Vec<u32>],
    /// By element: the transaction that appends it, by index, and the list.
    owners: HashMap<u32, (usize, usize)>,
    /// By element: its place in the list in the end.
    places: HashMap<u32, usize>,
}

fn appends(transaction: &Transaction) -> impl Iterator<Item = (usize, u32)> + Clone {
    transaction.steps.iter().filter_map(|step| match step {
        Step::Append { list, element } => Some((*list, *element)),
        Step::Read { .. } => None,
    })
}

fn reads(transaction: &Transaction) -> impl Iterator<Item = (usize, &[u32])> + Clone {
    transaction.steps.iter().filter_map(|step| match step {
        Step::Read { list, elements } => Some((*list, elements.as_slice())),
        Step::Append { .. } => None,
    })
}

fn length(elements: &[u32]) -> u32 {
    // One less than what stands for no length at all.
    u32::try_from(elements.len()).unwrap_or(NOT_READ - 1)
}

fn read(transaction: &Transaction, values: Box<[u32]>) -> Read {
    let Transaction { who, begin, end, node, .. } = *transaction;
    Read { who, begin, end, node, values, again: None }
}

fn place(transaction: &Transaction) -> String {
    let Transaction { who, begin, end, node, .. } = transaction;
    format!("{who}, on server {node}, from {} to {}", Seconds(*begin), Seconds(*end))
}

impl<'a> Story<'a> {
    fn of(transactions: &'a [Transaction], last: &'a [Vec<u32>]) -> Self {
        let owners = transactions.iter().enumerate().flat_map(|(index, transaction)| {
            appends(transaction).map(move |(list, element)| (element, (index, list)))
        });
        let places = last.iter().flat_map(|elements| elements.iter().enumerate());
        Self {
            transactions,
            last,
            owners: owners.collect(),
            places: places.map(|(place, element)| (*element, place)).collect(),
        }
    }

    fn owner(&self, element: u32) -> Option<&'a Transaction> {
        self.transactions.get(self.owners.get(&element)?.0)
    }

    /// What a transaction read, without what it had itself appended by then.
    fn of_others<'b>(&self, transaction: &Transaction, mut elements: &'b [u32]) -> &'b [u32] {
        while let Some((end, rest)) = elements.split_last()
            && self.owner(*end).is_some_and(|owner| std::ptr::eq(owner, transaction))
        {
            elements = rest;
        }
        elements
    }

    fn check_reads(&self, reader: &Transaction, verdict: &mut Verdict) {
        let level = reader.who.level;
        for (list, all) in reads(reader) {
            let elements = self.of_others(reader, all);
            let whole = self.last.get(list).map(Vec::as_slice).unwrap_or_default();
            if let Some((anomaly, what)) = self.wrong_end(reader, list, elements) {
                verdict.note(anomaly, level, || {
                    format!("{}, read list {list} as {all:?}: {what}", place(reader))
                });
            } else if !whole.starts_with(elements) {
                let (anomaly, what) = self.wrong_order(list, elements);
                verdict.note(anomaly, level, || {
                    format!(
                        "{}, read list {list} as {all:?}: {what}; in the end it is {whole:?}",
                        place(reader)
                    )
                });
            }
            let again = reads(reader).filter(|(other, _)| *other == list);
            if reader.snapshot && again.clone().any(|(_, other)| other != all) {
                verdict.note(Anomaly::Unrepeatable, level, || {
                    let shown: Vec<_> = again.map(|(_, elements)| elements).collect();
                    format!("{}, read list {list} in one snapshot as each of {shown:?}", place(reader))
                });
                return;
            }
        }
    }

    /// What the last element of others says: it is the newest that the reader can have seen.
    fn wrong_end(&self, reader: &Transaction, list: usize, elements: &[u32]) -> Option<(Anomaly, String)> {
        let element = *elements.last()?;
        let Some(owner) = self.owner(element).filter(|owner| owner.begin <= reader.end) else {
            return Some((Anomaly::NeverWritten, format!("nobody had begun to write {element}")));
        };
        let goes_on =
            appends(owner).skip_while(|(_, own)| *own != element).skip(1).any(|(other, _)| other == list);
        goes_on.then(|| {
            (
                Anomaly::Uncommitted,
                format!("the transaction that wrote {element} went on to write more there"),
            )
        })
    }

    /// What is wrong with a list that is no beginning of what it is in the end.
    fn wrong_order(&self, list: usize, elements: &[u32]) -> (Anomaly, String) {
        for (index, element) in elements.iter().enumerate() {
            let wrong = match self.owners.get(element).map(|(owner, of)| (self.transactions.get(*owner), *of))
            {
                Some((Some(owner), of)) if of == list => match owner.outcome {
                    Outcome::Aborted => Some((Anomaly::Uncommitted, "was rolled back")),
                    _ if elements[..index].contains(element) => Some((Anomaly::Twice, "stands there twice")),
                    _ if !self.places.contains_key(element) => {
                        Some((Anomaly::Lost, "is not there in the end"))
                    }
                    _ => None,
                },
                _ => Some((Anomaly::NeverWritten, "was not written there by anybody")),
            };
            if let Some((anomaly, what)) = wrong {
                return (anomaly, format!("{element} {what}"));
            }
        }
        (Anomaly::Torn, "that is no beginning of it".to_owned())
    }

    /// What there is of a transaction in the end.
    fn check_outcome(&self, writer: &Transaction, verdict: &mut Verdict) {
        let (there, missing): (Vec<_>, Vec<_>) = appends(writer).partition(|(list, element)| {
            self.last.get(*list).is_some_and(|elements| elements.contains(element))
        });
        let twice = there.iter().any(|(list, element)| {
            self.last
                .get(*list)
                .is_some_and(|elements| elements.iter().filter(|known| *known == element).count() > 1)
        });
        let wrong = match writer.outcome {
            _ if twice => (Anomaly::Twice, "and something of it twice"),
            Outcome::Committed if !missing.is_empty() => (Anomaly::Lost, "although it was acknowledged"),
            Outcome::Aborted if !there.is_empty() => (Anomaly::Uncommitted, "although it was rolled back"),
            Outcome::InDoubt if !there.is_empty() && !missing.is_empty() => {
                (Anomaly::Fractured, "and not all of it")
            }
            _ => return,
        };
        let (anomaly, what) = wrong;
        verdict.note(anomaly, writer.who.level, || {
            format!(
                "{}: in the end there is {there:?} of it and not {missing:?} (list, element), {what}",
                place(writer)
            )
        });
    }

    /// Snapshots of all lists, by the lengths that they show.
    fn snapshots(&self) -> Vec<Read> {
        let lengths = |transaction: &Transaction| {
            let mut values = vec![None; self.last.len()];
            for (list, elements) in reads(transaction) {
                if let Some(slot) = values.get_mut(list) {
                    slot.get_or_insert(length(elements));
                }
            }
            values.into_iter().collect::<Option<Box<[u32]>>>()
        };
        let snapshots = self.transactions.iter().filter(|transaction| transaction.snapshot);
        snapshots.filter_map(|transaction| Some(read(transaction, lengths(transaction)?))).collect()
    }

    /// What transactions that are no snapshots read, one list at a time.
    fn single_reads(&self) -> Vec<Read> {
        let others = self.transactions.iter().filter(|transaction| !transaction.snapshot);
        let one = |transaction: &Transaction, list: usize, elements: &[u32]| {
            let mut values = vec![NOT_READ; self.last.len()];
            if let Some(slot) = values.get_mut(list) {
                *slot = length(self.of_others(transaction, elements));
            }
            read(transaction, values.into())
        };
        let reads = others.flat_map(|transaction| {
            reads(transaction).map(move |(list, elements)| one(transaction, list, elements))
        });
        reads.collect()
    }

    /// What was acknowledged, by the length of its list when it was last.
    fn writes(&self) -> Vec<Write> {
        let committed = |transaction: &&Transaction| transaction.outcome == Outcome::Committed;
        let writes = self.transactions.iter().filter(committed).flat_map(|transaction| {
            let Transaction { who, begin, end, .. } = *transaction;
            appends(transaction).filter_map(move |(list, element)| {
                let value = u32::try_from(self.places.get(&element)? + 1).ok()?;
                Some(Write { who, register: list, value, begin, end: Some(end) })
            })
        });
        writes.collect()
    }

    /// Every transaction is in a snapshot as a whole or not at all. The snapshots in their order: the first that shows one
    /// part of it is the first that shows any other.
    fn check_whole(&self, snapshots: &[Read], verdict: &mut Verdict) {
        let size = |read: &Read| read.values.iter().map(|value| u64::from(*value)).sum::<u64>();
        let mut in_order: Vec<&Read> = snapshots.iter().collect();
        in_order.sort_by_key(|read| size(read));
        let first_with = |list: usize, place: usize| {
            in_order
                .partition_point(|read| read.values.get(list).is_none_or(|length| *length as usize <= place))
        };
        for writer in self.transactions {
            let placed = appends(writer).filter_map(|(list, element)| {
                Some((list, element, first_with(list, *self.places.get(&element)?)))
            });
            let (first, last) = (placed.clone().min_by_key(|part| part.2), placed.max_by_key(|part| part.2));
            if let (Some((list, element, from)), Some((other, missing, to))) = (first, last)
                && from < to
                && let Some(read) = in_order.get(from)
            {
                verdict.note(Anomaly::Fractured, read.who.level, || {
                    format!(
                        "{} shows {element} in list {list} and not {missing} in list {other}, of the same transaction",
                        super::explain::place(read)
                    )
                });
            }
        }
    }
}

#[cfg(test)]
#[path = "lists_tests.rs"]
mod tests;
