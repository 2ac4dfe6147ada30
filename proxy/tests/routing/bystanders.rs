//! Sessions whose nodes live: the death of another node is nothing to them.

use std::time::{Duration, Instant};

use sandbox::{Engine, Server};

use super::stage::SESSION;
use crate::harness::client::Client;
use crate::harness::clusters::{caught_up, own};
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};
use crate::harness::proxy::Setup;
use crate::harness::reply::Part;
use crate::harness::stream::Target;

on_every_engine!(sessions_of_other_nodes_survive_a_death_and_one_with_a_cursor_there_hears_of_it);

const ON_DB2: &str = "/* tidemark: node=db2 */ SELECT v FROM t";
const NUMBERS: &str = "/* tidemark: node=db2 */ SELECT n FROM (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3) AS d WHERE n >= ? ORDER BY n";

/// The connections of the proxy's clients to a server.
fn threads(server: &Server) -> Vec<Option<String>> {
    let mut direct = Account::app().connect(&Target::Tcp(server.address())).unwrap();
    let open = "SELECT id FROM information_schema.processlist WHERE user = 'app' AND db = 'app' ORDER BY id";
    direct.rows(open).into_iter().flatten().collect()
}

fn until_down(observer: &mut Client, node: &str) {
    let begin = Instant::now();
    let mut is_up = || {
        let nodes = observer.rows("TIDEMARK SHOW NODES");
        nodes.iter().any(|row| row[0].as_deref() == Some(node) && row[3].as_deref() == Some("up"))
    };
    while is_up() {
        assert!(begin.elapsed() < Duration::from_secs(20), "{node} is still up");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The first column of the rows that a fetch brought: binary rows of one number.
fn fetched(client: &mut Client, id: u32, count: u32) -> Vec<u8> {
    match client.fetch(id, count).parts.first() {
        Some(Part::Rows { rows, .. }) => rows.iter().map(|row| row[2]).collect(),
        other => panic!("{other:?}"),
    }
}

/// One cluster for all of it, for starting one takes longest.
fn sessions_of_other_nodes_survive_a_death_and_one_with_a_cursor_there_hears_of_it(engine: Engine) {
    let cluster = own(engine);
    cluster.primary().sql("CREATE TABLE app.t (v INT); INSERT INTO app.t VALUES (1)").unwrap();
    caught_up(&cluster);
    let proxy = Setup::of(&cluster).endpoint("rw", SESSION).start();
    let target = proxy.target("rw");
    let connect = || Account::app().schema("app").connect(&target).unwrap();
    let (mut observer, mut reader, mut both, mut bound, mut in_transaction, mut snapshot, mut cursor) =
        (connect(), connect(), connect(), connect(), connect(), connect(), connect());

    reader.run("SET @kept = 'literal'");
    let id = reader.prepare(ON_DB2).unwrap().id;
    for _ in 0..2 {
        assert_eq!(reader.execute(id, &[], Execution::WithTypes).error(), None);
        assert_eq!(reader.route().node, "db2");
    }
    for node in ["db2", "db3"] {
        both.run(format!("/* tidemark: node={node} */ SELECT v FROM t"));
        assert_eq!(both.route().node, node);
    }
    bound.run("CREATE TEMPORARY TABLE own (v INT)");
    bound.run("INSERT INTO own VALUES (7)");
    in_transaction.run("BEGIN");
    in_transaction.run("INSERT INTO t VALUES (2)");
    loop {
        snapshot.run("START TRANSACTION READ ONLY");
        if snapshot.route().node == "db2" {
            break;
        }
        snapshot.run("COMMIT");
    }
    let cursor_id = cursor.prepare(NUMBERS).unwrap().id;
    assert_eq!(cursor.execute(cursor_id, &[Param::number(1)], Execution::IntoCursor).error(), None);
    assert_eq!(fetched(&mut cursor, cursor_id, 1), [1]);
    let [lives, dies] = cluster.replicas() else { panic!("two replicas") };
    let before = [threads(cluster.primary()), threads(lives)];

    dies.kill9().unwrap();
    until_down(&mut observer, "db3");
    assert_eq!(fetched(&mut cursor, cursor_id, 1), [2]);
    assert_eq!(bound.value("SELECT v FROM own"), "7");
    assert_eq!(in_transaction.value("SELECT COUNT(*) FROM t"), "2");
    assert_eq!(in_transaction.route().reason, "in_transaction");
    assert_eq!(snapshot.value("SELECT COUNT(*) FROM t"), "1");
    assert_eq!(snapshot.route().node, "db2");
    for client in [&mut reader, &mut both] {
        assert_eq!(client.value(ON_DB2), "1");
        assert_eq!(client.route().node, "db2");
    }
    assert_eq!([threads(cluster.primary()), threads(lives)], before, "other connections than before");
    // And nothing keeps them anywhere: they read on the replica and write on the primary.
    in_transaction.run("ROLLBACK");
    snapshot.run("COMMIT");
    bound.run("DROP TEMPORARY TABLE own");
    assert_eq!(reader.value("SELECT @kept"), "literal");
    for client in [&mut reader, &mut both, &mut bound, &mut in_transaction, &mut snapshot] {
        client.run("UPDATE t SET v = v + 1");
        client.run("SELECT v FROM t");
        assert_eq!(client.route().node, "db2");
    }

    // The cursor's own node dies.
    lives.kill9().unwrap();
    until_down(&mut observer, "db2");
    let reply = cursor.fetch(cursor_id, 1);
    let error = reply.error().expect("the cursor is gone");
    assert!(error.message.contains("db2"), "{error:?}");
    // The session goes on, and is asked and answered in order.
    for number in 0..5 {
        assert_eq!(cursor.value(&format!("SELECT {number}")), number.to_string());
    }
    assert_eq!(cursor.fetch(cursor_id, 1).error().unwrap().code, 1421, "no cursor is open");
    assert_eq!(cursor.execute(cursor_id, &[Param::number(2)], Execution::IntoCursor).error(), None);
    assert_eq!(fetched(&mut cursor, cursor_id, 5), [2, 3]);
    assert_eq!(cursor.value("SELECT 'last'"), "last");
}
