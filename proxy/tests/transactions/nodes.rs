//! Unopened transactions while nodes and the proxy itself come and go: nothing of them is anywhere, so nothing is lost.

use sandbox::{ClusterOptions, Engine};
use wire::Status;

use super::stage::{Stage, expect};
use crate::harness::clusters::{caught_up, start};
use crate::harness::on_every_engine;
use crate::harness::wait::until;

on_every_engine!(
    nodes_may_die_and_change_places,
    a_drained_session_ends_its_transaction_first,
    what_was_set_for_the_next_transaction_does_not_outlive_the_primary,
);

fn nodes_may_die_and_change_places(engine: Engine) {
    let cluster = start(ClusterOptions::new(engine));
    let stage = Stage::on(&cluster);
    let mut client = stage.committed_at("session");
    client.run("BEGIN");
    expect(&mut client, &[("replica", "/* tidemark: node=db3 */ SELECT v FROM t")]);
    // The replica it reads on dies.
    cluster.replicas()[1].kill9().unwrap();
    for _ in 0..10 {
        expect(&mut client, &[("replica", "SELECT v FROM t")]);
        assert_eq!(client.route().node, "db2");
    }
    assert!(client.status.contains(Status::IN_TRANS));
    cluster.replicas()[1].start().unwrap();
    caught_up(&cluster);
    // Another one becomes primary between BEGIN and the first write.
    let mut observer = stage.at("eventual");
    let mut peer = stage.at("session");
    peer.run("SELECT v FROM t");
    cluster.promote(&cluster.servers()[1]).unwrap();
    until("the new primary is known", || {
        observer.rows("TIDEMARK SHOW NODES")[1][2].as_deref() == Some("primary")
    });
    // Until its replicas have been compared with it, reads are on the primary, and open the transaction there.
    until("a replica serves what the client saw", || {
        peer.run("SELECT v FROM t");
        peer.route().role == "replica"
    });
    expect(&mut client, &[("replica", "SELECT v FROM t")]);
    stage.until_open(0);
    until("writes work", || client.query("UPDATE t SET v = v + 1").error().is_none());
    assert_eq!(client.route().node, "db2");
    expect(&mut client, &[("primary", "SELECT v FROM t")]);
    client.run("ROLLBACK");
    assert_eq!(stage.direct().value("SELECT v FROM t"), "1");
}

fn what_was_set_for_the_next_transaction_does_not_outlive_the_primary(engine: Engine) {
    let cluster = start(ClusterOptions::new(engine));
    let stage = Stage::on(&cluster);
    let mut client = stage.at("session");
    client.run("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
    let mut observer = stage.at("eventual");
    cluster.promote(&cluster.servers()[1]).unwrap();
    until("the new primary is known", || {
        observer.rows("TIDEMARK SHOW NODES")[1][2].as_deref() == Some("primary")
    });
    until("writes work", || observer.query("UPDATE t SET v = 1").error().is_none());
    // It is lost, and that is said before a transaction runs otherwise than it should.
    let error = client.error("BEGIN");
    assert!(error.message.contains("SET TRANSACTION"), "{error:?}");
    client.run("BEGIN");
    client.run("COMMIT");
    // On the old primary it is not there any more: a transaction has one snapshot.
    caught_up(&cluster);
    until("the old primary serves reads", || {
        client.run("/* tidemark: node=db1 */ SELECT 1");
        client.route().node == "db1"
    });
    client.run("/* tidemark: node=db1 */ START TRANSACTION READ ONLY");
    let before = client.value("SELECT v FROM t");
    assert_eq!(client.route().node, "db1");
    stage.direct().run("UPDATE t SET v = v + 1");
    caught_up(&cluster);
    assert_eq!(client.value("SELECT v FROM t"), before);
    client.run("COMMIT");
}

fn a_drained_session_ends_its_transaction_first(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.committed_at("session");
    client.run("BEGIN");
    expect(&mut client, &[("replica", "SELECT v FROM t")]);
    stage.proxy.signal("TERM");
    stage.proxy.wait_for_log("draining");
    expect(&mut client, &[("replica", "SELECT v FROM t"), ("primary", "UPDATE t SET v = 4")]);
    client.run("COMMIT");
    assert_eq!(client.wait_for_end().len(), 1, "the end is told");
    assert_eq!(stage.direct().value("SELECT v FROM t"), "4");
}
