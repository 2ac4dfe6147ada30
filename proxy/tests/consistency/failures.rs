//! Servers that die, come back, and change places.

use std::thread;
use std::time::{Duration, Instant};

use sandbox::{ClusterOptions, Engine, Family};

use super::load::{self, Seen, get};
use super::scene::{Scene, settled};
use crate::harness::client::{Client, Failure};
use crate::harness::clusters::caught_up;
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::wait::until;

on_every_engine!(
    replicas_that_are_killed_are_not_missed,
    a_replica_that_freezes_holds_up_nobody_who_comes_later,
    reads_go_on_without_a_primary_as_far_as_they_may,
    a_planned_change_of_the_primary_keeps_every_promise,
    what_needs_a_primary_waits_for_the_next_one,
);

const LEVELS: [&str; 2] = ["session", "global"];

fn start(scene: &Scene, timeout_us: u32) -> Proxy {
    let proxy = LEVELS
        .iter()
        .fold(Setup::of(&scene.cluster), |setup, level| {
            let lines = format!(
                "consistency = \"{level}\"\nconsistency_timeout_us = {timeout_us}\nfailover_hold_ms = 500"
            );
            setup.endpoint(level, &lines)
        })
        .start();
    load::prepare(scene);
    settled(&scene.cluster, &proxy, "session");
    proxy
}

fn judge(seen: &Seen, what: &str, level: &str) {
    eprintln!("{what}, {level}: {} of 1000 reads on replicas, {seen:?}", seen.replica_share());
    assert_eq!((get(&seen.own_lost), get(&seen.gone_back)), (0, 0), "{what}, {level}");
    assert!(level == "session" || get(&seen.others_lost) == 0, "{what}, {level}");
    assert!(get(&seen.reads) > 100, "{what}, {level}: too few reads to tell anything");
}

fn replicas_that_are_killed_are_not_missed(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene, 20_000);
    for level in LEVELS {
        let seen = load::run(&scene, &proxy, level, Duration::ZERO, &|scene| {
            for replica in scene.cluster.replicas() {
                if engine.family() == Family::Mysql {
                    // What it has not written is gone when it dies: it may come back older than it was. A MariaDB replica
                    // stops for good then, because its binary log is ahead of its tables.
                    replica.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 0").unwrap();
                }
                thread::sleep(Duration::from_millis(500));
                replica.kill9().unwrap();
                thread::sleep(Duration::from_millis(500));
                replica.start().unwrap();
                thread::sleep(Duration::from_millis(500));
            }
        });
        judge(&seen, &format!("{engine}, replicas killed"), level);
        assert_eq!(get(&seen.refused), 0, "a read was refused although there was always a node to serve it");
        settled(&scene.cluster, &proxy, "session");
    }
}

fn a_replica_that_freezes_holds_up_nobody_who_comes_later(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene, 20_000);
    let frozen = &scene.cluster.replicas()[0];
    let mut waiting: Vec<Client> = (0..4).map(|_| scene.client(&proxy, "session")).collect();
    for client in &mut waiting {
        client.run("/* tidemark: node=db2 */ SELECT 1");
        assert_eq!(client.route().node, "db2");
    }
    frozen.pause().unwrap();
    // A signal takes a moment to reach all threads.
    thread::sleep(Duration::from_millis(100));
    waiting.iter_mut().for_each(|client| client.send_query("/* tidemark: node=db2 */ SELECT 2"));
    let begin = Instant::now();
    let mut observer = scene.client(&proxy, "session");
    until("the frozen replica is noticed", || {
        observer.rows("TIDEMARK SHOW NODES")[1][3].as_deref() != Some("up")
    });
    let noticed = begin.elapsed();
    for level in LEVELS {
        for id in 1..=10 {
            let begin = Instant::now();
            let mut client = scene.client(&proxy, level);
            client.run(format!("UPDATE t SET v = {id} WHERE id = 1"));
            assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), id.to_string());
            assert!(client.route().node != "db2");
            assert!(begin.elapsed() < Duration::from_secs(2), "{level}: {:?}", begin.elapsed());
        }
    }
    eprintln!("{engine}, frozen: noticed after {noticed:?}");
    // Who asked it before it was noticed is not left there.
    for client in &mut waiting {
        assert_eq!(client.read_reply().text_rows(), [[Some("2".to_owned())]]);
        assert_ne!(client.route().node, "db2");
    }
    // A write that has reached the node is left there, for nobody knows what becomes of it; KILL ends its session.
    let mut stuck = scene.client(&proxy, "session");
    stuck.run("BEGIN");
    scene.cluster.primary().pause().unwrap();
    thread::sleep(Duration::from_millis(100));
    stuck.send_query("UPDATE t SET v = 1 WHERE id = 2");
    until("the frozen primary is noticed", || {
        observer.rows("TIDEMARK SHOW NODES")[0][3].as_deref() != Some("up")
    });
    observer.run(format!("KILL {}", stuck.greeting.id));
    assert!(stuck.wait_for_end().is_empty());
    scene.cluster.primary().resume().unwrap();
    frozen.resume().unwrap();
    settled(&scene.cluster, &proxy, "session");
}

