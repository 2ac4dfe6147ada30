//! What is refused, where, and that nothing panics or takes long.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test whose own texts cannot be read has failed")]

use std::fmt::Write;
use std::time::{Duration, Instant};

use gtid::{
    BinlogState, Flavor, GtidSet, MAX_GNO, MAX_INTERVALS, MAX_TEXT_BYTES, MAX_TOKEN_BYTES, Position,
    parse_owned,
};
use proptest::prelude::*;

const U: &str = "11c1c8a9-ec6a-11f1-a9f6-02fc00000001";

fn refused(flavor: Flavor, text: &str, message: &str) {
    let error = Position::parse(flavor, text.replace('U', U).as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), message, "for {text}");
}

#[test]
fn mysql_errors_say_where() {
    let check = |text, message| refused(Flavor::Mysql, text, message);
    check("U", "at byte 36: expected ':'");
    check("U:", "at byte 37: expected a number");
    check("U:0", "at byte 37: transaction numbers start at 1");
    check("U:5-3", "at byte 37: the interval 5-3 ends before it starts");
    check("U:1-", "at byte 39: expected a number");
    check("U:1-5:9x", "at byte 42: expected ','");
    check("U:blue", "at byte 41: the source has no transaction number");
    check("U:blue:red:1", "at byte 45: the source has no transaction number");
    check("U:1 2", "at byte 39: expected ','");
    check(
        "U:9223372036854775807",
        "at byte 37: the number is too large (transaction numbers end at 9223372036854775806)",
    );
    check(
        "U:1,11c1c8a9-ec6a-11f1-a9f6-02fc0000000g:1",
        "at byte 39: expected a UUID such as 3e11fa47-71ca-11e1-9e33-c80aa9429562",
    );
    check(
        "11c1c8a9ec6a-11f1-a9f6-02fc00000001000:1",
        "at byte 0: expected a UUID such as 3e11fa47-71ca-11e1-9e33-c80aa9429562",
    );
    check(&format!("U:{}:1", "t".repeat(33)), "at byte 37: the tag is longer than 32 bytes");
}

#[test]
fn mariadb_errors_say_where() {
    let check = |text, message| refused(Flavor::Mariadb, text, message);
    check("0", "at byte 1: expected '-'");
    check("0-1", "at byte 3: expected '-'");
    check("0-1-", "at byte 4: expected a number");
    check("0-1-5-6", "at byte 5: expected ','");
    check(
        "0-4294967296-5",
        "at byte 2: the number is too large (transaction numbers end at 9223372036854775806)",
    );
    check("0-1-5,x", "at byte 6: expected a number");
    assert!(BinlogState::parse(b"0-1-5;").is_err());
}

#[test]
fn tokens_say_what_is_wrong() {
    let error = |token: &str| Position::from_token(token.as_bytes()).unwrap_err().to_string();
    assert!(error("").starts_with("not a position token of this version"));
    assert!(error("m2:x").starts_with("not a position token of this version"));
    assert_eq!(error("a1:0-1"), "unreadable position token at byte 6: expected '-'");
    assert!(error(&"m1:".repeat(MAX_TOKEN_BYTES)).contains("longer than the 65536 allowed"));
    let wide = Position::parse(Flavor::Mysql, many_intervals(20_000).as_bytes()).unwrap();
    assert!(wide.to_token().is_err());
    assert_eq!(Position::from_token(b"m1:").unwrap(), Position::default());
}

#[test]
fn extremes_are_held() {
    let whole = format!("{U}:1-{MAX_GNO}");
    let set = GtidSet::parse(whole.as_bytes()).unwrap();
    assert_eq!((set.count(), set.to_string()), (MAX_GNO, whole));
    let source = set.sources().next().unwrap();
    assert_eq!(set.next_gtid(source), None);
    let three = "0-1-18446744073709551615,1-1-18446744073709551615";
    assert_eq!(Position::parse(Flavor::Mariadb, three.as_bytes()).unwrap().count(), u64::MAX);
    let mut joined = set.clone();
    joined.merge(&set);
    assert_eq!(joined, set);
}

