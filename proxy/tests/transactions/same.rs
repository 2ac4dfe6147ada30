//! A split transaction looks to its client as one on the server itself does, packet by packet: status flags, warnings,
//! numbers of rows, errors.

use sandbox::{Engine, Family};
use wire::{Capabilities, CommandCode};

use super::recorder::{Recorder, Stage};
use super::stage::READ_COMMITTED;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};

on_every_engine!(statements, ends_and_beginnings, prepared_statements_and_cursors, trackers, commands);

/// With and without DEPRECATE_EOF and SESSION_TRACK.
fn accounts() -> Vec<Account> {
    let eof = Capabilities::DEPRECATE_EOF;
    let accounts = [(true, true), (true, false), (false, true), (false, false)].map(|(no_eof, track)| {
        let account = Account::app().with(Capabilities::MULTI_STATEMENTS);
        let account = if no_eof { account } else { account.without(eof) };
        if track { account.with(Capabilities::SESSION_TRACK) } else { account }
    });
    accounts.to_vec()
}

fn compare(engine: Engine, accounts: &[Account], conversation: impl Fn(&mut Recorder)) {
    let stage = Stage::with(engine, "transaction_split = true");
    for account in accounts {
        stage.compare(account, |recorder| {
            recorder.queries(&[
                "DROP TABLE IF EXISTS texts",
                "CREATE TABLE texts (id INT PRIMARY KEY, v INT)",
                "INSERT INTO texts VALUES (1, 10), (2, 20)",
                READ_COMMITTED,
                "SELECT v FROM texts",
            ]);
            conversation(recorder);
        });
    }
}

fn statements(engine: Engine) {
    compare(engine, &accounts(), |recorder| {
        recorder.queries(&[
            "BEGIN",
            "SELECT v FROM texts WHERE id = 1",
            "SELECT v FROM texts WHERE v = 20",
            "SELECT v FROM texts WHERE id = 3",
            "SELECT 1; SELECT 2; SELECT v FROM texts",
            "SELECT no_such_column FROM texts",
            "SELECT CAST('a' AS SIGNED)",
            "SHOW WARNINGS",
            "SELECT SQL_CALC_FOUND_ROWS v FROM texts LIMIT 1",
            "SELECT FOUND_ROWS()",
            "DO 1",
            "SHOW TABLES LIKE 'texts'",
            "DESCRIBE texts",
            "SELECT 1; SELEC",
            "",
            "INSERT INTO texts VALUES (3, 30)",
            "SELECT v FROM texts",
            "SELECT ROW_COUNT()",
            "SAVEPOINT a",
            "DELETE FROM texts",
            "ROLLBACK TO a",
            "SELECT v FROM texts",
            "ROLLBACK",
            "SELECT v FROM texts",
            "START TRANSACTION READ WRITE",
            "SELECT v FROM texts FOR UPDATE",
            "UPDATE texts SET v = v + 1",
            "COMMIT",
            "SELECT v FROM texts",
            "BEGIN",
            "INSERT INTO texts VALUES (1, 1)",
            "SELECT v FROM texts",
            "INSERT INTO texts VALUES (4, 40)",
            "COMMIT",
            "SELECT v FROM texts",
        ]);
        for opens in [
            "CREATE TABLE implicit (id INT)",
            "DROP TABLE implicit",
            "CREATE TEMPORARY TABLE temporary (id INT)",
            "DROP TEMPORARY TABLE temporary",
            "LOCK TABLES texts READ",
            "UNLOCK TABLES",
            "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "SET TRANSACTION READ ONLY",
            "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
            "SET @a = 1, sql_select_limit = 5",
            "SELECT @a, @@sql_select_limit, @@session.autocommit",
            "SELECT v INTO @a FROM texts WHERE id = 1",
            "XA START 'x'",
            "SAVEPOINT a",
            "ROLLBACK TO nowhere",
            "RELEASE SAVEPOINT nowhere",
            "SET autocommit = 1",
            "SELECT LAST_INSERT_ID()",
            "SELECT GET_LOCK('same', 1), RELEASE_LOCK('same')",
            "COMMIT; BEGIN; SELECT v FROM texts; COMMIT",
            "INSERT INTO texts VALUES (9, 9); DELETE FROM texts WHERE id = 9; SELECT 1",
            "nonsense",
        ] {
            recorder.queries(&[
                "BEGIN",
                "SELECT v FROM texts",
                opens,
                "SELECT v FROM texts",
                "COMMIT",
                "SELECT v FROM texts",
            ]);
        }
        recorder.queries(&[
            "BEGIN",
            "SELECT 1",
            "SET autocommit = 0",
            "SELECT v FROM texts",
            "COMMIT",
            "BEGIN",
        ]);
        recorder.queries(&[
            "SELECT v FROM texts",
            "ROLLBACK",
            "SET autocommit = 1",
            "BEGIN",
            "SELECT 2",
            "COMMIT",
        ]);
    });
}

