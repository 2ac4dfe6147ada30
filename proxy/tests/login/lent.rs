//! A few connections that many clients share (`pool = "transaction"`): nobody finds a trace of another, nobody loses what is
//! theirs, and who finds none stands in line.

use std::thread;
use std::time::{Duration, Instant};

use sandbox::{Cluster, ClusterOptions, Engine, LoginPlugin};

use crate::harness::client::Client;
use crate::harness::clusters::{caught_up, schema, shared, start, unique};
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::wait::until;

on_every_engine!(
    many_clients_share_few_connections,
    a_storm_of_connects_is_none_on_the_servers,
    each_has_its_own_state,
    accounts_are_not_mixed,
    what_cannot_be_moved_keeps_its_connection,
    who_finds_none_stands_in_line,
    what_the_statement_before_left_is_told_or_refused,
    prepared_statements_come_along,
    connections_that_died_meanwhile_cost_nothing,
    a_kill_hits_its_own,
    who_is_killed_in_line_does_not_run,
    a_server_that_is_full_is_made_do_with,
    init_connect_keeps_connections,
);

/// An account of the test alone, so that its connections can be counted, in a schema of its own.
struct Stage {
    cluster: &'static Cluster,
    proxy: Proxy,
    schema: String,
    user: String,
}

fn plugin(engine: Engine) -> LoginPlugin {
    if engine == Engine::Mysql { LoginPlugin::CachingSha2 } else { LoginPlugin::Native }
}

/// A single worker with so many connections to each server.
fn lending(cluster: &Cluster, size: u32) -> Proxy {
    let lines = format!(
        "consistency = \"session\"\nconsistency_timeout_us = 1000000\npool = \"transaction\"\npool_size = {size}"
    );
    Setup::of(cluster).cluster("workers = 1").endpoint("rw", &lines).start()
}

impl Stage {
    fn new(engine: Engine, size: u32) -> Self {
        let cluster = shared(engine);
        let (schema, user) = (schema(cluster), unique("lent"));
        cluster.create_account(&user, plugin(engine), "lent-password").unwrap();
        let tables = format!(
            "CREATE TABLE {schema}.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT); \
             INSERT INTO {schema}.t VALUES (1, 1); GRANT ALL ON *.* TO '{user}'@'%'"
        );
        cluster.primary().sql(&tables).unwrap();
        caught_up(cluster);
        Self { cluster, proxy: lending(cluster, size), schema, user }
    }

    fn client(&self) -> Client {
        Account::new(&self.user, "lent-password")
            .schema(&self.schema)
            .connect(&self.proxy.target("rw"))
            .unwrap()
    }

    /// How many connections of the account each server has.
    fn open(&self) -> Vec<usize> {
        let ask = format!("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = '{}'", self.user);
        self.cluster.servers().iter().map(|server| server.sql(&ask).unwrap().len()).collect()
    }
}

/// The server's own number of the connection to the primary.
fn thread_of(client: &mut Client) -> String {
    client.value("SELECT CONNECTION_ID() + 0 FROM t WHERE id = 1 FOR UPDATE")
}

fn many_clients_share_few_connections(engine: Engine) {
    const CLIENTS: usize = 40;
    let stage = Stage::new(engine, 3);
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            let stage = &stage;
            scope.spawn(move || {
                let mut client = stage.client();
                let id = number + 100;
                client.run(format!("SET @mine = {number}"));
                client.run(format!("INSERT INTO t VALUES ({id}, 0)"));
                for round in 1..=10 {
                    client.run("BEGIN");
                    client.run(format!("UPDATE t SET v = v + 1 WHERE id = {id}"));
                    assert_eq!(client.value(&format!("SELECT v FROM t WHERE id = {id}")), round.to_string());
                    client.run("COMMIT");
                    assert_eq!(client.value(&format!("SELECT v FROM t WHERE id = {id}")), round.to_string());
                    assert_eq!(client.value("SELECT @mine"), number.to_string());
                }
                let open = stage.open();
                assert!(open.iter().all(|open| *open <= 3), "{open:?}");
            });
        }
    });
    let total =
        stage.cluster.primary().value(&format!("SELECT SUM(v) FROM {}.t WHERE id >= 100", stage.schema));
    assert_eq!(total.unwrap(), (CLIENTS * 10).to_string());
}

