//! Which replicas take reads at all: by weight, by lag, by what an operator says, and by what they can prove.

use std::collections::BTreeMap;
use std::process::Command;
use std::thread;
use std::time::Duration;

use sandbox::{ClusterOptions, Engine, Family, ReplicaLog};

use super::load::{self, get};
use super::scene::{NEVER, Scene, settled};
use crate::harness::client::Client;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::wait::until;

on_every_engine!(
    reads_are_spread_by_weight,
    late_replicas_take_no_reads_but_some_are_kept,
    a_read_waits_for_no_replica_that_an_operator_took_out,
    replicas_that_log_little_or_nothing_serve_every_level,
    servers_without_positions_are_named_and_refused,
);

/// How many reads of one session each node served.
fn spread(client: &mut Client, reads: u32) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for _ in 0..reads {
        *counts.entry(client.value("SELECT @@server_id")).or_default() += 1;
    }
    counts
}

/// The nodes that serve new sessions. One that reads without a pause stays where it is, for that costs no question.
fn nodes(scene: &Scene, proxy: &Proxy, endpoint: &str) -> Vec<String> {
    let mut nodes: Vec<String> =
        (0..16).map(|_| scene.client(proxy, endpoint).value("SELECT @@server_id")).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

fn reads_are_spread_by_weight(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = Setup::of(&scene.cluster)
        .endpoint("equal", "")
        .endpoint("uneven", "read_weight = { db2 = 300, db3 = 100 }")
        .endpoint("primary_too", "read_weight = { db1 = 100 }")
        .endpoint("one", "read_weight = { db2 = 0 }\nconsistency = \"session\"")
        .endpoint("none", "read_weight = { db2 = 0, db3 = 0 }\nconsistency = \"global\"")
        .endpoint("session", "read_weight = { db1 = 100 }\nconsistency = \"session\"")
        .start();
    scene.table();
    settled(&scene.cluster, &proxy, "equal");
    // Of 600 reads: the expected count of each node, and how far chance may take it.
    let expected: [(&str, &[(&str, u32)]); 5] = [
        ("equal", &[("2", 300), ("3", 300)]),
        ("uneven", &[("2", 450), ("3", 150)]),
        ("primary_too", &[("1", 200), ("2", 200), ("3", 200)]),
        ("one", &[("3", 600)]),
        ("none", &[("1", 600)]),
    ];
    for (endpoint, expected) in expected {
        let mut client = scene.client(&proxy, endpoint);
        let counts = spread(&mut client, 600);
        let seen: Vec<&str> = counts.keys().map(String::as_str).collect();
        assert_eq!(seen, expected.iter().map(|(server, _)| *server).collect::<Vec<_>>(), "{endpoint}");
        for (server, count) in expected {
            assert!(counts[*server].abs_diff(*count) < 90, "{endpoint}: {counts:?}");
        }
        if endpoint == "none" {
            assert_eq!(client.route().reason, "no_replica");
        }
    }
    until("all three serve sessions", || nodes(&scene, &proxy, "session").len() == 3);
}

fn lag_ms(client: &mut Client, node: &str) -> u64 {
    let rows = client.rows("TIDEMARK SHOW NODES");
    let row = rows.iter().find(|row| row[0].as_deref() == Some(node)).unwrap();
    row[4].as_ref().map_or(0, |lag| lag.parse().unwrap())
}

fn late_replicas_take_no_reads_but_some_are_kept(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = Setup::of(&scene.cluster)
        .endpoint("limit", "max_lag_ms = 1000\nmin_replicas = 0")
        .endpoint("keep", "max_lag_ms = 1000\nmin_replicas = 1")
        .endpoint("keep_both", "max_lag_ms = 1000\nmin_replicas = 2")
        .endpoint("no_limit", "max_lag_ms = 0")
        .endpoint("session", "max_lag_ms = 1000\nconsistency = \"session\"\nconsistency_timeout_us = 0")
        .start();
    scene.table();
    settled(&scene.cluster, &proxy, "session");
    let mut writer = scene.at_primary();
    let [first, second] = scene.cluster.replicas() else { panic!("two replicas") };
    let nodes = |name: &str| nodes(&scene, &proxy, name);
    let mut observer = scene.client(&proxy, "limit");
    let mut id = 0;
    let mut late = |node: &str| {
        until("it is late", || {
            id += 1;
            writer.run(format!("INSERT INTO t VALUES ({id}, 0)"));
            thread::sleep(Duration::from_millis(20));
            lag_ms(&mut observer, node) > 1000
        });
    };

    first.stop_sql_thread().unwrap();
    late("db2");
    for name in ["limit", "keep", "session"] {
        assert_eq!(nodes(name), ["3"], "{name}");
    }
    for name in ["keep_both", "no_limit"] {
        assert_eq!(nodes(name), ["2", "3"], "{name}");
    }
    second.set_delay(NEVER).unwrap();
    late("db3");
    assert_eq!(nodes("limit"), ["1"]);
    assert_eq!(nodes("keep"), ["3"], "the less late one is kept");
    assert_eq!(nodes("keep_both"), ["2", "3"]);
    assert_eq!(nodes("no_limit"), ["2", "3"]);
    // Kept or not: nobody gets less than the level promises.
    let mut own = scene.client(&proxy, "session");
    own.run("TIDEMARK SET consistency_timeout_us = 5000");
    own.run("INSERT INTO t VALUES (-1, 7)");
    assert_eq!(own.value("SELECT v FROM t WHERE id = -1"), "7");
    assert_eq!(own.route().reason, "no_replica", "for those that are too late nobody waits");

    first.start_sql_thread().unwrap();
    second.set_delay(0).unwrap();
    for name in ["limit", "keep", "session"] {
        until("both are back", || nodes(name) == ["2", "3"]);
    }
}

/// Runs `tidemark drain` or `undrain`.
fn command(proxy: &Proxy, what: &str, node: &str) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tidemark"));
    let output = program.args([what, node, "--config"]).arg(proxy.config()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn a_read_waits_for_no_replica_that_an_operator_took_out(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = Setup::of(&scene.cluster)
        .endpoint("session", "consistency = \"session\"\nconsistency_timeout_us = 0")
        .endpoint("global", "consistency = \"global\"\nconsistency_timeout_us = 0")
        .admin("")
        .start();
    scene.table();
    settled(&scene.cluster, &proxy, "session");
    let question = "SELECT COUNT(*) FROM t";
    for (id, level) in [(1, "session"), (2, "global")] {
        let mut client = scene.client(&proxy, level);
        command(&proxy, "drain", "db2");
        assert_eq!(nodes(&scene, &proxy, level), ["3"]);
        client.value("SELECT 1");
        assert_eq!(client.route().node, "db3");
        scene.stop_appliers();
        client.run(format!("INSERT INTO t VALUES ({id}, 0)"));
        client.send_query(question);
        thread::sleep(Duration::from_millis(200));
        // It waits for db3; db2 alone could serve it, but must not.
        scene.cluster.replicas()[0].start_sql_thread().unwrap();
        thread::sleep(Duration::from_millis(200));
        command(&proxy, "drain", "db3");
        assert_eq!(client.read_reply().text_rows(), [[Some(id.to_string())]]);
        let route = client.route();
        assert_eq!((&*route.node, &*route.reason), ("db1", "no_replica"));
        assert!(route.waited_us >= 300_000, "{route:?}");
        // Nobody is left to wait for.
        client.run("REPLACE INTO t VALUES (1, 1)");
        client.run(question);
        assert!(client.route().waited_us < 200_000);
        command(&proxy, "undrain", "db2");
        assert_eq!(nodes(&scene, &proxy, level), ["2"]);
        scene.start_appliers();
        command(&proxy, "undrain", "db3");
        until("both take reads again", || nodes(&scene, &proxy, level).len() == 2);
    }
}

fn replicas_that_log_little_or_nothing_serve_every_level(engine: Engine) {
    let options =
        ClusterOptions::new(engine).replica_log(0, ReplicaLog::OwnOnly).replica_log(1, ReplicaLog::Off);
    let scene = Scene::own(options);
    let proxy = ["session", "global"]
        .iter()
        .fold(Setup::of(&scene.cluster), |setup, level| {
            setup.endpoint(level, &format!("consistency = \"{level}\"\nconsistency_timeout_us = 200000"))
        })
        .start();
    load::prepare(&scene);
    settled(&scene.cluster, &proxy, "session");
    for level in ["session", "global"] {
        let seen = load::run(&scene, &proxy, level, Duration::from_secs(2), &|scene| {
            let replica = &scene.cluster.replicas()[0];
            replica.stop_sql_thread().unwrap();
            thread::sleep(Duration::from_millis(300));
            replica.start_sql_thread().unwrap();
        });
        eprintln!("{engine}, little logged, {level}: {seen:?}");
        assert_eq!((get(&seen.refused), get(&seen.own_lost), get(&seen.gone_back)), (0, 0, 0));
        assert!(level == "session" || get(&seen.others_lost) == 0);
        assert!(seen.replica_share() > 800);
        until("both serve", || nodes(&scene, &proxy, level) == ["2", "3"]);
    }
}

fn servers_without_positions_are_named_and_refused(engine: Engine) {
    let scene = Scene::own(ClusterOptions::new(engine).replicas(1).gtid(false));
    let (node, setting) = match engine.family() {
        Family::Mysql => ("db1", "gtid_mode"),
        Family::Mariadb => ("db2", "MASTER_USE_GTID"),
    };
    for level in ["session", "global"] {
        let lines = format!("consistency = \"{level}\"");
        let (code, said) = Setup::of(&scene.cluster).endpoint("plain", "").endpoint("keen", &lines).refused();
        assert_eq!(code, Some(2), "{said}");
        for word in [node, setting, "endpoint keen", "eventual"] {
            assert!(said.contains(word), "{word} is not said: {said}");
        }
    }
    let proxy = Setup::of(&scene.cluster).endpoint("plain", "").start();
    scene.table();
    settled(&scene.cluster, &proxy, "plain");
    let mut client = Account::app().schema(&scene.schema).connect(&proxy.target("plain")).unwrap();
    client.run("INSERT INTO t VALUES (1, 1)");
    until("the replica has it", || client.value("SELECT COUNT(*) FROM t") == "1");
    assert_eq!(client.route().node, "db2");
    for level in ["session", "global"] {
        let error = client.error(&format!("TIDEMARK SET consistency = '{level}'"));
        assert!(error.message.contains(node) && error.message.contains(setting), "{error:?}");
    }
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "1");
}
