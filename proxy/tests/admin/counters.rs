//! What is counted is what happened.

use std::path::Path;
use std::time::{Duration, Instant};

use sandbox::Engine;

use super::http::{granted, samples, sum};
use crate::harness::clusters;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::proxy::Setup;

on_every_engine!(statements_outcomes_and_connections, nodes_their_roles_and_a_change_of_the_primary);

/// Waits until the samples of these words have this sum.
fn settles(admin: &Path, words: &str, wanted: f64) {
    let begin = Instant::now();
    while (sum(admin, words) - wanted).abs() > f64::EPSILON {
        assert!(begin.elapsed() < Duration::from_secs(10), "{words} {wanted}: {:?}", samples(admin, words));
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn statements_outcomes_and_connections(engine: Engine) {
    let cluster = clusters::shared(engine);
    let schema = clusters::schema(cluster);
    let proxy = Setup::of(cluster)
        .endpoint("app", "consistency = \"session\"\nconsistency_timeout_us = 0")
        .admin("")
        .start();
    let admin = proxy.admin();
    let mut client = Account::app().schema(&schema).connect(&proxy.target("app")).unwrap();
    settles(&admin, "tidemark_client_connections{endpoint=\"app\"}", 1.0);
    settles(&admin, "tidemark_backend_connections{", 1.0);
    client.run("CREATE TABLE t (id INT PRIMARY KEY)");
    for id in 0..10 {
        client.run(format!("INSERT INTO t VALUES ({id})"));
        assert_eq!(client.value("SELECT COUNT(*) FROM t"), (id + 1).to_string());
    }
    client.run("CREATE TEMPORARY TABLE u (id INT)");
    // A statement is counted when its answer is on its way, so the client may have it first.
    settles(&admin, "tidemark_statements_total{", 22.0);
    assert_eq!(sum(&admin, "tidemark_statements_total{endpoint=\"app\",node=\"db1\",role=\"primary\""), 12.0);
    assert_eq!(sum(&admin, "tidemark_consistency_outcomes_total{"), 10.0);
    let outcome = |name: &str| {
        sum(
            &admin,
            &format!(
                "tidemark_consistency_outcomes_total{{endpoint=\"app\",level=\"session\",outcome=\"{name}\"}}"
            ),
        )
    };
    assert_eq!(outcome("fresh") + outcome("waited"), 10.0);
    let waits = sum(&admin, "tidemark_consistency_wait_seconds_count{endpoint=\"app\",level=\"session\"}");
    assert!(waits >= outcome("waited"), "{waits}");
    settles(&admin, "tidemark_pins_total{endpoint=\"app\",reason=\"pinned_temporary_table\"}", 1.0);
    let open = sum(&admin, "tidemark_backend_connections{");
    assert!((2.0..=3.0).contains(&open), "{open}");

    let sessions = granted(&admin, "GET", "/api/sessions", "");
    assert_eq!((&sessions["total"], &sessions["sessions"][0]["user"]), (&1.into(), &"app".into()));
    client.quit();
    settles(&admin, "tidemark_client_connections{", 0.0);
    settles(&admin, "tidemark_backend_connections{", 0.0);
    assert_eq!(granted(&admin, "GET", "/api/sessions", "")["total"], 0);
}

#[test]
fn a_running_statement_makes_its_connection_active() {
    let cluster = clusters::shared(Engine::Mariadb);
    let proxy = Setup::of(cluster).endpoint("app", "").admin("").start();
    let admin = proxy.admin();
    let mut client = Account::app().connect(&proxy.target("app")).unwrap();
    client.send_query("SELECT SLEEP(2)");
    let active = || {
        samples(&admin, "tidemark_backend_connections{")
            .iter()
            .filter(|(name, _)| name.contains("state=\"active\""))
            .map(|(_, value)| value)
            .sum::<f64>()
    };
    let begin = Instant::now();
    while active() < 1.0 {
        assert!(begin.elapsed() < Duration::from_millis(1500), "never active");
    }
    let running = granted(&admin, "GET", "/api/sessions", "")["sessions"][0]["running_on"].clone();
    assert!(running.as_str().is_some_and(|node| node.starts_with("db")), "{running}");
    client.read_reply();
    // The client may have its reply before the session has noted that.
    let begin = Instant::now();
    while active() > 0.0 {
        assert!(begin.elapsed() < Duration::from_secs(5), "still active");
    }
}

fn nodes_their_roles_and_a_change_of_the_primary(engine: Engine) {
    let cluster = clusters::own(engine);
    let proxy = Setup::of(&cluster).endpoint("app", "").admin("").start();
    let admin = proxy.admin();
    settles(&admin, "tidemark_node_up{", 3.0);
    assert_eq!(sum(&admin, "tidemark_node_role{node=\"db1\",role=\"primary\"}"), 1.0);
    assert_eq!(sum(&admin, "tidemark_node_role{"), 3.0, "each has one role");
    assert_eq!(sum(&admin, "tidemark_failovers_total"), 0.0);
    let begin = Instant::now();
    while samples(&admin, "tidemark_probe_round_trip_seconds{").len() < 3 {
        assert!(begin.elapsed() < Duration::from_secs(5), "no round trips");
    }
    assert!(samples(&admin, "tidemark_node_lag_seconds{").len() >= 2);
    cluster.promote(&cluster.replicas()[0]).unwrap();
    settles(&admin, "tidemark_node_role{node=\"db2\",role=\"primary\"}", 1.0);
    settles(&admin, "tidemark_failovers_total", 1.0);
    cluster.replicas()[1].kill9().unwrap();
    settles(&admin, "tidemark_node_up{node=\"db3\"}", 0.0);
}
