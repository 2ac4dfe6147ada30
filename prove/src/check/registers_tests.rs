//! Hand-made histories: each anomaly is found, and valid histories pass.

use proptest::prelude::*;

use super::*;
use crate::history::{Level, Read, Who, Write};

const PROXIED: [Level; 3] = Level::OFFERED;

fn who(number: u32, level: Level) -> Who {
    Who { number, level, proxy: 'A' }
}

fn read(who: Who, begin: Nanos, end: Nanos, values: &[u32]) -> Read {
    Read { who, begin, end, node: 2, values: values.into(), again: None }
}

fn write(who: Who, register: usize, value: u32, begin: Nanos, end: impl Into<Option<Nanos>>) -> Write {
    Write { who, register, value, begin, end: end.into() }
}

fn check(reads: Vec<Read>, writes: Vec<Write>) -> Verdict {
    Registers::default().check(&History { reads, writes })
}

/// What was found, whatever it means for the level.
fn found(verdict: &Verdict, level: Level) -> Vec<Anomaly> {
    Anomaly::ALL.into_iter().filter(|anomaly| verdict.count(level, *anomaly) > 0).collect()
}

#[test]
fn own_writes_must_be_seen() {
    for level in PROXIED {
        let me = who(1, level);
        let verdict = check(vec![read(me, 20, 30, &[0])], vec![write(me, 0, 1, 0, 10)]);
        assert_eq!(found(&verdict, level), [Anomaly::OwnWrite, Anomaly::Acknowledged]);
        assert_eq!(verdict.violations(level) > 0, level != Level::Eventual);
        assert_eq!(verdict.stale(level), 1);
    }
}

#[test]
fn a_session_must_not_go_back() {
    let (me, writer) = (who(1, Level::Session), who(2, Level::Direct));
    let writes = || vec![write(writer, 0, 1, 0, None)];
    let verdict = check(vec![read(me, 10, 20, &[1]), read(me, 30, 40, &[0])], writes());
    assert_eq!(found(&verdict, Level::Session), [Anomaly::WentBack, Anomaly::Shown]);
    assert_eq!(verdict.violations(Level::Session), 1);
    // Another session may, at this level.
    let other = who(3, Level::Session);
    let verdict = check(vec![read(me, 10, 20, &[1]), read(other, 30, 40, &[0])], writes());
    assert_eq!(verdict.violations(Level::Session), 0);
    assert_eq!(verdict.stale(Level::Session), 1);
}

#[test]
fn what_was_acknowledged_to_anyone_counts_for_global() {
    for writer in PROXIED.into_iter().chain([Level::Direct]) {
        let verdict =
            check(vec![read(who(1, Level::Global), 20, 30, &[0])], vec![write(who(2, writer), 0, 1, 0, 10)]);
        assert_eq!(found(&verdict, Level::Global), [Anomaly::Acknowledged]);
        assert_eq!(verdict.violations(Level::Global), 1);
    }
}

#[test]
fn what_was_shown_to_anyone_counts_for_global() {
    for reader in PROXIED.into_iter().chain([Level::Direct]) {
        let verdict = check(
            vec![read(who(2, reader), 10, 20, &[1]), read(who(1, Level::Global), 21, 30, &[0])],
            vec![write(who(3, Level::Direct), 0, 1, 0, None)],
        );
        assert_eq!(verdict.count(Level::Global, Anomaly::Shown), 1);
    }
}

#[test]
fn what_overlaps_may_come_in_either_order() {
    let (a, b) = (who(1, Level::Global), who(2, Level::Global));
    // The write ends when the read begins, to the nanosecond, and the two reads overlap.
    let writes = vec![write(b, 0, 1, 0, 20)];
    let verdict = check(vec![read(a, 20, 40, &[0]), read(b, 21, 41, &[1])], writes);
    assert_eq!(found(&verdict, Level::Global), []);
}

#[test]
fn a_write_in_doubt_may_show_or_not_but_not_vanish() {
    let (me, writer) = (who(1, Level::Global), who(2, Level::Global));
    let writes = || vec![write(writer, 0, 1, 0, None)];
    for values in [[[0], [0]], [[0], [1]], [[1], [1]]] {
        let verdict = check(vec![read(me, 10, 20, &values[0]), read(me, 30, 40, &values[1])], writes());
        assert_eq!(found(&verdict, Level::Global), [], "{values:?}");
    }
    let verdict = check(vec![read(me, 10, 20, &[1]), read(me, 30, 40, &[0])], writes());
    assert_eq!(found(&verdict, Level::Global), [Anomaly::WentBack, Anomaly::Shown]);
}

