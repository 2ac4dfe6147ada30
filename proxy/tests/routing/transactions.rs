//! Transactions: where they run, by whatever words they begin and end.

use sandbox::Engine;
use wire::Status;

use super::stage::{Stage, expect, route_of};
use crate::harness::login::Tls;
use crate::harness::on_every_engine;
use crate::harness::prepared::Execution;
use crate::harness::wait::until;

on_every_engine!(
    from_begin_to_end,
    errors_do_not_end_a_transaction,
    autocommit_off_in_every_spelling,
    read_only_transactions_stay_on_one_replica,
    the_next_transaction_only,
    implicit_commits,
    chains,
    released_sessions,
    xa_transactions,
    a_procedure_that_leaves_a_transaction_open,
    a_client_that_vanishes_ends_its_wait,
    a_client_that_vanishes_ends_its_read,
    a_client_that_vanishes_leaves_no_transaction,
);

fn from_begin_to_end(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    for (begin, end) in [
        ("BEGIN", "COMMIT"),
        ("begin work", "rollback work"),
        ("START TRANSACTION", "COMMIT"),
        ("START TRANSACTION READ WRITE", "ROLLBACK"),
        ("START TRANSACTION WITH CONSISTENT SNAPSHOT", "COMMIT"),
        ("/* a */ BEGIN /* b */", "COMMIT /* c */"),
        ("BEGIN;", "COMMIT;"),
        ("BEGIN; SELECT 1", "SELECT 1; COMMIT"),
    ] {
        expect(
            &mut client,
            &[
                ("replica", "SELECT v FROM t"),
                ("primary", begin),
                ("primary", "SELECT v FROM t"),
                ("primary", "SAVEPOINT a"),
                ("primary", "UPDATE t SET v = v + 1"),
                ("primary", "SELECT 1"),
                ("primary", "ROLLBACK TO a"),
                ("primary", "SHOW TABLES"),
                ("primary", "RELEASE SAVEPOINT a"),
                ("primary", end),
                ("replica", "SELECT v FROM t"),
            ],
        );
    }
    assert_eq!(client.value("SELECT v FROM t"), "1");
}

fn errors_do_not_end_a_transaction(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    client.run("BEGIN");
    client.run("UPDATE t SET v = 5");
    for error in
        ["SELECT no_such_column", "INSERT INTO t VALUES (1, 1)", "SELEC", "SELECT * FROM no_such_table"]
    {
        client.error(error);
        assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "primary", "{error}");
        assert_eq!(client.value("SELECT v FROM t"), "5");
    }
    assert!(client.prepare("SELECT no_such_column").is_err());
    assert_eq!(client.value("SELECT v FROM t"), "5");
    client.run("ROLLBACK");
    assert_eq!(client.value("SELECT v FROM t"), "1");
}

fn autocommit_off_in_every_spelling(engine: Engine) {
    let stage = Stage::new(engine);
    for spelling in [
        "SET autocommit = 0",
        "set AUTOCOMMIT=OFF",
        "SET @@autocommit = 0",
        "SET SESSION autocommit = FALSE",
        "SET @@session.autocommit := 0",
        "SET LOCAL `autocommit` = 0",
        "SET sql_mode = '', autocommit = 0",
        "SET @a = 1, autocommit = 0, @b = 2",
        "SET /*!50001 autocommit = 0 */",
        "SELECT 1; SET autocommit = 0; SELECT 2",
        "prepared",
        "PREPARE off FROM 'SET autocommit = 0'; EXECUTE off",
        "SET @zero = 0; SET autocommit = @zero",
    ] {
        let mut client = stage.client();
        client.run("SELECT 1");
        if spelling == "prepared" {
            let id = client.prepare("SET autocommit = 0").unwrap().id;
            client.execute(id, &[], Execution::WithTypes);
        } else {
            client.run(spelling);
        }
        assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "primary", "{spelling}");
        assert!(!client.status.contains(Status::AUTOCOMMIT), "{spelling}");
        client.run("UPDATE t SET v = 99");
        assert_eq!(client.value("SELECT v FROM t"), "99", "{spelling}");
        client.run("ROLLBACK");
        assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "primary", "{spelling}");
        client.run("COMMIT");
        client.run("SET autocommit = 1");
        assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "replica", "{spelling}");
        assert_eq!(client.value("SELECT v FROM t"), "1", "{spelling}");
    }
}

