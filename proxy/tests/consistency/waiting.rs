//! Reads that wait for a replica: how the wait ends, by the replica, the client, KILL, and the timeout.

use std::time::{Duration, Instant};

use sandbox::{ClusterOptions, Engine};
use wire::CommandCode;

use super::http::sum;
use super::scene::{Scene, settled};
use crate::harness::client::{Client, Failure};
use crate::harness::clusters::caught_up;
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::wait::{PATIENCE, until};

on_every_engine!(
    without_a_limit_the_replica_that_catches_up_serves_the_read,
    clients_that_leave_while_they_wait_leave_nothing_behind,
    kill_ends_a_wait,
    a_stop_ends_a_wait,
    on_timeout_says_what_comes_instead,
    who_can_do_without_the_primary_does_not_wait_for_it,
);

/// Long enough that a read which does not wait would have been answered.
const SILENCE: Duration = Duration::from_millis(500);

fn start(scene: &Scene, endpoints: &[(&str, &str)]) -> Proxy {
    let setup = Setup::of(&scene.cluster);
    let setup = endpoints.iter().fold(setup, |setup, (name, lines)| setup.endpoint(name, lines));
    let proxy = setup.admin("").start();
    scene.table();
    settled(&scene.cluster, &proxy, endpoints[0].0);
    proxy
}

fn without_limit(scene: &Scene) -> Proxy {
    let lines = |level: &str| format!("consistency = \"{level}\"\nconsistency_timeout_us = 0");
    start(scene, &[("session", &lines("session")), ("global", &lines("global"))])
}

/// No reply comes for a while.
fn is_silent(client: &mut Client, for_so_long: Duration) {
    client.stream.set_patience(for_so_long);
    match client.try_reply() {
        Err(Failure::Broken(what)) if what.contains("temporarily unavailable") => {}
        other => panic!("the read did not wait: {other:?}"),
    }
    client.stream.set_patience(PATIENCE);
}

/// Writes a row and asks for it; the read waits.
fn write_and_wait(client: &mut Client, id: u32) {
    client.run(format!("INSERT INTO t VALUES ({id}, {id})"));
    client.send_query(format!("SELECT v FROM t WHERE id = {id}"));
}

fn without_a_limit_the_replica_that_catches_up_serves_the_read(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = without_limit(&scene);
    for (id, level, replica) in [(1, "session", 0), (2, "global", 1)] {
        let mut client = scene.client(&proxy, level);
        let replica = &scene.cluster.replicas()[replica];
        scene.stop_appliers();
        write_and_wait(&mut client, id);
        is_silent(&mut client, SILENCE);
        replica.start_sql_thread().unwrap();
        assert_eq!(client.read_reply().text_rows(), [[Some(id.to_string())]]);
        let route = client.route();
        assert_eq!((&*route.node, &*route.role), (replica.name(), "replica"));
        assert!(Duration::from_micros(route.waited_us) >= SILENCE, "{route:?}");

        // A client may say more before it is answered.
        replica.stop_sql_thread().unwrap();
        write_and_wait(&mut client, id + 10);
        client.send_query("SELECT 'next'");
        is_silent(&mut client, SILENCE);
        scene.start_appliers();
        assert_eq!(client.read_reply().text_rows(), [[Some((id + 10).to_string())]]);
        assert_eq!(client.read_reply().text_rows(), [[Some("next".to_owned())]]);
        assert_eq!(client.route().role, "replica");
    }
}

fn clients_that_leave_while_they_wait_leave_nothing_behind(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = without_limit(&scene);
    let mut observer = scene.client(&proxy, "session");
    // So that what the proxy opens once for all is there already.
    scene.client(&proxy, "global").value("SELECT 1");
    until("only the observer is left", || observer.sessions().len() == 1);
    scene.stop_appliers();
    let descriptors = proxy.descriptors();
    for level in ["session", "global"] {
        let mut waiting: Vec<Client> = (0..10).map(|_| scene.client(&proxy, level)).collect();
        for (id, client) in (0..).zip(&mut waiting) {
            client.run(format!("REPLACE INTO t VALUES ({id}, {id})"));
            client.send_query(format!("SELECT v FROM t WHERE id = {id}"));
        }
        waiting.iter_mut().for_each(|client| is_silent(client, Duration::from_millis(50)));
        assert_eq!(observer.sessions().len(), 11);
        // Half of them say goodbye behind the statement, half are just gone.
        for client in waiting.iter_mut().take(5) {
            client.command(&[CommandCode::Quit.to_u8()]);
        }
        drop(waiting);
        until("the sessions are gone", || observer.sessions().len() == 1);
        until("the sockets are closed", || proxy.descriptors() <= descriptors);
    }
}

fn kill_ends_a_wait(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = without_limit(&scene);
    let mut killer = scene.client(&proxy, "session");
    for (id, level) in [(1, "session"), (2, "global")] {
        scene.stop_appliers();
        let mut waiting = scene.client(&proxy, level);
        write_and_wait(&mut waiting, id);
        is_silent(&mut waiting, Duration::from_millis(50));
        killer.run(format!("KILL QUERY {}", waiting.greeting.id));
        let error = waiting.read_reply().error().unwrap();
        assert_eq!((error.code, &*error.state), (1317, "70100"));
        // The session goes on, and has forgotten nothing.
        waiting.send_query(format!("SELECT v FROM t WHERE id = {id}"));
        is_silent(&mut waiting, Duration::from_millis(50));
        scene.start_appliers();
        assert_eq!(waiting.read_reply().text_rows(), [[Some(id.to_string())]]);
        assert_eq!(waiting.route().role, "replica");

        scene.stop_appliers();
        write_and_wait(&mut waiting, id + 10);
        is_silent(&mut waiting, Duration::from_millis(50));
        killer.run(format!("KILL {}", waiting.greeting.id));
        assert_eq!(waiting.read_reply().error().unwrap().code, 1317);
        assert!(waiting.wait_for_end().is_empty());
        scene.start_appliers();
    }
    assert_eq!(killer.error("KILL QUERY 4000000000").code, 1094);
}

