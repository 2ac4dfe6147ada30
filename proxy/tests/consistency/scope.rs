//! `global_scope = "proxy"`: all that this instance has acknowledged is seen by everybody, and nobody is asked for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sandbox::{Engine, Family};

use super::scene::{Scene, settled};
use crate::harness::clusters::caught_up;
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};

on_every_engine!(everybody_sees_what_was_acknowledged_to_anybody, nobody_is_asked);

fn start(scene: &Scene) -> Proxy {
    let lines = |scope: &str| {
        format!("consistency = \"global\"\nglobal_scope = \"{scope}\"\nconsistency_timeout_us = 20000")
    };
    let proxy = Setup::of(&scene.cluster)
        .endpoint("proxy", &lines("proxy"))
        .endpoint("cluster", &lines("cluster"))
        .endpoint("eventual", "")
        .start();
    scene.table();
    scene.at_primary().run("INSERT INTO t VALUES (1, 0), (2, 0)");
    caught_up(&scene.cluster);
    settled(&scene.cluster, &proxy, "proxy");
    proxy
}

fn everybody_sees_what_was_acknowledged_to_anybody(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let mut reader = scene.client(&proxy, "proxy");
    assert_eq!(reader.value("SELECT v FROM t WHERE id = 1"), "0");
    assert_eq!(reader.route().role, "replica");
    // Through whatever endpoint it was written.
    scene.stop_appliers();
    scene.client(&proxy, "eventual").run("UPDATE t SET v = 1 WHERE id = 1");
    assert_eq!(reader.value("SELECT v FROM t WHERE id = 1"), "1");
    let mut blind = scene.client(&proxy, "eventual");
    blind.run(match engine.family() {
        Family::Mysql => "SET SESSION session_track_gtids = OFF",
        Family::Mariadb => "SET SESSION session_track_system_variables = ''",
    });
    blind.run("UPDATE t SET v = 2 WHERE id = 1");
    assert_eq!(reader.value("SELECT v FROM t WHERE id = 1"), "2");
    scene.start_appliers();

    // Under a load: a counter that one session raises, and that no read may find lower than it was told.
    let known = AtomicU64::new(0);
    let begin = Instant::now();
    let replicas = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut writer = scene.client(&proxy, "proxy");
            for value in 1.. {
                writer.run(format!("UPDATE t SET v = {value} WHERE id = 2"));
                known.store(value, Ordering::SeqCst);
                if begin.elapsed() > Duration::from_secs(3) {
                    return;
                }
                thread::sleep(Duration::from_millis(2));
            }
        });
        for _ in 0..3 {
            scope.spawn(|| {
                let mut reader = scene.client(&proxy, "proxy");
                while begin.elapsed() < Duration::from_secs(3) {
                    let least = known.load(Ordering::SeqCst);
                    let rows = reader.rows("SELECT v, @@server_id FROM t WHERE id = 2");
                    let read: u64 = rows[0][0].as_deref().unwrap().parse().unwrap();
                    assert!(read >= least, "{read} was read after {least} was acknowledged");
                    replicas.fetch_add(u64::from(rows[0][1].as_deref() != Some("1")), Ordering::SeqCst);
                }
            });
        }
    });
    assert!(replicas.load(Ordering::SeqCst) > 0, "no replica served a read");
}

/// How many statements the server has been sent by anybody.
fn questions(scene: &Scene) -> u64 {
    let mut client = scene.at_primary();
    client.rows("SHOW GLOBAL STATUS LIKE 'Questions'")[0][1].as_deref().unwrap().parse().unwrap()
}

fn nobody_is_asked(engine: Engine) {
    const READS: u64 = 500;
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let asked = |endpoint: &str| {
        let mut client = scene.client(&proxy, endpoint);
        client.value("SELECT v FROM t WHERE id = 1");
        let (before, begin) = (questions(&scene), Instant::now());
        for _ in 0..READS {
            client.value("SELECT v FROM t WHERE id = 1");
        }
        (questions(&scene) - before, begin.elapsed())
    };
    let (strict, in_strict) = asked("cluster");
    let (cheap, in_cheap) = asked("proxy");
    eprintln!(
        "{engine}: {READS} reads: the primary got {strict} statements in {in_strict:?}, {cheap} in {in_cheap:?}"
    );
    assert!(strict >= READS, "one session's reads come one after the other, each asks");
    // The watcher goes on asking whatever is read: up to some hundred times a second.
    assert!(cheap < READS, "{cheap}");
}