fn ends_and_beginnings(engine: Engine) {
    compare(engine, &accounts(), |recorder| {
        let read = "SELECT v FROM texts";
        let write = "UPDATE texts SET v = v + 1 WHERE id = 1";
        for texts in [
            &["COMMIT", "ROLLBACK", "COMMIT AND CHAIN", read, "COMMIT"][..],
            &["BEGIN", "COMMIT"],
            &["BEGIN;", "ROLLBACK;"],
            &["BEGIN", "BEGIN WORK", read, "START TRANSACTION", read, "COMMIT WORK"],
            &[
                "BEGIN",
                read,
                "COMMIT AND CHAIN",
                read,
                "ROLLBACK AND CHAIN",
                write,
                "COMMIT AND CHAIN",
                read,
                "COMMIT",
            ],
            &["BEGIN", read, "COMMIT AND NO CHAIN NO RELEASE", read],
            &["BEGIN", "START TRANSACTION READ ONLY", read, "COMMIT"],
            &["BEGIN", "START TRANSACTION WITH CONSISTENT SNAPSHOT", read, write, "COMMIT"],
            &["BEGIN", "BEGIN; SELECT 1; COMMIT", read],
            &["BEGIN", "SHOW WARNINGS", "COMMIT"],
            &["BEGIN", "SELECT ROW_COUNT()", "COMMIT", "SELECT ROW_COUNT()"],
            &["START TRANSACTION READ", "START TRANSACTION NOW", "BEGIN WORK WORK"],
            &[
                "BEGIN",
                "COMMIT RELEASE NO",
                "COMMIT AND CHAIN RELEASE",
                "COMMIT AND",
                "ROLLBACK TO",
                "COMMIT",
            ],
            &["/* one */ BEGIN -- two", "/*!50000 ROLLBACK */"],
            &[
                "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
                "BEGIN",
                read,
                "COMMIT",
                "BEGIN",
                read,
                "COMMIT",
            ],
            &[
                "SET completion_type = CHAIN",
                "BEGIN",
                read,
                "COMMIT",
                read,
                "ROLLBACK",
                "SET completion_type = DEFAULT",
                "COMMIT",
            ],
            &["SET SESSION TRANSACTION READ ONLY", "BEGIN", read, write, "COMMIT"],
            &["START TRANSACTION READ WRITE", write, "COMMIT", "SET SESSION TRANSACTION READ WRITE"],
            &[
                "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                "BEGIN",
                read,
                write,
                "COMMIT",
                READ_COMMITTED,
            ],
            &[
                "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
                "BEGIN",
                read,
                "COMMIT",
                "SET sql_mode = DEFAULT",
            ],
        ] {
            recorder.queries(texts);
        }
        recorder.queries(&["BEGIN", "START TRANSACTION READ ONLY"]);
        recorder.query(write);
        recorder.query("COMMIT");
        if engine.family() == Family::Mysql {
            // In MariaDB transactions leave the warnings of earlier statements as they are, and those may be a replica's.
            recorder.queries(&[
                "SELECT CAST('a' AS SIGNED)",
                "BEGIN",
                "COMMIT",
                "SHOW WARNINGS",
                "SHOW COUNT(*) WARNINGS",
            ]);
            recorder.queries(&[
                "INSERT IGNORE INTO texts VALUES (1, 1)",
                "BEGIN",
                "ROLLBACK",
                "SHOW WARNINGS",
                read,
            ]);
            // There BEGIN is read-only where the transaction before it was.
            recorder.queries(&["START TRANSACTION READ ONLY", read, "BEGIN", read]);
            recorder.query(write);
            recorder.query("ROLLBACK");
        } else {
            recorder.queries(&["START TRANSACTION READ ONLY", read, "BEGIN", read, write, "ROLLBACK"]);
        }
        recorder.queries(&[
            "START TRANSACTION READ ONLY",
            read,
            "START TRANSACTION READ WRITE",
            read,
            write,
            "COMMIT",
        ]);
    });
}

