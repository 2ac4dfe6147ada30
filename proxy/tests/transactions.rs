//! Transactions through the proxy: where they run, and that what the proxy needs of a connection does not disturb them.
#![cfg(test)]

#[allow(dead_code, reason = "each theme uses a part of it")]
mod harness;

/// Transactions that are split.
mod transactions {
    #[path = "../protocol/recorder.rs"]
    #[allow(dead_code, reason = "a part of it is used here")]
    mod recorder;

    mod isolation;
    mod nodes;
    mod promises;
    mod routes;
    mod same;
    mod stage;
}

use harness::clusters::{caught_up, schema, shared};
use harness::login::Account;
use harness::on_every_engine;
use harness::proxy::Setup;
use sandbox::Engine;

on_every_engine!(a_read_only_transaction_on_a_connection_that_has_only_read);

/// Inside of a transaction MySQL refuses to begin to track GTIDs: the proxy must have asked for it before.
fn a_read_only_transaction_on_a_connection_that_has_only_read(engine: Engine) {
    let cluster = shared(engine);
    let schema = schema(cluster);
    cluster
        .primary()
        .sql(&format!("CREATE TABLE {schema}.t (id INT); INSERT INTO {schema}.t VALUES (7)"))
        .unwrap();
    caught_up(cluster);
    let proxy = Setup::of(cluster).endpoint("rw", "consistency = \"session\"").start();
    for begin in ["START TRANSACTION READ ONLY", "SET autocommit = 0"] {
        let mut client = Account::app().schema(&schema).connect(&proxy.target("rw")).unwrap();
        for _ in 0..10 {
            assert_eq!(client.value("SELECT id FROM t"), "7");
        }
        client.run(begin);
        assert_eq!(client.value("SELECT id FROM t"), "7");
        assert_eq!(client.value("SELECT id + 1 FROM t"), "8");
        client.run("COMMIT");
        client.run("INSERT INTO t VALUES (8)");
        client.run("ROLLBACK");
        client.run("SET autocommit = 1");
        client.run("DELETE FROM t WHERE id = 8");
        assert_eq!(client.value("SELECT id FROM t"), "7");
    }
}
