//! Session state goes along to whatever node runs the next statement.

use sandbox::Engine;
use wire::{Capabilities, CommandCode};

use super::stage::{Stage, route_of};
use crate::harness::clusters::{caught_up, schema, unique};
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::prepared::Execution;

on_every_engine!(
    variables_follow,
    the_schema_follows,
    options_follow,
    system_schemas_are_the_primarys,
    character_sets_and_collations_follow,
    what_a_variable_takes_along_follows,
    roles_follow,
    variables_that_only_some_servers_have,
    quotes_are_read_as_they_stand,
);

/// On the primary, and on the replicas however often they are asked.
fn everywhere(client: &mut crate::harness::client::Client, question: &str, expected: &str, after: &str) {
    for _ in 0..5 {
        assert_eq!(client.value(question), expected, "{after}");
        assert_eq!(client.route().role, "replica", "{after}");
    }
    client.run("BEGIN");
    assert_eq!(client.value(question), expected, "{after}, on the primary");
    client.run("ROLLBACK");
}

fn variables_follow(engine: Engine) {
    let stage = Stage::new(engine);
    stage.on_primary("CREATE PROCEDURE sets() SET SESSION sort_buffer_size = 131072");
    let mut client = stage.client();
    for (set, question, expected) in [
        ("SET time_zone = '+05:30'", "SELECT @@time_zone", "+05:30"),
        ("SET @@session.sql_select_limit = 3", "SELECT @@sql_select_limit", "3"),
        (
            "SET SESSION group_concat_max_len = 2048, lc_time_names = 'fr_FR'",
            "SELECT @@lc_time_names",
            "fr_FR",
        ),
        ("SET div_precision_increment = 9", "SELECT 1/3", "0.333333333"),
        ("SET sql_mode = 'PIPES_AS_CONCAT'", "SELECT 'a' || 'b'", "ab"),
        ("SET sql_mode = 'ANSI_QUOTES,IGNORE_SPACE'", "SELECT \"v\" FROM t", "1"),
        ("SET sql_mode = ''", "SELECT 'a' || 'b'", "0"),
        ("SET sql_mode = DEFAULT", "SELECT @@sql_mode LIKE '%STRICT%'", "1"),
        ("SET timestamp = 1000000000, time_zone = '+00:00'", "SELECT NOW()", "2001-09-09 01:46:40"),
        ("SET timestamp = DEFAULT", "SELECT YEAR(NOW()) > 2020", "1"),
        ("SET big_tables = ON", "SELECT @@big_tables", "1"),
        ("SET @@lc_time_names = 'de_DE'", "SELECT @@lc_time_names", "de_DE"),
        ("SET @@sql_mode = 'PIPES_AS_CONCAT'", "SELECT 'c' || 'd'", "cd"),
        ("SET @@sql_mode = ''", "SELECT 'a' || 'b'", "0"),
        ("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SELECT 1", "1"),
        (
            "SET unique_checks = OFF; SET foreign_key_checks = OFF",
            "SELECT @@unique_checks + @@foreign_key_checks",
            "0",
        ),
        ("SET max_sort_length = 64", "SELECT @@max_sort_length", "64"),
        ("SET sql_select_limit = DEFAULT", "SELECT @@sql_select_limit > 1000", "1"),
    ] {
        client.run(set);
        everywhere(&mut client, question, expected, set);
    }
    client.run("CALL sets()");
    assert_eq!(client.value("SELECT @@sort_buffer_size"), "131072");
    let mut client = stage.client();
    let id = client.prepare("SET time_zone = '-03:00'").unwrap().id;
    client.execute(id, &[], Execution::WithTypes);
    everywhere(&mut client, "SELECT @@time_zone", "-03:00", "a prepared SET");
    // Nobody else's.
    let mut other = stage.client();
    assert_ne!(other.value("SELECT @@time_zone"), "-03:00");
    // A setting that fails changes nothing.
    assert_eq!(client.error("SET time_zone = 'Nowhere/Land'").code, 1298);
    everywhere(&mut client, "SELECT @@time_zone", "-03:00", "a SET that failed");
}

