//! Accounts that change on the servers while the proxy remembers them, and servers that forget.

use std::time::Duration;

use sandbox::{Cluster, Engine, LoginPlugin};
use wire::Capabilities;

use crate::harness::clusters::{caught_up, own, shared, unique};
use crate::harness::login::{Account, Tls};
use crate::harness::on_every_engine;
use crate::harness::proxy::Setup;
use crate::harness::stream::Target;

on_every_engine!(
    a_password_changed_while_it_is_remembered,
    an_account_locked_or_dropped_while_it_is_remembered,
    replicas_that_restarted_have_forgotten_the_password,
    an_expired_password_can_be_changed,
);

fn plugin(engine: Engine) -> LoginPlugin {
    if engine == Engine::Mysql { LoginPlugin::CachingSha2 } else { LoginPlugin::Native }
}

/// Nothing else can be done before, as with a server.
fn an_expired_password_can_be_changed(engine: Engine) {
    let cluster = shared(engine);
    let proxy = Setup::of(cluster).endpoint("rw", "consistency = \"session\"").start();
    let direct = Target::Tcp(cluster.primary().address());
    let change = match engine {
        Engine::Mysql => "SET PASSWORD = 'new-password'",
        Engine::Mariadb | Engine::Mariadb11 => "SET PASSWORD = PASSWORD('new-password')",
    };
    let mut heard = Vec::new();
    for target in [&direct, &proxy.target("rw")] {
        let user = unique("expired");
        cluster.create_account(&user, plugin(engine), "old-password").unwrap();
        on_primary(cluster, &format!("ALTER USER '{user}'@'%' PASSWORD EXPIRE"));
        let account =
            |password| Account::new(&user, password).with(Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS);
        let mut client = account("old-password").connect(target).unwrap();
        let mut codes = Vec::new();
        for text in ["SELECT 1", "DO 1", change, "SELECT 1"] {
            codes.push(client.query(text).error().map(|error| error.code));
        }
        caught_up(cluster);
        // What is remembered of native hashes is some seconds old at most.
        let begun = std::time::Instant::now();
        let mut new = loop {
            match account("new-password").connect(target) {
                Ok(client) => break client,
                Err(error) => assert!(begun.elapsed() < Duration::from_secs(20), "{error:?}"),
            }
            std::thread::sleep(Duration::from_millis(200));
        };
        assert_eq!(new.value("SELECT 1"), "1");
        heard.push(codes);
    }
    assert_eq!(heard[0], heard[1]);
    assert_eq!(heard[0][0], Some(1820));
}

fn on_primary(cluster: &Cluster, statement: &str) {
    cluster.primary().sql(statement).unwrap();
    caught_up(cluster);
}

fn a_password_changed_while_it_is_remembered(engine: Engine) {
    let cluster = shared(engine);
    let user = unique("changing");
    cluster.create_account(&user, plugin(engine), "first-password").unwrap();
    let proxy = Setup::of(cluster).endpoint("rw", "").start();
    let target = proxy.target("rw");
    let (old, new) = (Account::new(&user, "first-password"), Account::new(&user, "second-password"));
    let mut session = old.connect(&target).unwrap();
    old.connect(&target).unwrap();
    on_primary(cluster, &format!("ALTER USER '{user}'@'%' IDENTIFIED BY 'second-password'"));
    // The old answer still fits what is remembered: the server says no.
    assert_eq!(old.connect(&target).err().unwrap().code, 1045);
    // What is remembered of native hashes is some seconds old at most.
    let begin = std::time::Instant::now();
    while let Err(error) = new.connect(&target) {
        assert_eq!(error.code, 1045);
        assert!(engine == Engine::Mariadb && begin.elapsed() < Duration::from_secs(8), "{error:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(old.connect(&target).err().unwrap().code, 1045);
    new.connect(&target).unwrap();
    // Who is in stays in, on connections that exist and on new ones as far as the servers let it.
    assert_eq!(session.value("SELECT 1"), "1");
    session.run("DO 1");
    assert_eq!(session.value("SELECT LAST_INSERT_ID()"), "0");
}

fn an_account_locked_or_dropped_while_it_is_remembered(engine: Engine) {
    let cluster = shared(engine);
    let user = unique("leaving");
    cluster.create_account(&user, plugin(engine), "remembered").unwrap();
    let proxy = Setup::of(cluster).endpoint("rw", "").start();
    let target = proxy.target("rw");
    let account = Account::new(&user, "remembered");
    account.connect(&target).unwrap();
    on_primary(cluster, &format!("ALTER USER '{user}'@'%' ACCOUNT LOCK"));
    let locked = account.connect(&target).err().unwrap();
    assert_eq!(locked.code, if engine == Engine::Mysql { 3118 } else { 4151 }, "{locked:?}");
    on_primary(cluster, &format!("ALTER USER '{user}'@'%' ACCOUNT UNLOCK"));
    account.connect(&target).unwrap();
    on_primary(cluster, &format!("DROP USER '{user}'@'%'"));
    assert_eq!(account.connect(&target).err().unwrap().code, 1045);
}

fn replicas_that_restarted_have_forgotten_the_password(engine: Engine) {
    let cluster = own(engine);
    let user = unique("cold");
    cluster.create_account(&user, plugin(engine), "warm-password").unwrap();
    let proxy = Setup::of(&cluster).endpoint("rw", "").start();
    let target = proxy.target("rw");
    let account = Account::new(&user, "warm-password");
    let mut before = account.connect(&target).unwrap();
    assert_ne!(before.value("SELECT @@server_id"), "1");
    for replica in cluster.replicas() {
        replica.restart().unwrap();
    }
    // The session that was there, a new one without TLS, and one with it, which can tell the password again.
    assert!(!before.value("SELECT @@server_id").is_empty());
    for tls in [Tls::No, Tls::Yes, Tls::No] {
        let mut client = account.clone().tls(tls).connect(&target).unwrap();
        for _ in 0..4 {
            assert!(!client.value("SELECT @@server_id").is_empty());
        }
        client.run("DO 1");
    }
    // Once told, the replicas serve again: to whoever logs in when they are up.
    let begin = std::time::Instant::now();
    let account = account.tls(Tls::Yes);
    let primary = cluster.primary().value("SELECT @@server_id").unwrap();
    while account.connect(&target).unwrap().value("SELECT @@server_id") == primary {
        assert!(begin.elapsed() < Duration::from_secs(15), "reads do not come back to the replicas");
        std::thread::sleep(Duration::from_millis(100));
    }
}
