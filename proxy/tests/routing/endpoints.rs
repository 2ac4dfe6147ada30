//! Endpoints that only read.

use sandbox::Engine;

use crate::harness::clusters::{caught_up, schema, shared};
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};
use crate::harness::proxy::Setup;

on_every_engine!(a_read_only_endpoint);

fn a_read_only_endpoint(engine: Engine) {
    let cluster = shared(engine);
    let schema = schema(cluster);
    cluster
        .primary()
        .sql(&format!("CREATE TABLE {schema}.t (v INT); INSERT INTO {schema}.t VALUES (1)"))
        .unwrap();
    caught_up(cluster);
    let proxy = Setup::of(cluster).endpoint("ro", "mode = \"read-only\"\nconsistency = \"session\"").start();
    let account = Account::app().schema(&schema);
    let mut client = account.connect(&proxy.target("ro")).unwrap();
    for write in
        ["INSERT INTO t VALUES (2)", "CREATE TABLE u (id INT)", "UPDATE t SET v = 3", "DELETE FROM t"]
    {
        let error = client.error(write);
        assert_eq!(error.code, 1290, "{write}: {error:?}");
        assert_eq!(client.route().role, "replica", "{write}");
    }
    let id = client.prepare("INSERT INTO t VALUES (?)").unwrap().id;
    let reply = client.execute(id, &[Param::number(2)], Execution::WithTypes);
    assert_eq!(reply.error().unwrap().code, 1290);
    // Everything else works, on replicas.
    for text in [
        "SELECT v FROM t",
        "BEGIN",
        "SELECT v FROM t",
        "COMMIT",
        "SET time_zone = '+02:00'",
        "SET @a = 5",
        "SELECT @a := @a + 1",
        "SHOW STATUS LIKE 'Uptime'",
        "SELECT @@read_only",
        "CREATE TEMPORARY TABLE temporary (id INT)",
        "SELECT * FROM temporary",
        "DROP TEMPORARY TABLE temporary",
        "SELECT LAST_INSERT_ID(), ROW_COUNT()",
    ] {
        let error = client.query(text).error();
        // MySQL's super_read_only lets nobody make temporary tables from a SELECT, but this is none.
        assert_eq!(error, None, "{text}");
        assert_eq!(client.route().role, "replica", "{text}");
    }
    for _ in 0..4 {
        assert_eq!(client.value("SELECT @@time_zone"), "+02:00");
        assert_eq!(client.value("SELECT @a"), "6");
        assert_eq!(client.value("SELECT @@read_only"), "1");
    }
}
