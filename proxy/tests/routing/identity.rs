//! Who a session is: its connection id, and killing by it.

use std::thread;
use std::time::{Duration, Instant};

use sandbox::{Engine, LoginPlugin};
use wire::CommandCode;

use super::stage::Stage;
use crate::harness::client::Client;
use crate::harness::clusters::unique;
use crate::harness::login::Account;
use crate::harness::on_every_engine;

on_every_engine!(the_id_is_the_greetings, killing_a_statement, killing_a_session, what_may_not_be_killed);

fn the_id_is_the_greetings(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    let id = client.greeting.id.to_string();
    for text in [
        "SELECT CONNECTION_ID()",
        "select connection_id ( )",
        "SELECT CONNECTION_ID() AS id",
        "SELECT CONNECTION_ID();",
    ] {
        assert_eq!(client.value(text), id, "{text}");
    }
    client.run("BEGIN");
    assert_eq!(client.value("SELECT CONNECTION_ID()"), id);
    client.run("COMMIT");
    client.plain(CommandCode::ResetConnection, &[]);
    assert_eq!(client.value("SELECT CONNECTION_ID()"), id);
    assert!(stage.client().sessions().contains(&client.greeting.id));
}

/// Sends a statement that takes long, and waits until it runs.
fn begin(client: &mut Client, other: &mut Client, text: &str) {
    client.send_query(text);
    let id = client.greeting.id.to_string();
    let begin = Instant::now();
    loop {
        let sessions = other.rows("TIDEMARK SHOW SESSIONS");
        let own = sessions.iter().find(|row| row[0].as_deref() == Some(&id)).expect("the session is shown");
        if own[5].is_some() {
            return thread::sleep(Duration::from_millis(50));
        }
        assert!(begin.elapsed() < Duration::from_secs(10), "{text} does not run");
    }
}

fn killing_a_statement(engine: Engine) {
    let stage = Stage::new(engine);
    let (mut client, mut killer) = (stage.client(), stage.client());
    let id = client.greeting.id;
    for text in [
        "SELECT SLEEP(20)",
        "DO SLEEP(20)",
        "SELECT SLEEP(20) FROM t FOR UPDATE",
        "UPDATE t SET v = SLEEP(20)",
    ] {
        let begun = Instant::now();
        begin(&mut client, &mut killer, text);
        killer.run(format!("KILL QUERY {id}"));
        let reply = client.read_reply();
        // A SLEEP that is cut short may also return 1.
        if let Some(error) = reply.error() {
            assert_eq!(error.code, 1317, "{text}");
        }
        assert!(begun.elapsed() < Duration::from_secs(15), "{text} went on");
        assert_eq!(client.value("SELECT v FROM t"), "1");
    }
    // A session that runs nothing is left alone.
    killer.run(format!("KILL QUERY {id}"));
    assert_eq!(client.value("SELECT 1"), "1");
}

fn killing_a_session(engine: Engine) {
    let stage = Stage::new(engine);
    let mut killer = stage.client();
    let mut idle = stage.client();
    killer.run(format!("KILL {}", idle.greeting.id));
    idle.wait_for_end();
    let mut busy = stage.client();
    begin(&mut busy, &mut killer, "SELECT SLEEP(20) FROM t FOR UPDATE");
    let begun = Instant::now();
    killer.run(format!("KILL CONNECTION {}", busy.greeting.id));
    busy.wait_for_end();
    assert!(begun.elapsed() < Duration::from_secs(10));
    let mut third = stage.client();
    killer.command(&[&[CommandCode::ProcessKill.to_u8()], &third.greeting.id.to_le_bytes()[..]].concat());
    assert_eq!(killer.read_reply().error(), None);
    third.wait_for_end();
    let gone = [idle.greeting.id, busy.greeting.id, third.greeting.id];
    let begun = Instant::now();
    while killer.sessions().iter().any(|id| gone.contains(id)) {
        assert!(begun.elapsed() < Duration::from_secs(5), "killed sessions are still shown");
    }
    assert_eq!(killer.value("SELECT 1"), "1");
    // One's own session ends with the error that a server gives.
    let own = killer.greeting.id;
    killer.send_query(format!("KILL {own}"));
    killer.wait_for_end();
}

fn what_may_not_be_killed(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    assert_eq!(client.error("KILL 4000000000").code, 1094);
    let user = unique("powerless");
    let plugin = if engine == Engine::Mysql { LoginPlugin::CachingSha2 } else { LoginPlugin::Native };
    stage.cluster.create_account(&user, plugin, "powerless").unwrap();
    let account = Account::new(&user, "powerless").schema("app");
    let mut powerless = account.connect(&stage.proxy.target("rw")).unwrap();
    for kill in ["KILL", "KILL QUERY"] {
        let error = powerless.error(&format!("{kill} {}", client.greeting.id));
        assert_eq!(error.code, 1095, "{error:?}");
    }
    begin(&mut client, &mut stage.client(), "SELECT SLEEP(3)");
    let error = powerless.error(&format!("KILL {}", client.greeting.id));
    assert_eq!(error.code, 1095, "{error:?}");
    assert!(client.read_reply().error().is_none());
    assert_eq!(client.value("SELECT 1"), "1");
    assert!(!powerless.sessions().contains(&client.greeting.id));
}
