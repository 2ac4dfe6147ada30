//! MariaDB positions against a naive model: a map from domain to the furthest (sequence, server).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test whose own texts cannot be read has failed")]

use std::collections::BTreeMap;

use gtid::{BinlogState, DomainGtid, DomainPositions, Position};
use proptest::prelude::*;

type Model = BTreeMap<u32, (u64, u32)>;
type List = Vec<(u32, u32, u64)>;

fn list() -> impl Strategy<Value = List> {
    prop::collection::vec((0..6u32, 1..4u32, 0..9u64), 0..8)
}

fn text(list: &List) -> String {
    list.iter().map(|(d, s, n)| format!("{d}-{s}-{n}")).collect::<Vec<_>>().join(",")
}

fn model(list: &List) -> Model {
    let mut model = Model::new();
    for &(domain, server, sequence) in list.iter().filter(|gtid| gtid.2 > 0) {
        let slot = model.entry(domain).or_default();
        *slot = (*slot).max((sequence, server));
    }
    model
}

fn position(list: &List) -> DomainPositions {
    DomainPositions::parse(text(list).as_bytes()).unwrap()
}

fn entries(position: &DomainPositions) -> Model {
    let domains: Vec<u32> = position.iter().map(|gtid| gtid.domain).collect();
    assert!(domains.windows(2).all(|w| w[0] < w[1]), "unsorted domains in {position}");
    position.iter().map(|gtid| (gtid.domain, (gtid.sequence, gtid.server_id))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn reading_and_printing(a in list()) {
        let a_pos = position(&a);
        prop_assert_eq!(entries(&a_pos), model(&a));
        prop_assert_eq!(DomainPositions::parse(a_pos.to_string().as_bytes()).unwrap(), a_pos.clone());
        let token = Position::Mariadb(a_pos.clone()).to_token().unwrap();
        prop_assert_eq!(Position::from_token(token.as_bytes()).unwrap(), Position::Mariadb(a_pos));
    }

    #[test]
    fn two_positions_behave_as_the_model(a in list(), b in list()) {
        let (a_pos, b_pos, a, b) = (position(&a), position(&b), model(&a), model(&b));
        let reached = |of: &Model, domain: &u32| of.get(domain).map_or(0, |entry| entry.0);
        let missing: Model = a.iter().filter(|(d, e)| reached(&b, d) < e.0).map(|(d, e)| (*d, *e)).collect();

        prop_assert_eq!(b_pos.covers(&a_pos), missing.is_empty());
        prop_assert_eq!(entries(&a_pos.missing_from(&b_pos)), missing.clone());
        let behind: u64 = missing.iter().map(|(d, e)| e.0 - reached(&b, d)).sum();
        prop_assert_eq!(a_pos.count_missing_from(&b_pos), behind);
        let first = missing.iter().next().map(|(d, (n, s))| format!("{d}-{s}-{n}"));
        prop_assert_eq!(a_pos.first_missing(&b_pos), first);
        prop_assert_eq!(a_pos.intersects(&b_pos), a.keys().any(|d| b.contains_key(d)));

        let mut merged = a_pos.clone();
        merged.merge(&b_pos);
        let mut expected = a.clone();
        for (d, e) in &b { let slot = expected.entry(*d).or_default(); *slot = (*slot).max(*e); }
        prop_assert_eq!(entries(&merged), expected);

        let mut advanced = Position::Mariadb(a_pos);
        advanced.advance(&Position::Mariadb(b_pos)).unwrap();
        let mut expected = a;
        expected.extend(b);
        let Position::Mariadb(advanced) = advanced else { panic!("the flavour changed") };
        prop_assert_eq!(entries(&advanced), expected);
    }

    #[test]
    fn laws_of_merge(a in list(), b in list(), c in list()) {
        let [a, b, c] = [a, b, c].map(|list| Position::Mariadb(position(&list)));
        let merged = |x: &Position, y: &Position| { let mut x = x.clone(); x.merge(y).unwrap(); x };
        prop_assert_eq!(merged(&a, &b), merged(&b, &a));
        prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
        prop_assert_eq!(merged(&a, &a), a.clone());
        prop_assert!(merged(&a, &b).covers(&a) && merged(&a, &b).covers(&b));
        prop_assert_eq!(a.missing_from(&b).is_empty(), b.covers(&a));
        prop_assert!(merged(&a.missing_from(&b), &b).covers(&a));
    }

    #[test]
    fn binlog_state(state in list(), need in list()) {
        let parsed = BinlogState::parse(text(&state).as_bytes()).unwrap();
        let holds = |gtid: DomainGtid| {
            state.iter().any(|&(d, s, n)| (d, s) == (gtid.domain, gtid.server_id) && n >= gtid.sequence)
        };
        let need = position(&need);
        prop_assert!(need.iter().all(|gtid| parsed.contains(gtid) == holds(gtid)));
        let lost: Vec<DomainGtid> = need.iter().filter(|&gtid| !holds(gtid)).collect();
        prop_assert_eq!(parsed.lost(&need).iter().collect::<Vec<_>>(), lost);
    }
}
