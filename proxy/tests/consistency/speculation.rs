//! Reads at the level global run on a replica while the primary is asked: kept when nobody has written, else run again, and
//! then the client sees nothing of the first time.

use std::time::{Duration, Instant};

use sandbox::Engine;

use super::http::sum;
use super::scene::{Scene, settled};
use crate::harness::client::Client;
use crate::harness::clusters::caught_up;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::reply::Part;
use crate::harness::wait::until;

on_every_engine!(
    nobody_writes_and_replies_are_kept,
    what_came_too_early_is_read_again,
    long_replies_that_came_too_early_are_read_again,
    executions_that_came_too_early_are_run_again,
    what_takes_long_is_answered_once,
    what_nobody_waits_for_is_ended,
);

const KEPT: &str = "tidemark_speculative_reads_total{endpoint=\"global\",result=\"kept\"}";
const REPEATED: &str = "tidemark_speculative_reads_total{endpoint=\"global\",result=\"repeated\"}";

fn start(scene: &Scene) -> Proxy {
    let lines = "consistency = \"global\"\nconsistency_timeout_us = 1000000\nmax_lag_ms = 0";
    let proxy = Setup::of(&scene.cluster).endpoint("global", lines).admin("").start();
    scene.table();
    settled(&scene.cluster, &proxy, "global");
    proxy
}

/// What the counter has counted meanwhile.
fn counted(proxy: &Proxy, counter: &str, work: impl FnOnce()) -> f64 {
    let before = sum(&proxy.admin(), counter);
    work();
    sum(&proxy.admin(), counter) - before
}

/// Has new sessions write around the proxy and read at once, so that most of their first reads run before the proxy can have
/// heard of the write.
fn read_behind_writes(
    scene: &Scene,
    proxy: &Proxy,
    rounds: i64,
    mut read: impl FnMut(&mut Client, i64, &mut dyn FnMut()),
) -> f64 {
    let mut writer = scene.at_primary();
    writer.run("REPLACE INTO t VALUES (1, 0)");
    counted(proxy, REPEATED, || {
        for round in 1..=rounds {
            caught_up(&scene.cluster);
            let mut reader = scene.client(proxy, "global");
            // Its connections are open by then.
            (0..4).for_each(|_| drop(reader.run("DO 0")));
            let mut write = || drop(writer.run(format!("UPDATE t SET v = {round} WHERE id = 1")));
            read(&mut reader, round, &mut write);
        }
    })
}

fn nobody_writes_and_replies_are_kept(engine: Engine) {
    const READS: u32 = 200;
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    scene.at_primary().run("INSERT INTO t VALUES (1, 7)");
    caught_up(&scene.cluster);
    let mut reader = scene.client(&proxy, "global");
    let kept = counted(&proxy, KEPT, || {
        for _ in 0..READS {
            assert_eq!(reader.value("SELECT v FROM t WHERE id = 1"), "7");
            assert_eq!(reader.route().role, "replica");
        }
    });
    eprintln!("{engine}: {kept} of {READS} reads were kept");
    assert!(kept > f64::from(READS / 4), "{kept}");
}

fn what_came_too_early_is_read_again(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let repeated = read_behind_writes(&scene, &proxy, 40, |reader, round, write| {
        write();
        assert_eq!(reader.value("SELECT v FROM t WHERE id = 1"), round.to_string());
        assert_eq!(reader.value("SELECT FOUND_ROWS()"), "1");
        // A warning of the reply that counts, and of no other.
        reader.run(format!("SELECT 1/0, v FROM t WHERE v < {round}"));
        assert_eq!(reader.rows("SHOW WARNINGS").len(), 0);
    });
    eprintln!("{engine}: {repeated} reads were repeated");
    assert!(repeated > 4.0, "{repeated}");
}

