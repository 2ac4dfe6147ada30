//! Prepared statements: every type of parameter, what is remembered between executions, and what is sent ahead.

use sandbox::Engine;
use wire::capability::extended;
use wire::{Capabilities, CommandCode};

use super::recorder::{Recorder, Stage};
use super::statements::combinations;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};
use crate::harness::reply::Part;

on_every_engine!(
    every_type_of_parameter,
    results_of_every_kind,
    executions_without_types,
    long_data_in_pieces,
    statements_that_cannot_be_prepared,
    statements_prepared_as_text,
    the_sql_mode_of_the_preparation_counts,
    a_reset_reaches_parameters_that_were_sent_ahead,
    the_statement_that_was_prepared_last,
    many_rows_in_one_execution,
    more_of_a_types_name,
    definitions_that_change,
    the_same_text_prepared_twice,
    as_many_columns_and_parameters_as_there_can_be,
    what_was_prepared_leaves_nothing_behind,
);

const TINY: u8 = 1;
const SHORT: u8 = 2;
const LONG: u8 = 3;
const FLOAT: u8 = 4;
const DOUBLE: u8 = 5;
const NULL: u8 = 6;
const TIMESTAMP: u8 = 7;
const LONGLONG: u8 = 8;
const DATE: u8 = 10;
const TIME: u8 = 11;
const DATETIME: u8 = 12;
const NEWDECIMAL: u8 = 246;
const BLOB: u8 = 252;
const VAR_STRING: u8 = 253;
const STRING: u8 = 254;

/// On whatever node it runs, a statement has the columns that its tables have now.
fn definitions_that_change(engine: Engine) {
    let stage = Stage::new(engine);
    let account = Account::app().schema(&stage.schema);
    let direct = crate::harness::stream::Target::Tcp(stage.cluster.primary().address());
    let mut heard = Vec::new();
    for target in [&direct, &stage.proxy.target("rw")] {
        let mut client = account.connect(target).unwrap();
        client.run("DROP TABLE IF EXISTS changing");
        client.run("CREATE TABLE changing (id INT)");
        client.run("INSERT INTO changing VALUES (1)");
        let id = client.prepare("SELECT * FROM changing WHERE id > ?").unwrap().id;
        let mut replies = Vec::new();
        for change in [
            "DO 0",
            "ALTER TABLE changing ADD COLUMN v VARCHAR(10) DEFAULT 'new'",
            "ALTER TABLE changing MODIFY COLUMN v INT DEFAULT 5",
            "ALTER TABLE changing DROP COLUMN v",
            "DROP TABLE changing",
            "CREATE TABLE changing (id INT, other DATE)",
        ] {
            client.query(change);
            for how in [Execution::WithTypes, Execution::WithoutTypes, Execution::WithoutTypes] {
                let reply = client.execute(id, &[Param::number(0)], how);
                let outcome = match reply.parts.into_iter().next() {
                    Some(Part::Rows { columns, rows, .. }) => Ok((columns, rows)),
                    Some(Part::Err(error)) => Err(error.code),
                    other => panic!("{other:?}"),
                };
                replies.push((change, outcome));
            }
        }
        heard.push(replies);
    }
    assert_eq!(heard[0], heard[1]);
}

fn the_same_text_prepared_twice(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = Account::app().connect(&stage.proxy.target("rw")).unwrap();
    let [one, other] = [(); 2].map(|()| client.prepare("SELECT ?").unwrap().id);
    assert_ne!(one, other);
    for id in [one, other, one, other] {
        assert!(client.execute(id, &[Param::number(1)], Execution::WithTypes).error().is_none());
    }
    client.close(one);
    assert_eq!(client.execute(one, &[Param::number(1)], Execution::WithTypes).error().unwrap().code, 1243);
    for _ in 0..4 {
        assert!(client.execute(other, &[Param::number(1)], Execution::WithoutTypes).error().is_none());
    }
}

