//! Statements as text, for clients of every combination of capabilities.

use sandbox::Engine;
use wire::{Capabilities, CommandCode};

use super::recorder::{Recorder, Stage};
use crate::harness::login::Account;
use crate::harness::on_every_engine;

on_every_engine!(
    every_capability,
    commands_that_are_no_statements,
    columns_and_rows_of_every_kind,
    statements_with_attributes,
);

/// Capabilities that change what replies look like or what statements may do.
const CROSSED: [Capabilities; 5] = [
    Capabilities::DEPRECATE_EOF,
    Capabilities::SESSION_TRACK,
    Capabilities::MULTI_STATEMENTS,
    Capabilities::PS_MULTI_RESULTS,
    Capabilities::FOUND_ROWS,
];

/// Those that hardly meet the others: each is on in half of the combinations.
const ADDED: [Capabilities; 2] = [Capabilities::QUERY_ATTRIBUTES, Capabilities::IGNORE_SPACE];

pub(super) fn combinations() -> Vec<Account> {
    let all = (0_u32..1 << CROSSED.len()).map(|bits| {
        let mut account =
            Account::app().without(Capabilities::DEPRECATE_EOF | Capabilities::PS_MULTI_RESULTS);
        for (index, capability) in CROSSED.iter().enumerate() {
            if bits >> index & 1 == 1 {
                account = account.with(*capability);
            }
        }
        for (index, capability) in ADDED.iter().enumerate() {
            if (bits.count_ones() + (bits >> index)) % 2 == 1 {
                account = account.with(*capability);
            }
        }
        if bits % 3 == 0 {
            account.attributes = vec![("program_name".to_owned(), "test".to_owned())];
        }
        account
    });
    all.collect()
}

fn every_capability(engine: Engine) {
    let stage = Stage::new(engine);
    prepare_stage(&stage);
    for account in combinations() {
        stage.compare(&account, |recorder| {
            counts_and_ids(recorder);
            warnings_and_errors(recorder);
            several_statements(recorder);
            procedures(recorder);
            transactions(recorder);
            if engine != Engine::Mysql {
                returning(recorder);
            }
        });
    }
}

pub(super) fn prepare_stage(stage: &Stage) {
    let statements = format!(
        "USE {}; CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(50)); \
         CREATE PROCEDURE several() BEGIN SELECT 1 AS one; SELECT 'a', 'b' UNION SELECT 'c', 'd'; SELECT 3 WHERE FALSE; END; \
         CREATE PROCEDURE breaks() BEGIN SELECT 1; SELECT no_such_column; SELECT 2; END; \
         CREATE PROCEDURE writes(OUT n INT) BEGIN INSERT INTO t (v) VALUES ('p'); SELECT COUNT(*) INTO n FROM t; END;",
        stage.schema
    );
    // The procedures' bodies hold semicolons: one connection of our own, with several statements at a time.
    let account = Account::app().with(Capabilities::MULTI_STATEMENTS);
    let primary = crate::harness::stream::Target::Tcp(stage.cluster.primary().address());
    account.connect(&primary).unwrap().run(statements);
    crate::harness::clusters::caught_up(stage.cluster);
}

pub(super) fn counts_and_ids(recorder: &mut Recorder) {
    recorder.queries(&[
        "TRUNCATE TABLE t",
        "INSERT INTO t (v) VALUES ('a'), ('b'), (NULL)",
        "SELECT LAST_INSERT_ID(), ROW_COUNT()",
        "SELECT ROW_COUNT()",
        "SELECT * FROM t ORDER BY id",
        "SELECT * FROM t WHERE id > 100",
        "UPDATE t SET v = 'z' WHERE id < 3",
        "SELECT ROW_COUNT()",
        "UPDATE t SET v = 'z' WHERE id < 3",
        "SELECT ROW_COUNT()",
        "SELECT LAST_INSERT_ID()",
        "SELECT SQL_CALC_FOUND_ROWS id FROM t ORDER BY id LIMIT 1",
        "SELECT FOUND_ROWS()",
        "SELECT id FROM t ORDER BY id LIMIT 2",
        "SELECT FOUND_ROWS()",
        "INSERT IGNORE INTO t VALUES (1, 'again'), (9, 'nine')",
        "SHOW WARNINGS",
        "REPLACE INTO t VALUES (1, 'one'), (10, 'ten')",
        "INSERT INTO t VALUES (1, 'x') ON DUPLICATE KEY UPDATE v = 'y'",
        "DELETE FROM t WHERE id = 2",
        "SELECT COUNT (*) FROM t",
        "INSERT INTO t (id, v) VALUES (LAST_INSERT_ID(77), 'w')",
        "SELECT LAST_INSERT_ID(), @@last_insert_id, @@identity",
        "SELECT LAST_INSERT_ID(5)",
        "SELECT LAST_INSERT_ID()",
    ]);
}

