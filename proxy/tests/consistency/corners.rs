//! Corners of the promises: what one packet shows behind its own write, what asks about the statement before, chained
//! transactions, and levels that somebody else had chosen.

use std::thread;
use std::time::Duration;

use sandbox::{Engine, Family};
use wire::CommandCode;
use wire::capability::Capabilities;

use super::scene::{Scene, settled};
use crate::harness::client::Client;
use crate::harness::clusters::caught_up;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::reply::{Part, text_row};

on_every_engine!(
    what_a_packet_shows_behind_its_own_write_stays,
    what_asks_about_the_statement_before_is_as_fresh_as_any_read,
    a_level_chosen_by_somebody_else_is_not_inherited,
    a_chained_transaction_begins_as_fresh_as_any,
    a_transaction_begun_inside_of_a_read_only_one_may_write,
    what_a_read_only_transaction_left_on_a_replica_is_moved,
    a_position_that_the_primary_never_had_is_refused_once,
    a_misspelt_level_weakens_nothing,
    a_replica_that_cannot_be_brought_to_the_sessions_state_reads_nothing,
);

fn start(scene: &Scene) -> Proxy {
    let lines = |level: &str| format!("consistency = \"{level}\"\nconsistency_timeout_us = 20000");
    let proxy = Setup::of(&scene.cluster)
        .endpoint("session", &lines("session"))
        .endpoint("global", &lines("global"))
        .endpoint("eventual", &lines("eventual"))
        .start();
    scene.table();
    scene.at_primary().run("INSERT INTO t VALUES (1, 0), (2, 0)");
    caught_up(&scene.cluster);
    settled(&scene.cluster, &proxy, "session");
    proxy
}

/// What a session is does not depend on how far a replica is: one that does not know the session's schema yet has run nothing.
fn a_replica_that_cannot_be_brought_to_the_sessions_state_reads_nothing(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let mut client = scene.client(&proxy, "eventual");
    assert_eq!(value(&mut client, 1), "0");
    scene.stop_appliers();
    let later = format!("{}_later", scene.schema);
    client.run(format!("CREATE DATABASE {later}"));
    client.run(format!("USE {later}"));
    for _ in 0..3 {
        assert_eq!(client.value("SELECT DATABASE()"), later);
        assert_eq!(client.route().role, "primary");
    }
    let statement = client.prepare("SELECT DATABASE(), ?").unwrap();
    let reply = client.execute(statement.id, &[Param::text("prepared")], Execution::WithTypes);
    assert!(reply.error().is_none() && client.route().role == "primary", "{reply:?}");
    scene.start_appliers();
    client.run(format!("DROP DATABASE {later}"));
}

fn value(client: &mut Client, id: u32) -> String {
    client.value(&format!("SELECT v FROM t WHERE id = {id}"))
}

fn what_a_packet_shows_behind_its_own_write_stays(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let account = scene.account().with(Capabilities::MULTI_STATEMENTS);
    let mut client = account.connect(&proxy.target("session")).unwrap();
    client.send_query("UPDATE t SET v = 1 WHERE id = 1; DO SLEEP(3); SELECT v FROM t WHERE id = 2");
    // Replicas have the packet's write, and not what somebody else writes before it reads.
    thread::sleep(Duration::from_millis(500));
    scene.stop_appliers();
    scene.at_primary().run("UPDATE t SET v = 5 WHERE id = 2");
    let reply = client.read_reply();
    let Some(Part::Rows { rows, .. }) = reply.parts.last() else { panic!("{reply:?}") };
    assert_eq!(text_row(&rows[0]), [Some("5".to_owned())], "the packet was too quick for this test");
    assert_eq!(value(&mut client, 2), "5");
    scene.start_appliers();
}

fn what_asks_about_the_statement_before_is_as_fresh_as_any_read(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let mut client = scene.client(&proxy, "global");
    assert_eq!(value(&mut client, 1), "0");
    assert_eq!(client.route().role, "replica");
    assert_eq!(
        client.value("SELECT FOUND_ROWS() + v FROM t WHERE id = 1"),
        "1",
        "fresh enough, and on the same node"
    );
    scene.stop_appliers();
    scene.at_primary().run("UPDATE t SET v = 5 WHERE id = 1");
    let error = client.error("SELECT FOUND_ROWS() * 0 + v FROM t WHERE id = 1");
    assert!(error.message.contains("no replica had applied"), "{error:?}");
    // Without a table there is nothing to be stale.
    client.value("SELECT FOUND_ROWS()");
    scene.start_appliers();
}

