//! Session state and what a client is told of its changes.
//!
//! Deliberately absent: the values of the session_track_* variables, which show what the proxy asks the servers for.

use sandbox::Engine;
use wire::{Capabilities, CommandCode};

use super::recorder::Stage;
use super::statements::combinations;
use crate::harness::login::Account;
use crate::harness::on_every_engine;

on_every_engine!(
    variables_and_schema,
    character_sets_of_the_login,
    trackers_that_the_client_turns_on,
    trackers_of_transactions,
    trackers_that_the_client_turns_off,
);

fn variables_and_schema(engine: Engine) {
    let stage = Stage::new(engine);
    let back = format!("USE {}", stage.schema);
    for account in combinations().into_iter().step_by(3) {
        stage.compare(&account, |recorder| {
            recorder.queries(&[
                "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
                "SELECT \"DATABASE\" FROM (SELECT 1 AS \"DATABASE\") AS d WHERE '\\' <> ''",
                "SELECT @@sql_mode",
                "SET sql_mode = DEFAULT",
                "SET time_zone = '+03:00', @@session.sql_select_limit = 2",
                "SELECT @@time_zone, @@sql_select_limit",
                "SELECT 1 UNION SELECT 2 UNION SELECT 3",
                "SET sql_select_limit = DEFAULT",
                "SELECT 1 UNION SELECT 2 UNION SELECT 3",
                "SET NAMES latin1",
                "SELECT HEX('ä'), '\u{e4}', @@character_set_client, @@collation_connection",
                "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
                "SELECT 'a' = 'A', @@collation_connection",
                "SET CHARACTER SET latin1",
                "SELECT @@character_set_client, @@character_set_results, @@collation_connection",
                "SET character_set_results = NULL",
                "SELECT @@character_set_results",
                "SET NAMES DEFAULT",
                "USE mysql",
                "SELECT DATABASE()",
                "USE no_such_schema",
                back.as_str(),
                "SELECT DATABASE()",
                "SET lc_time_names = 'de_DE'",
                "SELECT DATE_FORMAT('2024-03-01', '%M'), @@lc_time_names",
                "SET div_precision_increment = 2, group_concat_max_len = 5",
                "SELECT 1/3, GROUP_CONCAT(n) FROM (SELECT 1234 AS n UNION SELECT 5678) AS d",
                "SET no_such_variable = 1",
                "SET sql_mode = 'NO_SUCH_MODE'",
                "SET timestamp = 1000000000",
                "SELECT UNIX_TIMESTAMP()",
                "SET timestamp = DEFAULT",
                "SET max_execution_time = 5000",
                "SET @@session.transaction_isolation = 'READ-COMMITTED'",
                "SELECT 1",
                "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
                "SELECT 1",
                "SET autocommit = OFF",
                "SET autocommit = ON",
                "SET sql_auto_is_null = 1, unique_checks = 0, foreign_key_checks = 0",
                "SELECT @@sql_auto_is_null, @@unique_checks, @@foreign_key_checks",
            ]);
        });
    }
}

fn character_sets_of_the_login(engine: Engine) {
    let stage = Stage::new(engine);
    // latin1_swedish_ci, gbk_chinese_ci, utf8mb3_general_ci, utf8mb4_bin, and one that does not exist.
    for collation in [8, 28, 33, 46, 255, 4] {
        stage.compare(&Account { collation, ..Account::app() }, |recorder| {
            for _ in 0..3 {
                recorder.queries(&[
                    "SELECT @@character_set_client, @@character_set_results, @@collation_connection",
                    "DO 1",
                ]);
            }
            recorder.query([b"SELECT HEX('\xb5\x5c'), '\xb5\x5c'".as_slice(), b" AS a"].concat());
        });
    }
}

fn tracking() -> Account {
    Account::app().with(Capabilities::SESSION_TRACK | Capabilities::MULTI_STATEMENTS)
}

