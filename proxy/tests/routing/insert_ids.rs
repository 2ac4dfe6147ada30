//! LAST_INSERT_ID(), by whatever words, and whatever has become of the connection on which the id was made.

use sandbox::Engine;

use super::stage::Stage;
use crate::harness::client::Client;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};
use crate::harness::reply::Part;

on_every_engine!(
    every_spelling_finds_the_id_when_the_connection_is_lost,
    no_spelling_finds_another_id_than_with_the_server,
);

/// Each gives the id as its only value.
const SPELLINGS: [&str; 14] = [
    "SELECT LAST_INSERT_ID()",
    "select last_insert_id ( ) as id",
    "SELECT LAST_INSERT_ID() FROM DUAL",
    "SELECT /* hidden */ LAST_INSERT_ID() + 0",
    "SELECT /*!50001 LAST_INSERT_ID() */",
    "SELECT (SELECT LAST_INSERT_ID())",
    "WITH id AS (SELECT LAST_INSERT_ID() AS id) SELECT id FROM id",
    "SELECT IF(1, LAST_INSERT_ID(), 0) FROM t",
    "SELECT @@last_insert_id",
    "SELECT @@identity",
    "SELECT @@session.last_insert_id AS id",
    "SELECT @@LOCAL.`identity`",
    "SELECT id FROM ids WHERE id = LAST_INSERT_ID()",
    "(SELECT id FROM ids WHERE id = @@identity)",
];

fn with_table(engine: Engine) -> Stage {
    let stage = Stage::new(engine);
    // Not the number of anything else.
    stage.on_primary("CREATE TABLE ids (id INT AUTO_INCREMENT PRIMARY KEY, v INT) AUTO_INCREMENT = 4000");
    stage
}

fn every_spelling_finds_the_id_when_the_connection_is_lost(engine: Engine) {
    let stage = with_table(engine);
    let (mut client, mut at_primary) = (stage.client(), stage.at_primary());
    for (id, spelling) in (4000..).zip(SPELLINGS) {
        client.run("INSERT INTO ids (v) VALUES (1)");
        // A pause in which the session reads elsewhere, and then one in which it loses its connection.
        client.run("SELECT v FROM t");
        assert_eq!(client.route().role, "replica");
        assert_eq!(client.value(spelling), id.to_string(), "{spelling}");
        stage.cut_off(&mut at_primary);
        assert_eq!(client.value(spelling), id.to_string(), "{spelling}, the connection lost");
        assert_eq!(client.value(spelling), id.to_string(), "{spelling}, once more");
    }
    // Where others look for it: in a write, in a variable, in a prepared statement.
    client.run("INSERT INTO ids (v) VALUES (1)");
    let id = client.value("SELECT MAX(id) FROM ids");
    stage.cut_off(&mut at_primary);
    client.run("UPDATE t SET v = LAST_INSERT_ID()");
    assert_eq!(client.value("SELECT v FROM t"), id);
    stage.cut_off(&mut at_primary);
    client.run("SET @id = LAST_INSERT_ID()");
    assert_eq!(client.value("SELECT @id"), id);

    let mut client = stage.client();
    let prepared = client.prepare("SELECT LAST_INSERT_ID(), ?").unwrap().id;
    let insert = client.prepare("INSERT INTO ids (v) VALUES (?)").unwrap().id;
    let made = client.execute(insert, &[Param::number(1)], Execution::WithTypes).ok().last_insert_id;
    stage.cut_off(&mut at_primary);
    let reply = client.execute(prepared, &[Param::number(1)], Execution::WithTypes);
    let Some(Part::Rows { rows, .. }) = reply.parts.first() else { panic!("{:?}", reply.error()) };
    // A binary row: header and nulls, and the number.
    assert_eq!(rows[0][2..10], made.to_le_bytes());
}

/// Runs the statements, loses the connection if there is one to lose, and asks.
fn id_after(
    client: &mut Client,
    statements: &[&str],
    table: &str,
    lose: impl FnOnce(),
) -> Result<String, u16> {
    for statement in statements {
        client.run(statement.replace("IDS", table));
    }
    lose();
    let reply = client.query("SELECT LAST_INSERT_ID()");
    match reply.error() {
        Some(error) => Err(error.code),
        None => Ok(reply.text_rows()[0][0].clone().unwrap()),
    }
}

/// Where the id cannot be known, the client hears that the connection was lost: another id would be worse.
fn no_spelling_finds_another_id_than_with_the_server(engine: Engine) {
    let stage = with_table(engine);
    for table in ["direct", "proxied"] {
        stage.on_primary(&format!(
            "CREATE TABLE {table} LIKE ids; ALTER TABLE {table} AUTO_INCREMENT = 500; \
             CREATE PROCEDURE makes_{table}() INSERT INTO {table} (v) VALUES (1); \
             CREATE FUNCTION f_{table}() RETURNS INT MODIFIES SQL DATA \
             BEGIN INSERT INTO {table} (v) VALUES (1); RETURN LAST_INSERT_ID(); END"
        ));
    }
    let mut at_primary = stage.at_primary();
    for statements in [
        &["INSERT INTO IDS (v) VALUES (1), (2), (3)"][..],
        &["INSERT INTO IDS (v) VALUES (1)", "UPDATE IDS SET v = LAST_INSERT_ID(v + 70) LIMIT 1"],
        &["INSERT INTO IDS (v) VALUES (1)", "UPDATE IDS SET v = 3"],
        &["INSERT INTO IDS (v) VALUES (1)", "INSERT INTO IDS (v) SELECT v FROM IDS WHERE id < 0"],
        &["INSERT INTO IDS (v) VALUES (1)", "BEGIN", "INSERT INTO IDS (v) VALUES (1)", "ROLLBACK"],
        &["INSERT INTO IDS (v) VALUES (1)", "SELECT LAST_INSERT_ID(77)"],
        &["INSERT INTO IDS (v) VALUES (1)", "DO LAST_INSERT_ID(78)"],
        &["INSERT INTO IDS (v) VALUES (1)", "SET last_insert_id = 79"],
        &["INSERT INTO IDS (v) VALUES (1)", "SET SESSION sql_mode = DEFAULT, @@identity = 80"],
        &["INSERT INTO IDS (v) VALUES (1)", "CALL makes_IDS()"],
        &["INSERT INTO IDS (v) VALUES (1)", "SELECT f_IDS()"],
    ] {
        let mut direct = stage.at_primary();
        direct.run(format!("USE {}", stage.schema));
        let expected = id_after(&mut direct, statements, "direct", || ());
        // So that it is not taken for one of the proxy's.
        direct.quit();
        let mut client = stage.client();
        let found = id_after(&mut client, statements, "proxied", || stage.cut_off(&mut at_primary));
        assert!(found == expected || found == Err(1053), "{statements:?}: {found:?}, not {expected:?}");
    }
}