fn as_many_columns_and_parameters_as_there_can_be(engine: Engine) {
    let stage = Stage::new(engine);
    let account = Account::app();
    for count in [900, 4096] {
        let columns: Vec<String> = (0..count).map(|number| format!("{number} c{number}")).collect();
        let text = format!("SELECT {}", columns.join(", "));
        stage.compare(&account, |recorder| {
            recorder.query(&text);
            let id = recorder.prepare(&text);
            recorder.execute(id, &[], Execution::WithTypes);
        });
    }
    let many: Vec<Param> = (0..65_535).map(Param::number).collect();
    let text = format!("SELECT 65534 IN ({})", vec!["?"; many.len()].join(","));
    let mut client = account.connect(&stage.proxy.target("rw")).unwrap();
    let prepared = client.prepare(&text).unwrap();
    assert_eq!(usize::from(prepared.params), many.len());
    for how in [Execution::WithTypes, Execution::WithoutTypes, Execution::WithoutTypes] {
        let reply = client.execute(prepared.id, &many, how);
        let Some(Part::Rows { rows, .. }) = reply.parts.first() else { panic!("{:?}", reply.error()) };
        assert_eq!(rows[0][2], 1, "{how:?}");
    }
    assert_eq!(client.prepare(text.replace("(?", "(?,?")).unwrap_err().code, 1390);
}

/// Neither what was closed nor what could not be prepared is kept, whatever its text.
fn what_was_prepared_leaves_nothing_behind(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = Account::app().connect(&stage.proxy.target("rw")).unwrap();
    let mut prepare = |numbers: std::ops::Range<u32>| {
        for number in numbers {
            let id = client.prepare(format!("SELECT ? + {number}")).unwrap().id;
            if number % 10 == 0 {
                client.execute(id, &[Param::number(1)], Execution::WithTypes);
            }
            client.close(id);
            client.prepare(format!("SELECT no_such_column + {number}")).unwrap_err();
        }
    };
    prepare(0..500);
    let before = stage.proxy.memory_kib();
    prepare(500..5_000);
    let grown = stage.proxy.memory_kib().saturating_sub(before);
    assert!(grown < 4_000, "{grown} KiB for 9,000 statements");
}

/// Larger ones go to the primary at once, although the statement ran on a replica.
fn a_reset_reaches_parameters_that_were_sent_ahead(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = Account::app().connect(&stage.proxy.target("rw")).unwrap();
    let id = client.prepare("SELECT LENGTH(?)").unwrap().id;
    let small = [Param::bytes(BLOB, b"ab")];
    // A cursor, and so the statement's place, on a replica.
    assert!(client.execute(id, &small, Execution::IntoCursor).error().is_none());
    client.long_data(id, 0, &vec![b'x'; 2_000_000]);
    assert!(client.plain(CommandCode::StmtReset, &id.to_le_bytes()).error().is_none());
    // Into a cursor again, for MySQL answers a plain execution with half a reply now.
    for _ in 0..4 {
        assert!(client.execute(id, &small, Execution::IntoCursor).error().is_none());
        let reply = client.fetch(id, 5);
        let Some(Part::Rows { rows, .. }) = reply.parts.first() else { panic!("{:?}", reply.error()) };
        assert_eq!(rows[0][2..6], 2_u32.to_le_bytes());
    }
}

/// MariaDB's clients prepare and execute in one go, by an id that means the statement that was prepared last.
fn the_statement_that_was_prepared_last(engine: Engine) {
    const LAST: u32 = u32::MAX;
    let stage = Stage::new(engine);
    stage.compare(&Account::app(), |recorder| {
        recorder.execute(LAST, &[], Execution::WithTypes);
        recorder.prepare("SELECT 1, ?");
        recorder.execute(LAST, &[Param::number(5)], Execution::WithTypes);
        recorder.prepare("SELECT 'second'");
        recorder.execute(LAST, &[], Execution::WithTypes);
        recorder.reset(LAST);
        recorder.prepare("SELECT no_such_column");
        recorder.execute(LAST, &[], Execution::WithTypes);
        recorder.query("SELECT 2");
    });
}

/// COM_STMT_BULK_EXECUTE, where a client and all servers know it.
fn many_rows_in_one_execution(engine: Engine) {
    let stage = Stage::new(engine);
    let table = format!("CREATE TABLE {}.bulk (id INT PRIMARY KEY, v VARCHAR(20))", stage.schema);
    stage.cluster.primary().sql(&table).unwrap();
    let account = Account { extended: extended::STMT_BULK_OPERATIONS, ..Account::app() };
    stage.compare(&account, |recorder| {
        recorder.query("TRUNCATE TABLE bulk");
        let id = recorder.prepare("INSERT INTO bulk VALUES (?, ?)");
        // Types are sent; then for each value whether it is one, and the value.
        let mut argument = [&id.to_le_bytes()[..], &[128, 0, LONG, 0, VAR_STRING, 0]].concat();
        for number in 0_u32..5 {
            argument.extend_from_slice(&[&[0], &number.to_le_bytes()[..]].concat());
            argument.extend_from_slice(if number == 3 { &[1] } else { &[0, 2, b'a', b'b'] });
        }
        recorder.bulk(&argument);
        recorder.query("SELECT * FROM bulk ORDER BY id");
        recorder.bulk(&argument);
        recorder.query("SELECT COUNT(*) FROM bulk");
    });
}

