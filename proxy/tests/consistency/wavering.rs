//! A replica whose lag goes back and forth across `max_lag_ms`: out of rotation it is left alone, and nothing is undone for
//! it.

use std::thread;
use std::time::Duration;

use sandbox::{Engine, Server};

use super::scene::{Scene, settled};
use crate::harness::client::Client;
use crate::harness::clusters::caught_up;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::proxy::Setup;
use crate::harness::stream::Target;
use crate::harness::wait::until;

on_every_engine!(a_lag_that_wavers_about_the_limit_costs_no_read_and_no_connection);

const LIMIT_MS: u64 = 200;

fn lag_ms(client: &mut Client, node: &str) -> u64 {
    let rows = client.rows("TIDEMARK SHOW NODES");
    let row = rows.iter().find(|row| row[0].as_deref() == Some(node)).unwrap();
    assert_eq!(row[3].as_deref(), Some("up"));
    row[4].as_ref().map_or(0, |lag| lag.parse().unwrap())
}

/// What the proxy's clients have open on a server.
fn threads(server: &Server, schema: &str) -> Vec<Option<String>> {
    let mut direct = Account::app().connect(&Target::Tcp(server.address())).unwrap();
    let open = format!(
        "SELECT id FROM information_schema.processlist WHERE user = 'app' AND db = '{schema}' ORDER BY id"
    );
    direct.rows(&open).into_iter().flatten().collect()
}

fn a_lag_that_wavers_about_the_limit_costs_no_read_and_no_connection(engine: Engine) {
    let scene = Scene::new(engine);
    let one = format!("max_lag_ms = {LIMIT_MS}\nmin_replicas = 0\nread_weight = {{ db3 = 0 }}");
    let kept = format!("max_lag_ms = {LIMIT_MS}\nmin_replicas = 1\nread_weight = {{ db3 = 0 }}");
    let session = format!("{one}\nconsistency = \"session\"");
    let proxy = Setup::of(&scene.cluster)
        .endpoint("all", "")
        .endpoint("one", &one)
        .endpoint("kept", &kept)
        .endpoint("session", &session)
        .start();
    scene.table();
    settled(&scene.cluster, &proxy, "all");
    let replica = &scene.cluster.replicas()[0];
    let mut writer = scene.at_primary();
    let mut observer = Account::app().connect(&proxy.target("all")).unwrap();
    let [mut one, mut kept, mut session] = ["one", "kept", "session"].map(|name| scene.client(&proxy, name));
    let read = |client: &mut Client| client.value("SELECT COUNT(*) FROM t");
    for client in [&mut one, &mut kept, &mut session] {
        read(client);
        assert_eq!(client.route().node, "db2");
    }
    let open = threads(replica, &scene.schema);
    let mut id = 0;
    for _ in 0..4 {
        replica.stop_sql_thread().unwrap();
        until("it is late", || {
            id += 1;
            writer.run(format!("INSERT INTO t VALUES ({id}, 0)"));
            // Each is answered, on whichever side of the limit its replica is.
            [&mut one, &mut kept, &mut session].into_iter().for_each(|client| {
                read(client);
            });
            thread::sleep(Duration::from_millis(10));
            lag_ms(&mut observer, "db2") > LIMIT_MS
        });
        for client in [&mut one, &mut session] {
            assert_eq!(read(client), id.to_string());
            assert_eq!((&*client.route().role, &*client.route().reason), ("primary", "no_replica"));
        }
        read(&mut kept);
        assert_eq!(kept.route().node, "db2", "the last one is kept");
        replica.start_sql_thread().unwrap();
        caught_up(&scene.cluster);
        until("it is back", || {
            read(&mut one);
            one.route().node == "db2"
        });
        assert_eq!(read(&mut session), id.to_string());
    }
    assert_eq!(threads(replica, &scene.schema), open, "other connections than before");
    assert!(!proxy.log().contains("node is down"));
}