fn a_storm_of_connects_is_none_on_the_servers(engine: Engine) {
    const CLIENTS: usize = 300;
    let cluster = start(ClusterOptions::new(engine).replicas(1));
    let proxy = lending(&cluster, 4);
    // All nodes are shown the password once, by connections of their own.
    Account::app().connect(&proxy.target("rw")).unwrap().quit();
    let most = |server: usize| {
        let question = "SHOW GLOBAL STATUS LIKE 'Max_used_connections'";
        cluster.servers()[server].sql(question).unwrap()[0][1].as_deref().unwrap().parse::<usize>().unwrap()
    };
    let before = [0, 1].map(most);
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = Account::app().connect(&proxy.target("rw")).unwrap();
                assert_eq!(client.value("SELECT 1"), "1");
                assert_eq!(client.value("SELECT 1 FOR UPDATE"), "1");
            });
        }
    });
    for (server, before) in before.into_iter().enumerate() {
        assert!(most(server) <= before + 8, "{} after {before}", most(server));
    }
}

fn each_has_its_own_state(engine: Engine) {
    let stage = Stage::new(engine, 1);
    let questions = [
        "SELECT @@sql_mode, @@time_zone, @@character_set_client, @@collation_connection, @@character_set_results",
        "SELECT @@autocommit, @@sql_select_limit, @v, DATABASE(), CURRENT_USER(), LAST_INSERT_ID()",
        "SELECT 'a' = 'A', COUNT(*) FROM t",
    ];
    let everywhere = |client: &mut Client| {
        let here = questions.map(|question| client.query(question).parts);
        let there = questions.map(|question| client.query(format!("{question} FOR UPDATE")).parts);
        (here, there)
    };
    let mut fresh = stage.client();
    let mut changed = stage.client();
    let at_first = everywhere(&mut fresh);
    assert_eq!(everywhere(&mut changed), at_first);
    for set in [
        "SET sql_mode = 'ANSI', time_zone = '+05:00', sql_select_limit = 1",
        "SET NAMES latin1 COLLATE latin1_bin",
        "SET @v = 5",
        "INSERT INTO t (v) VALUES (7)",
        "USE information_schema",
    ] {
        changed.run(set);
        // The schema has no such table then.
        let its_own = if set.starts_with("USE") { None } else { Some(everywhere(&mut changed)) };
        let count = changed.value(&format!("SELECT COUNT(*) FROM {}.t FOR UPDATE", stage.schema));
        let of_fresh = everywhere(&mut fresh);
        assert_eq!(of_fresh.0[..2], at_first.0[..2], "{set}");
        assert_eq!(of_fresh.1[..2], at_first.1[..2], "{set}");
        assert_eq!(fresh.value("SELECT COUNT(*) FROM t"), count, "{set}");
        assert_eq!(fresh.value("SELECT 'a' = 'A'"), "1", "{set}");
        if let Some(its_own) = its_own {
            assert_eq!(everywhere(&mut changed), its_own, "{set}");
        }
    }
    assert_eq!(changed.value("SELECT DATABASE()"), "information_schema");
    assert!(stage.open().iter().all(|open| *open <= 1));
}