fn read_only_transactions_stay_on_one_replica(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    for begin in ["START TRANSACTION READ ONLY", "START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT"] {
        for _ in 0..4 {
            client.run("UPDATE t SET v = v + 1");
            let expected = client.value("SELECT v FROM t");
            client.run(begin);
            let node = client.route().node;
            assert_eq!(client.route().role, "replica");
            for _ in 0..6 {
                assert_eq!(client.value("SELECT v FROM t"), expected);
                assert_eq!(client.route().node, node);
            }
            assert_eq!(client.error("UPDATE t SET v = 0").code, 1792);
            assert_eq!(client.error("SELECT no_such_column").code, 1054);
            client.run("SET @seen = 5");
            assert_eq!(client.value("SELECT @seen"), "5");
            assert_eq!(client.route().node, node);
            client.run("SET sql_select_limit = 1");
            client.run("COMMIT");
            assert_eq!(client.route().node, node);
            // What was set inside is the session's, wherever it reads next.
            for _ in 0..4 {
                assert_eq!(client.value("SELECT @@sql_select_limit"), "1");
                assert_eq!(client.value("SELECT @seen"), "5");
            }
            client.run("SET sql_select_limit = DEFAULT");
        }
    }
}

fn the_next_transaction_only(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    client.run("SET TRANSACTION READ ONLY");
    client.run("BEGIN");
    assert_eq!(client.error("UPDATE t SET v = 0").code, 1792);
    client.run("COMMIT");
    client.run("UPDATE t SET v = 2");
    client.run("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED");
    client.run("START TRANSACTION");
    client.run("SELECT v FROM t");
    client.run("COMMIT");
    assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "replica");
    // For the session: its transactions begin read only until it is taken back.
    client.run("SET SESSION TRANSACTION READ ONLY");
    client.run("BEGIN");
    assert_eq!(client.error("UPDATE t SET v = 0").code, 1792);
    client.run("ROLLBACK");
    client.run("SET SESSION TRANSACTION READ WRITE");
    client.run("UPDATE t SET v = 3");
    assert_eq!(client.value("SELECT v FROM t"), "3");
}

fn implicit_commits(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    for ends in [
        "CREATE TABLE implicit (id INT)",
        "DROP TABLE implicit",
        "ANALYZE TABLE t",
        "START TRANSACTION; COMMIT",
    ] {
        client.run("BEGIN");
        client.run("UPDATE t SET v = v + 1");
        client.run(ends);
        assert!(!client.status.contains(Status::IN_TRANS), "{ends}");
        assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "replica", "{ends}");
    }
    assert_eq!(client.value("SELECT v FROM t"), "5");
}

fn chains(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    client.run("BEGIN");
    expect(
        &mut client,
        &[
            ("primary", "UPDATE t SET v = 2"),
            ("primary", "COMMIT AND CHAIN"),
            ("primary", "SELECT v FROM t"),
            ("primary", "ROLLBACK AND CHAIN"),
            ("primary", "SELECT v FROM t"),
            ("primary", "COMMIT"),
            ("replica", "SELECT v FROM t"),
            ("primary", "SET completion_type = 'CHAIN'"),
            ("primary", "BEGIN"),
            ("primary", "COMMIT"),
            ("primary", "SELECT v FROM t"),
            ("primary", "SET completion_type = 'NO_CHAIN'"),
            ("primary", "COMMIT"),
            ("replica", "SELECT v FROM t"),
        ],
    );
}

fn released_sessions(engine: Engine) {
    let stage = Stage::new(engine);
    for (end, expected) in [("COMMIT RELEASE", "2"), ("ROLLBACK RELEASE", "2")] {
        let mut client = stage.client();
        client.run("BEGIN");
        client.run("UPDATE t SET v = v + 1");
        client.run(end);
        assert!(client.wait_for_end().is_empty());
        assert_eq!(stage.client().value("SELECT v FROM t FOR UPDATE"), expected, "{end}");
    }
}

