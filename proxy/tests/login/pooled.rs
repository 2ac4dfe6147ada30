//! Connections to the servers that outlive a session: who comes next finds no trace of it, and gets in on nobody's word.

use sandbox::{Cluster, ClusterOptions, Engine, LoginPlugin};
use wire::Capabilities;

use crate::harness::client::Client;
use crate::harness::clusters::{caught_up, schema, shared, start, unique};
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::wait::until;

on_every_engine!(
    clients_one_after_the_other_share_connections,
    nothing_is_left_of_the_session_before,
    a_password_is_looked_at_each_time,
    what_a_client_speaks_is_not_mixed,
    connections_that_died_at_rest_cost_nothing,
    init_connect_is_run_for_each,
);

fn plugin(engine: Engine) -> LoginPlugin {
    if engine == Engine::Mysql { LoginPlugin::CachingSha2 } else { LoginPlugin::Native }
}

/// A single worker, so that who comes next finds what is at rest.
fn pooled(cluster: &Cluster) -> Proxy {
    Setup::of(cluster)
        .cluster("workers = 1")
        .endpoint("rw", "consistency = \"session\"\npool = \"session\"\nconsistency_timeout_us = 1000000")
        .start()
}

/// How many connections a server has taken so far.
fn taken(cluster: &Cluster, server: usize) -> u64 {
    let question = "SHOW GLOBAL STATUS LIKE 'Connections'";
    cluster.servers()[server].sql(question).unwrap()[0][1].as_deref().unwrap().parse().unwrap()
}

fn clients_one_after_the_other_share_connections(engine: Engine) {
    // Its own, for others would be counted.
    let cluster = start(ClusterOptions::new(engine).replicas(1));
    let proxy = pooled(&cluster);
    let before = [0, 1].map(|server| taken(&cluster, server));
    let mut threads = Vec::new();
    for _ in 0..20 {
        let mut client = Account::app().connect(&proxy.target("rw")).unwrap();
        threads.push(client.value("SELECT CONNECTION_ID() + 0 FOR UPDATE"));
        assert_eq!(client.value("SELECT 1"), "1");
        client.quit();
    }
    let after = [0, 1].map(|server| taken(&cluster, server));
    // Each look takes one, or two, and the watchers may log in anew; without a pool it would be 20 more.
    for (before, after) in before.iter().zip(after) {
        assert!(after - before < 12, "{before} to {after}");
    }
    assert!(threads.windows(2).filter(|pair| pair[0] == pair[1]).count() > 12, "{threads:?}");
}

fn nothing_is_left_of_the_session_before(engine: Engine) {
    let cluster = shared(engine);
    let proxy = pooled(cluster);
    let schema = schema(cluster);
    cluster
        .primary()
        .sql(&format!("CREATE TABLE {schema}.t (v INT); INSERT INTO {schema}.t VALUES (1)"))
        .unwrap();
    caught_up(cluster);
    let account = Account::app().schema(&schema);
    let state = [
        "SELECT @@sql_mode, @@time_zone, @@character_set_client, @@collation_connection, @@autocommit, @@sql_select_limit",
        "SELECT @v, DATABASE(), CURRENT_USER(), LAST_INSERT_ID()",
        "SELECT v FROM t",
    ];
    let ask = |client: &mut Client| state.map(|question| client.query(question).parts);
    let mut first = account.connect(&proxy.target("rw")).unwrap();
    let fresh = ask(&mut first);
    let lock = unique("pooled");
    for change in [
        "SET sql_mode = 'ANSI', time_zone = '+05:00', sql_select_limit = 1, @v = 5",
        "SET NAMES latin1",
        "CREATE TEMPORARY TABLE held (w INT)",
        "PREPARE p FROM 'SELECT 1'",
        "SET autocommit = 0",
        "SELECT LAST_INSERT_ID(77)",
        "USE information_schema",
    ] {
        first.run(change);
    }
    assert_eq!(first.value(&format!("SELECT GET_LOCK('{lock}', 0)")), "1");
    first.run(format!("UPDATE {schema}.t SET v = v + 1"));
    first.quit();
    // The server gives up at once what it held, whether or not somebody comes.
    let primary = cluster.primary();
    until("the lock is free", || primary.value(&format!("SELECT IS_FREE_LOCK('{lock}')")).unwrap() == "1");
    primary.sql(&format!("SET innodb_lock_wait_timeout = 5; UPDATE {schema}.t SET v = v + 0")).unwrap();
    let mut second = account.connect(&proxy.target("rw")).unwrap();
    assert_eq!(ask(&mut second), fresh);
    assert!(
        second.query("EXECUTE p").error().is_some() && second.query("SELECT w FROM held").error().is_some()
    );
    assert_eq!(second.value("SELECT v FROM t FOR UPDATE"), "1");
    // Nor has somebody else anything of it.
    let user = unique("other");
    cluster.create_account(&user, plugin(engine), "other-password").unwrap();
    second.quit();
    let mut other = Account::new(&user, "other-password").connect(&proxy.target("rw")).unwrap();
    assert!(other.value("SELECT CURRENT_USER()").starts_with(&user));
    assert_eq!(other.value("SELECT COALESCE(DATABASE(), 'none')"), "none");
}