fn accounts_are_not_mixed(engine: Engine) {
    let stage = Stage::new(engine, 1);
    let other = unique("lent_other");
    stage.cluster.create_account(&other, plugin(engine), "other-password").unwrap();
    let account = Account::new(&other, "other-password");
    let (mut one, mut two) = (stage.client(), account.connect(&stage.proxy.target("rw")).unwrap());
    for _ in 0..5 {
        for question in ["SELECT CURRENT_USER()", "SELECT CURRENT_USER() FROM DUAL FOR UPDATE"] {
            assert!(one.value(question).starts_with(&stage.user));
            assert!(two.value(question).starts_with(&other));
        }
        assert_eq!(two.value("SELECT COALESCE(DATABASE(), 'none')"), "none");
        assert_eq!(one.value("SELECT DATABASE()"), stage.schema);
        assert!(account.connect(&stage.proxy.target("rw")).is_ok());
        assert!(Account::new(&other, "lent-password").connect(&stage.proxy.target("rw")).is_err());
    }
}

fn what_cannot_be_moved_keeps_its_connection(engine: Engine) {
    let stage = Stage::new(engine, 2);
    let lock = unique("lent");
    for (holds, shows, value, gives_back) in [
        ("BEGIN".to_owned(), "SELECT 1", "1", "ROLLBACK".to_owned()),
        (
            "CREATE TEMPORARY TABLE mine AS SELECT 5 AS w".to_owned(),
            "SELECT w FROM mine",
            "5",
            "DROP TEMPORARY TABLE mine".to_owned(),
        ),
        (format!("SELECT GET_LOCK('{lock}', 0)"), "SELECT 1", "1", "SELECT RELEASE_ALL_LOCKS()".to_owned()),
        ("LOCK TABLES t WRITE".to_owned(), "SELECT COUNT(*) FROM t", "1", "UNLOCK TABLES".to_owned()),
        ("SET @v = (SELECT MAX(id) + 4 FROM t)".to_owned(), "SELECT @v", "5", "SELECT 1".to_owned()),
        ("PREPARE p FROM 'SELECT 9'".to_owned(), "EXECUTE p", "9", "DEALLOCATE PREPARE p".to_owned()),
    ] {
        let (mut holder, mut busy) = (stage.client(), stage.client());
        holder.run(&holds);
        let at_first = holder.value("SELECT CONNECTION_ID() + 0 FOR UPDATE");
        for _ in 0..5 {
            let other = busy.value("SELECT CONNECTION_ID() + 0 FOR UPDATE");
            assert_ne!(other, at_first, "{holds}");
            let mut third = stage.client();
            assert_eq!(third.value("SELECT CONNECTION_ID() + 0 FOR UPDATE"), other, "{holds}");
            assert_eq!(holder.value(shows), value, "{holds}");
        }
        assert_eq!(holder.value("SELECT CONNECTION_ID() + 0 FOR UPDATE"), at_first, "{holds}");
        holder.run(&gives_back);
        holder.quit();
        busy.quit();
    }
}