#[test]
fn values_come_from_somewhere() {
    let (me, writer) = (who(1, Level::Eventual), who(2, Level::Direct));
    let verdict = check(vec![read(me, 10, 20, &[0, 7])], vec![]);
    assert_eq!(found(&verdict, Level::Eventual), [Anomaly::NeverWritten]);
    // Before the write had begun.
    let verdict = check(vec![read(me, 10, 20, &[1])], vec![write(writer, 0, 1, 21, 30)]);
    assert_eq!(found(&verdict, Level::Eventual), [Anomaly::NeverWritten]);
    let verdict = check(vec![read(me, 10, 22, &[1])], vec![write(writer, 0, 1, 21, 30)]);
    assert_eq!(found(&verdict, Level::Eventual), []);
}

#[test]
fn snapshots_stand_in_one_order() {
    let (a, b) = (who(1, Level::Eventual), who(2, Level::Eventual));
    let writes =
        || vec![write(who(3, Level::Direct), 0, 1, 0, None), write(who(4, Level::Direct), 1, 1, 0, None)];
    let verdict = check(vec![read(a, 1, 2, &[1, 0]), read(b, 1, 2, &[0, 1])], writes());
    assert_eq!(found(&verdict, Level::Eventual), [Anomaly::Torn]);
    assert_eq!(verdict.violations(Level::Eventual), 1);
    let verdict = check(vec![read(a, 1, 2, &[1, 1]), read(b, 1, 2, &[0, 1])], writes());
    assert_eq!(verdict.violations(Level::Eventual), 0);
}

#[test]
fn snapshots_do_not_change_while_they_are_open() {
    let me = who(1, Level::Eventual);
    let again = |value: u32| {
        let twice = Read { again: Some([value].into()), ..read(me, 10, 20, &[0]) };
        check(vec![twice], vec![write(who(2, Level::Direct), 0, 1, 0, None)])
    };
    assert_eq!(found(&again(1), Level::Eventual), [Anomaly::Unrepeatable]);
    assert_eq!(found(&again(0), Level::Eventual), []);
}

#[test]
fn what_was_known_is_carried_on() {
    let mut registers = Registers::default();
    let (me, other) = (who(1, Level::Session), who(2, Level::Global));
    let first = History { reads: vec![], writes: vec![write(me, 0, 1, 0, 10)] };
    assert_eq!(registers.check(&first).violations(Level::Session), 0);
    let later = History { reads: vec![read(me, 20, 30, &[0]), read(other, 20, 30, &[0])], writes: vec![] };
    let verdict = registers.clone().check(&later);
    assert_eq!((verdict.violations(Level::Session), verdict.violations(Level::Global)), (1, 1));
    registers.forget_all_but(&[2]);
    let verdict = registers.check(&later);
    assert_eq!((verdict.violations(Level::Session), verdict.violations(Level::Global)), (0, 1));
    let future = History { reads: vec![read(other, 40, 50, &[2])], writes: vec![] };
    assert_eq!(found(&registers.check(&future), Level::Global), [Anomaly::NeverWritten]);
}

#[test]
fn the_explanation_says_what_was_read_and_why_that_is_too_old() {
    let verdict = check(
        vec![read(who(7, Level::Global), 5_000_000, 6_000_000, &[4, 1])],
        (1..=6)
            .map(|value| {
                write(who(3, Level::Direct), 0, value, u64::from(value), u64::from(value) + 2_000_000)
            })
            .collect(),
    );
    let finding = verdict.findings().iter().find(|finding| finding.anomaly == Anomaly::Acknowledged).unwrap();
    assert_eq!(
        finding.to_string(),
        "G1: session 7 (global, proxy A), on server 2, from 0.005000 s to 0.006000 s, read register 0 as 4 and should \
         have read 6 or more: session 3 (direct) wrote 6, acknowledged at 0.002000 s, 2999 us before"
    );
}

/// A cluster in which nothing is wrong: one log, nodes that show a prefix of it, and clients.
mod world {
    use super::*;

