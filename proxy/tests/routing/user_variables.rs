//! User variables: literals go along to the replicas, other values keep their readers on the primary.

use sandbox::Engine;

use super::stage::{Stage, route_of};
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};

on_every_engine!(literals_travel, other_values_stay, what_was_a_literal_and_is_no_more);

fn literals_travel(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    let mut check = |role: &str, set: &str, get: &str, expected: &str| {
        client.run(set);
        for _ in 0..3 {
            assert_eq!(client.value(get), expected, "{set}");
            assert_eq!(client.route().role, role, "{set}");
        }
        client.run("BEGIN");
        assert_eq!(client.value(get), expected, "{set}, in a transaction");
        client.run("COMMIT");
    };
    for (set, get, expected) in [
        ("SET @a = 5", "SELECT @a + 1", "6"),
        ("SET @a = 'it''s \\'text\\''", "SELECT @a", "it's 'text'"),
        ("SET @a := -1.5", "SELECT @a", "-1.5"),
        ("SET @a = NULL", "SELECT @a", "NULL"),
        ("SET @a = x'414243'", "SELECT @a", "ABC"),
        ("SET @`a` = 7, @B = 'b'", "SELECT CONCAT(@A, @b)", "7b"),
        ("SET @a = 'ä'", "SELECT HEX(@a)", "C3A4"),
        ("SET @a = TRUE, @c = _latin1'x'", "SELECT CONCAT(@a, @c)", "1x"),
        ("SET @a = 1e3, @b = 1, @c = 1", "SELECT @a", "1000"),
        ("SET sql_mode = 'NO_BACKSLASH_ESCAPES'", "SELECT @a", "1000"),
        ("SET @a = 'back\\slash'", "SELECT @a", "back\\slash"),
        ("SET time_zone = '+01:00'", "SELECT @a", "back\\slash"),
    ] {
        check("replica", set, get, expected);
    }
    // From here on the text would be read as another one, or in another character set.
    check("primary", "SET sql_mode = ''", "SELECT @a", "back\\slash");
    check("primary", "SET NAMES latin1", "SELECT @a", "back\\slash");
    assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "replica");
}

fn other_values_stay(engine: Engine) {
    let stage = Stage::new(engine);
    stage.on_primary("CREATE PROCEDURE sets() SET @a = 'by a procedure'");
    for (set, expected) in [
        ("SET @a = (SELECT v FROM t)", "1"),
        ("SET @a = 1 + 1", "2"),
        ("SELECT 3 INTO @a", "3"),
        ("SELECT v + 3 FROM t INTO @a", "4"),
        ("SELECT @a := 5", "5"),
        ("UPDATE t SET v = (@a := 6) - 5", "6"),
        ("CALL sets()", "by a procedure"),
        ("SET @b = 7; SET @a = @b", "7"),
        ("prepared", "8"),
        ("PREPARE p FROM 'SET @a = ?'; SET @nine = 9; EXECUTE p USING @nine", "9"),
        ("SET @a = 10; SET @a = @a + 1", "11"),
    ] {
        let mut client = stage.client();
        client.run("SELECT 1");
        if set == "prepared" {
            let id = client.prepare("SET @a = ?").unwrap().id;
            client.execute(id, &[Param::number(8)], Execution::WithTypes);
        } else {
            client.run(set);
        }
        for _ in 0..4 {
            assert_eq!(client.value("SELECT @a"), expected, "{set}");
            let id = client.prepare("SELECT @a").unwrap().id;
            let reply = client.execute(id, &[], Execution::WithTypes);
            assert!(format!("{:?}", reply.packets).contains(expected) || expected.len() < 3, "{set}");
        }
        // Statements without variables are free, unless it is not known what else was changed.
        let role = if set.starts_with("CALL") || set.starts_with("PREPARE") { "primary" } else { "replica" };
        assert_eq!(route_of(&mut client, "SELECT v FROM t").0, role, "{set}");
    }
}

fn what_was_a_literal_and_is_no_more(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    client.run("SET @a = 1");
    assert_eq!(client.value("SELECT @a"), "1");
    client.run("SELECT @a := @a + 1");
    for _ in 0..4 {
        assert_eq!(client.value("SELECT @a"), "2");
    }
    client.run("SET @a = 30");
    for _ in 0..4 {
        assert_eq!(client.value("SELECT @a"), "30");
    }
    // A connection that is replaced gets the literal again, and not an older one.
    client.run("SET @z = 'kept'");
    assert_eq!(client.value("SELECT @z"), "kept");
}