pub(super) fn warnings_and_errors(recorder: &mut Recorder) {
    recorder.queries(&[
        "SELECT id FROM t WHERE v = 0 ORDER BY id",
        "SHOW WARNINGS",
        "SHOW COUNT(*) WARNINGS",
        "SELECT CAST('x' AS SIGNED), 1/0",
        "SELECT @@warning_count",
        "SELECT CAST('x' AS SIGNED)",
        "SELECT no_such_column",
        "SHOW WARNINGS",
        "SHOW ERRORS",
        "SELECT @@error_count",
        "INSERT INTO t VALUES (1, 'duplicate')",
        "SELECT @@error_count",
        "SELEC 1",
        "",
        "-- nothing",
        "SELECT * FROM no_such_table",
        "SELECT 1 FROM no_such_schema.t",
        "CREATE TABLE t (id INT)",
        "DROP TABLE IF EXISTS no_such_table",
        "SHOW WARNINGS",
    ]);
}

pub(super) fn several_statements(recorder: &mut Recorder) {
    recorder.queries(&[
        "SELECT 1; SELECT 2",
        "SELECT 1;",
        "SELECT 1; INSERT INTO t (v) VALUES ('m'); SELECT LAST_INSERT_ID() > 0",
        "SELECT 1; SELECT no_such_column; SELECT 3",
        "DO 1; SET @x = 5; SELECT @x",
        "UPDATE t SET v = 'q' WHERE id = 1; SELECT ROW_COUNT()",
        "SELECT CAST('x' AS SIGNED); SHOW WARNINGS",
        ";",
        "SELECT 1;;",
        "SELECT 'a;b', \";\", `id` FROM t WHERE id = 1 /* ; */",
    ]);
}

pub(super) fn procedures(recorder: &mut Recorder) {
    recorder.queries(&[
        "CALL several()",
        "CALL breaks()",
        "SET @n = 0",
        "CALL writes(@n)",
        "SELECT @n > 0",
        "CALL no_such()",
    ]);
}

pub(super) fn transactions(recorder: &mut Recorder) {
    recorder.queries(&[
        "BEGIN",
        "INSERT INTO t VALUES (500, 'in')",
        "SELECT * FROM t WHERE id = 500",
        "INSERT INTO t VALUES (500, 'again')",
        "SAVEPOINT s",
        "SELECT no_such_column",
        "ROLLBACK TO SAVEPOINT s",
        "COMMIT AND CHAIN",
        "DELETE FROM t WHERE id = 500",
        "COMMIT",
        "START TRANSACTION READ ONLY",
        "SELECT COUNT(*) FROM t WHERE id = 500",
    ]);
    recorder.refused("INSERT INTO t VALUES (501, 'no')");
    recorder.queries(&[
        "SELECT COUNT(*) FROM t WHERE id = 501",
        "COMMIT",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT",
        "SELECT COUNT(*) > 0 FROM t",
        "ROLLBACK",
        "SET autocommit = 0",
        "SELECT COUNT(*) > 0 FROM t",
        "INSERT INTO t VALUES (502, 'rolled back')",
        "ROLLBACK",
        "SET autocommit = 1",
        "CREATE TEMPORARY TABLE temporary (id INT)",
        "INSERT INTO temporary VALUES (1), (2)",
        "SELECT * FROM temporary ORDER BY id",
        "DROP TEMPORARY TABLE temporary",
        "SELECT * FROM temporary",
        "SET @a = 1, @b = 'text', @c = 1.5, @d = NULL",
        "SELECT @a, @b, @c, @d",
        "SELECT @a := @a + 1",
        "SELECT @a, @B",
    ]);
}

