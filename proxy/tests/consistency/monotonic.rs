//! Sessions that write and read while the replicas differ: no read is older than an earlier one, or than an own write.

use std::thread;
use std::time::Duration;

use sandbox::{Engine, Server};

use super::load::{self, get};
use super::scene::{Scene, settled};
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};

on_every_engine!(healthy_replicas_take_the_reads, reads_never_go_back_over_flapping_replicas);

const LENGTH: Duration = Duration::from_secs(4);

fn start(scene: &Scene, timeout_us: u32) -> Proxy {
    let setup = ["eventual", "session", "global"].iter().fold(Setup::of(&scene.cluster), |setup, level| {
        setup.endpoint(level, &format!("consistency = \"{level}\"\nconsistency_timeout_us = {timeout_us}"))
    });
    // Where the primary takes a share of the reads, sessions go back and forth.
    let mixed = format!(
        "consistency = \"session\"\nconsistency_timeout_us = {timeout_us}\nread_weight = {{ db1 = 100 }}"
    );
    let proxy = setup.endpoint("mixed", &mixed).start();
    load::prepare(scene);
    settled(&scene.cluster, &proxy, "session");
    proxy
}

fn healthy_replicas_take_the_reads(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene, 200_000);
    for level in ["session", "global"] {
        let seen = load::run(&scene, &proxy, level, LENGTH, &|_| {});
        eprintln!("{engine}, healthy, {level}: {:.1} % on replicas, {seen:?}", tenths(seen.replica_share()));
        assert_eq!(get(&seen.refused), 0);
        assert_eq!((get(&seen.own_lost), get(&seen.gone_back)), (0, 0));
        assert!(get(&seen.reads) > 200, "too few reads to tell anything");
        assert!(seen.replica_share() > 900);
        if level == "global" {
            assert_eq!(get(&seen.others_lost), 0);
        }
    }
}

fn reads_never_go_back_over_flapping_replicas(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene, 5000);
    for level in ["session", "mixed", "global", "eventual"] {
        let seen = load::run(&scene, &proxy, level, LENGTH, &flap);
        eprintln!("{engine}, flapping, {level}: {:.1} % on replicas, {seen:?}", tenths(seen.replica_share()));
        assert_eq!(get(&seen.refused), 0);
        assert!(get(&seen.reads) > 200, "too few reads to tell anything");
        // Both ways were gone: to replicas, and back to the primary. Where the primary has a weight, or a read needs what
        // everybody wrote, how many are served by replicas that lag most of the time depends on the machine.
        if matches!(level, "session" | "eventual") {
            assert!(get(&seen.on_replicas) > 0);
        }
        if level == "eventual" {
            // Whoever looks for staleness must be able to see it.
            assert!(get(&seen.own_lost) > 0 && get(&seen.gone_back) > 0 && get(&seen.others_lost) > 0);
            continue;
        }
        assert!(seen.replica_share() < 1000);
        assert_eq!((get(&seen.own_lost), get(&seen.gone_back)), (0, 0));
        if level == "global" {
            assert_eq!(get(&seen.others_lost), 0);
        }
    }
}

/// The replicas stop and start to apply out of step with each other, and one of them is late for a while.
fn flap(scene: &Scene) {
    let [one, other] = scene.cluster.replicas() else { panic!("two replicas") };
    let toggle = |server: &Server, pauses: [u64; 2]| {
        for _ in 0..6 {
            server.stop_sql_thread().unwrap();
            thread::sleep(Duration::from_millis(pauses[0]));
            server.start_sql_thread().unwrap();
            thread::sleep(Duration::from_millis(pauses[1]));
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| toggle(one, [130, 210]));
        scope.spawn(|| {
            toggle(other, [90, 170]);
            other.set_delay(1).unwrap();
            thread::sleep(Duration::from_millis(1500));
            other.set_delay(0).unwrap();
        });
    });
}

fn tenths(thousandths: u64) -> f64 {
    f64::from(u32::try_from(thousandths).unwrap_or_default()) / 10.0
}
