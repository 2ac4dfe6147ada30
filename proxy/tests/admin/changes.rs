//! Changes while a session is open.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use sandbox::Engine;

use super::http::{granted, request};
use crate::harness::client::Client;
use crate::harness::clusters;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::proxy::Setup;

on_every_engine!(a_level_and_its_timeout_are_in_force_at_the_next_statement);

/// The nodes that so many reads of a session went to.
fn nodes_of(client: &mut Client, reads: usize) -> BTreeSet<String> {
    (0..reads)
        .map(|_| {
            client.run("SELECT 1");
            client.rows("TIDEMARK SHOW ROUTE")[0][0].clone().unwrap()
        })
        .collect()
}

fn set<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

#[test]
fn weights_and_drains_move_the_reads_of_an_open_session_at_once() {
    let cluster = clusters::shared(Engine::Mariadb);
    let proxy = Setup::of(cluster).endpoint("app", "").admin("").start();
    let admin = proxy.admin();
    let mut client = Account::app().connect(&proxy.target("app")).unwrap();
    assert_eq!(nodes_of(&mut client, 40), set(["db2", "db3"]));

    granted(&admin, "PATCH", "/api/endpoints/app", r#"{"read_weight": {"db2": 0}}"#);
    assert_eq!(nodes_of(&mut client, 20), set(["db3"]));
    granted(
        &admin,
        "PATCH",
        "/api/endpoints/app",
        r#"{"read_weight": {"db1": 1000, "db2": 1000, "db3": 0}}"#,
    );
    assert_eq!(nodes_of(&mut client, 40), set(["db1", "db2"]));
    granted(
        &admin,
        "PATCH",
        "/api/endpoints/app",
        r#"{"read_weight": {"db1": null, "db2": null, "db3": null}}"#,
    );

    granted(&admin, "POST", "/api/nodes/db3/drain", "");
    assert_eq!(nodes_of(&mut client, 20), set(["db2"]));
    granted(&admin, "POST", "/api/nodes/db2/drain", "");
    assert_eq!(nodes_of(&mut client, 5), set(["db1"]), "no replica is left");
    granted(&admin, "POST", "/api/nodes/db2/undrain", "");
    granted(&admin, "POST", "/api/nodes/db3/undrain", "");
    assert_eq!(nodes_of(&mut client, 40), set(["db2", "db3"]));
}

fn a_level_and_its_timeout_are_in_force_at_the_next_statement(engine: Engine) {
    let cluster = clusters::own(engine);
    let schema = clusters::schema(&cluster);
    cluster.primary().sql(&format!("CREATE TABLE {schema}.t (id INT PRIMARY KEY)")).unwrap();
    clusters::caught_up(&cluster);
    let lines = "consistency = \"session\"\nconsistency_timeout_us = 1000\non_timeout = \"error\"";
    let proxy = Setup::of(&cluster).endpoint("app", lines).admin("").start();
    let admin = proxy.admin();
    let patch = |body: &str| granted(&admin, "PATCH", "/api/endpoints/app", body);
    let mut client = Account::app().schema(&schema).connect(&proxy.target("app")).unwrap();
    cluster.replicas().iter().for_each(|replica| replica.stop_sql_thread().unwrap());
    client.run("INSERT INTO t VALUES (1)");

    let error = client.error("SELECT COUNT(*) FROM t").message;
    assert!(error.contains("within") && error.contains("on_timeout = \"error\""), "{error}");

    patch(r#"{"on_timeout": "primary"}"#);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "1");
    patch(r#"{"on_timeout": "stale"}"#);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "0");

    // The wait itself changes, too.
    patch(r#"{"on_timeout": "primary", "consistency_timeout_us": 300000}"#);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "1");
    let waited: u64 = client.rows("TIDEMARK SHOW ROUTE")[0][3].as_ref().unwrap().parse().unwrap();
    assert!(waited >= 300_000, "{waited}");
    patch(r#"{"consistency_timeout_us": 1}"#);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "1");
    let waited: u64 = client.rows("TIDEMARK SHOW ROUTE")[0][3].as_ref().unwrap().parse().unwrap();
    assert!(waited < 300_000, "{waited}");

    patch(r#"{"consistency": "eventual"}"#);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "0");
    patch(r#"{"consistency": "session"}"#);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "1");
    cluster.replicas().iter().for_each(|replica| replica.start_sql_thread().unwrap());
    clusters::caught_up(&cluster);
    patch(r#"{"consistency_timeout_us": 0}"#);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "1");
    assert_ne!(client.rows("TIDEMARK SHOW ROUTE")[0][0].as_deref(), Some("db1"));
}

#[test]
fn a_level_that_a_node_cannot_keep_is_refused() {
    let cluster = clusters::own(Engine::Mariadb);
    let replica = &cluster.replicas()[0];
    // It replicates by file and offset now, and its position says nothing.
    replica.sql("STOP SLAVE; CHANGE MASTER TO MASTER_USE_GTID = no; START SLAVE").unwrap();
    let proxy = Setup::of(&cluster).endpoint("app", "").admin("").start();
    let (status, body) =
        request(&proxy.admin(), "PATCH", "/api/endpoints/app", r#"{"consistency": "session"}"#);
    assert_eq!(status, 409, "{body}");
    for words in ["node db2", "MASTER_USE_GTID = slave_pos", "eventual"] {
        assert!(body.contains(words), "{words}: {body}");
    }
    let mut client = Account::app().connect(&proxy.target("app")).unwrap();
    let level = |client: &mut Client| {
        let rows = client.rows("TIDEMARK SHOW STATUS");
        rows.into_iter().find(|row| row[0].as_deref() == Some("consistency")).unwrap()[1].clone().unwrap()
    };
    assert_eq!(level(&mut client), "eventual");
}

#[test]
fn a_signal_and_a_request_read_the_file_anew() {
    let cluster = clusters::shared(Engine::Mariadb);
    let proxy = Setup::of(cluster).endpoint("app", "max_lag_ms = 1111").admin("").start();
    let admin = proxy.admin();
    let text = fs::read_to_string(proxy.config()).unwrap();
    fs::write(proxy.config(), text.replace("1111", "2222")).unwrap();
    proxy.signal("HUP");
    proxy.wait_for_log("max_lag_ms 1111 -> 2222");
    let max_lag_ms =
        || granted(&admin, "GET", "/api/status", "")["endpoints"][0]["settings"]["max_lag_ms"].clone();
    assert_eq!(max_lag_ms(), 2222);

    fs::write(proxy.config(), text.replace("max_lag_ms", "max_lag")).unwrap();
    proxy.signal("HUP");
    proxy.wait_for_log("unknown key max_lag");
    assert_eq!(max_lag_ms(), 2222);

    fs::write(proxy.config(), text.replace("1111", "3333")).unwrap();
    let answer = granted(&admin, "POST", "/api/reload", "");
    assert_eq!(answer["applied"][0], "endpoint app: max_lag_ms 2222 -> 3333");
    assert_eq!(max_lag_ms(), 3333);
}

#[test]
fn it_is_ready_until_it_is_asked_to_stop() {
    let cluster = clusters::shared(Engine::Mariadb);
    let proxy = Setup::of(cluster).endpoint("app", "").admin("").start();
    let admin = proxy.admin();
    assert_eq!(request(&admin, "GET", "/readyz", ""), (200, "ready\n".to_owned()));
    // A transaction keeps the proxy for a while.
    let mut client = Account::app().connect(&proxy.target("app")).unwrap();
    client.run("BEGIN");
    proxy.signal("TERM");
    proxy.wait_for_log("draining");
    let (status, body) = request(&admin, "GET", "/readyz", "");
    assert_eq!((status, body.contains("the proxy is stopping")), (503, true), "{body}");
    client.run("COMMIT");
    let begin = std::time::Instant::now();
    while proxy.is_running() {
        assert!(begin.elapsed() < Duration::from_secs(10), "it does not stop");
        std::thread::sleep(Duration::from_millis(10));
    }
}
