//! What keeps a session on its primary connection, and until when.

use sandbox::{ClusterOptions, Engine};

use super::stage::{SESSION, Stage, expect, route_of};
use crate::harness::clusters::{self, unique};
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::proxy::Setup;
use crate::harness::stream::Target;

on_every_engine!(
    locked_tables,
    locks_with_names,
    temporary_tables,
    temporary_tables_of_a_procedure,
    open_handlers,
    a_reset_frees,
    servers_that_close_idle_connections,
    a_session_that_sets_its_own_limit,
    a_lost_connection_is_not_replaced_unnoticed,
);

fn locked_tables(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    expect(
        &mut client,
        &[
            ("primary", "LOCK TABLES t WRITE"),
            ("primary", "SELECT v FROM t"),
            ("primary", "UPDATE t SET v = 4"),
            ("primary", "UNLOCK TABLES"),
            ("replica", "SELECT v FROM t"),
            ("primary", "LOCK TABLES t READ"),
            ("primary", "SELECT v FROM t"),
            ("primary", "UNLOCK TABLES"),
            ("replica", "SELECT v FROM t"),
        ],
    );
    client.run("LOCK TABLES t READ");
    assert_eq!(client.error("UPDATE t SET v = 4").code, 1099);
    // A transaction's begin gives table locks back.
    client.run("BEGIN");
    client.run("COMMIT");
    client.run("UPDATE t SET v = 5");
    assert_eq!(client.value("SELECT v FROM t"), "5");
}

fn locks_with_names(engine: Engine) {
    let stage = Stage::new(engine);
    let (mut client, mut other) = (stage.client(), stage.client());
    let name = unique("lock");
    assert_eq!(client.value(&format!("SELECT GET_LOCK('{name}', 5)")), "1");
    assert_eq!(route_of(&mut client, "SELECT v FROM t"), ("primary".to_owned(), "pinned_lock".to_owned()));
    assert_eq!(other.value(&format!("SELECT GET_LOCK('{name}', 0)")), "0");
    assert_eq!(other.value(&format!("SELECT IS_FREE_LOCK('{name}')")), "0");
    assert_eq!(client.value(&format!("SELECT RELEASE_LOCK('{name}')")), "1");
    assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "replica");
    assert_eq!(other.value(&format!("SELECT GET_LOCK('{name}', 5)")), "1");
    // With the session the lock ends.
    other.quit();
    assert_eq!(client.value(&format!("SELECT GET_LOCK('{name}', 20)")), "1");
    client.run("SELECT RELEASE_ALL_LOCKS()");
    assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "replica");
}

fn temporary_tables(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    for create in [
        "CREATE TEMPORARY TABLE temporary (id INT)",
        "CREATE TEMPORARY TABLE temporary AS SELECT * FROM t",
        "CREATE TEMPORARY TABLE IF NOT EXISTS temporary LIKE t",
        "SELECT 1; CREATE TEMPORARY TABLE temporary (id INT)",
    ] {
        let mut client = stage.client();
        client.run("SELECT 1");
        client.run(create);
        let reason = "pinned_temporary_table";
        assert_eq!(route_of(&mut client, "SELECT * FROM temporary").1, reason, "{create}");
        assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "primary", "{create}");
    }
    // Nothing is left when all are dropped, in whatever way they are named.
    client.run("CREATE TEMPORARY TABLE one (id INT)");
    client.run(format!("CREATE TEMPORARY TABLE `{}`.`two` (id INT)", stage.schema));
    client.run("CREATE TEMPORARY TABLE IF NOT EXISTS one (id INT)");
    client.run("DROP TEMPORARY TABLE two");
    assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "primary");
    assert_eq!(client.error("DROP TEMPORARY TABLE no_such_table").code, 1051);
    client.run(format!("DROP TABLE IF EXISTS {}.one", stage.schema));
    assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "replica");
    // One that hides a table of the same name.
    client.run("CREATE TEMPORARY TABLE t (v INT)");
    client.run("INSERT INTO t VALUES (1234)");
    for _ in 0..4 {
        assert_eq!(client.value("SELECT v FROM t"), "1234");
    }
    client.run("DROP TEMPORARY TABLE t");
    assert_eq!(client.value("SELECT v FROM t"), "1");
    assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "replica");
}

fn temporary_tables_of_a_procedure(engine: Engine) {
    let stage = Stage::new(engine);
    stage.on_primary(
        "CREATE PROCEDURE hides() BEGIN CREATE TEMPORARY TABLE hidden (v INT); INSERT INTO hidden VALUES (7); END",
    );
    let mut client = stage.client();
    client.run("SELECT 1");
    client.run("CALL hides()");
    for _ in 0..4 {
        assert_eq!(client.value("SELECT v FROM hidden"), "7");
    }
}

