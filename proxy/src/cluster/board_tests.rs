//! The board fed with answers of made-up servers; time is a number.

use std::path::PathBuf;

use super::*;
use crate::cluster::said::{Said, Source};
use crate::cluster::snapshot::Facts;
use crate::config::Address;
use gtid::BinlogState;
use wire::capability::Capabilities;
use wire::wanted::Wanted;

const UUIDS: [&str; 3] = [
    "00000000-0000-0000-0000-000000000001",
    "00000000-0000-0000-0000-000000000002",
    "00000000-0000-0000-0000-000000000003",
];

/// A board of three nodes and a clock.
struct Table {
    board: Board,
    now: Instant,
    flavor: Flavor,
}

impl Table {
    /// db1 is primary, db2 and db3 replicate from it; all are at transaction 5.
    fn mysql() -> Self {
        let mut table = Self::empty(Flavor::Mysql);
        (0..3).for_each(|node| table.join(node, node == 0, (node > 0).then_some(0)));
        (0..3).for_each(|node| table.sample(node, "A:1-5", "A:1-5"));
        table.sample(0, "A:1-5", "A:1-5");
        table
    }

    fn empty(flavor: Flavor) -> Self {
        let nodes: Vec<NodeConfig> = (1..=3)
            .map(|number| NodeConfig {
                name: format!("db{number}"),
                address: Address::Unix(PathBuf::from(format!("/db{number}"))),
            })
            .collect();
        Self { board: Board::new(&nodes), now: Instant::now(), flavor }
    }

    fn identity(&self, node: usize) -> String {
        match self.flavor {
            Flavor::Mysql => UUIDS[node].to_owned(),
            Flavor::Mariadb => (node + 1).to_string(),
        }
    }

    fn told(&self, node: usize, writable: bool, source: Option<usize>) -> Told {
        let source = source.map(|source| Source {
            identity: Some(self.identity(source)),
            host: "elsewhere".to_owned(),
            port: 1,
            running: true,
            by_gtid: true,
            filters: Vec::new(),
        });
        Told {
            facts: Facts {
                version: "9.7.4".to_owned(),
                release: 907,
                flavor: self.flavor,
                capabilities: Capabilities::default(),
                extended: 0,
                server_uuid: self.identity(node),
                trackable: Arc::from("*"),
                default_wanted: Wanted::default(),
                collation: 255,
                sql_mode: String::new(),
                has_init_connect: false,
                max_connections: 151,
                shortcomings: Vec::new(),
            },
            said: Said {
                identity: self.identity(node),
                writable,
                sources: Some(source.into_iter().collect()),
            },
            logs_updates: node != 2,
            behind: None,
            received: None,
            has_gtids: true,
        }
    }

    fn join(&mut self, node: u8, writable: bool, source: Option<usize>) {
        self.pass(1);
        let told = self.told(usize::from(node), writable, source);
        self.board.joined(self.now, NodeId(node), told);
    }

