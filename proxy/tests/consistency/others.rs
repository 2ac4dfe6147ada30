//! What others wrote: at the level global it is there, whoever wrote it and wherever.

use std::time::Duration;

use sandbox::Engine;

use super::scene::{NEVER, Scene, settled};
use crate::harness::client::Client;
use crate::harness::clusters::caught_up;
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};

on_every_engine!(anothers_write_is_there_at_once);

/// Writes of each kind.
const ROUNDS: u32 = 500;

fn anothers_write_is_there_at_once(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = Setup::of(&scene.cluster)
        .endpoint("eventual", "")
        .endpoint("global", "consistency = \"global\"\nconsistency_timeout_us = 1000000")
        .start();
    scene.table();
    settled(&scene.cluster, &proxy, "global");
    let mut first = 1;
    let mut through_proxy = scene.client(&proxy, "eventual");
    let mut direct = scene.at_primary();
    for delayed in [0, 1] {
        if delayed > 0 {
            caught_up(&scene.cluster);
            scene.cluster.replicas()[0].set_delay(NEVER).unwrap();
        }
        for (writer, how) in [(&mut through_proxy, "through the proxy"), (&mut direct, "on the primary")] {
            let share = hand_over(&scene, &proxy, writer, first);
            eprintln!(
                "{engine}, {how}, {delayed} replicas delayed: {ROUNDS} reads, {share} of them on replicas"
            );
            assert!(share * 10 > ROUNDS * 9, "{share} of {ROUNDS} were read on replicas");
            first += ROUNDS;
        }
    }
}

/// One writes, the other one reads at once. Returns how many reads a replica served.
fn hand_over(scene: &Scene, proxy: &Proxy, writer: &mut Client, first: u32) -> u32 {
    let mut reader = scene.client(proxy, "global");
    let mut on_replicas = 0;
    for id in first..first + ROUNDS {
        writer.run(format!("INSERT INTO t VALUES ({id}, {id})"));
        let found = reader.rows(&format!("SELECT v, @@server_id FROM t WHERE id = {id}"));
        let Some([Some(value), Some(server)]) = found.first().map(Vec::as_slice) else {
            panic!("row {id} is not there: {found:?}, {:?}", reader.route());
        };
        assert_eq!(*value, id.to_string());
        on_replicas += u32::from(server != "1");
    }
    let route = reader.route();
    assert!(Duration::from_micros(route.waited_us) <= Duration::from_secs(1), "{route:?}");
    on_replicas
}