/// A statement that must be refused. The session must go on.
fn refused(client: &mut Client, text: &str) -> String {
    let begin = Instant::now();
    let error = client.error(text);
    assert!(begin.elapsed() < Duration::from_secs(10), "{text}: {:?}", begin.elapsed());
    error.message
}

/// Writes a row. A session that the restarted server asks for the password ends, and the client connects anew.
fn wrote(scene: &Scene, proxy: &Proxy, client: &mut Client, id: u32) -> bool {
    match client.query(format!("UPDATE t SET v = 11 WHERE id = {id}")).error() {
        None => true,
        Some(error) if error.code == 1053 => {
            assert_eq!(scene.cluster.primary().engine().family(), Family::Mysql, "{error:?}");
            assert_eq!(error.state, "08S01");
            assert!(client.wait_for_end().is_empty());
            *client = scene.client(proxy, "global");
            false
        }
        Some(_) => false,
    }
}

fn reads_go_on_without_a_primary_as_far_as_they_may(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene, 50_000);
    let primary = scene.cluster.primary();
    let read = "SELECT v FROM t WHERE id = 1";
    // One session whose write every replica has, and which has read it there.
    let mut covered = scene.client(&proxy, "session");
    covered.run("UPDATE t SET v = 1 WHERE id = 1");
    caught_up(&scene.cluster);
    assert_eq!(covered.value(read), "1");
    assert_eq!(covered.route().role, "replica");
    let mut global = scene.client(&proxy, "global");
    assert_eq!(global.value(read), "1");
    let mut idle = scene.client(&proxy, "session");
    idle.run("DO 0");
    // One in the middle of a transaction, and one whose write no replica has.
    let mut open = scene.client(&proxy, "session");
    open.run("BEGIN");
    open.run("UPDATE t SET v = 5 WHERE id = 5");
    scene.stop_appliers();
    let mut ahead = scene.client(&proxy, "session");
    ahead.run("UPDATE t SET v = 2 WHERE id = 2");

    primary.kill9().unwrap();
    for _ in 0..100 {
        assert_eq!(covered.value(read), "1");
        assert_eq!(covered.route().role, "replica");
    }
    // New clients prove themselves to a replica as well.
    until("new sessions are let in", || scene.account().connect(&proxy.target("session")).is_ok());
    let mut new = scene.client(&proxy, "session");
    assert_eq!(new.value(read), "1");
    for (client, text) in [
        (&mut global, read),
        (&mut ahead, "SELECT v FROM t WHERE id = 2"),
        (&mut covered, "UPDATE t SET v = 9 WHERE id = 1"),
        (&mut new, "UPDATE t SET v = 9 WHERE id = 1"),
        (&mut idle, "BEGIN"),
    ] {
        let said = refused(client, text);
        eprintln!("{engine}, no primary, {text}: {said}");
        assert!(said.contains("db1") || said.contains("primary"), "{text}: {said}");
    }
    assert_eq!(covered.value(read), "1", "a refused write changes nothing for the reads");
    // The transaction is lost, and so is its session: it must not go on as if it were not.
    open.send_query("UPDATE t SET v = 6 WHERE id = 5");
    match open.try_reply() {
        // ER_SERVER_SHUTDOWN, as a server says it that ends a connection.
        Ok(reply) => assert_eq!(reply.error().unwrap().code, 1053),
        Err(Failure::Broken(_)) => {}
        Err(other) => panic!("{other:?}"),
    }

    primary.start().unwrap();
    for (client, id) in [(&mut covered, 1), (&mut new, 3), (&mut idle, 4), (&mut global, 6), (&mut ahead, 7)]
    {
        until("writes work again", || wrote(&scene, &proxy, client, id));
        assert_eq!(client.value(&format!("SELECT v FROM t WHERE id = {id}")), "11");
    }
    // Each of them in a session that is new on MySQL: what was acknowledged is still there, for whoever asks.
    assert_eq!(global.value("SELECT v FROM t WHERE id = 2"), "2", "what was acknowledged is still there");
    assert_eq!(global.value("SELECT v FROM t WHERE id = 5"), "0", "the open transaction is rolled back");
    scene.start_appliers();
    settled(&scene.cluster, &proxy, "session");
    settled(&scene.cluster, &proxy, "global");
}