fn xa_transactions(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    let name = format!("'{}'", stage.schema);
    let xa = |verb: &str| format!("XA {verb} {name}");
    let texts = [xa("START"), xa("END"), xa("PREPARE"), xa("COMMIT"), xa("ROLLBACK"), xa("BEGIN")];
    let [start, end, prepare, commit, rollback, begin] = texts.each_ref().map(String::as_str);
    expect(
        &mut client,
        &[
            ("replica", "SELECT 1"),
            ("primary", start),
            ("primary", "UPDATE t SET v = 8"),
            ("primary", "SELECT v FROM t"),
            ("primary", end),
            ("primary", prepare),
            ("primary", commit),
            ("replica", "SELECT v FROM t"),
            ("primary", begin),
            ("primary", "UPDATE t SET v = 9"),
            ("primary", end),
            ("primary", rollback),
            ("replica", "SELECT v FROM t"),
        ],
    );
    assert_eq!(client.value("SELECT v FROM t"), "8");
    // Prepared by one session and committed by another.
    client.run(start);
    client.run("UPDATE t SET v = 10");
    client.run(end);
    client.run(prepare);
    client.quit();
    let mut other = stage.client();
    let begun = std::time::Instant::now();
    while let Some(error) = other.query(commit).error() {
        // The servers detach it when they notice that the first session has gone.
        assert!(begun.elapsed().as_secs() < 10, "{error:?}");
    }
    assert_eq!(other.value("SELECT v FROM t"), "10");
}

fn a_procedure_that_leaves_a_transaction_open(engine: Engine) {
    let stage = Stage::new(engine);
    stage.on_primary("CREATE PROCEDURE opens() BEGIN START TRANSACTION; UPDATE t SET v = 50; END");
    let mut client = stage.client();
    client.run("CALL opens()");
    assert!(client.status.contains(Status::IN_TRANS));
    assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "primary");
    assert_eq!(client.value("SELECT v FROM t"), "50");
    client.run("ROLLBACK");
    assert_eq!(client.value("SELECT v FROM t"), "1");
}

/// A server looks now and then whether the client of a statement that waits has left, and it must see that it has.
fn a_client_that_vanishes_ends_its_wait(engine: Engine) {
    let stage = Stage::new(engine);
    let lock = stage.schema.clone();
    let mut holder = stage.client();
    holder.run(format!("SELECT GET_LOCK('{lock}', 0)"));
    for account in [stage.account(), stage.account().tls(Tls::Yes)] {
        let mut gone = account.connect(&stage.proxy.target("rw")).unwrap();
        gone.send_query(format!("SELECT GET_LOCK(\"{lock}\", 600)"));
        let waits = format!(
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT GET_LOCK(\"{lock}%'"
        );
        let primary = stage.cluster.primary();
        until("it waits", || primary.value(&waits).unwrap() == "1");
        drop(gone);
        until("it does not wait any more", || primary.value(&waits).unwrap() == "0");
    }
    assert_eq!(holder.value(&format!("SELECT RELEASE_LOCK('{lock}')")), "1");
}

/// A server does not look after the client of a read that is at work. On a replica it would hold up what replication does to
/// the table.
fn a_client_that_vanishes_ends_its_read(engine: Engine) {
    let stage = Stage::new(engine);
    let mut gone = stage.client();
    assert_eq!(route_of(&mut gone, "SELECT v FROM t").0, "replica");
    // It looks every five seconds when it sleeps, but goes on then with what is next.
    let sleeps = ["SLEEP(600)"; 20].join(" + ");
    gone.send_query(format!("SELECT 'gone' FROM t WHERE {sleeps} = 9"));
    let runs = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT \\'gone\\'%'";
    let replicas = stage.cluster.replicas();
    let running = || replicas.iter().filter(|replica| replica.value(runs).unwrap() == "1").count();
    until("it runs", || running() == 1);
    drop(gone);
    until("it runs no more", || running() == 0);
}

fn a_client_that_vanishes_leaves_no_transaction(engine: Engine) {
    let stage = Stage::new(engine);
    let mut gone = stage.client();
    gone.run("BEGIN");
    gone.run("UPDATE t SET v = 60");
    drop(gone);
    let mut other = stage.client();
    other.run("SET innodb_lock_wait_timeout = 10");
    other.run("UPDATE t SET v = v + 1");
    assert_eq!(other.value("SELECT v FROM t"), "2");
}