/// Variables that set others, which no server reports.
fn what_a_variable_takes_along_follows(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    let collation = "SELECT CONCAT(@@collation_connection, ' ', CHARSET('a'))";
    client.run("SET NAMES utf8mb4");
    client.run("SET character_set_connection = latin1");
    everywhere(&mut client, collation, "latin1_swedish_ci latin1", "a character set");
    client.run("SET NAMES utf8mb4");
    client.run("SET collation_connection = latin1_swedish_ci");
    everywhere(&mut client, collation, "latin1_swedish_ci latin1", "its collation alone");

    client.run("SET max_join_size = 2");
    client.run("SET sql_big_selects = 1");
    everywhere(&mut client, "SELECT @@sql_big_selects", "1", "a limit overruled");
    client.run("SET max_join_size = 2");
    everywhere(&mut client, "SELECT @@sql_big_selects", "0", "the same limit once more");
    client.run("SET max_join_size = 3, sql_big_selects = 1");
    everywhere(&mut client, "SELECT @@sql_big_selects", "1", "both at once");
    client.run("SET max_join_size = 2");
    client.run("SET max_join_size = DEFAULT");
    everywhere(&mut client, "SELECT @@sql_big_selects", "1", "no limit");
}

/// COM_SET_OPTION, which PHP says before and after several statements.
fn options_follow(engine: Engine) {
    let stage = Stage::new(engine);
    let mut at_primary = stage.at_primary();
    let mut client =
        stage.account().without(Capabilities::MULTI_STATEMENTS).connect(&stage.proxy.target("rw")).unwrap();
    client.plain(CommandCode::SetOption, &[0, 0]);
    for _ in 0..5 {
        assert_eq!(client.query("SELECT v FROM t; SELECT 2").parts.len(), 2);
        assert_eq!(client.route().role, "replica");
    }
    stage.cut_off(&mut at_primary);
    client.run("UPDATE t SET v = v + 1; UPDATE t SET v = v + 1");
    assert_eq!(client.value("SELECT v FROM t"), "3");
    client.plain(CommandCode::SetOption, &[1, 0]);
    assert_eq!(client.error("SELECT 1; SELECT 2").code, 1064);
    assert_eq!(client.value("SELECT v FROM t"), "3");
    assert_eq!(client.route().role, "replica");
}

fn the_schema_follows(engine: Engine) {
    let stage = Stage::new(engine);
    let other = schema(stage.cluster);
    let mut client = stage.client();
    client.run("SELECT 1");
    client.run(format!("USE {other}"));
    everywhere(&mut client, "SELECT DATABASE()", &other, "USE");
    client.plain(CommandCode::InitDb, stage.schema.as_bytes());
    everywhere(&mut client, "SELECT DATABASE()", &stage.schema, "COM_INIT_DB");
    everywhere(&mut client, "SELECT v FROM t", "1", "COM_INIT_DB");
    client.run(format!("SELECT 1; USE `{other}`; SELECT 2"));
    everywhere(&mut client, "SELECT DATABASE()", &other, "USE among others");
    assert_eq!(client.error("USE no_such_schema").code, 1049);
    everywhere(&mut client, "SELECT DATABASE()", &other, "USE that failed");
    // A schema that is dropped under its session leaves it without one.
    client.run(format!("DROP DATABASE {other}"));
    assert_eq!(client.value("SELECT DATABASE()"), "NULL");
    assert_eq!(client.error("SELECT * FROM t").code, 1046);
    client.run(format!("USE {}", stage.schema));
    everywhere(&mut client, "SELECT v FROM t", "1", "USE after a schema was dropped");
    // One that was made a moment ago.
    client.run(format!("CREATE DATABASE {other}"));
    client.run(format!("USE {other}"));
    client.run("CREATE TABLE new (v INT)");
    client.run("INSERT INTO new VALUES (4)");
    assert_eq!(client.value("SELECT v FROM new"), "4");
    client.run(format!("DROP DATABASE {other}"));
}

fn system_schemas_are_the_primarys(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    client.run("USE mysql");
    assert_eq!(route_of(&mut client, "SELECT COUNT(*) FROM user").0, "primary");
    client.run(format!("USE {}", stage.schema));
    assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "replica");
    let mut client = Account::app().schema("mysql").connect(&stage.proxy.target("rw")).unwrap();
    assert_eq!(route_of(&mut client, "SELECT COUNT(*) FROM user").0, "primary");
}