/// What MariaDB tells of a type besides its number passes through, and the proxy's own results have room for it.
fn more_of_a_types_name(engine: Engine) {
    let stage = Stage::new(engine);
    let account = Account { extended: extended::EXTENDED_METADATA, ..Account::app() };
    let mut client = account.connect(&stage.proxy.target("rw")).unwrap();
    assert_eq!(client.value("SELECT CONNECTION_ID()"), client.greeting.id.to_string());
    let own = client.run("SELECT CONNECTION_ID()").packets;
    let direct = crate::harness::stream::Target::Tcp(stage.cluster.primary().address());
    let direct = account.connect(&direct).unwrap().run("SELECT CONNECTION_ID()").packets;
    assert_eq!(own[1].payload, direct[1].payload);
    let schema = &stage.schema;
    stage.cluster.primary().sql(&format!("CREATE TABLE {schema}.documents (d JSON)")).unwrap();
    crate::harness::clusters::caught_up(stage.cluster);
    stage.compare(&account, |recorder| {
        recorder.query("SELECT d FROM documents");
        recorder.prepare("SELECT d FROM documents");
    });
}

/// One value of every type that a client may send.
fn every_type() -> Vec<Param> {
    vec![
        Param::raw(TINY, &[0xFF]),
        Param::raw(TINY, &[0xFF]).unsigned(),
        Param::raw(SHORT, &[0, 0x80]),
        Param::raw(SHORT, &[0, 0x80]).unsigned(),
        Param::raw(LONG, &[0, 0, 0, 0x80]),
        Param::raw(LONG, &[0, 0, 0, 0x80]).unsigned(),
        Param::raw(LONGLONG, &[0xFF; 8]),
        Param::raw(LONGLONG, &[0xFF; 8]).unsigned(),
        Param::raw(FLOAT, &1.5_f32.to_le_bytes()),
        Param::raw(DOUBLE, &(-2.25_f64).to_le_bytes()),
        Param::raw(DATE, &[4, 0xE8, 7, 2, 29]),
        Param::raw(DATE, &[0]),
        Param::raw(DATETIME, &[7, 0xE8, 7, 2, 29, 12, 13, 14]),
        Param::raw(TIMESTAMP, &[11, 0xE8, 7, 2, 29, 12, 13, 14, 0x40, 0x42, 0x0F, 0]),
        Param::raw(TIME, &[8, 1, 1, 0, 0, 0, 2, 3, 4]),
        Param::raw(TIME, &[12, 0, 0, 0, 0, 0, 2, 3, 4, 1, 0, 0, 0]),
        Param::raw(TIME, &[0]),
        Param::bytes(NEWDECIMAL, b"-123.456"),
        Param::bytes(VAR_STRING, "text ä".as_bytes()),
        Param::bytes(STRING, b""),
        Param::bytes(BLOB, &[0, 0xFF, 0xFE, 0xFB]),
        Param::bytes(BLOB, &[7; 300]),
        Param::bytes(VAR_STRING, &[b'x'; 70_000]),
        Param::null(NULL),
        Param::null(LONG),
    ]
}

fn every_type_of_parameter(engine: Engine) {
    let stage = Stage::new(engine);
    for account in combinations().into_iter().step_by(2) {
        stage.compare(&account, |recorder| {
            let params = every_type();
            let marks = vec!["?"; params.len()].join(", ");
            let id = recorder.prepare(format!("SELECT {marks}"));
            recorder.execute(id, &params, Execution::WithTypes);
            recorder.execute(id, &params, Execution::WithoutTypes);
            recorder.client.close(id);
            recorder.execute(id, &params, Execution::WithoutTypes);
            // Other types: MySQL prepares the statement anew, and makes of the next execution without types what it will.
            let id = recorder.prepare(format!("SELECT {marks}"));
            let changed: Vec<Param> = params.iter().cloned().rev().collect();
            recorder.execute(id, &changed, Execution::WithTypes);
            if engine != Engine::Mysql {
                recorder.execute(id, &params, Execution::WithTypes);
                recorder.execute(id, &params, Execution::WithoutTypes);
            }
            recorder.query("SELECT 1");
        });
    }
}

