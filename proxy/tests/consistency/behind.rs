//! Replicas that are behind: a session reads what it wrote all the same, and waits for them no longer than it may.

use std::time::{Duration, Instant};

use sandbox::Engine;

use super::http::sum;
use super::scene::{NEVER, Scene, settled};
use crate::harness::client::Client;
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};

on_every_engine!(
    writes_are_read_back_while_the_appliers_are_stopped,
    writes_are_read_back_while_the_replicas_are_delayed,
);

/// Writes per level.
const ROUNDS: u32 = 1000;

/// Every so many of them are read once more without a promise, for comparison.
const COMPARED: u32 = 10;

/// A millisecond was allowed; the rest is for a machine that is busy with other tests.
const ADDED_AT_MOST: Duration = Duration::from_millis(50);

fn start(scene: &Scene) -> Proxy {
    let lines = |level: &str| format!("consistency = \"{level}\"\nconsistency_timeout_us = 1000");
    let proxy = Setup::of(&scene.cluster)
        .endpoint("session", &lines("session"))
        .endpoint("global", &lines("global"))
        .admin("")
        .start();
    scene.table();
    settled(&scene.cluster, &proxy, "session");
    proxy
}

fn writes_are_read_back_while_the_appliers_are_stopped(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    scene.stop_appliers();
    write_and_read_back(&scene, &proxy, "appliers stopped");
}

fn writes_are_read_back_while_the_replicas_are_delayed(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    scene.delay(NEVER);
    write_and_read_back(&scene, &proxy, "delayed");
}

fn write_and_read_back(scene: &Scene, proxy: &Proxy, how: &str) {
    let mut id = 0;
    for level in ["session", "global"] {
        let mut client = scene.client(proxy, level);
        let mut times = Times::default();
        for _ in 0..ROUNDS {
            id += 1;
            round(&mut client, id, &mut times);
        }
        let reads = f64::from(ROUNDS);
        let timed_out = format!(
            "tidemark_statements_total{{endpoint=\"{level}\",node=\"db1\",role=\"primary\",reason=\"timeout\"}}"
        );
        assert!(sum(&proxy.admin(), &timed_out) >= reads, "the reason is not counted");
        let primary = format!(
            "tidemark_consistency_outcomes_total{{endpoint=\"{level}\",level=\"{level}\",outcome=\"primary\"}}"
        );
        assert!(sum(&proxy.admin(), &primary) >= reads, "the outcome is not counted");
        times.judge(&format!("{}, {how}, {level}", scene.cluster.primary().engine()));
    }
}

/// What the reads of one level took.
#[derive(Default)]
struct Times {
    /// Reads with the promise.
    promised: Vec<Duration>,
    /// The same on the primary without one.
    plain: Vec<Duration>,
    /// What the proxy says it waited, in microseconds.
    waited_us: Vec<u64>,
}

fn round(client: &mut Client, id: u32, times: &mut Times) {
    client.run(format!("INSERT INTO t VALUES ({id}, {id})"));
    let question = format!("SELECT v FROM t WHERE id = {id}");
    let begin = Instant::now();
    let found = client.rows(&question);
    times.promised.push(begin.elapsed());
    assert_eq!(found, [[Some(id.to_string())]]);
    let route = client.route();
    assert_eq!((&*route.node, &*route.role, &*route.reason), ("db1", "primary", "timeout"));
    times.waited_us.push(route.waited_us);
    if !id.is_multiple_of(COMPARED) {
        return;
    }
    let question = format!("/* tidemark: consistency=eventual, node=db1 */ {question}");
    let begin = Instant::now();
    client.run(&question);
    times.plain.push(begin.elapsed());
    assert_eq!(client.route().reason, "hint");
}

impl Times {
    fn judge(&mut self, what: &str) {
        let (promised, plain) = (median(&mut self.promised), median(&mut self.plain));
        let added = promised.saturating_sub(plain);
        let waited = median(&mut self.waited_us);
        eprintln!(
            "{what}: {ROUNDS} reads, median {promised:?}, on the primary without a promise {plain:?}, added {added:?}, \
             of which waited {waited} us"
        );
        assert!(added < ADDED_AT_MOST, "{what}: a read took {added:?} longer");
        assert!(waited >= 1000, "{what}: the timeout is 1000 us, and {waited} us were waited");
    }
}

fn median<T: Ord + Copy>(values: &mut [T]) -> T {
    values.sort_unstable();
    values[values.len() / 2]
}
