//! What a client asks about the statement before: warnings, counts, ids, and where they are kept.

use sandbox::Engine;
use wire::{Capabilities, CommandCode};

use super::recorder::{Recorder, Stage};
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::prepared::Execution;

on_every_engine!(
    warnings_of_reads_are_kept_in_variables,
    counts_are_kept_in_variables,
    nothing_of_the_proxys_comes_between,
    variables_set_along_with_how_texts_are_read,
    a_limit_of_zero_rows,
    triggers_that_set_variables,
    triggers_that_make_temporary_tables,
    reads_tied_to_their_connection,
    roles_among_other_statements,
);

fn prepared(engine: Engine) -> Stage {
    let stage = Stage::new(engine);
    let schema = &stage.schema;
    let text = format!("CREATE TABLE {schema}.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(50))");
    stage.cluster.primary().sql(&text).unwrap();
    crate::harness::clusters::caught_up(stage.cluster);
    stage
}

/// The same rows and the same next id for each conversation.
fn begin_anew(recorder: &mut Recorder) {
    recorder.queries(&["TRUNCATE TABLE t", "INSERT INTO t (v) VALUES ('a'), ('b'), ('c')"]);
}

fn account() -> Account {
    Account::app().with(Capabilities::MULTI_STATEMENTS)
}

fn warnings_of_reads_are_kept_in_variables(engine: Engine) {
    let stage = prepared(engine);
    stage.compare(&account(), |recorder| {
        begin_anew(recorder);
        recorder.queries(&[
            "SELECT CAST('x' AS SIGNED)",
            "GET DIAGNOSTICS CONDITION 1 @m = MESSAGE_TEXT, @e = MYSQL_ERRNO, @s = RETURNED_SQLSTATE",
            "UPDATE t SET v = 'z' WHERE id = 1",
            "SELECT @m, CONCAT(@e), @s, CONCAT(@e + 1), CHARSET(@m)",
            "SELECT v FROM t WHERE v = @s OR id = @e OR id = 2",
            "SELECT no_such_column",
            "GET DIAGNOSTICS CONDITION 1 @e = MYSQL_ERRNO",
            "INSERT INTO t (v) VALUES (@e)",
            "SELECT v FROM t WHERE v = @e",
            "SELECT 1/0, CAST('x' AS SIGNED)",
            "GET DIAGNOSTICS @n = NUMBER, @r = ROW_COUNT",
            "GET DIAGNOSTICS CONDITION 1 @e = MYSQL_ERRNO",
            "SHOW WARNINGS",
            "SELECT CONCAT(@n, ' ', @r, ' ', @e)",
            "SET @n = 'literal'",
            "SELECT @n, CONCAT(@e)",
        ]);
    });
}

fn counts_are_kept_in_variables(engine: Engine) {
    let stage = prepared(engine);
    stage.compare(&account(), |recorder| {
        begin_anew(recorder);
        recorder.queries(&[
            "SELECT SQL_CALC_FOUND_ROWS id FROM t ORDER BY id LIMIT 1",
            "SET @f = FOUND_ROWS()",
            "SELECT @f",
            "SELECT id FROM t WHERE id < 3 ORDER BY id",
            "SET @f = FOUND_ROWS(), @r = ROW_COUNT(), @c = 'é'",
            "DELETE FROM t WHERE id = 100",
            "SELECT @f, @r, @c",
            "UPDATE t SET v = 'y' WHERE id IN (1, 2)",
            "SET @r = ROW_COUNT()",
            "SELECT CONCAT(@r, '')",
            "SELECT CAST('x' AS SIGNED)",
            "SET @w = @@warning_count",
            "SELECT CONCAT(@w, '')",
        ]);
    });
}

/// The proxy learns the collation of SET NAMES by asking, which must not be seen.
fn nothing_of_the_proxys_comes_between(engine: Engine) {
    let stage = prepared(engine);
    stage.compare(&account(), |recorder| {
        begin_anew(recorder);
        recorder.queries(&[
            "UPDATE t SET v = 'x'",
            "SET NAMES utf8mb4",
            "SELECT ROW_COUNT()",
            "SET NAMES utf8mb3",
            "SHOW WARNINGS",
            "SELECT @@collation_connection, 'é'",
            "SET NAMES latin1 COLLATE latin1_bin",
            "SELECT @@collation_connection",
            "SELECT COLLATION(v), COLLATION('x') FROM t WHERE id = 1",
        ]);
    });
}

