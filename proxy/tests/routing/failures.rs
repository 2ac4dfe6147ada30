//! Nodes that fail under their sessions.

use std::thread;
use std::time::{Duration, Instant};

use sandbox::Engine;
use wire::Capabilities;

use super::stage::SESSION;
use crate::harness::client::Client;
use crate::harness::clusters::own;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};
use crate::harness::proxy::Setup;

on_every_engine!(replicas_and_then_the_primary_go_and_come);

/// One cluster lives through all of it, for starting one takes longest.
fn replicas_and_then_the_primary_go_and_come(engine: Engine) {
    let cluster = own(engine);
    let proxy = Setup::of(&cluster)
        .endpoint("rw", SESSION)
        .endpoint("eventual", "")
        .endpoint("ro", "mode = \"read-only\"")
        .endpoint("fallback", "mode = \"read-only\"\nprimary_fallback = true")
        .start();
    let account = Account::app().schema("app").with(Capabilities::MULTI_STATEMENTS);
    let mut client = account.connect(&proxy.target("rw")).unwrap();
    client.run("CREATE TABLE t (v INT)");
    client.run("INSERT INTO t VALUES (1)");
    client.run("SET @kept = 'literal', time_zone = '+07:00'");
    let id = client.prepare("SELECT v + ? FROM t").unwrap().id;

    // A replica is killed under a read that it has not answered: another node does.
    let mut eventual = account.connect(&proxy.target("eventual")).unwrap();
    eventual.send_query("/* tidemark: node=db2 */ SELECT SLEEP(3)");
    thread::sleep(Duration::from_millis(700));
    cluster.replicas()[0].kill9().unwrap();
    assert_eq!(eventual.read_reply().text_rows(), [[Some("0".to_owned())]]);
    assert_ne!(eventual.route().node, "db2");

    // Nobody notices that it is gone: not by connections that existed, not by prepared statements.
    for _ in 0..10 {
        assert_eq!(client.value("SELECT v FROM t"), "1");
        assert_eq!(client.value("SELECT CONCAT(@kept, @@time_zone)"), "literal+07:00");
        assert!(client.execute(id, &[Param::number(1)], Execution::WithTypes).error().is_none());
        assert_ne!(client.route().node, "db2");
    }

    // Both are gone: the primary reads.
    cluster.replicas()[1].kill9().unwrap();
    for _ in 0..10 {
        assert_eq!(client.value("SELECT v FROM t"), "1");
        assert_eq!(client.route().role, "primary");
    }
    let mut new = account.connect(&proxy.target("rw")).unwrap();
    assert_eq!(new.value("SELECT v FROM t"), "1");
    let mut fallback = account.connect(&proxy.target("fallback")).unwrap();
    assert_eq!(fallback.value("SELECT v FROM t"), "1");
    // It is for reads alone all the same.
    wait(&mut fallback, "the primary reads", |client| {
        client.run("SELECT v FROM t");
        client.route().role == "primary"
    });
    for no_read in
        ["INSERT INTO t VALUES (2)", "BEGIN", "SELECT v FROM t FOR UPDATE", "SET GLOBAL max_connections = 99"]
    {
        assert_eq!(fallback.error(no_read).code, 1290, "{no_read}");
    }
    fallback.run("SET NAMES utf8mb4");
    fallback.run("START TRANSACTION READ ONLY");
    assert_eq!(fallback.value("SELECT v FROM t"), "1");
    assert_eq!(fallback.error("INSERT INTO t VALUES (2)").code, 1290);
    fallback.run("COMMIT");
    assert_eq!(fallback.value("SELECT COUNT(*) FROM t"), "1");
    // An endpoint for reads alone says so, and keeps its session.
    let mut read_only = account.connect(&proxy.target("ro")).unwrap();
    wait(&mut read_only, "an error", |client| client.query("SELECT v FROM t").error().is_some());
    let error = read_only.error("SELECT v FROM t");
    assert_eq!(error.code, 1105, "{error:?}");

    // They come back.
    for replica in cluster.replicas() {
        replica.start().unwrap();
    }
    wait(&mut eventual, "reads on both replicas", |client| {
        // Servers that restarted have forgotten passwords; a client that comes new brings its own.
        account.connect(&proxy.target("rw")).unwrap();
        let nodes: Vec<String> = (0..8).map(|_| node_of(client, "SELECT v FROM t")).collect();
        ["db2", "db3"].iter().all(|name| nodes.iter().any(|node| node == name))
    });
    wait(&mut read_only, "reads again", |client| client.query("SELECT v FROM t").error().is_none());

    // The primary goes: reads go on, writes fail and keep the session, a transaction is lost with words.
    let mut bound = account.connect(&proxy.target("rw")).unwrap();
    bound.run("BEGIN");
    bound.run("INSERT INTO t VALUES (2)");
    cluster.primary().kill9().unwrap();
    let error = bound.error("SELECT v FROM t");
    assert!(error.message.contains("lost"), "{error:?}");
    for _ in 0..5 {
        assert_eq!(eventual.value("SELECT COUNT(*) FROM t"), "1");
    }
    wait(&mut eventual, "an error", |client| client.query("INSERT INTO t VALUES (3)").error().is_some());
    assert_eq!(eventual.value("SELECT COUNT(*) FROM t"), "1");
    cluster.primary().start().unwrap();
    // A session that meets it before some client has told it the password again must connect anew.
    wait(&mut read_only, "writes again", |_| {
        let new = account.try_connect(&proxy.target("rw"));
        new.is_ok_and(|mut client| client.query("INSERT INTO t VALUES (3)").error().is_none())
    });
    eventual.run("INSERT INTO t VALUES (3)");
    assert_eq!(client.value("SELECT CONCAT(@kept, @@time_zone)"), "literal+07:00");
}

fn node_of(client: &mut Client, text: &str) -> String {
    client.run(text);
    client.route().node
}

fn wait(client: &mut Client, what: &str, mut holds: impl FnMut(&mut Client) -> bool) {
    let begin = Instant::now();
    while !holds(client) {
        if begin.elapsed() > Duration::from_secs(20) {
            panic!("there is never {what}: {:?} {:?}", client.route(), client.rows("TIDEMARK SHOW NODES"));
        }
        thread::sleep(Duration::from_millis(50));
    }
}
