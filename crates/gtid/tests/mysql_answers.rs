//! Random pairs of sets against what a real MySQL answered for them (`tests/data/mysql-sets.tsv`), and texts against
//! whether it took them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test whose own texts cannot be read has failed")]

use gtid::GtidSet;

fn read(text: &str) -> GtidSet {
    GtidSet::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn the_server_agrees() {
    let mut checked = 0;
    for line in include_str!("data/mysql-sets.tsv").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [a, b, subset, subtract, both] = fields[..] else { panic!("not five fields: {line}") };
        let (a, b) = (read(a), read(b));
        assert_eq!(a.covers(&b), subset == "1", "{line}");
        assert_eq!(a.missing_from(&b).to_string(), subtract, "{line}");
        let mut union = a;
        union.merge(&b);
        assert_eq!(union.to_string(), both, "{line}");
        checked += 1;
    }
    assert!(checked >= 100, "only {checked} pairs");
}

/// The text, and what the server prints for it; `None` where it answers ERROR 1772. U stands for a UUID.
const TEXTS: [(&str, Option<&str>); 20] = [
    ("U:1 ", Some("U:1")),
    (" U:1", Some("U:1")),
    ("U : 1 - 3 : 5", Some("U:1-3:5")),
    ("U:1,,U:2", Some("U:1-2")),
    (",U:1,", Some("U:1")),
    ("U:01", Some("U:1")),
    ("U:_x:1", Some("U:_x:1")),
    ("U:blue :1", Some("U:blue:1")),
    ("U: blue:1", Some("U:blue:1")),
    ("U:9223372036854775806", Some("U:9223372036854775806")),
    ("U:", None),
    ("U:0", None),
    ("U:1-", None),
    ("U:1;", None),
    ("U:1 2", None),
    ("U:+1", None),
    ("U:b-x:1", None),
    ("U:1-2-3", None),
    ("U:1::2", None),
    ("U:9223372036854775807", None),
];

#[test]
fn the_server_takes_the_same_texts() {
    const U: &str = "11c1c8a9-ec6a-11f1-a9f6-02fc00000001";
    for (text, printed) in TEXTS {
        let ours = GtidSet::parse(text.replace('U', U).as_bytes()).ok().map(|set| set.to_string());
        assert_eq!(ours, printed.map(|text| text.replace('U', U)), "{text}");
    }
}
