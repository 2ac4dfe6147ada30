//! What the statement's text decides, seen on the node it really ran on.

use sandbox::Engine;

use super::stage::{Stage, expect, route_of};
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};

on_every_engine!(
    reads_and_writes,
    what_asks_about_the_statement_before,
    several_statements_in_a_packet,
    hints,
    prepared_statements_go_where_their_text_belongs,
    stored_functions_that_write,
    a_view_that_writes_is_found_out_by_the_replica,
);

fn reads_and_writes(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    expect(
        &mut client,
        &[
            ("replica", "SELECT * FROM t"),
            ("replica", "  (SELECT id FROM t) UNION (SELECT 2)"),
            ("replica", "WITH c AS (SELECT * FROM t) SELECT * FROM c"),
            ("replica", "/* DELETE */ SELECT 'INSERT INTO' -- UPDATE"),
            ("replica", "SELECT NOW(), RAND(), UUID(), DATABASE(), USER(), VERSION()"),
            ("replica", "DO SLEEP(0)"),
            ("replica", "SHOW TABLES"),
            ("replica", "DESCRIBE t"),
            ("replica", "EXPLAIN SELECT * FROM t"),
            ("replica", "SELECT @@sql_mode, @@session.time_zone, @@server_id"),
            ("replica", "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 't'"),
            ("primary", "SELECT * FROM t FOR UPDATE"),
            ("primary", "SELECT * FROM t LOCK IN SHARE MODE"),
            ("primary", "SELECT * FROM t WHERE id IN (SELECT id FROM t FOR UPDATE)"),
            ("primary", "SELECT id INTO @x FROM t LIMIT 1"),
            ("primary", "INSERT INTO t VALUES (2, 2)"),
            ("primary", "UPDATE t SET v = 3 WHERE id = 2"),
            ("primary", "REPLACE INTO t VALUES (2, 4)"),
            ("primary", "DELETE FROM t WHERE id = 2"),
            ("primary", "CREATE TABLE made (id INT)"),
            ("primary", "ALTER TABLE made ADD COLUMN v INT"),
            ("primary", "TRUNCATE TABLE made"),
            ("primary", "ANALYZE TABLE made"),
            ("primary", "DROP TABLE made"),
            ("primary", "SELECT @@global.sql_mode"),
            ("primary", "SELECT @@read_only"),
            ("primary", "SHOW VARIABLES LIKE 'read_only'"),
            ("primary", "SHOW STATUS LIKE 'Uptime'"),
            ("primary", "SHOW PROCESSLIST"),
            ("primary", "SELECT COUNT(*) > 0 FROM mysql.user"),
            ("primary", "SHOW GRANTS"),
            ("replica", "SELECT COUNT(*) FROM t"),
        ],
    );
    // A framework that looks whether it may write is told so.
    assert_eq!(client.value("SELECT @@read_only"), "0");
    assert_eq!(client.rows("SHOW VARIABLES LIKE 'read_only'")[0][1].as_deref(), Some("OFF"));
}

fn what_asks_about_the_statement_before(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    for number in 10..16 {
        client.run(format!("INSERT INTO t VALUES ({number}, 0)"));
    }
    for _ in 0..6 {
        client.run("SELECT SQL_CALC_FOUND_ROWS id FROM t ORDER BY id LIMIT 2");
        assert_eq!(client.value("SELECT FOUND_ROWS()"), "7");
        client.run("SELECT CAST('abc' AS SIGNED)");
        assert_eq!(client.rows("SHOW WARNINGS")[0][1].as_deref(), Some("1292"));
        client.run("SELECT CAST('abc' AS SIGNED)");
        assert_eq!(client.value("SELECT @@warning_count"), "1");
        client.run("UPDATE t SET v = v + 1 WHERE id >= 10");
        assert_eq!(client.value("SELECT ROW_COUNT()"), "6");
        client.error("SELECT no_such_column");
        assert_eq!(client.rows("SHOW ERRORS")[0][1].as_deref(), Some("1054"));
    }
    client.run("CREATE TABLE ids (id INT AUTO_INCREMENT PRIMARY KEY)");
    client.run("INSERT INTO ids VALUES (55)");
    client.run("INSERT INTO ids VALUES (NULL)");
    for _ in 0..4 {
        client.run("SELECT 1");
        assert_eq!(client.value("SELECT LAST_INSERT_ID()"), "56");
        assert_eq!(client.value("SELECT @@identity"), "56");
    }
}