fn long_replies_that_came_too_early_are_read_again(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    for size in [40_000, 3_000_000] {
        let repeated = read_behind_writes(&scene, &proxy, 12, |reader, round, write| {
            write();
            let text = format!("SELECT CONCAT(v, ':', REPEAT('x', {size})) FROM t WHERE id = 1");
            let value = reader.value(&text);
            assert!(value.starts_with(&format!("{round}:")) && value.len() > size, "{}", &value[..20]);
            assert_eq!(reader.value("SELECT v FROM t WHERE id = 1"), round.to_string());
        });
        eprintln!("{engine}: {repeated} replies of {size} bytes were thrown away");
        assert!(repeated > 2.0, "{repeated}");
    }
}

fn executions_that_came_too_early_are_run_again(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let repeated = read_behind_writes(&scene, &proxy, 20, |reader, round, write| {
        let prepared = reader.prepare("SELECT v, ? FROM t WHERE id = ?").unwrap();
        reader.long_data(prepared.id, 0, b"sent ");
        reader.long_data(prepared.id, 0, b"ahead");
        write();
        let params = [Param::sent_ahead(0xFD), Param::number(1)];
        let reply = reader.execute(prepared.id, &params, Execution::WithTypes);
        let [Part::Rows { rows, .. }] = reply.parts.as_slice() else { panic!("{reply:?}") };
        // The row's header, a byte of NULLs, the number, and the text behind its length.
        let expected = [&[0, 0], &round.to_le_bytes()[..], &[10], b"sent ahead"].concat();
        assert_eq!(rows.as_slice(), [expected]);
        // What follows is read from the same statement, and the value is the one just written.
        assert_eq!(reader.value("SELECT v FROM t WHERE id = 1"), round.to_string());
        reader.close(prepared.id);
    });
    eprintln!("{engine}: {repeated} executions and reads were repeated");
    assert!(repeated > 2.0, "{repeated}");
}

/// The reply of a read that takes long may come long after it is known that it does not count.
fn what_takes_long_is_answered_once(engine: Engine) {
    const TAKES: Duration = Duration::from_millis(200);
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let mut slowest = Duration::ZERO;
    let repeated = read_behind_writes(&scene, &proxy, 6, |reader, round, write| {
        write();
        let begin = Instant::now();
        assert_eq!(
            reader.rows("SELECT v, SLEEP(0.2) FROM t WHERE id = 1"),
            [[Some(round.to_string()), Some("0".to_owned())]]
        );
        slowest = slowest.max(begin.elapsed());
        assert_eq!(reader.value("SELECT v FROM t WHERE id = 1"), round.to_string());
    });
    eprintln!("{engine}: {repeated} reads were repeated; the slowest that sleeps {TAKES:?} took {slowest:?}");
    assert!(repeated > 0.0, "{repeated}");
}

/// A read that runs on after its reply was given up would hold up what replication does to its table.
fn what_nobody_waits_for_is_ended(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    // A server looks every five seconds whether the client of a SLEEP is there, and goes on with the next one if not.
    let sleeps = ["SLEEP(600)"; 20].join(" + ");
    let asleep =
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT v FROM t%SLEEP(600)%'";
    let repeated = read_behind_writes(&scene, &proxy, 6, |reader, round, write| {
        for replica in scene.cluster.replicas() {
            replica.stop_sql_thread().unwrap();
        }
        write();
        // A replica has the value before, and sleeps.
        let value =
            reader.value(&format!("SELECT v FROM t WHERE id = 1 AND IF(v < {round}, {sleeps}, TRUE)"));
        assert_eq!(value, round.to_string());
        for replica in scene.cluster.replicas() {
            until("the abandoned read ends", || replica.value(asleep).unwrap() == "0");
            replica.start_sql_thread().unwrap();
        }
    });
    eprintln!("{engine}: {repeated} reads were repeated");
    assert!(repeated > 0.0, "{repeated}");
    scene.at_primary().run("DROP TABLE t");
    caught_up(&scene.cluster);
}
