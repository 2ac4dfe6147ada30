//! Texts that real servers printed, and what they mean.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test whose own texts cannot be read has failed")]

use gtid::{BinlogState, Flavor, Position, Source, Tag, Uuid, parse_owned};

const U: &str = "11c1c8a9-ec6a-11f1-a9f6-02fc00000001";

fn mysql(text: &str) -> Position {
    Position::parse(Flavor::Mysql, text.replace('U', U).as_bytes()).unwrap()
}

fn mariadb(text: &str) -> Position {
    Position::parse(Flavor::Mariadb, text.as_bytes()).unwrap()
}

fn source(tag: Option<&str>) -> Source {
    Source { uuid: Uuid::parse(U.as_bytes()).unwrap(), tag: tag.and_then(|t| Tag::new(t.as_bytes())) }
}

/// MySQL 9.7 with tags, as printed after writes under `blue` and `red_2`.
#[test]
fn tagged_sets() {
    let executed = mysql("U:1-147:blue:1-4:red_2:1");
    let Position::Mysql(set) = &executed else { panic!("not a MySQL position") };
    assert_eq!(set.last_of(&source(None)), Some(147));
    assert_eq!(set.last_of(&source(Some("blue"))), Some(4));
    assert_eq!(set.last_of(&source(Some("red_2"))), Some(1));
    assert_eq!(set.next_gtid(&source(Some("blue"))).unwrap(), format!("{U}:blue:5"));
    assert!(executed.covers(&mysql("U:blue:3-4")) && executed.covers(&mysql("U:Red_2:1")));
    assert!(!executed.covers(&mysql("U:green:3")) && !executed.covers(&mysql("U:blue:5")));
    assert_eq!(executed.to_string(), format!("{U}:1-147:blue:1-4:red_2:1"));
}

/// A replica with `replica_preserve_commit_order=OFF`: the hole is what a "highest number" would hide.
#[test]
fn a_replica_that_applies_out_of_order() {
    let replica = mysql("U:1-782598:782600-782601:blue:1-4:red_2:1");
    assert!(replica.covers(&mysql("U:782601")));
    assert!(!replica.covers(&mysql("U:782599")));
    assert_eq!(mysql("U:782590-782601").first_missing(&replica).unwrap(), format!("{U}:782599"));
    assert!(mysql("U:1-782601:blue:1-4:red_2:1").covers(&replica));
}

/// `@@gtid_executed` puts a line feed behind each comma.
#[test]
fn several_sources() {
    let text = "00003331-1111-1111-1111-111111111111:1-5,\n00003332-1111-1111-1111-111111111111:1-3:5";
    let set = mysql(text);
    assert_eq!(set.to_string(), text.replace('\n', ""));
    assert_eq!((set.count(), set.intervals()), (9, 3));
}

/// A replica restarted after kill -9 with `innodb_flush_log_at_trx_commit=0`, and a candidate after a lossy failover.
#[test]
fn a_position_that_went_backwards() {
    let (seen, now) = (mysql("U:1-803355:blue:1-4:red_2:1"), mysql("U:1-803273:blue:1-4:red_2:1"));
    assert!(!now.covers(&seen));
    assert_eq!(seen.missing_from(&now).to_string(), format!("{U}:803274-803355"));
    assert_eq!(seen.count_missing_from(&now), 82);
}

#[test]
fn gtid_owned() {
    let read = |text: &str| parse_owned(text.replace('U', U).as_bytes()).unwrap().to_string();
    let printed = "U:900000000#273U:blue:900001#272aaaaaaaa-0000-4000-8000-000000000001:7#274";
    assert_eq!(read(printed), format!("{U}:900000000:blue:900001,aaaaaaaa-0000-4000-8000-000000000001:7"),);
    assert_eq!(read("U:782595#876"), format!("{U}:782595"));
    assert_eq!(read("U:5#273:7#12"), format!("{U}:5:7"));
    assert_eq!(read(""), "");
    for wrong in ["U:5", "U:5#", "U:5#x", "U:5#U:6#1", "U:5#27-", "#5", "U#5"] {
        assert!(parse_owned(wrong.replace('U', U).as_bytes()).is_err(), "{wrong} was read");
    }
}

/// A procedure that wrote in two domains; then the positions of a failover that lost 0-1-193747.
#[test]
fn mariadb_domains_and_failover() {
    let mut need = mariadb("0-1-184608,7-1-2");
    need.advance(&mariadb("0-1-184611")).unwrap();
    assert_eq!(need, mariadb("0-1-184611,7-1-2"));
    assert!(mariadb("0-1-184611,7-1-3").covers(&need));
    assert!(!mariadb("7-1-3").covers(&need));

    let session = mariadb("0-1-193747,7-1-3");
    assert!(mariadb("0-2-193747,7-1-3").covers(&session), "by number alone nothing is missing");
    let state = BinlogState::parse(b"0-1-193746,0-2-193747,7-1-3").unwrap();
    let Position::Mariadb(session) = session else { panic!("not a MariaDB position") };
    assert_eq!(state.lost(&session).to_string(), "0-1-193747");
}

#[test]
fn two_flavours_do_not_mix() {
    let (a, b) = (mysql("U:1-5"), mariadb("0-1-5"));
    let nothing = Position::empty(Flavor::Mariadb);
    assert!(!a.covers(&b) && !b.covers(&a) && a.covers(&nothing));
    assert_eq!(a.missing_from(&b), a);
    assert_eq!(b.first_missing(&a).as_deref(), Some("0-1-5"));
    assert_eq!(a.clone().merge(&b).unwrap_err().to_string(), "a MariaDB position does not fit a MySQL one");
    assert!(a.clone().advance(&b).is_err());
    let mut fresh = Position::default();
    fresh.merge(&b).unwrap();
    assert_eq!(fresh, b);
    fresh.merge(&Position::default()).unwrap();
    fresh.advance(&Position::default()).unwrap();
    assert_eq!(fresh, b);
}
