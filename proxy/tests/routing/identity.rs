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
use crate::harness::prepared::{Execution, Param};
use crate::harness::reply::Part;
use crate::harness::stream::Target;

on_every_engine!(
    the_id_is_the_greetings,
    the_id_of_prepared_statements,
    killing_a_statement,
    killing_a_session,
    killing_by_prepared_statements,
    what_only_a_server_can_compute_is_not_killed,
    killing_others,
    killing_oneself,
    killing_who_does_not_read,
    what_may_not_be_killed,
);

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

fn the_id_of_prepared_statements(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    let id = client.greeting.id.to_le_bytes();
    let prepared = client.prepare("SELECT CONNECTION_ID() AS me").unwrap();
    assert_eq!((prepared.params, prepared.columns), (0, 1));
    for _ in 0..4 {
        let reply = client.execute(prepared.id, &[], Execution::WithTypes);
        let Some(Part::Rows { rows, .. }) = reply.parts.first() else { panic!("no rows") };
        // A binary row: header and nulls, then the number.
        assert_eq!(rows[0][2..6], id);
    }
    // The column is a number's, as a server describes it.
    let direct = Target::Tcp(stage.cluster.primary().address());
    let mut direct = stage.account().connect(&direct).unwrap();
    let [proxied, direct] = [&mut client, &mut direct].map(|client| client.run("SELECT CONNECTION_ID()"));
    assert_eq!(proxied.packets[1].payload, direct.packets[1].payload);
}

fn killing_by_prepared_statements(engine: Engine) {
    let stage = Stage::new(engine);
    let (mut client, mut killer) = (stage.client(), stage.client());
    let id = i64::from(client.greeting.id);
    let by_number = killer.prepare(format!("KILL QUERY {id}")).unwrap().id;
    // MySQL takes parameters in DML alone.
    let with_parameters = engine != Engine::Mysql;
    let by_parameter = if with_parameters { killer.prepare("KILL QUERY ?").unwrap().id } else { by_number };
    for how in if with_parameters { 0..3 } else { 0..1 } {
        let begun = Instant::now();
        begin(&mut client, &mut killer, "SELECT SLEEP(20) FROM t FOR UPDATE");
        let reply = match how {
            0 => killer.execute(by_number, &[], Execution::WithTypes),
            1 => killer.execute(by_parameter, &[Param::number(id)], Execution::WithTypes),
            _ => killer.execute(by_parameter, &[Param::text(&id.to_string())], Execution::WithTypes),
        };
        assert_eq!(reply.error(), None);
        client.read_reply();
        assert!(begun.elapsed() < Duration::from_secs(15));
    }
    assert_eq!(client.value("SELECT 1"), "1");
    let session = killer.prepare(format!("KILL {id}")).unwrap().id;
    assert_eq!(killer.execute(session, &[], Execution::WithTypes).error(), None);
    client.wait_for_end();
}

/// Servers have other ids: what they would compute is somebody else.
fn what_only_a_server_can_compute_is_not_killed(engine: Engine) {
    let stage = Stage::new(engine);
    let (client, mut killer) = (stage.client(), stage.client());
    let id = client.greeting.id;
    killer.run(format!("SET @id = {id}"));
    for text in [
        "KILL @id".to_owned(),
        format!("KILL {id} + 0"),
        "KILL QUERY (SELECT @id)".to_owned(),
        format!("SELECT 1; KILL QUERY {id}"),
        format!("PREPARE p FROM 'KILL {id}'"),
    ] {
        let error = killer.error(&text);
        assert!(error.message.contains("KILL is a statement of its own here"), "{text}: {error:?}");
    }
    let mut client = client;
    assert_eq!(client.value("SELECT 1"), "1");
}

/// Whoever a server lets kill others may do so here, also where nothing runs.
fn killing_others(engine: Engine) {
    let stage = Stage::new(engine);
    let user = unique("victim");
    let plugin = if engine == Engine::Mysql { LoginPlugin::CachingSha2 } else { LoginPlugin::Native };
    stage.cluster.create_account(&user, plugin, "victim").unwrap();
    let victim = || Account::new(&user, "victim").schema("app").connect(&stage.proxy.target("rw")).unwrap();
    let mut killer = stage.client();
    let (mut fresh, mut idle) = (victim(), victim());
    idle.run("SELECT 1");
    killer.run(format!("KILL QUERY {}", idle.greeting.id));
    assert_eq!(idle.value("SELECT 1"), "1");
    for victim in [&mut fresh, &mut idle] {
        killer.run(format!("KILL {}", victim.greeting.id));
        assert!(victim.wait_for_end().is_empty(), "an idle session hears nothing");
    }
}

fn killing_oneself(engine: Engine) {
    let stage = Stage::new(engine);
    let direct = Target::Tcp(stage.cluster.primary().address());
    for kill in ["KILL QUERY", "KILL"] {
        for how in ["number", "CONNECTION_ID()"] {
            let mut heard = Vec::new();
            for target in [&direct, &stage.proxy.target("rw")] {
                let mut client = stage.account().connect(target).unwrap();
                let whom = if how == "number" { client.greeting.id.to_string() } else { how.to_owned() };
                let error = client.error(&format!("{kill} {whom}"));
                heard.push((error.code, error.state));
                if kill == "KILL" {
                    client.wait_for_end();
                } else {
                    assert_eq!(client.value("SELECT 1"), "1");
                }
            }
            assert_eq!(heard[0], heard[1], "{kill} {how}");
        }
    }
}

/// Neither a client that does not read, nor one that has stalled inside a command, is beyond reach.
fn killing_who_does_not_read(engine: Engine) {
    let stage = Stage::new(engine);
    let mut killer = stage.client();
    let mut reader = stage.client();
    reader.send_query(
        "SELECT REPEAT('x', 1000000) FROM information_schema.columns a, information_schema.columns b",
    );
    let mut stalled = stage.client();
    // The beginning of a statement of 8 MiB.
    let begun = [b"\0\0\x80\0\x03SELECT '".as_slice(), &[b'x'; 2 << 20]].concat();
    stalled.send_raw(&begun).unwrap();
    thread::sleep(Duration::from_millis(500));
    let ids = [reader.greeting.id, stalled.greeting.id];
    for id in ids {
        killer.run(format!("KILL {id}"));
    }
    let begun = Instant::now();
    while killer.sessions().iter().any(|id| ids.contains(id)) {
        assert!(begun.elapsed() < Duration::from_secs(10), "they are still there");
        thread::sleep(Duration::from_millis(50));
    }
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
    assert!(busy.wait_for_end().is_empty(), "a server says nothing more");
    assert!(begun.elapsed() < Duration::from_secs(10));
    let mut writing = stage.client();
    begin(&mut writing, &mut killer, "UPDATE t SET v = SLEEP(20)");
    killer.run(format!("KILL {}", writing.greeting.id));
    assert!(writing.wait_for_end().is_empty(), "a server says nothing more");
    let mut third = stage.client();
    killer.command(&[&[CommandCode::ProcessKill.to_u8()], &third.greeting.id.to_le_bytes()[..]].concat());
    assert_eq!(killer.read_reply().error(), None);
    third.wait_for_end();
    let gone = [idle.greeting.id, busy.greeting.id, writing.greeting.id, third.greeting.id];
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
