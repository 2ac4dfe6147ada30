//! MySQL sets against a naive model: a `BTreeSet` of single GTIDs.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test whose own texts cannot be read has failed")]

use std::collections::BTreeSet;

use gtid::{Flavor, GtidSet, Position, Source, Uuid};
use proptest::prelude::*;

/// (uuid, tag, number): few values, so that sets meet.
type Gtid = (u8, u8, u64);
type Model = BTreeSet<Gtid>;

const TAGS: [&str; 3] = ["", "blue", "red_2"];
const UUIDS: [&str; 4] = [
    "00000000-0000-0000-0000-000000000001",
    "11c1c8a9-ec6a-11f1-a9f6-02fc00000001",
    "3e11fa47-71ca-11e1-9e33-c80aa9429562",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
];

/// One written element of a set: uuid, tag, first, last. Text keeps the order given, so it is canonical only by chance.
type Run = (u8, u8, u64, u64);

fn runs() -> impl Strategy<Value = Vec<Run>> {
    let run = (0..4u8, 0..3u8, 1..30u64, 0..6u64).prop_map(|(u, t, first, more)| (u, t, first, first + more));
    let many = prop::collection::vec(run, 0..12);
    // The ordinary shape, one source counting from 1, gets its own weight.
    prop_oneof![3 => many, 1 => (0..4u8, 1..40u64).prop_map(|(u, last)| vec![(u, 0, 1, last)])]
}

fn text(runs: &[Run]) -> String {
    let element = |&(u, t, first, last): &Run| {
        let tag = if t == 0 { String::new() } else { format!(":{}", TAGS[t as usize].to_uppercase()) };
        let end = if first == last { String::new() } else { format!("-{last}") };
        format!("{}{tag}:{first}{end}", UUIDS[u as usize])
    };
    runs.iter().map(element).collect::<Vec<_>>().join(",\n")
}

fn model(runs: &[Run]) -> Model {
    runs.iter().flat_map(|&(u, t, first, last)| (first..=last).map(move |n| (u, t, n))).collect()
}

fn set(runs: &[Run]) -> GtidSet {
    GtidSet::parse(text(runs).as_bytes()).unwrap()
}

fn source(u: u8, t: u8) -> Source {
    let uuid = Uuid::parse(UUIDS[u as usize].as_bytes()).unwrap();
    Source { uuid, tag: gtid::Tag::new(TAGS[t as usize].as_bytes()) }
}

fn name(&(u, t, n): &Gtid) -> String {
    format!("{}:{n}", source(u, t))
}

/// What the set holds, one by one, after checking the shape it promises.
fn members(set: &GtidSet) -> Model {
    let mut found = Model::new();
    for (u, t) in (0..4).flat_map(|u| (0..3).map(move |t| (u, t))) {
        let intervals = set.intervals_of(&source(u, t));
        assert!(intervals.windows(2).all(|w| w[0].last() + 1 < w[1].first()), "touching intervals in {set}");
        found.extend(intervals.iter().flat_map(|i| i.first()..=i.last()).map(|n| (u, t, n)));
    }
    assert!(set.sources().collect::<Vec<_>>().windows(2).all(|w| w[0] < w[1]), "unsorted sources in {set}");
    assert!(set.sources().all(|s| !set.intervals_of(s).is_empty()), "empty source in {set}");
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn parts_of_a_set(a in runs(), b in runs(), u in 0..4u8) {
        let (a_set, b_set) = (set(&a), set(&b));
        prop_assert_eq!(members(&a_set.common_with(&b_set)), &model(&a) & &model(&b));
        let of_server: Model = model(&a).into_iter().filter(|gtid| gtid.0 == u).collect();
        prop_assert_eq!(members(&a_set.of_server(source(u, 0).uuid)), of_server);
    }

    #[test]
    fn reading_and_printing(a in runs()) {
        let a_set = set(&a);
        prop_assert_eq!(members(&a_set), model(&a));
        prop_assert_eq!(GtidSet::parse(a_set.to_string().as_bytes()).unwrap(), a_set.clone());
        prop_assert_eq!(a_set.is_empty(), a.is_empty());
        prop_assert_eq!(a_set.count(), model(&a).len() as u64);
        let token = Position::Mysql(a_set.clone()).to_token().unwrap();
        prop_assert_eq!(Position::from_token(token.as_bytes()).unwrap(), Position::Mysql(a_set));
    }

    #[test]
    fn two_sets_behave_as_the_model(a in runs(), b in runs()) {
        let (a_set, b_set, a, b) = (set(&a), set(&b), model(&a), model(&b));
        let difference: Model = a.difference(&b).copied().collect();

        prop_assert_eq!(a_set.covers(&b_set), b.is_subset(&a));
        prop_assert_eq!(a_set.intersects(&b_set), !a.is_disjoint(&b));
        prop_assert_eq!(members(&a_set.missing_from(&b_set)), difference.clone());
        prop_assert_eq!(a_set.count_missing_from(&b_set), difference.len() as u64);
        prop_assert_eq!(a_set.first_missing(&b_set), difference.first().map(name));
        let mut union = a_set.clone();
        union.merge(&b_set);
        prop_assert_eq!(members(&union), a.union(&b).copied().collect::<Model>());
        prop_assert_eq!(union.intervals(), GtidSet::parse(union.to_string().as_bytes()).unwrap().intervals());
    }

    #[test]
    fn laws_of_merge_and_subtract(a in runs(), b in runs(), c in runs()) {
        let [a, b, c] = [a, b, c].map(|runs| Position::Mysql(set(&runs)));
        let merged = |x: &Position, y: &Position| { let mut x = x.clone(); x.merge(y).unwrap(); x };
        prop_assert_eq!(merged(&a, &b), merged(&b, &a));
        prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
        prop_assert_eq!(merged(&a, &a), a.clone());
        prop_assert!(merged(&a, &b).covers(&a) && merged(&a, &b).covers(&b));
        prop_assert!(!a.missing_from(&b).intersects(&b));
        prop_assert_eq!(merged(&a.missing_from(&b), &b), merged(&a, &b));
        prop_assert_eq!(a.missing_from(&b).is_empty(), b.covers(&a));
        let mut need = a.clone();
        need.advance(&b).unwrap();
        prop_assert_eq!(need, if b.is_empty() { a } else { b });
    }

    #[test]
    fn next_and_last(a in runs(), u in 0..4u8, t in 0..3u8) {
        let last = model(&a).iter().filter(|g| (g.0, g.1) == (u, t)).map(|g| g.2).max();
        let a = set(&a);
        prop_assert_eq!(a.last_of(&source(u, t)), last);
        let next = a.next_gtid(&source(u, t)).unwrap();
        prop_assert_eq!(&next, &name(&(u, t, last.unwrap_or(0) + 1)));
        let next = Position::parse(Flavor::Mysql, next.as_bytes()).unwrap();
        prop_assert!(!Position::Mysql(a).intersects(&next));
    }

    #[test]
    fn owned_text(gtids in prop::collection::vec((0..4u8, 0..3u8, 1..30u64, 1..1_000_000u32), 0..10)) {
        // As the server prints it: nothing between a thread and the next source, which may start with a digit.
        let text: String = gtids.iter().map(|(u, t, n, thread)| format!("{}#{thread}", name(&(*u, *t, *n)))).collect();
        let owned = gtid::parse_owned(text.as_bytes()).unwrap();
        prop_assert_eq!(members(&owned), gtids.iter().map(|&(u, t, n, _)| (u, t, n)).collect::<Model>());
    }
}