fn prepared_statements_and_cursors(engine: Engine) {
    compare(engine, &accounts(), |recorder| {
        let read = recorder.prepare("SELECT id, v FROM texts WHERE id >= ? ORDER BY id");
        recorder.execute(read, &[Param::number(1)], Execution::WithTypes);
        recorder.query("BEGIN");
        recorder.execute(read, &[Param::number(1)], Execution::WithoutTypes);
        let write = recorder.prepare("UPDATE texts SET v = ? WHERE id = ?");
        let other = recorder.prepare("SELECT ?");
        recorder.prepare("SELECT no_such_column FROM texts");
        recorder.execute(other, &[Param::text("a")], Execution::WithTypes);
        recorder.reset(other);
        recorder.client.long_data(other, 0, b"sent ahead");
        recorder.execute(other, &[Param::sent_ahead(0xFD)], Execution::WithTypes);
        recorder.execute(read, &[Param::number(2)], Execution::WithTypes);
        recorder.execute(write, &[Param::number(5), Param::number(1)], Execution::WithTypes);
        recorder.execute(read, &[Param::number(1)], Execution::WithoutTypes);
        recorder.query("ROLLBACK");
        recorder.execute(read, &[Param::number(1)], Execution::WithoutTypes);
        // Cursors: opened within, before, and left open. (MySQL 9.7 answers no execution well whose statement had one.)
        let plain = read;
        let read = recorder.prepare("SELECT id, v FROM texts WHERE id >= ? ORDER BY id");
        recorder.query("BEGIN");
        recorder.execute(read, &[Param::number(1)], Execution::IntoCursor);
        recorder.fetch(read, 1);
        recorder.query("SELECT v FROM texts");
        recorder.fetch(read, 5);
        recorder.query("COMMIT");
        recorder.execute(read, &[Param::number(1)], Execution::IntoCursor);
        recorder.query("BEGIN");
        recorder.fetch(read, 1);
        recorder.query("SELECT v FROM texts");
        recorder.fetch(read, 5);
        recorder.reset(read);
        recorder.execute(write, &[Param::number(6), Param::number(1)], Execution::WithTypes);
        recorder.query("COMMIT");
        let (begin, commit) = (recorder.prepare("START TRANSACTION"), recorder.prepare("COMMIT"));
        recorder.execute(begin, &[], Execution::WithTypes);
        recorder.query("SELECT v FROM texts");
        recorder.execute(commit, &[], Execution::WithTypes);
        recorder.query("BEGIN");
        recorder.execute(plain, &[Param::number(1)], Execution::WithTypes);
        recorder.execute(commit, &[], Execution::WithTypes);
        recorder.query("SELECT v FROM texts");
    });
}

fn trackers(engine: Engine) {
    let account = Account::app().with(Capabilities::SESSION_TRACK | Capabilities::MULTI_STATEMENTS);
    for assignments in [
        "session_track_state_change = ON",
        "session_track_system_variables = 'autocommit,sql_select_limit,time_zone'",
        "session_track_transaction_info = 'STATE'",
        "session_track_transaction_info = 'CHARACTERISTICS'",
        "session_track_schema = OFF",
    ] {
        compare(engine, std::slice::from_ref(&account), |recorder| {
            recorder.set_trackers(assignments);
            recorder.queries(&[
                "BEGIN",
                "SELECT v FROM texts",
                "SELECT 1",
                "SET sql_select_limit = 7",
                "INSERT INTO texts VALUES (3, 3)",
                "COMMIT",
                "BEGIN",
                "SELECT v FROM texts",
                "COMMIT AND CHAIN",
                "SELECT v FROM texts",
                "ROLLBACK",
                "BEGIN",
                "COMMIT",
            ]);
        });
    }
}

fn commands(engine: Engine) {
    compare(engine, &accounts(), |recorder| {
        let schema = recorder.schema.clone();
        for (code, argument) in [
            (CommandCode::Ping, &b""[..]),
            (CommandCode::InitDb, schema.as_bytes()),
            (CommandCode::SetOption, &[0, 0]),
            (CommandCode::ResetConnection, b""),
        ] {
            recorder.queries(&[READ_COMMITTED, "BEGIN", "SELECT v FROM texts"]);
            recorder.command(code, argument);
            recorder.queries(&["SELECT v FROM texts", "COMMIT", "SELECT v FROM texts"]);
        }
    });
}
