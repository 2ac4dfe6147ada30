//! Transactions that run on replicas, and endpoints that have nothing else: fresh enough at their start.

use sandbox::Engine;

use super::scene::{Scene, settled};
use crate::harness::client::Client;
use crate::harness::clusters::caught_up;
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::wait::until;

on_every_engine!(read_only_transactions_begin_on_a_fresh_replica, read_only_endpoints_keep_their_level);

const COUNT: &str = "SELECT COUNT(*) FROM t";

const BEGINNINGS: [&[&str]; 4] = [
    &["START TRANSACTION READ ONLY"],
    &["START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"],
    &["SET TRANSACTION READ ONLY", "BEGIN"],
    &["SET SESSION TRANSACTION READ ONLY", "BEGIN"],
];

fn start(scene: &Scene, more: &str) -> Proxy {
    let proxy = ["session", "global"]
        .iter()
        .fold(Setup::of(&scene.cluster).endpoint("writer", ""), |setup, level| {
            let lines = |timeout: u32| {
                format!("consistency = \"{level}\"\nconsistency_timeout_us = {timeout}\n{more}")
            };
            setup.endpoint(level, &lines(1_000_000)).endpoint(&format!("{level}_short"), &lines(2000))
        })
        .start();
    scene.table();
    settled(&scene.cluster, &proxy, "session");
    proxy
}

fn read_only_transactions_begin_on_a_fresh_replica(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene, "");
    let mut count = 0;
    for level in ["session", "global"] {
        for beginning in BEGINNINGS {
            // The one replica that has it is the one that gets the transaction.
            scene.cluster.replicas()[1].stop_sql_thread().unwrap();
            let mut client = scene.client(&proxy, level);
            count += 1;
            client.run(format!("INSERT INTO t VALUES ({count}, 0)"));
            beginning.iter().for_each(|statement| {
                client.run(statement);
            });
            for _ in 0..3 {
                assert_eq!(client.value(COUNT), count.to_string(), "{level}, {beginning:?}");
            }
            let began = client.route();
            client.run("COMMIT");
            assert!(began.node != "db3", "{level}, {beginning:?}: {began:?}");
            scene.cluster.replicas()[1].start_sql_thread().unwrap();
            caught_up(&scene.cluster);
        }
        // Nobody has it.
        scene.stop_appliers();
        for beginning in BEGINNINGS {
            let mut client = scene.client(&proxy, &format!("{level}_short"));
            count += 1;
            client.run(format!("INSERT INTO t VALUES ({count}, 0)"));
            beginning.iter().for_each(|statement| {
                client.run(statement);
            });
            assert_eq!(client.value(COUNT), count.to_string(), "{level}, {beginning:?}");
            assert_eq!(client.route().node, "db1");
            client.run("COMMIT");
        }
        scene.start_appliers();
    }
}

/// What a read-only endpoint says while its replicas are behind.
fn refused(client: &mut Client, statement: &str) {
    let error = client.error(statement);
    assert_eq!(error.code, 1105, "{statement}: {error:?}");
    assert!(error.message.contains("applied"), "{statement}: the reason is not told: {error:?}");
}

fn read_only_endpoints_keep_their_level(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene, "mode = \"read-only\"");
    let mut writer = scene.client(&proxy, "writer");
    let mut count = 0;
    for beginning in [&["DO 0"][..], &["BEGIN"], &["SET autocommit = 0"]].into_iter().chain(BEGINNINGS) {
        // One replica is behind: the other one serves.
        scene.cluster.replicas()[1].stop_sql_thread().unwrap();
        count += 1;
        writer.run(format!("INSERT INTO t VALUES ({count}, 0)"));
        let token = writer.value("TIDEMARK SHOW POSITION");
        for level in ["session", "global"] {
            for _ in 0..4 {
                let mut client = scene.client(&proxy, level);
                if level == "session" {
                    client.run(format!("TIDEMARK SET position = '{token}'"));
                }
                beginning.iter().for_each(|statement| {
                    client.run(statement);
                });
                assert_eq!(client.value(COUNT), count.to_string(), "{level}, {beginning:?}");
                assert_eq!(client.route().node, "db2", "{level}, {beginning:?}");
            }
        }
        scene.cluster.replicas()[1].start_sql_thread().unwrap();
        caught_up(&scene.cluster);
    }
    // Both are behind, and there is nothing else.
    scene.stop_appliers();
    writer.run("INSERT INTO t VALUES (-1, 0)");
    let token = writer.value("TIDEMARK SHOW POSITION");
    for level in ["session_short", "global_short"] {
        let mut client = scene.client(&proxy, level);
        client.run(format!("TIDEMARK SET position = '{token}'"));
        refused(&mut client, COUNT);
        refused(&mut client, "BEGIN");
        client.run("TIDEMARK SET on_timeout = 'stale'");
        assert_eq!(client.value(COUNT), count.to_string());
        client.run("TIDEMARK SET on_timeout = 'primary'");
        refused(&mut client, COUNT);
    }
    scene.start_appliers();
    let mut client = scene.client(&proxy, "global_short");
    until("the replicas serve again", || client.query(COUNT).error().is_none());
    let error = client.error("INSERT INTO t VALUES (-2, 0)");
    assert_eq!(error.code, 1290, "{error:?}");
    // What lives on one connection is asked there.
    client.run("SELECT @kept := COUNT(*) FROM t");
    for _ in 0..8 {
        client.run(COUNT);
        assert_eq!(client.value("SELECT @kept"), (count + 1).to_string());
    }
}
