//! A position handed from one session to another, through whatever proxy.

use sandbox::Engine;

use super::scene::{Scene, settled};
use crate::harness::client::Client;
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};

on_every_engine!(a_token_carries_what_was_written_and_seen_to_another_proxy, what_is_no_token_is_refused);

fn start(scene: &Scene) -> Proxy {
    let proxy = Setup::of(&scene.cluster)
        .endpoint("session", "consistency = \"session\"\nconsistency_timeout_us = 2000")
        .endpoint("patient", "consistency = \"session\"\nconsistency_timeout_us = 1000000")
        .endpoint("eventual", "")
        .start();
    settled(&scene.cluster, &proxy, "session");
    proxy
}

fn token(client: &mut Client) -> String {
    client.value("TIDEMARK SHOW POSITION")
}

fn count(client: &mut Client) -> String {
    client.value("SELECT COUNT(*) FROM t")
}

fn a_token_carries_what_was_written_and_seen_to_another_proxy(engine: Engine) {
    let scene = Scene::new(engine);
    scene.table();
    let (here, there) = (start(&scene), start(&scene));
    scene.stop_appliers();
    let mut writer = scene.client(&here, "session");
    writer.run("INSERT INTO t VALUES (1, 1)");
    let written = token(&mut writer);
    for proxy in [&here, &there] {
        let mut other = scene.client(proxy, "session");
        assert_eq!(count(&mut other), "0", "nothing was promised yet");
        other.run(format!("TIDEMARK SET position = '{written}'"));
        for _ in 0..3 {
            assert_eq!(count(&mut other), "1");
            assert_eq!(other.route().reason, "timeout");
        }
        // It is as good as an own write: it survives, and is handed on.
        other.plain(wire::CommandCode::ResetConnection, &[]);
        assert_eq!(count(&mut other), "1");
        let mut third = scene.client(&there, "session");
        third.run(format!("TIDEMARK SET position = '{}'", token(&mut other)));
        assert_eq!(count(&mut third), "1");
        // A level that looks at no position looks at none.
        let mut eventual = scene.client(proxy, "eventual");
        eventual.run(format!("TIDEMARK SET position = '{written}'"));
        assert_eq!(count(&mut eventual), "0");
        eventual.run("TIDEMARK SET consistency = 'session'");
        assert_eq!(count(&mut eventual), "1");
    }
    // What was only read counts as well: one replica has it, the other has not.
    let [first, _] = scene.cluster.replicas() else { panic!("two replicas") };
    first.start_sql_thread().unwrap();
    let mut reader = scene.client(&here, "patient");
    reader.run(format!("TIDEMARK SET position = '{written}'"));
    assert_eq!(count(&mut reader), "1");
    assert_eq!(reader.route().node, first.name());
    let seen = token(&mut reader);
    for _ in 0..10 {
        let mut other = scene.client(&there, "patient");
        other.run(format!("TIDEMARK SET position = '{seen}'"));
        assert_eq!(count(&mut other), "1");
        assert_eq!(other.route().node, first.name());
    }
    scene.start_appliers();
    let mut other = scene.client(&there, "patient");
    other.run(format!("TIDEMARK SET position = '{written}'"));
    assert_eq!(count(&mut other), "1");
    assert_eq!(other.route().role, "replica");
}

fn what_is_no_token_is_refused(engine: Engine) {
    let scene = Scene::new(engine);
    scene.table();
    let proxy = start(&scene);
    let mut client = scene.client(&proxy, "session");
    client.run("INSERT INTO t VALUES (1, 1)");
    let good = token(&mut client);
    // That of the other family: the same number of a server nobody knows.
    let foreign = match engine {
        Engine::Mysql => "0-1-5",
        _ => "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5",
    };
    let long = "1".repeat(100_000);
    for bad in ["", "x", "nonsense", foreign, &good[1..], &good.repeat(2), &long] {
        let error = client.error(&format!("TIDEMARK SET position = '{bad}'"));
        assert_eq!(error.code, if bad.is_empty() { 1064 } else { 1105 }, "{error:?}");
        assert!(error.message.len() < 500, "{} bytes of error text", error.message.len());
        assert_eq!(count(&mut client), "1", "the session goes on as before");
    }
    client.run(format!("TIDEMARK SET position = '{good}'"));
    assert_eq!(count(&mut client), "1");
}