fn several_statements_in_a_packet(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    expect(
        &mut client,
        &[
            ("replica", "SELECT 1; SELECT 2"),
            ("primary", "SELECT 1; UPDATE t SET v = 2"),
            ("replica", "SELECT 1"),
            ("primary", "SET @a = 1; SELECT 1"),
            ("replica", "SELECT v FROM t; SELECT @@sql_mode;"),
            ("primary", "SELECT 1; SELECT * FROM t FOR UPDATE"),
            // State set in the middle is the session's afterwards.
            ("primary", "SELECT 1; SET sql_mode = 'ANSI_QUOTES'; SELECT 2"),
            ("replica", "SELECT \"v\" FROM t"),
        ],
    );
    // An error in the middle: what came before it happened.
    client.query("SET time_zone = '+09:00'; SELECT no_such_column; SET time_zone = '+10:00'");
    for _ in 0..3 {
        assert_eq!(client.value("SELECT @@time_zone"), "+09:00");
    }
    client.query("BEGIN; UPDATE t SET v = 77; SELECT no_such_column; COMMIT");
    assert_eq!(route_of(&mut client, "SELECT v FROM t"), ("primary".to_owned(), "in_transaction".to_owned()));
    client.run("ROLLBACK");
    assert_eq!(client.value("SELECT v FROM t"), "2");
}

fn hints(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    expect(
        &mut client,
        &[
            ("primary", "/*FORCE_MASTER*/ SELECT 1"),
            ("primary", "SELECT /* to master */ 1"),
            ("primary", "SELECT 1 /* force_master */"),
            ("primary", "/* tidemark: node=db1 */ SELECT 1"),
            ("replica", "/*FORCE_SLAVE*/ SELECT 1"),
            ("replica", "/* tidemark: consistency=global, timeout_us=1000000 */ SELECT v FROM t"),
            // Toward a replica, what writes is not obeyed.
            ("primary", "/*FORCE_SLAVE*/ UPDATE t SET v = 5"),
            ("primary", "/* tidemark: node=db2 */ UPDATE t SET v = 6"),
        ],
    );
    for node in ["db2", "db3"] {
        for _ in 0..5 {
            client.run(format!("/* tidemark: node={node} */ SELECT v FROM t"));
            assert_eq!(client.route().node, node);
        }
    }
    client.run("BEGIN");
    expect(
        &mut client,
        &[("primary", "/*FORCE_SLAVE*/ SELECT 1"), ("primary", "/* tidemark: node=db3 */ SELECT 1")],
    );
    client.run("COMMIT");
}

fn prepared_statements_go_where_their_text_belongs(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    let read = client.prepare("SELECT v FROM t WHERE id = ?").unwrap().id;
    let write = client.prepare("UPDATE t SET v = ? WHERE id = 1").unwrap().id;
    for number in 0..10 {
        client.execute(write, &[Param::number(number)], Execution::WithTypes);
        assert_eq!(client.route().role, "primary");
        let reply = client.execute(read, &[Param::number(1)], Execution::WithTypes);
        assert!(reply.error().is_none());
        assert_eq!(client.route().role, "replica");
    }
    client.run("BEGIN");
    client.execute(read, &[Param::number(1)], Execution::WithTypes);
    assert_eq!(client.route().role, "primary");
    client.run("COMMIT");
    client.execute(read, &[Param::number(1)], Execution::WithTypes);
    assert_eq!(client.route().role, "replica");
}

fn stored_functions_that_write(engine: Engine) {
    let stage = Stage::new(engine);
    stage.on_primary(
        "CREATE FUNCTION writes() RETURNS INT MODIFIES SQL DATA BEGIN UPDATE t SET v = v + 1; RETURN 1; END; \
         CREATE FUNCTION looks() RETURNS INT READS SQL DATA RETURN (SELECT MAX(v) FROM t)",
    );
    let mut client = stage.client();
    // Whether a function writes its name does not tell.
    expect(
        &mut client,
        &[("primary", "SELECT writes()"), ("primary", "SELECT looks()"), ("replica", "SELECT v FROM t")],
    );
    assert_eq!(client.value("SELECT v FROM t"), "2");
}

fn a_view_that_writes_is_found_out_by_the_replica(engine: Engine) {
    let stage = Stage::new(engine);
    stage.on_primary(
        "CREATE FUNCTION writes() RETURNS INT MODIFIES SQL DATA BEGIN UPDATE t SET v = v + 1; RETURN 1; END; \
         CREATE VIEW looks_harmless AS SELECT writes() AS w",
    );
    let mut client = stage.client();
    for expected in ["2", "3"] {
        assert_eq!(client.value("SELECT w FROM looks_harmless"), "1");
        assert_eq!(client.route().reason, "read_only_refused");
        assert_eq!(client.value("SELECT v FROM t"), expected);
    }
}