fn results_of_every_kind(engine: Engine) {
    let stage = Stage::new(engine);
    let account = Account::app().with(Capabilities::MULTI_STATEMENTS).schema(&stage.schema);
    let primary = crate::harness::stream::Target::Tcp(stage.cluster.primary().address());
    account
        .connect(&primary)
        .unwrap()
        .run(
            "CREATE TABLE p (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20), n DECIMAL(10,2), d DATETIME(3), b BLOB, \
             f FLOAT); CREATE PROCEDURE outs(IN a INT, OUT o INT) BEGIN SELECT a; SET o = a + 1; END",
        );
    crate::harness::clusters::caught_up(stage.cluster);
    for account in combinations() {
        stage.compare(&account, |recorder| {
            recorder.query("TRUNCATE TABLE p");
            let insert = recorder.prepare(
                "INSERT INTO p (v, n, d, b, f) VALUES (?, 1.5, '2024-01-01 01:02:03.004', x'00FF', 0.5)",
            );
            recorder.execute(insert, &[Param::text("first")], Execution::WithTypes);
            recorder.execute(insert, &[Param::text("second")], Execution::WithoutTypes);
            recorder.execute(insert, &[Param::null(VAR_STRING)], Execution::WithTypes);
            recorder.query("SELECT LAST_INSERT_ID()");
            let select = recorder.prepare("SELECT * FROM p WHERE id > ? ORDER BY id");
            recorder.execute(select, &[Param::number(0)], Execution::WithTypes);
            recorder.execute(select, &[Param::number(100)], Execution::WithoutTypes);
            let none = recorder.prepare("SELECT 1, 'a'");
            recorder.execute(none, &[], Execution::WithTypes);
            let update = recorder.prepare("UPDATE p SET v = 'u' WHERE id = ?");
            recorder.execute(update, &[Param::number(1)], Execution::WithTypes);
            recorder.execute(update, &[Param::number(1)], Execution::WithTypes);
            let duplicate = recorder.prepare("INSERT INTO p (id) VALUES (?)");
            recorder.execute(duplicate, &[Param::number(1)], Execution::WithTypes);
            recorder.query("SHOW WARNINGS");
            let warns = recorder.prepare("SELECT CAST(? AS SIGNED)");
            recorder.execute(warns, &[Param::text("x")], Execution::WithTypes);
            recorder.query("SHOW WARNINGS");
            let call = recorder.prepare("CALL outs(?, ?)");
            recorder.execute(call, &[Param::number(5), Param::null(LONGLONG)], Execution::WithTypes);
            recorder.execute(call, &[Param::number(6), Param::null(LONGLONG)], Execution::WithoutTypes);
            let set = recorder.prepare("SET @v = ?");
            recorder.execute(set, &[Param::number(17)], Execution::WithTypes);
            recorder.query("SELECT @v");
            let reads = recorder.prepare("SELECT @v + ?");
            recorder.execute(reads, &[Param::number(1)], Execution::WithTypes);
            for text in ["BEGIN", "COMMIT", "SET autocommit = 0", "SET autocommit = 1", "SHOW TABLES", "DO 1"]
            {
                let id = recorder.prepare(text);
                recorder.execute(id, &[], Execution::WithTypes);
            }
            if engine == Engine::Mariadb {
                let id = recorder.prepare("INSERT INTO p (v) VALUES (?) RETURNING v");
                recorder.execute(id, &[Param::text("r")], Execution::WithTypes);
            }
        });
    }
}

/// Types sent once are known wherever the statement runs next.
fn executions_without_types(engine: Engine) {
    let stage = Stage::new(engine);
    for account in combinations().into_iter().step_by(4) {
        stage.compare(&account, |recorder| {
            let id = recorder.prepare("SELECT ?, ?, HEX(?)");
            let params =
                |number, text| [Param::number(number), Param::text(text), Param::bytes(BLOB, &[1, 2, 3])];
            recorder.execute(id, &params(0, "first"), Execution::WithTypes);
            // Reads spread over the replicas; in a transaction they go to the primary.
            for number in 1..20 {
                if number == 10 {
                    recorder.query("BEGIN");
                }
                recorder.execute(id, &params(number, "again"), Execution::WithoutTypes);
            }
            recorder.query("COMMIT");
            if engine != Engine::Mysql {
                let others = [Param::text("1"), Param::number(2), Param::null(NULL)];
                recorder.execute(id, &others, Execution::WithTypes);
                for _ in 0..5 {
                    recorder.execute(id, &others, Execution::WithoutTypes);
                }
            }
        });
    }
}