fn a_password_is_looked_at_each_time(engine: Engine) {
    let cluster = shared(engine);
    let proxy = pooled(cluster);
    let user = unique("looked-at");
    cluster.create_account(&user, plugin(engine), "first-password").unwrap();
    let connect = |password: &str| Account::new(&user, password).connect(&proxy.target("rw"));
    let works = |password: &str| {
        connect(password).map(|mut client| {
            client.value("SELECT 1");
            client.quit();
        })
    };
    for _ in 0..3 {
        works("first-password").unwrap();
        assert!(connect("another-password").is_err());
    }
    let alter = match engine {
        Engine::Mysql => format!("ALTER USER '{user}'@'%' IDENTIFIED BY 'second-password'"),
        _ => format!("SET PASSWORD FOR '{user}'@'%' = PASSWORD('second-password')"),
    };
    cluster.primary().sql(&alter).unwrap();
    caught_up(cluster);
    assert!(connect("first-password").is_err());
    works("second-password").unwrap();
    cluster.primary().sql(&format!("ALTER USER '{user}'@'%' ACCOUNT LOCK")).unwrap();
    caught_up(cluster);
    assert!(connect("second-password").is_err());
    cluster.primary().sql(&format!("DROP USER '{user}'@'%'")).unwrap();
    caught_up(cluster);
    assert!(connect("second-password").is_err());
}

fn what_a_client_speaks_is_not_mixed(engine: Engine) {
    let cluster = shared(engine);
    let proxy = pooled(cluster);
    for _ in 0..3 {
        let mut several =
            Account::app().with(Capabilities::MULTI_STATEMENTS).connect(&proxy.target("rw")).unwrap();
        assert_eq!(several.query("SELECT 1; SELECT 2").parts.len(), 2);
        several.quit();
        let mut one = Account::app().connect(&proxy.target("rw")).unwrap();
        assert_eq!(one.error("SELECT 1; SELECT 2").code, 1064);
        one.quit();
    }
}

fn connections_that_died_at_rest_cost_nothing(engine: Engine) {
    let cluster = shared(engine);
    let proxy = pooled(cluster);
    let user = unique("dying");
    cluster.create_account(&user, plugin(engine), "dying-password").unwrap();
    let account = Account::new(&user, "dying-password");
    for _ in 0..3 {
        let mut client = account.connect(&proxy.target("rw")).unwrap();
        assert_eq!(client.value("SELECT 1"), "1");
        client.quit();
        for server in cluster.servers() {
            let threads = format!("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = '{user}'");
            for row in server.sql(&threads).unwrap() {
                let id = row[0].as_deref().unwrap();
                // It may have gone by itself.
                let _ = server.sql(&format!("KILL {id}"));
            }
        }
    }
}

fn init_connect_is_run_for_each(engine: Engine) {
    let cluster =
        start(ClusterOptions::new(engine).replicas(1).server_argument("--init-connect=SET @greeted = 'yes'"));
    let user = unique("greeted");
    cluster.create_account(&user, plugin(engine), "greeted-password").unwrap();
    let proxy = pooled(&cluster);
    for _ in 0..4 {
        let mut client = Account::new(&user, "greeted-password").connect(&proxy.target("rw")).unwrap();
        assert_eq!(client.value("SELECT @greeted"), "yes");
        client.quit();
    }
}
