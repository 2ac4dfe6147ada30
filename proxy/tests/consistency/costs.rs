//! What the promises cost the servers, by the servers' own counters.

use std::thread;
use std::time::{Duration, Instant};

use sandbox::{ClusterOptions, Engine, Server};

use super::scene::{Scene, settled};
use crate::harness::client::Client;
use crate::harness::clusters::caught_up;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::stream::Target;

on_every_engine!(
    many_sessions_that_wait_cost_what_one_costs,
    reads_that_come_together_ask_together,
    the_first_of_several_late_replicas_wakes_the_read,
);

fn start(scene: &Scene) -> Proxy {
    let lines =
        |level: &str| format!("consistency = \"{level}\"\nconsistency_timeout_us = 0\nmax_lag_ms = 0");
    let proxy = Setup::of(&scene.cluster)
        .endpoint("session", &lines("session"))
        .endpoint("global", &lines("global"))
        .start();
    scene.table();
    scene.at_primary().run("INSERT INTO t VALUES (1, 0)");
    caught_up(&scene.cluster);
    settled(&scene.cluster, &proxy, "session");
    proxy
}

/// How many statements a server has been sent, by anybody.
fn questions(server: &Server) -> u64 {
    let mut client = Account::app().connect(&Target::Tcp(server.address())).unwrap();
    client.rows("SHOW GLOBAL STATUS LIKE 'Questions'")[0][1].as_deref().unwrap().parse().unwrap()
}

fn many_sessions_that_wait_cost_what_one_costs(engine: Engine) {
    const MANY: usize = 100;
    const WATCHED: Duration = Duration::from_secs(2);
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let mut writer = scene.client(&proxy, "session");
    scene.stop_appliers();
    writer.run("UPDATE t SET v = 1 WHERE id = 1");
    let token = writer.value("TIDEMARK SHOW POSITION");
    let mut waiting: Vec<Client> = Vec::new();
    let mut rates: Vec<Vec<u64>> = Vec::new();
    for sessions in [1, MANY] {
        while waiting.len() < sessions {
            let mut client = scene.client(&proxy, "session");
            client.run(format!("TIDEMARK SET position = '{token}'"));
            client.send_query("SELECT v FROM t WHERE id = 1");
            waiting.push(client);
        }
        // Until each has asked the primary whether the position is its own.
        thread::sleep(Duration::from_millis(500));
        let before: Vec<u64> = scene.cluster.servers().iter().map(questions).collect();
        thread::sleep(WATCHED);
        let after: Vec<u64> = scene.cluster.servers().iter().map(questions).collect();
        rates.push(
            after.iter().zip(before).map(|(after, before)| (after - before) / WATCHED.as_secs()).collect(),
        );
    }
    eprintln!(
        "{engine}: statements per second and node: {:?} while one session waits, {:?} while {MANY} do",
        rates[0], rates[1]
    );
    for (one, many) in rates[0].iter().zip(&rates[1]) {
        assert!(*many <= one + one / 2 + 50, "{rates:?}");
    }
    scene.start_appliers();
    for client in &mut waiting {
        assert_eq!(client.read_reply().text_rows(), [[Some("1".to_owned())]]);
        assert_eq!(client.route().role, "replica");
    }
}

/// With three replicas at different delays the first that has applied the write serves the read. How long after it showed the
/// row the client had its answer is printed: the row is looked for on that replica all the time.
fn the_first_of_several_late_replicas_wakes_the_read(engine: Engine) {
    const ROUNDS: u64 = 100;
    let scene = Scene::own(ClusterOptions::new(engine).replicas(3));
    let proxy = start(&scene);
    let [first, second, third] = scene.cluster.replicas() else { panic!("three replicas") };
    second.set_delay(1).unwrap();
    third.set_delay(2).unwrap();
    let mut client = scene.client(&proxy, "session");
    let mut direct = scene.account().connect(&Target::Tcp(first.address())).unwrap();
    let mut after_us = Vec::new();
    for round in 1..=ROUNDS {
        client.run(format!("UPDATE t SET v = {round} WHERE id = 1"));
        client.send_query("SELECT v FROM t WHERE id = 1");
        let seen = thread::scope(|scope| {
            let observer = scope.spawn(|| {
                while direct.value("SELECT v FROM t WHERE id = 1") != round.to_string() {}
                Instant::now()
            });
            assert_eq!(client.read_reply().text_rows(), [[Some(round.to_string())]]);
            let answered = Instant::now();
            let visible = observer.join().unwrap();
            i128::try_from(answered.saturating_duration_since(visible).as_micros()).unwrap()
                - i128::try_from(visible.saturating_duration_since(answered).as_micros()).unwrap()
        });
        assert_eq!(client.route().node, first.name());
        after_us.push(seen);
    }
    after_us.sort_unstable();
    eprintln!(
        "{engine}: the answer came {} us after the row showed (median of {ROUNDS}; a tenth within {}, nine tenths within {})",
        after_us[50], after_us[10], after_us[90]
    );
}

fn reads_that_come_together_ask_together(engine: Engine) {
    const READERS: u64 = 16;
    const READS: u64 = 200;
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let mut readers: Vec<Client> = (0..READERS).map(|_| scene.client(&proxy, "global")).collect();
    readers.iter_mut().for_each(|reader| drop(reader.value("SELECT v FROM t WHERE id = 1")));
    let (before, begin) = (questions(scene.cluster.primary()), Instant::now());
    thread::scope(|scope| {
        for reader in &mut readers {
            scope.spawn(|| (0..READS).for_each(|_| drop(reader.value("SELECT v FROM t WHERE id = 1"))));
        }
    });
    let (asked, reads) = (questions(scene.cluster.primary()) - before, READERS * READS);
    eprintln!(
        "{engine}: {reads} reads by {READERS} at the level global in {:?}: {asked} statements to the primary",
        begin.elapsed()
    );
    assert!(readers.iter_mut().all(|reader| reader.route().role == "replica"));
    assert!(asked * 2 < reads, "{asked} statements to the primary for {reads} reads");
}