fn long_data_in_pieces(engine: Engine) {
    let stage = Stage::new(engine);
    let account = Account::app();
    stage.compare(&account, |recorder| {
        let id = recorder.prepare("SELECT LENGTH(?), SHA2(?, 256), ?");
        let send = |recorder: &mut Recorder, pieces: usize, size: usize| {
            for number in 0..pieces {
                recorder.client.long_data(id, 0, &vec![b'a' + u8::try_from(number % 26).unwrap(); size]);
                recorder.client.long_data(id, 1, &vec![0xFF; size]);
            }
        };
        let ahead = [Param::sent_ahead(BLOB), Param::sent_ahead(BLOB), Param::number(3)];
        // In one piece, in several, in an empty one, more than is kept until it is known where the statement runs.
        for (pieces, size) in [(1, 10), (3, 1000), (1, 0), (3, 400_000), (1, 1_500_000), (40, 50_000)] {
            send(recorder, pieces, size);
            recorder.execute(id, &ahead, Execution::WithTypes);
            send(recorder, pieces, size);
            recorder.execute(id, &ahead, Execution::WithoutTypes);
        }
        // Forgotten by a reset, and used up by an execution.
        send(recorder, 2, 1000);
        recorder.reset(id);
        recorder.execute(id, &[Param::text("x"), Param::text("y"), Param::number(3)], Execution::WithTypes);
        send(recorder, 2, 900_000);
        recorder.reset(id);
        recorder.execute(id, &[Param::text("x"), Param::text("y"), Param::number(3)], Execution::WithTypes);
        // A parameter that the statement has not got.
        recorder.client.long_data(id, 9, b"x");
        recorder.execute(id, &[Param::text("x"), Param::text("y"), Param::number(3)], Execution::WithTypes);
        recorder.execute(id, &[Param::text("x"), Param::text("y"), Param::number(3)], Execution::WithTypes);
        recorder.query("SELECT 1");
    });
}

fn statements_that_cannot_be_prepared(engine: Engine) {
    let stage = Stage::new(engine);
    for account in combinations().into_iter().step_by(6) {
        stage.compare(&account, |recorder| {
            for text in
                ["SELEC 1", "SELECT no_such_column", "SELECT 1; SELECT 2", "", "SELECT * FROM no_such_table"]
            {
                recorder.prepare(text);
            }
            recorder.query("SHOW WARNINGS");
            let id = recorder.prepare("SELECT 1");
            recorder.execute(id, &[], Execution::WithTypes);
            recorder.execute(id + 1000, &[], Execution::WithTypes);
            recorder.reset(id + 1000);
            recorder.query("SELECT 1");
        });
    }
}

fn statements_prepared_as_text(engine: Engine) {
    let stage = Stage::new(engine);
    for account in combinations().into_iter().step_by(6) {
        stage.compare(&account, |recorder| {
            recorder.queries(&[
                "DROP TABLE IF EXISTS texts",
                "CREATE TABLE texts (id INT)",
                "PREPARE reads FROM 'SELECT ? + 1'",
                "SET @p = 5",
                "EXECUTE reads USING @p",
                "PREPARE writes FROM 'INSERT INTO texts VALUES (?)'",
                "EXECUTE writes USING @p",
                "SELECT * FROM texts",
                "EXECUTE reads USING @p",
                "DEALLOCATE PREPARE reads",
                "EXECUTE reads USING @p",
                "SET @text = 'SELECT 42'",
                "PREPARE from_variable FROM @text",
                "EXECUTE from_variable",
                "DROP PREPARE from_variable",
            ]);
        });
    }
}

/// A server reads a statement's text as sql_mode stands when it is prepared, wherever that happens.
fn the_sql_mode_of_the_preparation_counts(engine: Engine) {
    let stage = Stage::new(engine);
    stage.compare(&Account::app().with(Capabilities::SESSION_TRACK), |recorder| {
        let text = "SELECT \"a\", 'x' || 'y', ? FROM (SELECT 1 AS a) AS d";
        let before = recorder.prepare(text);
        recorder.execute(before, &[Param::number(1)], Execution::WithTypes);
        recorder.query("SET sql_mode = 'ANSI'");
        let after = recorder.prepare(text);
        for _ in 0..6 {
            // Long enough for the session to read elsewhere.
            std::thread::sleep(std::time::Duration::from_millis(250));
            recorder.execute(before, &[Param::number(1)], Execution::WithTypes);
            recorder.execute(after, &[Param::number(2)], Execution::WithTypes);
        }
    });
}