fn a_level_chosen_by_somebody_else_is_not_inherited(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let mut client = scene.client(&proxy, "session");
    client.run("TIDEMARK SET consistency = 'eventual'");
    client.run("TIDEMARK SET on_timeout = 'stale'");
    client.plain(CommandCode::ResetConnection, &[]);
    let mut back = scene.client(&proxy, "session");
    for setting in ["consistency = 'eventual'", "on_timeout = 'stale'", "consistency_timeout_us = 0"] {
        back.run(format!("TIDEMARK SET {setting}"));
        let (name, _) = setting.split_once(' ').unwrap();
        back.run(format!("TIDEMARK SET {name} = DEFAULT"));
    }
    scene.stop_appliers();
    client.run("UPDATE t SET v = 5 WHERE id = 1");
    assert_eq!(value(&mut client, 1), "5");
    back.run("UPDATE t SET v = 6 WHERE id = 1");
    assert_eq!(value(&mut back, 1), "6");
    scene.start_appliers();
}

fn a_chained_transaction_begins_as_fresh_as_any(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let mut client = scene.client(&proxy, "global");
    client.run("START TRANSACTION READ ONLY");
    assert_eq!(value(&mut client, 1), "0");
    assert_eq!(client.route().role, "replica");
    scene.stop_appliers();
    scene.at_primary().run("UPDATE t SET v = 5 WHERE id = 1");
    let error = client.error("COMMIT AND CHAIN");
    assert!(error.message.contains("no replica had applied"), "{error:?}");
    scene.start_appliers();
    client.run("COMMIT AND CHAIN");
    assert_eq!(value(&mut client, 1), "5");
    client.run("COMMIT");
}

fn a_transaction_begun_inside_of_a_read_only_one_may_write(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let mut client = scene.client(&proxy, "session");
    client.run("START TRANSACTION READ ONLY");
    assert_eq!(value(&mut client, 1), "0");
    assert_eq!(client.route().role, "replica");
    // In MySQL a plain BEGIN would be read-only like the one before it.
    client.run("START TRANSACTION READ WRITE");
    client.run("UPDATE t SET v = 5 WHERE id = 1");
    assert_eq!(client.route().role, "primary");
    client.run("COMMIT");
    caught_up(&scene.cluster);
    for _ in 0..10 {
        assert_eq!(value(&mut client, 1), "5", "the snapshot of the first transaction is gone");
    }
}

fn what_a_read_only_transaction_left_on_a_replica_is_moved(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let mut client = scene.client(&proxy, "session");
    client.run("START TRANSACTION READ ONLY");
    client.run("SELECT v + 7 INTO @x FROM t WHERE id = 1");
    assert_eq!(client.route().role, "replica");
    client.run("COMMIT");
    assert_eq!(client.value("SELECT @x"), "7");
    assert_eq!(client.run("UPDATE t SET v = @x WHERE id = 1").ok().affected_rows, 1);
    assert_eq!(value(&mut scene.at_primary(), 1), "7");
    assert_eq!(client.value("SELECT @x"), "7");
}

fn a_position_that_the_primary_never_had_is_refused_once(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let (flavor, foreign) = match engine.family() {
        Family::Mysql => (gtid::Flavor::Mysql, "00000000-0000-0000-0000-00000000dead:1-7"),
        Family::Mariadb => (gtid::Flavor::Mariadb, "0-4711-1"),
    };
    let token = gtid::Position::parse(flavor, foreign.as_bytes()).unwrap().to_token().unwrap();
    for level in ["session", "global"] {
        let mut client = scene.client(&proxy, level);
        client.run(format!("TIDEMARK SET position = '{token}'"));
        let error = client.error("SELECT v FROM t WHERE id = 1");
        assert!(
            error.message.contains("was given as a position") && error.message.contains(foreign),
            "{error:?}"
        );
        assert_eq!(value(&mut client, 1), "0");
        assert_eq!(client.route().role, "replica");
    }
}

fn a_misspelt_level_weakens_nothing(engine: Engine) {
    let scene = Scene::new(engine);
    let proxy = start(&scene);
    let mut client = scene.client(&proxy, "eventual");
    scene.stop_appliers();
    client.run("UPDATE t SET v = 5 WHERE id = 1");
    assert_eq!(value(&mut client, 1), "0", "the replicas are behind");
    assert_eq!(client.value("/* tidemark: consistency=globl */ SELECT v FROM t WHERE id = 1"), "5");
    scene.start_appliers();
}
