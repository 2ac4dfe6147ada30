//! What is broken on purpose breaks, and heals.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::engines::{PATIENCE, cluster, eventually, on_each_engine, options, rows};
use sandbox::{Cluster, Engine, Error};

on_each_engine!(
    a_stopped_sql_thread_holds_rows_back,
    a_stopped_replica_catches_up_when_started,
    a_delay_holds_rows_back_for_that_long,
    a_killed_replica_resumes,
    a_primary_killed_while_writing_agrees_with_its_replicas,
    a_paused_server_answers_nothing_until_resumed,
    a_port_taken_meanwhile_is_named_in_the_error,
    a_planned_promotion_moves_the_writes,
    a_lost_primary_is_replaced_and_rejoins,
);

fn insert(cluster: &Cluster) {
    cluster.current_primary().sql("INSERT INTO app.t (text) VALUES ('x')").unwrap();
}

fn a_stopped_sql_thread_holds_rows_back(engine: Engine) {
    let cluster = cluster(options(engine));
    let [stopped, other] = cluster.replicas() else { panic!("two replicas were asked for") };
    stopped.stop_sql_thread().unwrap();
    insert(&cluster);
    eventually("the row is on the other replica", || rows(other) == 1);
    assert_eq!(rows(stopped), 0);
    let status = stopped.replication_status().unwrap().unwrap();
    assert!(status.io_running && !status.sql_running, "{status:?}");
    stopped.start_sql_thread().unwrap();
    cluster.wait_caught_up(PATIENCE).unwrap();
    assert_eq!(rows(stopped), 1);
}

fn a_stopped_replica_catches_up_when_started(engine: Engine) {
    let cluster = cluster(options(engine).replicas(1));
    let replica = &cluster.replicas()[0];
    replica.stop_replica().unwrap();
    insert(&cluster);
    assert!(cluster.wait_caught_up(Duration::from_secs(1)).is_err());
    assert_eq!(rows(replica), 0);
    replica.start_replica().unwrap();
    cluster.wait_caught_up(PATIENCE).unwrap();
    replica.stop_io_thread().unwrap();
    insert(&cluster);
    let status = replica.replication_status().unwrap().unwrap();
    assert!(!status.io_running && status.sql_running, "{status:?}");
    replica.start_io_thread().unwrap();
    cluster.wait_caught_up(PATIENCE).unwrap();
    assert_eq!(rows(replica), 2);
}

fn a_delay_holds_rows_back_for_that_long(engine: Engine) {
    let cluster = cluster(options(engine).replicas(1));
    let replica = &cluster.replicas()[0];
    replica.set_delay(2).unwrap();
    let begin = Instant::now();
    insert(&cluster);
    assert_eq!(rows(replica), 0);
    cluster.wait_caught_up(PATIENCE).unwrap();
    // The servers' clocks count whole seconds.
    assert!(begin.elapsed() >= Duration::from_secs(1), "{:?}", begin.elapsed());
    replica.set_delay(0).unwrap();
    insert(&cluster);
    cluster.wait_caught_up(PATIENCE).unwrap();
    assert_eq!(rows(replica), 2);
}

fn a_killed_replica_resumes(engine: Engine) {
    let cluster = cluster(options(engine).replicas(1));
    let replica = &cluster.replicas()[0];
    let (address, pid) = (replica.address(), replica.pid().unwrap());
    replica.kill9().unwrap();
    assert!(!replica.is_running());
    assert!(matches!(replica.sql("SELECT 1"), Err(Error::NotRunning { .. })));
    insert(&cluster);
    replica.restart().unwrap();
    assert_eq!(replica.address(), address);
    assert_ne!(replica.pid().unwrap(), pid);
    eventually("the row is on the restarted replica", || rows(replica) == 1);
    assert_eq!(replica.value("SELECT @@read_only").unwrap(), "1");
    replica.terminate().unwrap();
    replica.start().unwrap();
    insert(&cluster);
    eventually("the second row is, too", || rows(replica) == 2);
}