    fn pass(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    fn position(&self, text: &str) -> Arc<Position> {
        let text = text.replace('A', UUIDS[0]).replace('B', UUIDS[1]);
        Arc::new(Position::parse(self.flavor, text.as_bytes()).unwrap())
    }

    /// A millisecond for the question, a millisecond for the answer. Which MariaDB server wrote what is as `logged` says.
    fn sample(&mut self, node: u8, applied: &str, logged: &str) {
        self.sample_with_log(node, applied, logged, logged);
    }

    fn sample_with_log(&mut self, node: u8, applied: &str, logged: &str, log: &str) {
        self.pass(1);
        let sent_at = self.now;
        self.pass(1);
        self.sample_sent(sent_at, node, applied, logged, log);
    }

    fn sample_sent(&mut self, sent_at: Instant, node: u8, applied: &str, logged: &str, log: &str) {
        let sample = self.answer(sent_at, node, applied, logged, log);
        self.board.sampled(self.now, NodeId(node), sample);
    }

    /// An answer that comes now.
    fn answer(&self, sent_at: Instant, node: u8, applied: &str, logged: &str, log: &str) -> Sample {
        let log =
            (self.flavor == Flavor::Mariadb).then(|| Arc::new(BinlogState::parse(log.as_bytes()).unwrap()));
        Sample {
            identity: self.identity(usize::from(node)),
            writable: self.board.entries[usize::from(node)].told.as_ref().unwrap().said.writable,
            applied: self.position(applied),
            logged: self.position(logged),
            log,
            sent_at,
            received_at: self.now,
        }
    }

    /// The primary is asked on another connection.
    fn ask_primary(&mut self, applied: &str, logged: &str) {
        let known = self.board.reached(NodeId(0));
        let incarnation = self.node(0).incarnation;
        self.pass(1);
        let sent_at = self.now;
        self.pass(1);
        let sample = self.answer(sent_at, 0, applied, logged, logged);
        self.board.answered(self.now, NodeId(0), incarnation, &known, &sample);
    }

    fn snapshot(&self) -> Snapshot {
        self.board.snapshot(self.now)
    }

    fn node(&self, index: usize) -> Node {
        self.snapshot().nodes[index].clone()
    }

    fn follows(&self) -> [bool; 3] {
        [0, 1, 2].map(|index| self.node(index).follows)
    }
}

#[test]
fn low_and_high_of_mysql() {
    let mut table = Table::mysql();
    assert_eq!((table.snapshot().primary, table.snapshot().epoch), (Some(NodeId(0)), 1));
    assert_eq!(table.follows(), [true; 3]);
    table.sample(0, "A:1-6", "A:1-7");
    assert_eq!(table.node(0).low, table.position("A:1-6"));
    assert_eq!(table.node(0).high.unwrap().position, table.position("A:1-7"));
    // What is still being committed may be rolled back: that is no loss.
    table.sample(0, "A:1-6", "A:1-6");
    assert_eq!((table.node(0).incarnation, table.snapshot().epoch), (1, 1));
}

#[test]
fn a_mariadb_replica_that_does_not_log_has_no_high() {
    let mut table = Table::empty(Flavor::Mariadb);
    (0..3).for_each(|node| table.join(node, node == 0, (node > 0).then_some(0)));
    table.sample(0, "", "0-1-9");
    table.sample(1, "0-1-8", "0-1-9");
    table.sample_with_log(2, "0-1-8", "0-1-8", "");
    table.sample(0, "", "0-1-9");
    assert!(table.node(0).low.is_empty());
    assert_eq!(table.node(0).high.unwrap().position, table.position("0-1-9"));
    assert_eq!(
        (table.node(1).low, table.node(1).high.unwrap().position),
        (table.position("0-1-8"), table.position("0-1-9"))
    );
    assert_eq!((table.node(2).low, table.node(2).high.is_none()), (table.position("0-1-8"), true));
    assert_eq!(table.follows(), [true; 3]);
}

#[test]
fn a_mariadb_replica_that_kept_what_was_lost_does_not_follow_when_its_number_is_given_again() {
    let mut table = Table::empty(Flavor::Mariadb);
    (0..3).for_each(|node| table.join(node, node == 0, (node > 0).then_some(0)));
    table.sample(0, "", "0-1-9");
    table.sample(1, "0-1-8", "0-1-8");
    table.sample_with_log(2, "0-1-9", "0-1-9", "");
    table.sample(0, "", "0-1-9");
    assert_eq!(table.follows(), [true; 3]);
    table.board.down(table.now, NodeId(0), "gone");
    let told = table.told(1, true, None);
    table.board.told(table.now, NodeId(1), told);
    // Told only now that db2 is followed, the board hears at once of a write with the number of the lost one.
    table.sample_with_log(1, "0-1-8", "0-2-9", "0-1-8,0-2-9");
    let told = table.told(2, false, Some(1));
    table.board.told(table.now, NodeId(2), told);
    assert_eq!(table.snapshot().primary, Some(NodeId(1)));
    table.sample_with_log(2, "0-1-9", "0-1-9", "");
    assert!(!table.node(2).follows);
    table.sample_with_log(1, "0-1-8", "0-2-10", "0-1-8,0-2-10");
    assert_eq!((table.node(2).follows, table.node(2).errant.as_deref()), (false, Some("0-1-9")));
}

#[test]
fn a_mariadb_replica_that_applies_what_nobody_knows_the_writer_of_does_not_follow() {
    let mut table = Table::empty(Flavor::Mariadb);
    (0..3).for_each(|node| table.join(node, node == 0, (node > 0).then_some(0)));
    table.sample(0, "", "0-1-9");
    table.sample(1, "0-1-8", "0-1-8");
    table.sample(2, "0-1-8", "0-1-8");
    table.sample(0, "", "0-1-9");
    assert_eq!(table.follows(), [true; 3]);
    // The primary dies with 0-1-9, and db3 is pointed at db2, which writes. The board has heard of neither.
    table.board.down(table.now, NodeId(0), "gone");
    table.sample(2, "0-2-9", "0-1-8,0-2-9");
    assert_eq!(table.follows(), [true, true, false]);
    table.pass(2000);
    table.sample(2, "0-2-12", "0-1-8,0-2-12");
    assert!(!table.node(2).follows);
}

#[test]
fn a_mariadb_replica_is_judged_by_what_its_primary_was_last_known_to_have() {
    let mut table = Table::empty(Flavor::Mariadb);
    (0..3).for_each(|node| table.join(node, node == 0, (node > 0).then_some(0)));
    table.sample(0, "", "0-1-9");
    table.board.down(table.now, NodeId(0), "gone");
    table.sample(1, "0-1-9", "0-1-9");
    table.sample(2, "0-1-10", "0-1-10");
    assert_eq!(table.follows(), [true, true, false]);
    assert!(table.node(2).errant.is_none());
}

#[test]
fn a_lost_connection_begins_a_life_without_a_word_of_the_old_one() {
    let mut table = Table::mysql();
    table.board.lost(table.now, NodeId(1));
    let node = table.node(1);
    assert!(
        node.low.is_empty() && node.high.is_none() && node.lag.is_none() && !node.follows && node.is_up()
    );
    assert_eq!(node.incarnation, 2);
    table.join(1, false, Some(0));
    table.sample(1, "A:1-5", "A:1-5");
    assert!(table.node(1).follows);
    assert_eq!((table.node(1).incarnation, table.node(2).incarnation, table.snapshot().epoch), (3, 1, 1));
}

#[test]
fn a_replica_that_lost_transactions_starts_anew_and_the_epoch_stays() {
    let mut table = Table::mysql();
    let before = table.node(1).incarnation;
    table.sample(1, "A:1-4", "A:1-4");
    assert!(table.node(1).incarnation > before);
    assert_eq!(table.node(1).low, table.position("A:1-4"));
    assert_eq!(table.snapshot().epoch, 1);
    // Also when the loss shows only after it came back.
    table.sample(2, "A:1-6", "A:1-6");
    table.board.down(table.now, NodeId(2), "gone");
    table.join(2, false, Some(0));
    let before = table.node(2).incarnation;
    table.sample(2, "A:1-5", "A:1-5");
    assert!(table.node(2).incarnation > before);
}

#[test]
fn a_primary_that_lost_transactions_begins_an_epoch_in_which_replicas_are_checked_anew() {
    let mut table = Table::mysql();
    table.sample(0, "A:1-2", "A:1-2");
    assert_eq!(table.snapshot().epoch, 2);
    assert_eq!(table.follows(), [true, false, false]);
    table.sample(1, "A:1-5", "A:1-5");
    table.sample(0, "A:1-2", "A:1-2");
    assert_eq!(table.node(1).errant.as_deref(), Some(format!("{}:3-5", UUIDS[0]).as_str()));
    // Those who lost them as well are sound.
    table.pass(2000);
    table.sample(2, "A:1-2", "A:1-2");
    table.sample(0, "A:1-2", "A:1-2");
    assert!(table.node(2).follows);
}

#[test]
fn what_the_primary_lost_is_held_against_a_replica_until_it_answers_without_it() {
    let mut table = Table::mysql();
    table.sample(0, "A:1-2", "A:1-2");
    let lost = Some(format!("{}:3-5", UUIDS[0]));
    // The numbers are given again, and no comparison tells any difference; nor does a new connection.
    table.sample(0, "A:1-9", "A:1-9");
    for applied in ["A:1-5", "A:1-9"] {
        table.pass(2000);
        table.sample(1, applied, applied);
        table.sample(0, "A:1-9", "A:1-9");
        assert_eq!(
            (table.node(1).follows, table.node(1).errant.as_deref().map(str::to_owned)),
            (false, lost.clone())
        );
        table.board.down(table.now, NodeId(1), "gone");
        table.join(1, false, Some(0));
    }
    table.sample(1, "A:1-9", "A:1-9");
    assert_eq!(table.follows(), [true, false, false]);
    // A replica that was cloned from the primary: it is seen without them, or an operator says so.
    table.sample(1, "", "");
    table.sample(1, "A:1-9", "A:1-9");
    table.sample(2, "A:1-9", "A:1-9");
    assert_eq!(table.follows(), [true, true, false]);
    table.board.drain(table.now, NodeId(2), true);
    assert_eq!(table.follows(), [true, true, false]);
    table.board.drain(table.now, NodeId(2), false);
    assert_eq!(table.follows(), [true; 3]);
    assert!(table.node(2).errant.is_none());
}

#[test]
fn of_replicas_that_were_away_it_is_known_what_the_primary_lost() {
    let mut table = Table::mysql();
    table.board.down(table.now, NodeId(2), "gone");
    table.sample(0, "A:1-2", "A:1-2");
    table.sample(0, "A:1-9", "A:1-9");
    table.join(2, false, Some(0));
    table.sample(2, "A:1-5", "A:1-5");
    table.sample(0, "A:1-9", "A:1-9");
    assert!(!table.node(2).follows && table.node(2).errant.is_some());
}

#[test]
fn nobody_follows_a_new_history_before_that_is_proven() {
    let mut table = Table::mysql();
    // The replicas answer after the question to the primary was sent, and before its answer.
    let sent_at = table.now;
    table.pass(50);
    table.sample(1, "A:1-5", "A:1-5");
    table.sample(2, "A:1-5", "A:1-5");
    table.pass(40);
    table.sample_sent(sent_at, 0, "A:1-2", "A:1-2", "");
    assert_eq!((table.snapshot().epoch, table.follows()), (2, [true, false, false]));
    assert!(table.node(1).errant.is_none(), "they may be ahead of its answer");
    table.sample(0, "A:1-2", "A:1-2");
    assert!(table.node(1).errant.is_some());
    // The same for a node whose own history is another one.
    let mut table = Table::mysql();
    table.sample(1, "A:1-4,B:1", "A:1-4,B:1");
    assert!(!table.node(1).follows);
}

#[test]
fn whoever_asks_the_primary_hears_nothing_of_a_new_history_before_it_is_noticed() {
    let mut table = Table::mysql();
    let watching_since = table.now;
    table.ask_primary("A:1-6", "A:1-7");
    assert_eq!((table.snapshot().epoch, table.node(0).low), (1, table.position("A:1-6")));
    table.ask_primary("A:1", "A:1-2");
    assert_eq!((table.snapshot().epoch, table.follows()), (2, [true, false, false]));
    let primary = table.node(0);
    assert_eq!(
        (primary.low, primary.high.unwrap().position),
        (table.position("A:1"), table.position("A:1-2"))
    );
    // The watcher's answer was on its way all the time.
    table.pass(1);
    table.sample_sent(watching_since, 0, "A:1-5", "A:1-5", "");
    assert_eq!((table.snapshot().epoch, table.node(0).low), (2, table.position("A:1")));
    // What it has learnt before the answer to an older question comes is no loss.
    let (known, incarnation) = (table.board.reached(NodeId(0)), table.node(0).incarnation);
    let sent_at = table.now;
    table.sample(0, "A:1-4", "A:1-4");
    let late = table.answer(sent_at, 0, "A:1-3", "A:1-3", "");
    table.board.answered(table.now, NodeId(0), incarnation, &known, &late);
    assert_eq!(table.snapshot().epoch, 2);
}

#[test]
fn a_replica_that_kept_what_the_primary_lost_may_be_promoted() {
    let mut table = Table::mysql();
    table.sample(0, "A:1-2", "A:1-2");
    table.sample(0, "A:1-4", "A:1-4");
    table.board.down(table.now, NodeId(0), "gone");
    let told = table.told(1, true, None);
    table.board.told(table.now, NodeId(1), told);
    let told = table.told(2, false, Some(1));
    table.board.told(table.now, NodeId(2), told);
    assert_eq!((table.snapshot().primary, table.snapshot().epoch), (Some(NodeId(1)), 3));
    table.sample(2, "A:1-5", "A:1-5");
    table.sample(1, "A:1-5", "A:1-5");
    assert_eq!(table.follows(), [false, true, true]);
    // What the old primary wrote under those numbers since is wrong now.
    table.join(0, false, Some(1));
    table.sample(0, "A:1-5", "A:1-5");
    table.sample(1, "A:1-5", "A:1-5");
    assert_eq!(table.node(0).errant.as_deref(), Some(format!("{}:3-4", UUIDS[0]).as_str()));
    assert!(!table.node(0).follows);
}

#[test]
fn a_replica_ahead_of_the_primarys_last_answer_is_no_culprit() {
    let mut table = Table::mysql();
    table.pass(2000);
    table.sample(1, "A:1-6", "A:1-6");
    assert!(table.node(1).follows && table.node(1).errant.is_none());
    table.sample(0, "A:1-5", "A:1-6");
    assert!(table.node(1).follows);
    // But what the primary's later answer still lacks is its own.
    table.pass(2000);
    table.sample(1, "A:1-6,B:1", "A:1-6,B:1");
    table.sample(0, "A:1-6", "A:1-6");
    assert_eq!(table.node(1).errant.as_deref(), Some(format!("{}:1", UUIDS[1]).as_str()));
    assert!(!table.node(1).follows && table.node(2).follows);
}

#[test]
fn a_failover_changes_the_epoch_once() {
    let mut table = Table::mysql();
    table.board.down(table.now, NodeId(0), "gone");
    assert_eq!((table.snapshot().primary, table.snapshot().primary().is_none()), (Some(NodeId(0)), true));
    assert_eq!(table.follows(), [true; 3]);
    let told = table.told(1, true, None);
    table.board.told(table.now, NodeId(1), told);
    let told = table.told(2, false, Some(1));
    table.board.told(table.now, NodeId(2), told);
    assert_eq!((table.snapshot().primary, table.snapshot().epoch), (Some(NodeId(1)), 2));
    assert_eq!(table.node(1).role, Role::Primary);
    table.sample(1, "A:1-5,B:1", "A:1-5,B:1");
    table.sample(2, "A:1-5", "A:1-5");
    assert_eq!(table.follows(), [false, true, true]);
    // The old primary comes back with a transaction that nobody got.
    table.join(0, true, None);
    table.sample(0, "A:1-6", "A:1-6");
    table.sample(1, "A:1-5,B:1", "A:1-5,B:1");
    assert_eq!((table.node(0).role, table.snapshot().primary), (Role::Unknown, Some(NodeId(1))));
    assert_eq!(table.node(0).errant.as_deref(), Some(format!("{}:6", UUIDS[0]).as_str()));
    assert_eq!(table.snapshot().epoch, 2);
}

/// db1 is gone; db2 has executed less than it was sent, and is made primary.
fn promoted_too_early() -> Table {
    let mut table = Table::mysql();
    table.board.down(table.now, NodeId(0), "gone");
    let mut told = table.told(1, true, None);
    told.received = Some(Position::clone(&table.position("A:3-8")));
    table.board.told(table.now, NodeId(1), told);
    let told = table.told(2, false, Some(1));
    table.board.told(table.now, NodeId(2), told);
    table
}

#[test]
fn a_primary_is_not_adopted_before_it_has_executed_what_it_was_sent() {
    let mut table = promoted_too_early();
    assert_eq!((table.snapshot().primary, table.snapshot().epoch), (Some(NodeId(0)), 1));
    table.sample(1, "A:1-7", "A:1-8");
    assert_eq!(table.snapshot().epoch, 1);
    table.sample(1, "A:1-8", "A:1-8");
    assert_eq!((table.snapshot().primary, table.snapshot().epoch), (Some(NodeId(1)), 2));
}

#[test]
fn a_primary_that_executes_nothing_of_what_it_was_sent_is_adopted_in_the_end() {
    let mut table = promoted_too_early();
    table.pass(29_000);
    table.sample(1, "A:1-6", "A:1-6");
    assert_eq!(table.snapshot().primary, Some(NodeId(0)));
    table.pass(1000);
    table.sample(1, "A:1-6", "A:1-6");
    assert_eq!((table.snapshot().primary, table.snapshot().epoch), (Some(NodeId(1)), 2));
    table.sample(1, "A:1-6", "A:1-6");
    assert_eq!((table.snapshot().primary, table.snapshot().epoch), (Some(NodeId(1)), 2));
    // An operator who gives it up need not wait.
    let mut table = promoted_too_early();
    let told = table.told(1, true, None);
    table.board.told(table.now, NodeId(1), told);
    table.sample(1, "A:1-5", "A:1-5");
    assert_eq!(table.snapshot().primary, Some(NodeId(1)));
}

#[test]
fn lag_is_the_age_of_what_is_missing() {
    let mut table = Table::mysql();
    table.sample(0, "A:1-6", "A:1-6");
    table.pass(500);
    let (primary, replica) = (table.node(0), table.node(1));
    assert_eq!(primary.lag, Some(Duration::ZERO));
    assert_eq!(replica.lag, Some(Duration::from_millis(500)));
    table.sample(1, "A:1-6", "A:1-6");
    assert_eq!(table.node(1).lag, Some(Duration::ZERO));
}

#[test]
fn overheard_answers_add_and_never_take_away() {
    let mut table = Table::mysql();
    let position = table.position("A:1-7");
    table.board.overheard(NodeId(0), 1, &position, None);
    assert_eq!(table.node(0).low, position);
    table.sample(0, "A:1-6", "A:1-6");
    assert_eq!((table.node(0).low, table.node(0).incarnation), (position, 1));
    // Of another life.
    let position = table.position("A:1-9");
    table.board.overheard(NodeId(0), 9, &position, None);
    assert_eq!(table.node(0).low, table.position("A:1-7"));
}

#[test]
fn shortcomings_and_another_family_end_following() {
    let mut table = Table::mysql();
    let mut told = table.told(1, false, Some(0));
    told.facts.shortcomings.push("gtid_mode is OFF".to_owned());
    table.board.told(table.now, NodeId(1), told);
    let mut told = table.told(2, false, Some(0));
    told.facts.flavor = Flavor::Mariadb;
    table.board.told(table.now, NodeId(2), told);
    assert_eq!(table.follows(), [true, false, false]);
    assert!(table.node(2).facts.unwrap().shortcomings[0].contains("MySQL"));
}

/// Its writes get no positions that a replica could be held to.
#[test]
fn shortcomings_of_the_primary_end_following_it() {
    let mut table = Table::mysql();
    let mut told = table.told(0, true, None);
    told.facts.shortcomings.push("gtid_mode is OFF".to_owned());
    table.board.told(table.now, NodeId(0), told);
    assert_eq!(table.follows(), [false, false, false]);
    let told = table.told(0, true, None);
    table.board.told(table.now, NodeId(0), told);
    assert_eq!(table.follows(), [true, true, true]);
}

#[test]
fn another_server_at_the_address_shares_nothing_with_the_old_one() {
    let mut table = Table::mysql();
    table.board.down(table.now, NodeId(1), "gone");
    let mut told = table.told(1, false, Some(0));
    told.said.identity = "00000000-0000-0000-0000-000000000009".to_owned();
    table.board.joined(table.now, NodeId(1), told);
    let before = table.node(1).incarnation;
    let sample = Sample {
        identity: "00000000-0000-0000-0000-000000000009".to_owned(),
        writable: false,
        applied: table.position("A:1-3"),
        logged: table.position("A:1-3"),
        log: None,
        sent_at: table.now,
        received_at: table.now,
    };
    // It has less than the old one had; that is no loss.
    table.board.sampled(table.now, NodeId(1), sample);
    assert_eq!(table.node(1).incarnation, before);
    assert!(table.node(1).follows);
}

#[test]
fn drained_nodes_and_unknown_ids() {
    let mut table = Table::mysql();
    table.board.drain(table.now, NodeId(1), true);
    assert!(!table.node(1).takes_reads() && table.node(2).takes_reads());
    table.board.drain(table.now, NodeId(1), false);
    table.board.drain(table.now, NodeId(77), true);
    table.board.down(table.now, NodeId(77), "nobody");
    table.board.lost(table.now, NodeId(77));
    assert!(table.node(1).takes_reads());
}
