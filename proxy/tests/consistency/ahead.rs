//! A replica ahead of its primary: the log goes out before the primary itself shows the transaction, and a primary that
//! waits for a semi-synchronous replica in between makes that last for seconds.

use std::thread;
use std::time::{Duration, Instant};

use sandbox::{Engine, Family, Server};

use super::scene::{Scene, settled};
use crate::harness::client::Client;
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::wait::until;

on_every_engine!(nobody_goes_back_from_a_replica_to_a_primary_that_is_behind_it);

/// How long the primary holds a transaction back.
const HELD: Duration = Duration::from_secs(4);

/// Has the primary wait for a semi-synchronous replica, which there is not.
fn hold(primary: &Server, on: bool) {
    let milliseconds = HELD.as_millis();
    let statements = match (primary.engine().family(), on) {
        (Family::Mysql, true) => format!(
            "INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'; \
             SET GLOBAL rpl_semi_sync_source_timeout = {milliseconds}, GLOBAL rpl_semi_sync_source_enabled = ON"
        ),
        (Family::Mysql, false) => "SET GLOBAL rpl_semi_sync_source_enabled = OFF; \
             UNINSTALL PLUGIN rpl_semi_sync_source"
            .to_owned(),
        (Family::Mariadb, true) => format!(
            "SET GLOBAL rpl_semi_sync_master_wait_point = AFTER_SYNC, \
             GLOBAL rpl_semi_sync_master_timeout = {milliseconds}, GLOBAL rpl_semi_sync_master_enabled = ON"
        ),
        (Family::Mariadb, false) => "SET GLOBAL rpl_semi_sync_master_enabled = OFF".to_owned(),
    };
    primary.sql(&statements).unwrap();
}

/// What a session does after it has seen the new value on a replica: the last reply is the value it sees then.
struct Way {
    name: &'static str,
    endpoint: &'static str,
    steps: &'static [&'static str],
    /// Whether it must see what it saw before, or whatever the primary shows.
    keeps: bool,
}

const READ: &str = "SELECT v FROM t WHERE id = 1";
const ON_PRIMARY: &str = "/* tidemark: node=db1 */ SELECT v FROM t WHERE id = 1";

const COMMITTED: &str = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";

const WAYS: [Way; 10] = [
    Way { name: "eventual", endpoint: "eventual", steps: &["BEGIN", READ], keeps: false },
    Way { name: "a transaction", endpoint: "session", steps: &["BEGIN", READ], keeps: true },
    Way {
        name: "a snapshot",
        endpoint: "session",
        steps: &["START TRANSACTION WITH CONSISTENT SNAPSHOT", READ],
        keeps: true,
    },
    Way { name: "autocommit off", endpoint: "session", steps: &["SET autocommit = 0", READ], keeps: true },
    Way { name: "a hint", endpoint: "session", steps: &[ON_PRIMARY], keeps: true },
    Way { name: "a lock", endpoint: "session", steps: &["SELECT GET_LOCK('ahead', 5)", READ], keeps: true },
    Way {
        name: "a read of a lower level between",
        endpoint: "session",
        steps: &["/* tidemark: consistency=eventual, node=db1 */ SELECT 1", "BEGIN", READ],
        keeps: true,
    },
    Way { name: "a transaction, global", endpoint: "global", steps: &["BEGIN", READ], keeps: true },
    Way {
        name: "a split transaction",
        endpoint: "split",
        steps: &[COMMITTED, "BEGIN", READ, "SAVEPOINT opens", READ],
        keeps: true,
    },
    Way {
        name: "a split transaction, global",
        endpoint: "split_global",
        steps: &[COMMITTED, "BEGIN", "SAVEPOINT opens", READ],
        keeps: true,
    },
];

fn nobody_goes_back_from_a_replica_to_a_primary_that_is_behind_it(engine: Engine) {
    let scene = Scene::new(engine);
    let lines = |level: &str| format!("consistency = \"{level}\"\nconsistency_timeout_us = 1000000\n");
    let setup = ["eventual", "session", "global"]
        .iter()
        .fold(Setup::of(&scene.cluster), |setup, level| setup.endpoint(level, &lines(level)));
    let proxy = setup
        .endpoint("split", &(lines("session") + "transaction_split = true"))
        .endpoint("split_global", &(lines("global") + "transaction_split = true"))
        .start();
    scene.table();
    scene.at_primary().run("INSERT INTO t VALUES (1, 0)");
    crate::harness::clusters::caught_up(&scene.cluster);
    settled(&scene.cluster, &proxy, "session");
    let clients: Vec<Client> = WAYS.iter().map(|way| scene.client(&proxy, way.endpoint)).collect();
    let others: Vec<Client> = (0..3).map(|_| scene.client(&proxy, "global")).collect();
    hold(scene.cluster.primary(), true);
    let held = thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut client = scene.at_primary();
            let begin = Instant::now();
            client.run("UPDATE t SET v = 1 WHERE id = 1");
            begin.elapsed()
        });
        replicas_have_it(&scene, &proxy);
        assert!(!writing.is_finished(), "the primary held nothing back");
        for (way, mut client) in WAYS.iter().zip(clients) {
            scope.spawn(move || go(way, &mut client));
        }
        // Nobody was told that it is written, but somebody was shown it.
        for mut client in others {
            scope.spawn(move || assert_eq!(client.value(READ), "1"));
        }
        writing.join().unwrap()
    });
    hold(scene.cluster.primary(), false);
    assert!(held >= HELD, "the primary held the transaction back for {held:?} only");
}

/// Both replicas show the new value.
fn replicas_have_it(scene: &Scene, proxy: &Proxy) {
    for replica in scene.cluster.replicas() {
        let mut client = scene.client(proxy, "eventual");
        let question = format!("/* tidemark: node={} */ {READ}", replica.name());
        until("a replica shows what the primary does not", || client.value(&question) == "1");
    }
}

fn go(way: &Way, client: &mut Client) {
    if way.endpoint != "global" {
        assert_eq!(client.value(READ), "1", "{}: on a replica", way.name);
        assert_eq!(client.route().role, "replica", "{}", way.name);
    }
    let (last, before) = way.steps.split_last().unwrap();
    before.iter().for_each(|step| {
        client.run(step);
    });
    let expected = if way.keeps { "1" } else { "0" };
    assert_eq!(client.value(last), expected, "{}, {:?}", way.name, client.route());
}
