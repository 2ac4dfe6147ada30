//! Servers that are busy, full or silent: the first two are not dead, and the third holds nobody up.

use std::thread;
use std::time::{Duration, Instant};

use sandbox::{ClusterOptions, Engine};

use super::scene::{Scene, settled};
use crate::harness::client::{Client, Failure};
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::stream::Target;
use crate::harness::wait::until;

on_every_engine!(
    a_primary_under_a_global_lock_is_not_dead,
    servers_without_a_connection_to_spare_are_not_dead,
    a_server_that_is_gone_from_the_beginning_is_not_waited_for,
    a_server_that_is_silent_from_the_beginning_holds_up_nobody,
);

/// Several rounds of the watchers.
const A_WHILE: Duration = Duration::from_secs(1);

/// Longer than a server may take for an answer.
const LONGER: Duration = Duration::from_millis(3500);

fn start(scene: &Scene) -> Proxy {
    let lines = |level: &str| format!("consistency = \"{level}\"\nconsistency_timeout_us = 20000");
    Setup::of(&scene.cluster)
        .endpoint("session", &lines("session"))
        .endpoint("global", &lines("global"))
        .start()
}

fn all_are_up(observer: &mut Client) -> bool {
    observer.rows("TIDEMARK SHOW NODES").iter().all(|row| row[3].as_deref() == Some("up"))
}

/// Reads at both levels go on for a while, and every node is up all the time.
fn reads_go_on(clients: &mut [Client], expected: &str, how_long: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < how_long {
        for client in &mut *clients {
            let asked = Instant::now();
            assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), expected);
            assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());
        }
        assert!(all_are_up(&mut clients[0]));
    }
}

fn a_primary_under_a_global_lock_is_not_dead(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    scene.table();
    settled(&scene.cluster, &proxy, "session");
    let mut clients = ["session", "global"].map(|level| scene.client(&proxy, level));
    clients[0].run("INSERT INTO t VALUES (1, 1)");
    let mut locker = scene.at_primary();
    locker.run("FLUSH TABLES WITH READ LOCK");
    let mut writer = scene.client(&proxy, "session");
    writer.send_query("UPDATE t SET v = 2 WHERE id = 1");
    reads_go_on(&mut clients, "1", LONGER);
    // Who comes new is let in meanwhile.
    assert_eq!(scene.client(&proxy, "global").value("SELECT v FROM t WHERE id = 1"), "1");
    locker.run("UNLOCK TABLES");
    assert_eq!(writer.read_reply().error(), None, "the write has waited, and no more");
    assert_eq!(writer.value("SELECT v FROM t WHERE id = 1"), "2");
    assert!(!proxy.log().contains("node is down"));
}

fn servers_without_a_connection_to_spare_are_not_dead(engine: Engine) {
    let options = ClusterOptions::new(engine).replicas(1).server_argument("--max-connections=30");
    let scene = Scene::own(options);
    let proxy = start(&scene);
    scene.table();
    settled(&scene.cluster, &proxy, "session");
    let mut clients = ["session", "global"].map(|level| scene.client(&proxy, level));
    clients[0].run("INSERT INTO t VALUES (1, 1)");
    for client in &mut clients {
        until("it has read on the replica", || {
            client.value("SELECT v FROM t WHERE id = 1") == "1" && client.route().role == "replica"
        });
    }
    // Others take whatever the servers have left; whoever has the administrators' place would go on.
    let mut others = Vec::new();
    for server in scene.cluster.servers() {
        let error = loop {
            match Account::app().try_connect(&Target::Tcp(server.address())) {
                Ok(client) => others.push(client),
                Err(Failure::Refused(error)) => break error,
                Err(Failure::Broken(what)) => panic!("{what}"),
            }
        };
        assert_eq!(error.code, 1040);
    }
    reads_go_on(&mut clients, "1", A_WHILE);
    // A client that comes new hears what the server says, and those who are in go on.
    assert_eq!(scene.account().connect(&proxy.target("session")).err().unwrap().code, 1040);
    clients[0].run("UPDATE t SET v = 2 WHERE id = 1");
    reads_go_on(&mut clients, "2", A_WHILE);
    drop(others);
    until("new clients are let in", || scene.account().try_connect(&proxy.target("session")).is_ok());
    assert!(!proxy.log().contains("node is down"));
}

/// It accepts connections, for its kernel does that, and never says a word.
fn a_server_that_is_silent_from_the_beginning_holds_up_nobody(engine: Engine) {
    let scene = Scene::new(engine);
    scene.table();
    let silent = &scene.cluster.replicas()[0];
    silent.pause().unwrap();
    thread::sleep(Duration::from_millis(100));
    let begin = Instant::now();
    let proxy = start(&scene);
    let mut clients = ["session", "global"].map(|level| scene.client(&proxy, level));
    clients[0].run("INSERT INTO t VALUES (1, 1)");
    for client in &mut clients {
        until("the other replica reads", || {
            assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "1");
            client.route().node == "db3"
        });
    }
    eprintln!("{engine}: served after {:?}", begin.elapsed());
    assert!(begin.elapsed() < Duration::from_secs(8), "{:?}", begin.elapsed());
    silent.resume().unwrap();
    settled(&scene.cluster, &proxy, "session");
}

/// Nobody waits for an answer that was given: the connection was refused.
fn a_server_that_is_gone_from_the_beginning_is_not_waited_for(engine: Engine) {
    let scene = Scene::new(engine);
    let mut nodes: Vec<(String, String)> = scene
        .cluster
        .servers()
        .iter()
        .map(|server| (server.name().to_owned(), server.address().to_string()))
        .collect();
    // The port of a service that is not there.
    nodes.push(("gone".to_owned(), "127.0.0.1:9".to_owned()));
    let begin = Instant::now();
    let proxy = Setup::nodes(nodes).endpoint("session", "consistency = \"session\"").start();
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    settled(&scene.cluster, &proxy, "session");
}