fn a_primary_killed_while_writing_agrees_with_its_replicas(engine: Engine) {
    let cluster = cluster(options(engine).replicas(1));
    let primary = cluster.primary();
    let writes = "INSERT INTO app.t (text) VALUES (REPEAT('x', 90));".repeat(50_000);
    thread::scope(|scope| {
        let writer = scope.spawn(|| primary.sql(&writes));
        eventually("some rows are written", || rows(&cluster.replicas()[0]) > 100);
        primary.kill9().unwrap();
        assert!(writer.join().unwrap().is_err(), "the writer ended before the kill");
    });
    primary.restart().unwrap();
    insert(&cluster);
    eventually("the replica is connected again", || {
        cluster.replicas()[0].replication_status().unwrap().is_some_and(|status| status.io_running)
    });
    cluster.wait_caught_up(PATIENCE).unwrap();
    assert!(rows(primary) > 100);
    assert_eq!(rows(primary), rows(&cluster.replicas()[0]));
}

fn a_paused_server_answers_nothing_until_resumed(engine: Engine) {
    let cluster = cluster(options(engine).replicas(1));
    let replica = &cluster.replicas()[0];
    replica.pause().unwrap();
    assert!(replica.is_running());
    let silent = replica.query_within("SELECT 1", Duration::from_millis(500));
    assert!(matches!(silent, Err(Error::Timeout { .. })), "{silent:?}");
    replica.resume().unwrap();
    insert(&cluster);
    cluster.wait_caught_up(PATIENCE).unwrap();
    assert_eq!(rows(replica), 1);
    // A paused server must not hold up the end of its cluster.
    replica.pause().unwrap();
}

fn a_port_taken_meanwhile_is_named_in_the_error(engine: Engine) {
    let cluster = Cluster::start(options(engine).replicas(0)).unwrap();
    let primary = cluster.primary();
    primary.kill9().unwrap();
    let other = std::net::TcpListener::bind(primary.address()).unwrap();
    let Err(Error::Start { log, .. }) = primary.start() else { panic!("it started on a port in use") };
    // The text by which a cluster that is just being made draws another port.
    assert!(log.contains("Address already in use"), "{log}");
    drop(other);
    primary.start().unwrap();
}

fn a_planned_promotion_moves_the_writes(engine: Engine) {
    let cluster = cluster(options(engine));
    insert(&cluster);
    let new = &cluster.replicas()[1];
    cluster.promote(new).unwrap();
    assert_eq!(cluster.current_primary().name(), "db3");
    assert_eq!(cluster.primary().value("SELECT @@read_only").unwrap(), "1");
    insert(&cluster);
    cluster.wait_caught_up(PATIENCE).unwrap();
    for server in cluster.servers() {
        assert_eq!(rows(server), 2, "{}", server.name());
    }
    // And back, which makes a former primary follow and then lead again.
    cluster.promote(cluster.primary()).unwrap();
    insert(&cluster);
    cluster.wait_caught_up(PATIENCE).unwrap();
    assert_eq!(rows(new), 3);
}

fn a_lost_primary_is_replaced_and_rejoins(engine: Engine) {
    let cluster = cluster(options(engine));
    insert(&cluster);
    cluster.wait_caught_up(PATIENCE).unwrap();
    let [new, other] = cluster.replicas() else { panic!("two replicas were asked for") };
    cluster.primary().kill9().unwrap();
    cluster.promote(new).unwrap();
    insert(&cluster);
    eventually("the other replica follows the new primary", || rows(other) == 2);
    // Back again, the old primary believes that it is one.
    cluster.primary().restart().unwrap();
    assert_eq!(cluster.primary().value("SELECT @@read_only").unwrap(), "0");
    cluster.rejoin(cluster.primary()).unwrap();
    // The promoted server is writable also after a restart.
    new.restart().unwrap();
    insert(&cluster);
    eventually("everybody has all rows", || cluster.servers().iter().all(|server| rows(server) == 3));
}