fn character_sets_and_collations_follow(engine: Engine) {
    let stage = Stage::new(engine);
    let question = "SELECT CONCAT_WS('/', @@character_set_client, COALESCE(@@character_set_results, 'NULL'), \
                    @@character_set_connection, @@collation_connection)";
    let mut client = stage.client();
    for set in [
        "SET NAMES latin1",
        "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
        "SET NAMES utf8mb4",
        "SET NAMES 'latin1' COLLATE latin1_german2_ci",
        "SET collation_connection = utf8mb4_unicode_ci",
        "SET character_set_results = NULL",
        "SET character_set_client = latin1",
        "SET CHARACTER SET utf8mb4",
        "SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci, time_zone = '+01:00'",
        "SET character_set_connection = latin1",
        "SELECT 1; SET NAMES utf8mb4 COLLATE utf8mb4_bin; SELECT 2",
        "SET NAMES DEFAULT",
    ] {
        client.run(set);
        client.run("BEGIN");
        let expected = client.value(question);
        client.run("COMMIT");
        everywhere(&mut client, question, &expected, set);
    }
    client.run("SET NAMES utf8mb4 COLLATE utf8mb4_bin");
    everywhere(&mut client, "SELECT 'a' = 'A'", "0", "a binary collation");
    client.run("SET NAMES utf8mb4 COLLATE utf8mb4_general_ci");
    everywhere(&mut client, "SELECT 'a' = 'A'", "1", "a collation without case");
}

fn roles_follow(engine: Engine) {
    let stage = Stage::new(engine);
    let (user, role) = (unique("with_role"), unique("role"));
    stage
        .cluster
        .primary()
        .sql(&format!(
            "CREATE ROLE {role}; GRANT SELECT ON {}.* TO {role}; CREATE USER {user} IDENTIFIED BY 'with-role'; \
             GRANT {role} TO {user}",
            stage.schema
        ))
        .unwrap();
    caught_up(stage.cluster);
    let mut client = Account::new(&user, "with-role").connect(&stage.proxy.target("rw")).unwrap();
    let question = format!("SELECT v FROM {}.t", stage.schema);
    assert_eq!(client.error(&question).code, 1142);
    client.run(format!("SET ROLE {role}"));
    everywhere(&mut client, &question, "1", "SET ROLE");
    assert!(client.value("SELECT CURRENT_ROLE()").contains(&role));
    client.run("SET ROLE NONE");
    for _ in 0..4 {
        assert_eq!(client.error(&question).code, 1142);
    }
}

/// What a replica does not take is no reason to fail: the primary has it.
fn variables_that_only_some_servers_have(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    let set = match engine {
        Engine::Mysql => "SET SESSION binlog_rows_query_log_events = ON",
        _ => "SET SESSION skip_replication = ON",
    };
    client.run(set);
    assert_eq!(client.value("SELECT v FROM t"), "1");
    client.run("SET GLOBAL max_connect_errors = 12345");
    assert_eq!(client.value("SELECT @@global.max_connect_errors"), "12345");
    for replica in stage.cluster.replicas() {
        assert_ne!(replica.value("SELECT @@global.max_connect_errors").unwrap(), "12345");
    }
    client.run("SET GLOBAL max_connect_errors = 100");
}

fn quotes_are_read_as_they_stand(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    // A write that hides in what is a text under one sql_mode and not under the other.
    client.run("SET sql_mode = 'NO_BACKSLASH_ESCAPES'");
    assert_eq!(route_of(&mut client, "SELECT '\\'; UPDATE t SET v = 2; -- '").0, "primary");
    assert_eq!(client.value("SELECT v FROM t"), "2");
    client.run("SET sql_mode = ''");
    assert_eq!(route_of(&mut client, "SELECT '\\'; UPDATE t SET v = 3; -- '").0, "replica");
    assert_eq!(client.value("SELECT v FROM t"), "2");
    client.run("SET sql_mode = 'ANSI_QUOTES'");
    assert_eq!(client.value("SELECT \"v\" FROM t"), "2");
    // In gbk the second byte of a character may be a backslash.
    client.run("SET sql_mode = ''");
    client.run("SET NAMES gbk");
    assert_eq!(route_of(&mut client, b"SELECT '\xb5\x5c'; UPDATE t SET v = 4; -- '").0, "primary");
    client.run("SET NAMES utf8mb4");
    assert_eq!(client.value("SELECT v FROM t"), "4");
}

#[test]
fn mariadb_11_8() {
    variables_follow(Engine::Mariadb11);
    character_sets_and_collations_follow(Engine::Mariadb11);
    the_schema_follows(Engine::Mariadb11);
}