fn variables_set_along_with_how_texts_are_read(engine: Engine) {
    let stage = prepared(engine);
    stage.compare(&account(), |recorder| {
        begin_anew(recorder);
        recorder.queries(&[
            r"SET @x = 'a\\b', sql_mode = 'NO_BACKSLASH_ESCAPES'",
            "SELECT @x",
            r"SET sql_mode = '', @x = 'a\\b'",
            "SELECT @x",
            "SET @x = 'é', NAMES latin1",
            "SELECT CHAR_LENGTH(@x), HEX(@x)",
            "SELECT 1 FROM t WHERE v = @x",
        ]);
    });
}

fn a_limit_of_zero_rows(engine: Engine) {
    let stage = prepared(engine);
    stage.compare(&account(), |recorder| {
        begin_anew(recorder);
        recorder.queries(&[
            "SET sql_select_limit = 0",
            "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
            "SELECT id FROM t",
            "SET sql_select_limit = DEFAULT",
            "SELECT @@collation_connection, 'a' = 'A'",
        ]);
    });
}

fn triggers_that_set_variables(engine: Engine) {
    let stage = prepared(engine);
    let trigger = format!(
        "CREATE TRIGGER {0}.notes AFTER INSERT ON {0}.t FOR EACH ROW SET @last = NEW.v",
        stage.schema
    );
    stage.cluster.primary().sql(&trigger).unwrap();
    crate::harness::clusters::caught_up(stage.cluster);
    stage.compare(&account(), |recorder| {
        begin_anew(recorder);
        recorder.queries(&[
            "SET @last = 'before'",
            "SELECT @last",
            "INSERT INTO t (v) VALUES ('by trigger')",
            "SELECT @last",
            "SELECT v FROM t WHERE v = @last",
            "DELETE FROM t WHERE v = 'by trigger'",
        ]);
        recorder.command(CommandCode::ResetConnection, b"");
        recorder.query("SELECT @last");
    });
}

fn triggers_that_make_temporary_tables(engine: Engine) {
    let stage = prepared(engine);
    let schema = &stage.schema;
    let text = format!(
        "USE {schema}; CREATE TRIGGER makes AFTER UPDATE ON t FOR EACH ROW BEGIN \
         CREATE TEMPORARY TABLE IF NOT EXISTS made (id INT); INSERT INTO made VALUES (NEW.id); END"
    );
    let primary = crate::harness::stream::Target::Tcp(stage.cluster.primary().address());
    account().connect(&primary).unwrap().run(text);
    crate::harness::clusters::caught_up(stage.cluster);
    stage.compare(&account(), |recorder| {
        begin_anew(recorder);
        recorder.queries(&[
            "UPDATE t SET v = 'w' WHERE id = 1",
            "SELECT id FROM made",
            "DROP TEMPORARY TABLE made",
        ]);
    });
}

fn reads_tied_to_their_connection(engine: Engine) {
    let stage = prepared(engine);
    stage.compare(&account(), |recorder| {
        begin_anew(recorder);
        recorder.queries(&[
            "SET sql_auto_is_null = 1",
            "INSERT INTO t (v) VALUES ('n')",
            "SELECT v FROM t WHERE id IS NULL",
            "SET sql_auto_is_null = 0",
            "SELECT v FROM t WHERE id IS NULL",
            "DELETE FROM t WHERE v = 'n'",
            "SET rand_seed1 = 5, rand_seed2 = 7",
            "SELECT RAND()",
            "SELECT RAND()",
        ]);
    });
}

fn roles_among_other_statements(engine: Engine) {
    let stage = prepared(engine);
    let role = crate::harness::clusters::unique("role");
    let primary = stage.cluster.primary();
    let to = if engine == Engine::Mysql { "app@'%'" } else { "app" };
    primary.sql(&format!("CREATE ROLE {role}; GRANT {role} TO {to}")).unwrap();
    crate::harness::clusters::caught_up(stage.cluster);
    let (set, reset) = (format!("SET ROLE {role}; SELECT 1"), "SELECT 2; SET ROLE NONE; SELECT 3");
    stage.compare(&account(), |recorder| {
        recorder.query(&set);
        recorder.queries(&["SELECT CURRENT_ROLE()", "SELECT CURRENT_ROLE()", reset, "SELECT CURRENT_ROLE()"]);
        recorder.query(format!("SET ROLE {role}"));
        recorder.queries(&["SELECT CURRENT_ROLE()", reset, "SELECT CURRENT_ROLE()"]);
    });
    // Prepared: in force when it runs, and not before.
    stage.compare(&account(), |recorder| {
        let id = recorder.prepare(format!("SET ROLE {role}"));
        recorder.queries(&["SELECT CURRENT_ROLE()", "SELECT CURRENT_ROLE()"]);
        recorder.execute(id, &[], Execution::WithTypes);
        recorder.queries(&["SELECT CURRENT_ROLE()", "SELECT CURRENT_ROLE()"]);
    });
    primary.sql(&format!("DROP ROLE {role}")).unwrap();
}