fn returning(recorder: &mut Recorder) {
    recorder.queries(&[
        "INSERT INTO t (id, v) VALUES (700, 'r'), (701, 's') RETURNING id, v",
        "SELECT COUNT(*) FROM t WHERE id >= 700",
        "REPLACE INTO t (id, v) VALUES (700, 'q') RETURNING v",
        "DELETE FROM t WHERE id >= 700 RETURNING id",
        "SELECT COUNT(*) FROM t WHERE id >= 700",
    ]);
}

fn commands_that_are_no_statements(engine: Engine) {
    let stage = Stage::new(engine);
    prepare_stage(&stage);
    for account in combinations().into_iter().step_by(5) {
        stage.compare(&account, |recorder| {
            recorder.command(CommandCode::Ping, b"");
            recorder.command(CommandCode::InitDb, b"mysql");
            recorder.command(CommandCode::InitDb, b"no_such_schema");
            let schema = recorder.schema.clone();
            recorder.command(CommandCode::InitDb, schema.as_bytes());
            recorder.query("SELECT DATABASE()");
            // Its EOF counts the warnings of the statement before it on that connection.
            recorder.query("SET @a = 1");
            recorder.command(CommandCode::SetOption, &[0, 0]);
            recorder.query("SELECT 1; SELECT 2");
            recorder.command(CommandCode::SetOption, &[1, 0]);
            recorder.query("SELECT 1; SELECT 2");
            recorder.command(CommandCode::SetOption, &[7, 0]);
            recorder.command(CommandCode::Debug, b"");
            recorder.command(CommandCode::ResetConnection, b"");
            recorder.query("SELECT DATABASE()");
            recorder.command(CommandCode::Ping, b"");
        });
    }
}

fn columns_and_rows_of_every_kind(engine: Engine) {
    let stage = Stage::new(engine);
    let many: Vec<String> = (0..300).map(|number| format!("{number} AS c{number}")).collect();
    let many = format!("SELECT {}", many.join(", "));
    for account in combinations().into_iter().step_by(3) {
        stage.compare(&account, |recorder| {
            recorder.queries(&[
                "SELECT NULL, 1, -1, 1.5, 1e10, 'text', x'00FF', TRUE",
                "SELECT DATE '2024-01-02', TIME '12:13:14.5', TIMESTAMP '2024-01-02 03:04:05.678'",
                "SELECT b'101', JSON_ARRAY(1, 'a'), REPEAT('x', 250), REPEAT('y', 251), REPEAT('z', 70000)",
                "SELECT '' AS ``",
                "SELECT 1 AS a, 2 AS a",
                "SELECT * FROM (SELECT 1 AS n UNION ALL SELECT NULL UNION ALL SELECT 3) AS d",
                "SHOW TABLES",
                "SHOW CREATE DATABASE mysql",
                "EXPLAIN SELECT 1",
                "VALUES ROW(1, 'a'), ROW(2, 'b')",
                "TABLE no_such_table",
                many.as_str(),
            ]);
        });
    }
}

/// Names and values that a client puts in front of a statement; MariaDB's servers do not take any.
fn statements_with_attributes(engine: Engine) {
    let stage = Stage::new(engine);
    let account = Account::app().with(Capabilities::QUERY_ATTRIBUTES);
    // One attribute `n` of a text, another of a number, a third that is NULL.
    let attributes = b"\x03\x01\x04\x01\xfd\x00\x01n\x08\x00\x01m\xfd\x00\x01o\x04text\x07\0\0\0\0\0\0\0";
    stage.compare(&account, |recorder| {
        let head: &[u8] = if recorder.client.capabilities.contains(Capabilities::QUERY_ATTRIBUTES) {
            attributes
        } else {
            b""
        };
        for text in ["SELECT 1", "SET @a = 2", "SELECT @a", "SELECT no_such_column", "BEGIN", "COMMIT"] {
            recorder.command(CommandCode::Query, &[head, text.as_bytes()].concat());
        }
    });
}

#[test]
fn mariadb_11_8() {
    let stage = Stage::new(Engine::Mariadb11);
    prepare_stage(&stage);
    for account in combinations().into_iter().step_by(5) {
        stage.compare(&account, |recorder| {
            counts_and_ids(recorder);
            several_statements(recorder);
            transactions(recorder);
            returning(recorder);
        });
    }
}
