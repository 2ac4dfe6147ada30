//! Which transactions are split: only those whose statements have a snapshot each, and of which nothing else is known that
//! only the primary can have.

use sandbox::{ClusterOptions, Engine, Family};
use wire::{Capabilities, CommandCode};

use super::stage::{READ_COMMITTED, Stage, isolation, splits};
use crate::harness::clusters::start;
use crate::harness::on_every_engine;

on_every_engine!(the_session_says, the_next_transaction_only, other_conditions, the_server_says,);

/// What is said before BEGIN, and whether the transaction is split then.
#[track_caller]
fn check(stage: &Stage<'_>, statements: &[&str], expected: bool) {
    let mut client = stage.at("session");
    statements.iter().for_each(|statement| {
        client.run(statement);
    });
    for _ in 0..2 {
        assert_eq!(splits(&mut client, "BEGIN"), expected, "{statements:?}");
    }
}

fn the_session_says(engine: Engine) {
    let stage = Stage::new(engine);
    let variable = isolation(engine);
    let set = |text: &str| text.replace("ISOLATION", variable);
    check(&stage, &[], false);
    check(&stage, &[READ_COMMITTED], true);
    check(&stage, &["SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"], true);
    check(&stage, &["SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE"], false);
    for spelling in [
        "SET ISOLATION = 'READ-COMMITTED'",
        "SET SESSION ISOLATION = 'read-committed'",
        "SET @@session.ISOLATION = 'READ-UNCOMMITTED'",
        "SET LOCAL ISOLATION = 1, sql_mode = ''",
    ] {
        check(&stage, &[&set(spelling)], true);
    }
    check(&stage, &[READ_COMMITTED, &set("SET ISOLATION = DEFAULT")], false);
    check(&stage, &[READ_COMMITTED, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"], false);
    check(&stage, &[READ_COMMITTED, "SET SESSION TRANSACTION READ ONLY"], false);
    check(&stage, &[READ_COMMITTED, "SET SESSION TRANSACTION READ WRITE"], true);
    // By a procedure, which pins the session by that.
    stage.on_primary(&set("CREATE PROCEDURE sets() BEGIN SET SESSION ISOLATION = 'READ-COMMITTED'; END"));
    let mut client = stage.at("session");
    client.run("CALL sets()");
    assert!(!splits(&mut client, "BEGIN"));
    assert!(!splits(&mut client, "BEGIN"));
    // In the middle of another one.
    let mut client = stage.committed_at("session");
    client.run("BEGIN");
    client.run("SELECT v FROM t");
    client.run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    client.run("COMMIT");
    assert!(!splits(&mut client, "BEGIN"));
    client.run("BEGIN");
    client.run(READ_COMMITTED);
    client.run("COMMIT");
    assert!(splits(&mut client, "BEGIN"));
}

fn the_next_transaction_only(engine: Engine) {
    let stage = Stage::new(engine);
    let set = |text: &str| text.replace("ISOLATION", isolation(engine));
    let mut client = stage.committed_at("session");
    for next in [
        "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        "SET TRANSACTION READ WRITE",
        "SELECT 1; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        &set("SET @@ISOLATION = 'SERIALIZABLE'"),
        &set("SET @@ISOLATION = 'SERIALIZABLE', sql_mode = ''"),
    ] {
        client.run(next);
        assert!(!splits(&mut client, "BEGIN"), "{next}");
        assert!(splits(&mut client, "BEGIN"), "{next}");
        // It waits for its transaction.
        client.run(next);
        client.run("SELECT 1");
        client.run("DO 0");
        assert!(!splits(&mut client, "BEGIN"), "{next}");
        assert!(splits(&mut client, "BEGIN"), "{next}");
    }
    // A procedure may have done it as well.
    stage.on_primary("CREATE PROCEDURE may() BEGIN SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; END");
    for unseen in ["CALL may()", "SELECT 1; CALL may()"] {
        let mut client = stage.committed_at("session");
        client.run(unseen);
        assert!(!splits(&mut client, "BEGIN"), "{unseen}");
        assert!(splits(&mut client, "BEGIN"), "{unseen}");
    }
    let mut client = stage.at("session");
    client.run("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
    assert!(!splits(&mut client, "BEGIN"));
    assert!(!splits(&mut client, "BEGIN"));
}

fn other_conditions(engine: Engine) {
    let stage = Stage::new(engine);
    for keeps in [
        "SET completion_type = 'CHAIN'",
        "SET autocommit = 0",
        "SELECT GET_LOCK(CONCAT('split', CONNECTION_ID()), 5)",
        "CREATE TEMPORARY TABLE temporary (id INT)",
        "SET sql_log_bin = 0",
    ] {
        let mut client = stage.committed_at("session");
        if client.query(keeps).error().is_none() {
            assert!(!splits(&mut client, "BEGIN"), "{keeps}");
        } else {
            assert_eq!(keeps, "SET sql_log_bin = 0", "not every account may");
        }
    }
    let mut client = stage.committed_at("session");
    client.run("SELECT GET_LOCK('split_released', 5)");
    client.run("SELECT RELEASE_LOCK('split_released')");
    assert!(splits(&mut client, "BEGIN"));
    // BEGIN gives the tables free.
    client.run("LOCK TABLES t READ");
    assert!(!splits(&mut client, "BEGIN"));
    client.run("UNLOCK TABLES");
    client.run("XA START 'split'");
    let error = client.error("BEGIN");
    assert_eq!(error, {
        let mut direct = stage.direct();
        direct.run("XA START 'direct'");
        direct.error("BEGIN")
    });
    client.run("XA END 'split'");
    client.run("XA ROLLBACK 'split'");
    assert!(splits(&mut client, "BEGIN"));
    // Who wants to be told of transactions is told by a server.
    let account = stage.account().with(Capabilities::SESSION_TRACK);
    let mut client = account.connect(&stage.proxy.target("session")).unwrap();
    client.run(READ_COMMITTED);
    assert!(splits(&mut client, "BEGIN"));
    client.run("SET session_track_transaction_info = 'STATE'");
    assert!(!splits(&mut client, "BEGIN"));
    // And the endpoint decides.
    let mut client = stage.committed_at("whole");
    assert!(!splits(&mut client, "BEGIN"));
}

fn the_server_says(engine: Engine) {
    let cluster = start(ClusterOptions::new(engine));
    let stage = Stage::on(&cluster);
    let (mut old, mut used) = (stage.at("session"), stage.at("session"));
    assert!(!splits(&mut used, "BEGIN"));
    let variable = isolation(engine);
    let global = |level: &str| {
        cluster.primary().sql(&format!("SET GLOBAL {variable} = '{level}'")).unwrap();
    };
    global("READ-COMMITTED");
    assert!(!splits(&mut used, "BEGIN"), "a session keeps what it began with");
    assert!(!splits(&mut old, "BEGIN"));
    let mut new = stage.at("session");
    assert!(splits(&mut new, "BEGIN"));
    global("REPEATABLE-READ");
    assert!(splits(&mut new, "BEGIN"));
    assert!(!splits(&mut stage.at("session"), "BEGIN"));
    // A reset takes the server's value of now.
    new.plain(CommandCode::ResetConnection, b"");
    assert!(!splits(&mut new, "BEGIN"));
    global("READ-COMMITTED");
    used.plain(CommandCode::ResetConnection, b"");
    assert!(splits(&mut used, "BEGIN"));
    old.run(format!("SET SESSION {variable} = DEFAULT"));
    assert!(splits(&mut old, "BEGIN"));
    if engine.family() == Family::Mysql {
        cluster.primary().sql("SET GLOBAL transaction_read_only = ON").unwrap();
        assert!(!splits(&mut stage.at("session"), "BEGIN"));
    }
}
