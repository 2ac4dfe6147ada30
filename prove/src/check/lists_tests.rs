//! Hand-made transactions: each anomaly is found, and valid ones pass.

use proptest::prelude::*;

use super::*;
use crate::history::{Level, Nanos, Who};

fn who(number: u32, level: Level) -> Who {
    Who { number, level, proxy: 'A' }
}

fn append(list: usize, element: u32) -> Step {
    Step::Append { list, element }
}

fn shown(list: usize, elements: &[u32]) -> Step {
    Step::Read { list, elements: elements.to_vec() }
}

/// A transaction of session `number` that writes.
fn writer(number: u32, (begin, end): (Nanos, Nanos), outcome: Outcome, steps: &[Step]) -> Transaction {
    let who = who(number, Level::Session);
    Transaction { who, begin, end, node: 1, outcome, snapshot: false, steps: steps.to_vec() }
}

/// A snapshot of both lists.
fn reader(number: u32, level: Level, (begin, end): (Nanos, Nanos), lists: [&[u32]; 2]) -> Transaction {
    let steps = (0..).zip(lists).map(|(list, elements)| shown(list, elements)).collect();
    let who = who(number, level);
    Transaction { who, begin, end, node: 2, outcome: Outcome::Committed, snapshot: true, steps }
}

/// What is found in the transactions when these are the lists in the end.
#[track_caller]
fn finds(transactions: &[Transaction], last: [&[u32]; 2], expected: &[Anomaly]) {
    let verdict = lists(transactions, &last.map(<[u32]>::to_vec));
    let found: Vec<Anomaly> = Anomaly::ALL
        .into_iter()
        .filter(|anomaly| {
            [Level::Session, Level::Global].iter().any(|level| verdict.count(*level, *anomaly) > 0)
        })
        .collect();
    assert_eq!(found, expected, "{:?}", verdict.findings());
}

use Outcome::{Aborted, Committed, InDoubt};

#[test]
fn transactions_in_order_are_fine() {
    let both = writer(1, (0, 10), Committed, &[append(0, 1), append(1, 2), shown(0, &[1])]);
    let more = writer(2, (20, 30), Committed, &[shown(0, &[1]), append(0, 3)]);
    let read = reader(3, Level::Global, (40, 50), [&[1, 3], &[2]]);
    finds(&[both, more, read], [&[1, 3], &[2]], &[]);
}

#[test]
fn what_nobody_wrote_is_not_there() {
    finds(&[reader(1, Level::Session, (0, 10), [&[7], &[]])], [&[7], &[]], &[Anomaly::NeverWritten]);
    let later = writer(1, (20, 30), Committed, &[append(0, 7)]);
    finds(&[later, reader(2, Level::Session, (0, 10), [&[7], &[]])], [&[7], &[]], &[Anomaly::NeverWritten]);
}

#[test]
fn what_was_rolled_back_is_not_there() {
    let aborted = writer(1, (0, 10), Aborted, &[append(0, 1)]);
    finds(std::slice::from_ref(&aborted), [&[], &[]], &[]);
    finds(std::slice::from_ref(&aborted), [&[1], &[]], &[Anomaly::Uncommitted]);
    finds(&[aborted, reader(2, Level::Session, (5, 10), [&[1], &[]])], [&[], &[]], &[Anomaly::Uncommitted]);
}

#[test]
fn what_was_not_finished_is_not_there() {
    let two = writer(1, (0, 10), Committed, &[append(0, 1), append(0, 2)]);
    let part = reader(2, Level::Session, (5, 10), [&[1], &[]]);
    finds(&[two.clone(), part], [&[1, 2], &[]], &[Anomaly::Fractured, Anomaly::Uncommitted]);
    finds(&[two, reader(2, Level::Session, (5, 10), [&[1, 2], &[]])], [&[1, 2], &[]], &[]);
}

#[test]
fn what_was_acknowledged_stays() {
    let one = writer(1, (0, 10), Committed, &[append(0, 1)]);
    finds(&[one], [&[], &[]], &[Anomaly::Lost]);
    // In doubt it may be there or not, but not be there and go.
    let doubt = writer(1, (0, 10), InDoubt, &[append(0, 1)]);
    finds(std::slice::from_ref(&doubt), [&[], &[]], &[]);
    finds(std::slice::from_ref(&doubt), [&[1], &[]], &[]);
    finds(&[doubt, reader(2, Level::Session, (20, 30), [&[1], &[]])], [&[], &[]], &[Anomaly::Lost]);
}

#[test]
fn what_was_written_once_is_there_once() {
    finds(&[writer(1, (0, 10), InDoubt, &[append(0, 1)])], [&[1, 1], &[]], &[Anomaly::Twice]);
}

#[test]
fn all_read_the_same_order() {
    let (one, two) =
        (writer(1, (0, 10), Committed, &[append(0, 1)]), writer(2, (0, 10), Committed, &[append(0, 2)]));
    let read = writer(3, (20, 30), Committed, &[shown(0, &[2, 1])]);
    finds(&[one, two, read], [&[1, 2], &[]], &[Anomaly::Torn]);
}