fn many_intervals(count: usize) -> String {
    (0..count).rev().fold(U.to_owned(), |mut text, n| {
        write!(text, ":{}", n * 2 + 1).unwrap();
        text
    })
}

#[test]
fn bounds_are_kept() {
    let error = |text: &str| GtidSet::parse(text.as_bytes()).unwrap_err().kind;
    assert_eq!(error(&" ".repeat(MAX_TEXT_BYTES + 1)), gtid::ParseErrorKind::TextTooLong);
    assert!(GtidSet::parse(many_intervals(MAX_INTERVALS).as_bytes()).is_ok());
    assert_eq!(error(&many_intervals(MAX_INTERVALS + 1)), gtid::ParseErrorKind::TooManyIntervals);
    assert!(Position::parse(Flavor::Mariadb, "0-1-1,".repeat(MAX_INTERVALS + 1).as_bytes()).is_err());
}

/// The largest texts in their worst order. Quadratic work would take minutes; the limit is generous for slow machines.
#[test]
fn nothing_is_quadratic() {
    let start = Instant::now();
    let backwards = GtidSet::parse(many_intervals(MAX_INTERVALS).as_bytes()).unwrap();
    let shifted: String = (1..=MAX_INTERVALS).fold(U.to_owned(), |mut text, n| {
        write!(text, ":{}", n * 2).unwrap();
        text
    });
    let shifted = GtidSet::parse(shifted.as_bytes()).unwrap();
    let sources = |odd: u32| -> GtidSet {
        let text: String =
            (0..24_000u32).rev().map(|n| format!("{:08x}{}:1,", n * 2 + odd, &U[8..])).collect();
        GtidSet::parse(text.as_bytes()).unwrap()
    };
    let repeated: String = (0..24_000).rev().map(|n| format!("{U}:{},", n * 2 + 1)).collect();
    let repeated = GtidSet::parse(repeated.as_bytes()).unwrap();
    for (a, b) in [(&backwards, &shifted), (&sources(0), &sources(1)), (&repeated, &backwards)] {
        let mut union = a.clone();
        union.merge(b);
        assert!(union.covers(a) && union.covers(b));
        assert!(union.missing_from(a).missing_from(b).is_empty());
        assert!(union.intersects(a) && union.count_missing_from(a) <= b.count());
    }
    let mut all = backwards;
    all.merge(&shifted);
    assert_eq!(all.intervals(), 1);
    assert!(start.elapsed() < Duration::from_secs(20), "took {:?}", start.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_everything(&bytes);
    }

    #[test]
    fn no_nearly_right_text_panics(pieces in prop::collection::vec(0..PIECES.len(), 0..24)) {
        let text: String = pieces.into_iter().map(|at| PIECES[at]).collect();
        read_everything(text.as_bytes());
    }
}

const PIECES: [&str; 16] = [
    U,
    ":",
    "-",
    ",",
    "#",
    "1",
    "5",
    "0",
    "9223372036854775806",
    "18446744073709551616",
    "blue",
    "_",
    " ",
    "\n",
    "m1:",
    "a1:",
];

/// Whatever can be read must also survive being printed and read again.
fn read_everything(bytes: &[u8]) {
    for flavor in [Flavor::Mysql, Flavor::Mariadb] {
        if let Ok(position) = Position::parse(flavor, bytes) {
            let again = Position::parse(flavor, position.to_string().as_bytes()).unwrap();
            assert_eq!(again, position);
            assert!(again.covers(&position) && again.missing_from(&position).is_empty());
        }
    }
    if let Ok(owned) = parse_owned(bytes) {
        assert_eq!(GtidSet::parse(owned.to_string().as_bytes()).unwrap(), owned);
    }
    let _ = BinlogState::parse(bytes);
    let _ = Position::from_token(bytes);
}