fn trackers_that_the_client_turns_on(engine: Engine) {
    let stage = Stage::new(engine);
    stage.compare(&tracking(), |recorder| {
        recorder.queries(&[
            "DROP TABLE IF EXISTS tracked",
            "CREATE TABLE tracked (id INT AUTO_INCREMENT PRIMARY KEY)",
        ]);
        recorder.set_trackers("session_track_state_change = ON");
        recorder.queries(&[
            "SET @a = 1",
            "SET sql_mode = 'ANSI'",
            "CREATE TEMPORARY TABLE temporary (id INT)",
            "DROP TEMPORARY TABLE temporary",
            "SELECT 1",
        ]);
        recorder.set_trackers("session_track_system_variables = '*'");
        recorder.query("SET sql_select_limit = 7");
        recorder.set_trackers("session_track_system_variables = 'sql_select_limit,session_track_schema'");
        recorder.queries(&["SET sql_select_limit = 8", "SET time_zone = '+01:00'"]);
        recorder.set_trackers("session_track_schema = OFF");
        recorder.query("USE mysql");
        recorder.set_trackers("session_track_schema = ON");
        recorder.query("USE mysql");
        let schema = recorder.schema.clone();
        recorder.command(CommandCode::InitDb, schema.as_bytes());
        if engine == Engine::Mysql {
            recorder.set_trackers("session_track_gtids = OWN_GTID");
            recorder.query("INSERT INTO tracked VALUES ()");
            recorder.query("INSERT INTO tracked VALUES (); INSERT INTO tracked VALUES (); SELECT 1");
            recorder.set_trackers("session_track_gtids = OFF");
        } else {
            recorder.set_trackers("session_track_system_variables = 'last_gtid'");
            recorder.query("INSERT INTO tracked VALUES ()");
            recorder.query("INSERT INTO tracked VALUES () RETURNING 1");
            recorder.set_trackers("session_track_system_variables = ''");
        }
        recorder.query("INSERT INTO tracked VALUES ()");
    });
}

fn trackers_of_transactions(engine: Engine) {
    let stage = Stage::new(engine);
    for wanted in ["STATE", "CHARACTERISTICS"] {
        stage.compare(&tracking(), |recorder| {
            recorder.queries(&[
                "DROP TABLE IF EXISTS tracked",
                "CREATE TABLE tracked (id INT AUTO_INCREMENT PRIMARY KEY)",
            ]);
            recorder.set_trackers(&format!("session_track_transaction_info = '{wanted}'"));
            recorder.queries(&[
                "SELECT 1",
                "SELECT * FROM tracked",
                "BEGIN",
                "SELECT * FROM tracked",
                "INSERT INTO tracked VALUES ()",
                "COMMIT",
                "START TRANSACTION READ ONLY",
                "SELECT * FROM tracked",
                "ROLLBACK",
                "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
                "START TRANSACTION",
                "SELECT 1; SELECT 2; INSERT INTO tracked VALUES (); COMMIT",
            ]);
        });
    }
}

fn trackers_that_the_client_turns_off(engine: Engine) {
    let stage = Stage::new(engine);
    stage.compare(&tracking(), |recorder| {
        recorder.set_trackers("session_track_system_variables = ''");
        recorder.queries(&[
            "SET time_zone = '+05:00'",
            "SELECT @@time_zone",
            "SET autocommit = 0",
            "SELECT 1",
            "SET autocommit = 1",
        ]);
        recorder.set_trackers("session_track_system_variables = 'time_zone'");
        recorder.queries(&[
            "SET time_zone = '+06:00', sql_mode = 'ANSI_QUOTES'",
            "SELECT @@time_zone, @@sql_mode",
        ]);
        recorder.set_trackers("session_track_system_variables = DEFAULT, time_zone = '+07:00'");
        recorder.queries(&["SET NAMES latin1", "SELECT @@time_zone, @@character_set_client"]);
        recorder.command(CommandCode::ResetConnection, b"");
        recorder.queries(&["SET time_zone = '+08:00'", "SELECT @@time_zone"]);
    });
}