fn a_reset_frees(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    for pin in
        ["CREATE TEMPORARY TABLE temporary (id INT)", "LOCK TABLES t READ", "SELECT GET_LOCK('a_reset', 5)"]
    {
        client.run(pin);
        assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "primary", "{pin}");
        client.plain(wire::CommandCode::ResetConnection, &[]);
        assert_eq!(route_of(&mut client, "SELECT v FROM t").0, "replica", "{pin}");
    }
}

/// Who has something on a connection that is lost must hear of it; who has nothing need not.
fn a_lost_connection_is_not_replaced_unnoticed(engine: Engine) {
    let stage = Stage::new(engine);
    let kill_all = || {
        let ids = stage.cluster.primary().sql(&format!(
            "SELECT id FROM information_schema.processlist WHERE user = 'app' AND db = '{}'",
            stage.schema
        ));
        for id in ids.unwrap().into_iter().flatten().flatten() {
            // It may have gone by itself.
            let _ = stage.cluster.primary().sql(&format!("KILL {id}"));
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    let mut free = stage.client();
    free.run("SET time_zone = '+04:00'");
    kill_all();
    free.run("UPDATE t SET v = 3");
    assert_eq!(free.value("SELECT @@time_zone"), "+04:00");
    free.quit();
    for bind in [
        "CREATE TEMPORARY TABLE temporary (id INT)",
        "BEGIN; UPDATE t SET v = 4",
        "SELECT GET_LOCK('lost', 5)",
    ] {
        let mut bound = stage.client();
        bound.run(bind);
        kill_all();
        let error = bound.error("SELECT v FROM t");
        assert!(error.message.contains("lost"), "{bind}: {error:?}");
        assert!(bound.wait_for_end().is_empty());
    }
    assert_eq!(stage.client().value("SELECT v FROM t"), "3");
}

fn open_handlers(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.client();
    expect(
        &mut client,
        &[
            ("replica", "SELECT v FROM t"),
            ("primary", "HANDLER t OPEN"),
            ("primary", "HANDLER t READ FIRST"),
            ("primary", "SELECT v FROM t"),
            ("primary", "HANDLER t READ NEXT"),
            ("primary", "HANDLER t CLOSE"),
            ("replica", "SELECT v FROM t"),
        ],
    );
}

/// Who holds nothing does not notice that a server has closed its connection.
fn servers_that_close_idle_connections(engine: Engine) {
    let options = ClusterOptions::new(engine).replicas(1).server_argument("--wait-timeout=1");
    let cluster = clusters::start(options);
    let proxy = Setup::of(&cluster).endpoint("rw", SESSION).start();
    let tables = "CREATE TABLE app.t (v INT); INSERT INTO app.t VALUES (1); \
                  CREATE TABLE app.ids (id INT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 4000";
    cluster.primary().sql(tables).unwrap();
    clusters::caught_up(&cluster);
    let account = Account::app().schema("app");
    let [mut free, mut bound] = [(); 2].map(|()| account.connect(&proxy.target("rw")).unwrap());
    for client in [&mut free, &mut bound] {
        client.run("SET time_zone = '+03:00'");
        for _ in 0..8 {
            client.run("SELECT v FROM t");
        }
    }
    let id = free.prepare("SELECT v + ? FROM t").unwrap().id;
    free.run("INSERT INTO ids VALUES ()");
    bound.run("CREATE TEMPORARY TABLE temporary (id INT)");
    std::thread::sleep(std::time::Duration::from_millis(2500));
    for _ in 0..4 {
        assert_eq!(free.value("SELECT @@time_zone"), "+03:00");
        assert_eq!(free.value("SELECT LAST_INSERT_ID()"), "4000");
        let params = [crate::harness::prepared::Param::number(1)];
        let reply = free.execute(id, &params, crate::harness::prepared::Execution::WithTypes);
        assert_eq!(reply.error(), None);
    }
    free.run("UPDATE t SET v = v + 1");
    assert_eq!(free.value("SELECT v FROM t"), "2");
    assert!(bound.error("SELECT * FROM temporary").message.contains("lost"));
}

/// Who sets it wants to be disconnected.
fn a_session_that_sets_its_own_limit(engine: Engine) {
    let stage = Stage::new(engine);
    let direct = Target::Tcp(stage.cluster.primary().address());
    let mut ends = Vec::new();
    for target in [&direct, &stage.proxy.target("rw")] {
        let mut client = stage.account().connect(target).unwrap();
        client.run("SET wait_timeout = 1");
        let heard = client.wait_for_end();
        ends.push(heard.into_iter().map(|packet| (packet.sequence, packet.payload)).collect::<Vec<_>>());
    }
    assert_eq!(ends[0], ends[1]);
}