#[test]
fn snapshots_stand_in_one_order() {
    let (one, two) =
        (writer(1, (0, 10), InDoubt, &[append(0, 1)]), writer(2, (0, 10), InDoubt, &[append(1, 2)]));
    let (a, b) =
        (reader(3, Level::Session, (20, 30), [&[1], &[]]), reader(4, Level::Session, (20, 30), [&[], &[2]]));
    finds(&[one, two, a, b], [&[1], &[2]], &[Anomaly::Torn]);
}

#[test]
fn a_transaction_is_seen_as_a_whole() {
    let both = writer(1, (0, 10), InDoubt, &[append(0, 1), append(1, 2)]);
    let part = reader(2, Level::Session, (20, 30), [&[1], &[]]);
    finds(&[both.clone(), part], [&[1], &[2]], &[Anomaly::Fractured]);
    finds(std::slice::from_ref(&both), [&[1], &[]], &[Anomaly::Fractured]);
    let (none, all) =
        (reader(2, Level::Session, (5, 6), [&[], &[]]), reader(3, Level::Session, (20, 30), [&[1], &[2]]));
    finds(&[both, none, all], [&[1], &[2]], &[]);
}

#[test]
fn a_snapshot_does_not_change() {
    let one = writer(1, (0, 10), Committed, &[append(0, 1)]);
    let mut read = reader(2, Level::Session, (5, 10), [&[], &[]]);
    read.steps.push(shown(0, &[1]));
    finds(&[one, read], [&[1], &[]], &[Anomaly::Unrepeatable]);
}

#[test]
fn snapshots_keep_their_level() {
    let one = writer(1, (0, 10), Committed, &[append(0, 1)]);
    let old = |number, level| reader(number, level, (20, 30), [&[], &[]]);
    finds(&[one.clone(), old(1, Level::Session)], [&[1], &[]], &[Anomaly::OwnWrite, Anomaly::Acknowledged]);
    let verdict = lists(&[one.clone(), old(2, Level::Session)], &[vec![1], vec![]]);
    assert_eq!((verdict.violations(Level::Session), verdict.stale(Level::Session)), (0, 1));
    let verdict = lists(&[one, old(2, Level::Global)], &[vec![1], vec![]]);
    assert_eq!(verdict.violations(Level::Global), 1);
}

#[test]
fn reads_between_writes_keep_their_level() {
    let one = writer(1, (0, 10), Committed, &[append(0, 1)]);
    let own = writer(1, (20, 30), Committed, &[shown(0, &[]), append(1, 2)]);
    finds(&[one.clone(), own], [&[1], &[2]], &[Anomaly::OwnWrite, Anomaly::Acknowledged]);
    let others = writer(2, (20, 30), Committed, &[shown(1, &[]), append(0, 2), shown(0, &[1, 2])]);
    finds(&[one, others], [&[1, 2], &[]], &[]);
}

/// Transactions one after the other, and snapshots of any moment that their level allows.
fn play(plan: &[(usize, usize, bool, usize)]) -> (Vec<Transaction>, Vec<Vec<u32>>) {
    let mut last = vec![Vec::new(), Vec::new()];
    let mut moments = vec![last.clone()];
    let mut transactions = Vec::new();
    let mut element = 0;
    for (index, (session, count, reads, lag)) in plan.iter().enumerate() {
        let (begin, number) = (u64::try_from(index).unwrap() * 10, u32::try_from(*session).unwrap());
        if *reads {
            // The last session is at the highest level; the others see whatever there was.
            let level = if *session == 3 { Level::Global } else { Level::Eventual };
            let lag = if level == Level::Global { 0 } else { *lag };
            let moment = &moments[(moments.len() - 1).saturating_sub(lag)];
            transactions.push(reader(number, level, (begin, begin + 5), [&moment[0], &moment[1]]));
            continue;
        }
        let outcome = [Committed, Committed, InDoubt, Aborted][lag % 4];
        let steps: Vec<Step> = (0..*count)
            .map(|step| {
                element += 1;
                append(step % 2, element)
            })
            .collect();
        if outcome != Aborted {
            steps.iter().for_each(|step| {
                if let Step::Append { list, element } = step {
                    last[*list].push(*element);
                }
            });
            moments.push(last.clone());
        }
        transactions.push(writer(number, (begin, begin + 5), outcome, &steps));
    }
    (transactions, last)
}

proptest! {
    #[test]
    fn valid_histories_pass(plan in prop::collection::vec((0usize..4, 1usize..5, any::<bool>(), 0usize..8), 1..60)) {
        let (transactions, last) = play(&plan);
        let verdict = lists(&transactions, &last);
        prop_assert!(verdict.findings().is_empty(), "{}", verdict.findings()[0]);
    }

    #[test]
    fn a_list_without_one_of_its_elements_is_found(
        plan in prop::collection::vec((0usize..4, 1usize..5, any::<bool>(), 0usize..8), 1..60),
        index in any::<prop::sample::Index>(),
    ) {
        let (mut transactions, last) = play(&plan);
        let long: Vec<usize> = (0..transactions.len())
            .filter(|index| matches!(transactions[*index].steps.first(), Some(Step::Read { elements, .. }) if elements.len() > 1))
            .collect();
        prop_assume!(!long.is_empty());
        if let Some(Step::Read { elements, .. }) = transactions[long[index.index(long.len())]].steps.first_mut() {
            elements.remove(0);
        }
        prop_assert!(!lists(&transactions, &last).findings().is_empty());
    }
}