    /// How a session reads, and what it does.
    #[derive(Debug, Clone)]
    pub(super) struct Step {
        pub(super) session: usize,
        pub(super) write: bool,
        /// How long it takes, and how much of the log a node may lack that serves an eventual read.
        pub(super) takes: u64,
        pub(super) lag: usize,
        pub(super) lost: bool,
    }

    pub(super) const SESSIONS: [Level; 5] =
        [Level::Eventual, Level::Session, Level::Session, Level::Global, Level::Global];

    /// Plays the steps. Operations overlap: an operation takes effect at its end, the next one of another session begins
    /// before that.
    pub(super) fn play(steps: &[Step]) -> History {
        let mut history = History::default();
        let mut log: Vec<(usize, u32)> = Vec::new();
        let mut values = [0; SESSIONS.len()];
        // Up to where in the log each session has seen.
        let mut seen = [0; SESSIONS.len()];
        let mut ends = [0; SESSIONS.len()];
        let mut now = 0;
        for step in steps {
            now += 1;
            let session = step.session;
            let who = who(u32::try_from(session).unwrap(), SESSIONS[session]);
            let begin = now.max(ends[session] + 1);
            // It takes effect when it begins; it ends later, when others have begun.
            let end = begin + step.takes;
            now = begin;
            ends[session] = end;
            if step.write {
                values[session] += 1;
                if !step.lost || step.lag == 0 {
                    log.push((session, values[session]));
                }
                let end = (!step.lost).then_some(end);
                history.writes.push(write(who, session, values[session], begin, end));
                if !step.lost {
                    seen[session] = log.len();
                }
                continue;
            }
            let least = match who.level {
                Level::Eventual => 0,
                Level::Session => seen[session],
                _ => log.len(),
            };
            let at = log.len().saturating_sub(step.lag).max(least);
            seen[session] = at;
            let mut shown = [0; SESSIONS.len()];
            log[..at].iter().for_each(|(register, value)| shown[*register] = *value);
            history.reads.push(read(who, begin, end, &shown));
        }
        history
    }
}

fn steps() -> impl Strategy<Value = Vec<world::Step>> {
    let step =
        (0..world::SESSIONS.len(), prop::bool::weighted(0.3), 1u64..20, 0usize..4, prop::bool::weighted(0.1))
            .prop_map(|(session, write, takes, lag, lost)| world::Step { session, write, takes, lag, lost });
    prop::collection::vec(step, 1..120)
}

proptest! {
    #[test]
    fn valid_histories_pass(steps in steps(), cut in 0usize..120) {
        let history = world::play(&steps);
        let verdict = Registers::default().check(&history);
        prop_assert!(verdict.findings().is_empty(), "{}", verdict.findings()[0]);
        // So they do when they are checked in two parts, where nothing is under way in between.
        let quiet = steps.iter().map(|step| world::Step { takes: 1, ..step.clone() }).collect::<Vec<_>>();
        let history = world::play(&quiet);
        let middle = u64::try_from(2 * cut).unwrap();
        let mut registers = Registers::default();
        for first in [true, false] {
            let part = History {
                reads: history.reads.iter().filter(|read| (read.end < middle) == first).cloned().collect(),
                writes: history.writes.iter().filter(|write| (write.begin < middle) == first).cloned().collect(),
            };
            let verdict = registers.check(&part);
            prop_assert!(verdict.findings().is_empty(), "{}", verdict.findings()[0]);
        }
    }

    #[test]
    fn a_read_made_older_is_found(steps in steps(), index in any::<prop::sample::Index>()) {
        let mut history = world::play(&steps);
        let promised: Vec<usize> = (0..history.reads.len())
            .filter(|read| history.reads[*read].who.level == Level::Global)
            .filter(|read| {
                let read = &history.reads[*read];
                history.writes.iter().any(|write| write.end.is_some_and(|end| end < read.begin))
            })
            .collect();
        prop_assume!(!promised.is_empty());
        let read = promised[index.index(promised.len())];
        let begin = history.reads[read].begin;
        let write = history.writes.iter().rfind(|write| write.end.is_some_and(|end| end < begin)).unwrap().clone();
        history.reads[read].values[write.register] = write.value - 1;
        let verdict = Registers::default().check(&history);
        prop_assert!(verdict.count(Level::Global, Anomaly::Acknowledged) > 0);
    }
}