fn a_planned_change_of_the_primary_keeps_every_promise(engine: Engine) {
    let scene = Scene::own(ClusterOptions::new(engine));
    let proxy = start(&scene, 100_000);
    let mut session = scene.client(&proxy, "session");
    let mut new_primary = 1;
    for level in LEVELS {
        session.run("UPDATE t SET v = v + 1 WHERE id = 0");
        let seen = load::run(&scene, &proxy, level, Duration::ZERO, &|scene| {
            thread::sleep(Duration::from_millis(700));
            scene.cluster.promote(&scene.cluster.servers()[new_primary]).unwrap();
            thread::sleep(Duration::from_millis(1500));
        });
        let name = scene.cluster.servers()[new_primary].name();
        judge(&seen, &format!("{engine}, {name} promoted"), level);
        // The same session goes on, on the new primary.
        until("writes work again", || session.query("UPDATE t SET v = v + 1 WHERE id = 0").error().is_none());
        assert_eq!(session.route().node, name);
        let here = session.value("SELECT v FROM t WHERE id = 0");
        assert_eq!(here, scene.at_primary().value("SELECT v FROM t WHERE id = 0"));
        let old = if engine.family() == Family::Mysql { "super_read_only" } else { "read_only" };
        let server = scene.cluster.servers().iter().find(|server| server.name() != name).unwrap();
        assert_eq!(server.value(&format!("SELECT @@GLOBAL.{old}")).unwrap(), "1");
        new_primary = 0;
    }
}

fn what_needs_a_primary_waits_for_the_next_one(engine: Engine) {
    let scene = Scene::own(ClusterOptions::new(engine));
    let lines = |hold: u32| {
        format!("consistency = \"global\"\nconsistency_timeout_us = 20000\nfailover_hold_ms = {hold}")
    };
    let proxy =
        Setup::of(&scene.cluster).endpoint("patient", &lines(60_000)).endpoint("hasty", &lines(300)).start();
    scene.table();
    settled(&scene.cluster, &proxy, "patient");
    let [mut writes, mut reads, mut begins, mut leaves] = [(); 4].map(|()| scene.client(&proxy, "patient"));
    let mut hasty = scene.client(&proxy, "hasty");
    writes.run("INSERT INTO t VALUES (1, 1)");
    scene.cluster.primary().set_read_only(true).unwrap();
    until("there is no primary", || {
        hasty.query("DELETE FROM t").error().is_some_and(|error| error.code == 1105)
    });
    let begin = Instant::now();
    let error = hasty.error("DELETE FROM t");
    assert!(error.message.contains("failover_hold_ms"), "{error:?}");
    assert!(begin.elapsed() >= Duration::from_millis(300), "{:?}", begin.elapsed());

    writes.send_query("UPDATE t SET v = v + 1 WHERE id = 1");
    reads.send_query("SELECT COUNT(*) FROM t");
    begins.send_query("BEGIN");
    leaves.send_query("DELETE FROM t");
    thread::sleep(Duration::from_millis(300));
    drop(leaves);
    scene.cluster.promote(&scene.cluster.servers()[1]).unwrap();
    assert_eq!(writes.read_reply().error(), None);
    assert_eq!(writes.route().node, "db2");
    assert_eq!(reads.read_reply().text_rows(), [[Some("1".to_owned())]]);
    assert_eq!(begins.read_reply().error(), None);
    begins.run("UPDATE t SET v = v + 10 WHERE id = 1");
    begins.run("COMMIT");
    assert_eq!(scene.at_primary().value("SELECT v FROM t WHERE id = 1"), "12");
}