fn who_finds_none_stands_in_line(engine: Engine) {
    let stage = Stage::new(engine, 1);
    let mut holder = stage.client();
    let mut waits: Vec<Client> = (0..3).map(|_| stage.client()).collect();
    let mut refused = stage.client();
    holder.run("BEGIN");
    holder.run("UPDATE t SET v = 10 WHERE id = 1");
    thread::scope(|scope| {
        for client in &mut waits {
            scope.spawn(move || client.run("UPDATE t SET v = v + 1 WHERE id = 1"));
        }
        thread::sleep(Duration::from_millis(300));
        holder.run("COMMIT");
    });
    assert_eq!(holder.value("SELECT v FROM t WHERE id = 1"), "13");
    // It does not wait for ever, and what a replica does it need not wait for.
    holder.run("BEGIN");
    holder.run("UPDATE t SET v = 20 WHERE id = 1");
    let began = Instant::now();
    let error = refused.error("UPDATE t SET v = 30 WHERE id = 1");
    assert_eq!((error.code, error.state.as_str()), (1040, "08004"), "{error:?}");
    assert!(error.message.contains("pool_size"), "{error:?}");
    assert!((3..30).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    assert_eq!(refused.value("SELECT v FROM t WHERE id = 1"), "13");
    let newcomer = Account::new(&stage.user, "lent-password").connect(&stage.proxy.target("rw"));
    assert_eq!(newcomer.map(|_| ()).unwrap_err().code, 1040);
    holder.run("ROLLBACK");
    refused.run("UPDATE t SET v = v + 1 WHERE id = 1");
    assert_eq!(refused.value("SELECT v FROM t WHERE id = 1"), "14");
}

fn what_the_statement_before_left_is_told_or_refused(engine: Engine) {
    let stage = Stage::new(engine, 1);
    let (mut one, mut two) = (stage.client(), stage.client());
    // Nobody else has come.
    one.run("UPDATE t SET v = v + 1");
    assert_eq!(one.value("SELECT ROW_COUNT()"), "1");
    drop(one);
    let mut one = stage.client();
    one.run("UPDATE t SET v = v + 1");
    two.run("UPDATE t SET v = v + 1");
    let error = one.error("SELECT ROW_COUNT()");
    assert!(error.code == 1105 && error.message.contains("pool"), "{error:?}");
    // Who has asked once is given time to.
    one.run("UPDATE t SET v = v + 1");
    thread::scope(|scope| {
        scope.spawn(|| two.run("UPDATE t SET v = v + 1"));
        thread::sleep(Duration::from_millis(100));
        assert_eq!(one.value("SELECT ROW_COUNT()"), "1");
    });
    // So is who has a warning, or an error; and where there is none nothing is lost.
    let mut three = stage.client();
    three.run("DROP TABLE IF EXISTS no_such_table");
    thread::scope(|scope| {
        scope.spawn(|| two.run("UPDATE t SET v = v + 1"));
        thread::sleep(Duration::from_millis(100));
        assert_eq!(three.rows("SHOW WARNINGS").len(), 1);
    });
    let mut four = stage.client();
    four.run("UPDATE t SET v = v + 1");
    two.run("UPDATE t SET v = v + 1");
    assert_eq!(four.rows("SHOW WARNINGS").len(), 0);
}

fn prepared_statements_come_along(engine: Engine) {
    let stage = Stage::new(engine, 1);
    let mut clients = [stage.client(), stage.client()];
    let prepared = clients.each_mut().map(|client| {
        let read = client.prepare("SELECT v + ? FROM t WHERE id = ?").unwrap();
        let write = client.prepare("UPDATE t SET v = v + ? WHERE id = 1").unwrap();
        (read.id, write.id)
    });
    for _ in 0..5 {
        for (client, (read, write)) in clients.iter_mut().zip(prepared) {
            client.execute(write, &[Param::number(1)], Execution::WithTypes);
            let v: i64 = client.value("SELECT v FROM t WHERE id = 1").parse().unwrap();
            let reply = client.execute(read, &[Param::number(0), Param::number(1)], Execution::WithTypes);
            let text = format!("{:?}", reply.parts);
            assert!(reply.error().is_none(), "{text}");
            assert_eq!(client.value("SELECT v FROM t WHERE id = 1 FOR UPDATE"), v.to_string());
        }
    }
    assert_eq!(clients[0].value("SELECT v FROM t WHERE id = 1 FOR UPDATE"), "11");
    for (client, (read, write)) in clients.iter_mut().zip(prepared) {
        client.close(read);
        client.close(write);
        assert_eq!(client.value("SELECT 1"), "1");
    }
}

fn connections_that_died_meanwhile_cost_nothing(engine: Engine) {
    let stage = Stage::new(engine, 2);
    let mut clients: Vec<Client> = (0..4).map(|_| stage.client()).collect();
    let ask = format!("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = '{}'", stage.user);
    for round in 0..4 {
        for client in &mut clients {
            client.run("UPDATE t SET v = v + 1 WHERE id = 1");
            assert_eq!(client.value("SELECT COUNT(*) FROM t"), "1", "{round}");
        }
        for server in stage.cluster.servers() {
            for row in server.sql(&ask).unwrap() {
                // It may have gone by itself.
                let _ = server.sql(&format!("KILL {}", row[0].as_deref().unwrap()));
            }
            until("they are gone", || server.sql(&ask).unwrap().is_empty());
        }
    }
    assert_eq!(clients[0].value("SELECT v FROM t WHERE id = 1"), "17");
}

fn a_kill_hits_its_own(engine: Engine) {
    let stage = Stage::new(engine, 1);
    let (mut victim, mut bystander, mut killer) = (stage.client(), stage.client(), stage.client());
    let number = victim.value("SELECT CONNECTION_ID()");
    // Its last connection serves somebody else now.
    bystander.run("BEGIN");
    let thread = thread_of(&mut bystander);
    killer.run(format!("KILL QUERY {number}"));
    killer.run(format!("KILL {number}"));
    assert_eq!(thread_of(&mut bystander), thread);
    bystander.run("COMMIT");
    assert!(victim.send(b"\x03SELECT 1").is_err() || victim.try_reply().is_err());
}

fn who_is_killed_in_line_does_not_run(engine: Engine) {
    let stage = Stage::new(engine, 1);
    let [mut holder, mut interrupted, mut killed, mut killer] = [(); 4].map(|()| stage.client());
    let numbers = [&mut interrupted, &mut killed].map(|client| client.value("SELECT CONNECTION_ID()"));
    holder.run("BEGIN");
    holder.run("UPDATE t SET v = 10 WHERE id = 1");
    interrupted.send_query("UPDATE t SET v = v + 1 WHERE id = 1");
    killed.send_query("UPDATE t SET v = v + 1 WHERE id = 1");
    thread::sleep(Duration::from_millis(200));
    killer.run(format!("KILL QUERY {}", numbers[0]));
    killer.run(format!("KILL {}", numbers[1]));
    holder.run("COMMIT");
    assert_eq!(interrupted.read_reply().error().unwrap().code, 1317);
    assert!(killed.try_reply().map_or(true, |reply| reply.error().is_some()));
    assert_eq!(interrupted.value("SELECT v FROM t WHERE id = 1 FOR UPDATE"), "10");
}

fn a_server_that_is_full_is_made_do_with(engine: Engine) {
    let cluster = start(ClusterOptions::new(engine).replicas(1).server_argument("--max-connections=12"));
    let proxy = lending(&cluster, 50);
    let schema = schema(&cluster);
    cluster
        .primary()
        .sql(&format!("CREATE TABLE {schema}.t (v INT); INSERT INTO {schema}.t VALUES (0)"))
        .unwrap();
    caught_up(&cluster);
    let account = Account::app().schema(&schema);
    let mut clients: Vec<Client> = (0..30).map(|_| account.connect(&proxy.target("rw")).unwrap()).collect();
    thread::scope(|scope| {
        for client in &mut clients {
            scope.spawn(move || {
                for _ in 0..5 {
                    client.run("UPDATE t SET v = v + 1");
                    client.value("SELECT v FROM t");
                }
            });
        }
    });
    assert_eq!(clients[0].value("SELECT v FROM t FOR UPDATE"), "150");
}

fn init_connect_keeps_connections(engine: Engine) {
    let cluster =
        start(ClusterOptions::new(engine).replicas(1).server_argument("--init-connect=SET @greeted = 'yes'"));
    let user = unique("greeted");
    cluster.create_account(&user, plugin(engine), "greeted-password").unwrap();
    let proxy = lending(&cluster, 10);
    let account = Account::new(&user, "greeted-password");
    let mut clients: Vec<Client> = (0..4).map(|_| account.connect(&proxy.target("rw")).unwrap()).collect();
    for _ in 0..2 {
        for client in &mut clients {
            assert_eq!(client.value("SELECT @greeted"), "yes");
            assert_eq!(client.value("SELECT @greeted FOR UPDATE"), "yes");
        }
    }
}