fn a_stop_ends_a_wait(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = without_limit(&scene);
    scene.stop_appliers();
    let mut waiting = ["session", "global"].map(|level| scene.client(&proxy, level));
    for (id, client) in (1..).zip(&mut waiting) {
        write_and_wait(client, id);
        is_silent(client, Duration::from_millis(50));
    }
    proxy.signal("TERM");
    // As after a timeout: the primary answers, and then the session ends.
    for (id, client) in (1..).zip(&mut waiting) {
        assert_eq!(client.read_reply().text_rows(), [[Some(id.to_string())]]);
        let last = client.receive().unwrap();
        assert_eq!(last.payload.first(), Some(&0xff), "{last:?}");
        assert!(client.wait_for_end().is_empty());
    }
    scene.start_appliers();
}

fn on_timeout_says_what_comes_instead(engine: Engine) {
    let scene = Scene::new(engine);
    let lines = |level: &str, what: &str| {
        format!("consistency = \"{level}\"\nconsistency_timeout_us = 50000\non_timeout = \"{what}\"")
    };
    let proxy = start(
        &scene,
        &[
            ("session", &lines("session", "error")),
            ("global", &lines("global", "error")),
            ("session_stale", &lines("session", "stale")),
            ("global_stale", &lines("global", "stale")),
        ],
    );
    scene.stop_appliers();
    for (id, level) in [(1, "session"), (2, "global")] {
        let question = format!("SELECT v FROM t WHERE id = {id}");
        let mut client = scene.client(&proxy, level);
        client.run(format!("INSERT INTO t VALUES ({id}, {id})"));
        let error = client.error(&question);
        let position = scene.cluster.primary().position().unwrap();
        let source = position.split([':', ',']).next().unwrap();
        assert_eq!((error.code, &*error.state), (1105, "HY000"));
        assert!(error.message.contains(source), "{} does not name {position}", error.message);
        assert!(error.message.contains("on_timeout"), "{}", error.message);
        // The session goes on, and may think otherwise: for one statement, or from now on.
        let hinted = format!("/* tidemark: consistency=eventual */ {question}");
        assert!(client.rows(&hinted).is_empty());
        assert_eq!(client.error(&question).code, 1105);
        client.run("TIDEMARK SET on_timeout = 'primary'");
        assert_eq!(client.value(&question), id.to_string());
        assert_eq!(client.route().reason, "timeout");

        let mut client = scene.client(&proxy, &format!("{level}_stale"));
        client.run(format!("INSERT INTO t VALUES ({}, 0)", id + 10));
        assert!(client.rows(&format!("SELECT v FROM t WHERE id = {}", id + 10)).is_empty());
        let route = client.route();
        assert_eq!((&*route.role, &*route.reason), ("replica", "stale"));
        assert!(route.waited_us >= 50_000, "{route:?}");
        // What it wrote is not forgotten over that.
        client.run("TIDEMARK SET on_timeout = 'primary'");
        assert_eq!(client.value(&format!("SELECT v FROM t WHERE id = {}", id + 10)), "0");
        assert_eq!(client.route().reason, "timeout");

        let counted = |endpoint: &str, outcome: &str| {
            let labels = format!("endpoint=\"{endpoint}\",level=\"{level}\",outcome=\"{outcome}\"");
            sum(&proxy.admin(), &format!("tidemark_consistency_outcomes_total{{{labels}}}"))
        };
        assert_eq!((counted(level, "error"), counted(level, "primary")), (2.0, 1.0));
        let stale = format!("{level}_stale");
        assert_eq!((counted(&stale, "stale"), counted(&stale, "primary")), (1.0, 1.0));
    }
}

/// Where the primary would serve what is late, a read that must ask it gets an error in the end; elsewhere it takes no longer
/// than its timeout, whether the primary is silent or gone.
fn who_can_do_without_the_primary_does_not_wait_for_it(engine: Engine) {
    let scene = Scene::own(ClusterOptions::new(engine));
    let lines = |what: &str| {
        format!("consistency = \"global\"\nconsistency_timeout_us = 20000\non_timeout = \"{what}\"")
    };
    let proxy = start(&scene, &[("error", &lines("error")), ("stale", &lines("stale"))]);
    scene.at_primary().run("INSERT INTO t VALUES (1, 1)");
    caught_up(&scene.cluster);
    let question = "SELECT v FROM t WHERE id = 1";
    let mut clients = ["error", "stale"].map(|endpoint| {
        let mut client = scene.client(&proxy, endpoint);
        assert_eq!(client.value(question), "1");
        client
    });
    let mut check = |what: &str| {
        let [error, stale] = &mut clients;
        let begin = Instant::now();
        let told = error.error(question);
        assert!(told.message.contains("the primary had not told its position"), "{what}: {}", told.message);
        assert_eq!(stale.value(question), "1", "{what}");
        let route = stale.route();
        assert_eq!((&*route.role, &*route.reason), ("replica", "stale"), "{what}");
        assert!(route.waited_us >= 20_000, "{what}: {route:?}");
        assert!(begin.elapsed() < Duration::from_secs(2), "{what}: {:?}", begin.elapsed());
    };
    scene.cluster.primary().pause().unwrap();
    check("it is silent");
    scene.cluster.primary().kill9().unwrap();
    check("it is gone");
}
