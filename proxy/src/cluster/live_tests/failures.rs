//! Nodes that die, hang, lose or invent transactions.

use super::*;
use sandbox::ReplicaLog;

use crate::cluster::AskError;
use crate::cluster::snapshot::{Health, Role};

#[test]
fn a_killed_replica_begins_a_new_life() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        let before = live.node(FIRST);
        assert!(!before.low.is_empty());
        live.servers.replicas()[0].kill9().unwrap();
        live.until("it is down", |snapshot| matches!(snapshot.nodes[1].health, Health::Down(_)));
        let down = live.node(FIRST);
        assert!(down.low.is_empty() && down.high.is_none() && !down.takes_reads());
        live.servers.replicas()[0].start().unwrap();
        live.settled();
        let after = live.node(FIRST);
        assert!(after.incarnation > before.incarnation);
        assert!(live.node(SECOND).incarnation < after.incarnation);
        assert_eq!(live.cluster.snapshot().epoch, 1);
    }
}

#[test]
fn a_hung_server_is_down() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        let began = Instant::now();
        live.servers.replicas()[1].pause().unwrap();
        live.until("it is down", |snapshot| matches!(snapshot.nodes[2].health, Health::Down(_)));
        println!("{engine:?}: found out after {:?}", began.elapsed());
        live.servers.replicas()[1].resume().unwrap();
        live.settled();
    }
}

#[test]
fn a_killed_connection_of_the_watcher_takes_nothing_down() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        // A connection that has lasted is replaced before the node is called down.
        std::thread::sleep(Duration::from_millis(1200));
        let before = live.node(PRIMARY).incarnation;
        let find = format!(
            "SELECT id FROM information_schema.processlist WHERE user = '{}' AND info LIKE '%gtid%' ORDER BY id LIMIT 1",
            sandbox::MONITOR_USER
        );
        let mut watcher = None;
        while watcher.is_none() {
            watcher = live.servers.primary().sql(&find).unwrap().first().and_then(|row| row[0].clone());
        }
        let seen = std::sync::atomic::AtomicBool::new(true);
        live.servers.primary().sql(&format!("KILL {}", watcher.unwrap())).unwrap();
        live.until("a new life", |snapshot| {
            seen.fetch_and(snapshot.primary().is_some(), std::sync::atomic::Ordering::Relaxed);
            snapshot.nodes[0].incarnation > before && snapshot.nodes[0].high.is_some()
        });
        assert!(seen.into_inner(), "the primary was called down");
    }
}

#[test]
fn errant_transactions_end_following() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        let replica = &live.servers.replicas()[0];
        replica.set_read_only(false).unwrap();
        replica.sql("CREATE TABLE app.errant (id INT)").unwrap();
        replica.set_read_only(true).unwrap();
        live.until("it is found out", |snapshot| snapshot.nodes[1].errant.is_some());
        let node = live.node(FIRST);
        assert!(!node.follows && node.role == Role::Replica);
        assert!(live.node(SECOND).follows);
        assert_eq!(live.cluster.snapshot().primary, Some(PRIMARY));
    }
}

#[test]
fn a_primary_that_forgets_its_history_leaves_its_replicas_behind_for_good() {
    for (engine, reset) in ENGINES.into_iter().zip(["RESET BINARY LOGS AND GTIDS", "RESET MASTER"]) {
        let live = Live::standard(engine);
        (0..20).for_each(|_| live.write());
        live.servers.wait_caught_up(PATIENCE).unwrap();
        let fresh = |snapshot: &Snapshot, bound: &gtid::Position| {
            let nodes = snapshot.nodes.iter().skip(1);
            nodes
                .filter(|node| node.follows && node.low.covers(bound))
                .map(|node| node.id)
                .collect::<Vec<_>>()
        };
        live.servers.primary().sql(&format!("{reset}; INSERT INTO app.t VALUES (2, 0)")).unwrap();
        // At once, before any watcher can have heard of it.
        let bound = runtime().block_on(live.cluster.ask_primary()).unwrap();
        assert_eq!(fresh(&live.cluster.snapshot(), &bound.high), [], "{engine:?}: {}", bound.high);
        live.until("the replicas are set aside", |snapshot| {
            snapshot.epoch == 2
                && snapshot.nodes.iter().skip(1).all(|node| node.errant.is_some() && !node.follows)
        });
        // All the numbers are given again, and the replicas may even go on from there.
        for id in 3..80 {
            live.servers.primary().sql(&format!("INSERT INTO app.t VALUES ({id}, 0)")).unwrap();
        }
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(2500) {
            assert_eq!(fresh(&live.cluster.snapshot(), &bound.high), [], "{engine:?}: {}", bound.high);
        }
        let rows = "SELECT COUNT(*) FROM app.t";
        let [primary, first, _] = live.servers.servers() else { panic!("three servers") };
        assert!(primary.value(rows).unwrap() != first.value(rows).unwrap());
    }
}

#[test]
fn the_primary_is_asked_in_vain_when_it_is_read_only_or_gone() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        runtime().block_on(async {
            live.cluster.ask_primary().await.unwrap();
            live.servers.primary().set_read_only(true).unwrap();
            let began = Instant::now();
            let error = live.cluster.ask_primary().await.unwrap_err();
            assert!(matches!(error, AskError::Failed { .. } | AskError::NoPrimary), "{error}");
            assert!(began.elapsed() < Duration::from_secs(7));
            println!("{engine:?}: {error}");
            live.servers.primary().set_read_only(false).unwrap();
            live.cluster.ask_primary().await.unwrap();
        });
    }
}

#[test]
fn a_number_given_twice_is_no_proof_also_of_a_replica_that_logs_nothing() {
    // Only MariaDB gives a number twice in a failover.
    let live = Live::start(ClusterOptions::new(Engine::Mariadb).replica_log(1, ReplicaLog::OwnOnly));
    live.settled();
    let [promoted, left] = live.servers.replicas() else { panic!("two replicas") };
    promoted.stop_io_thread().unwrap();
    live.write();
    live.until("one replica has it", |snapshot| {
        snapshot.nodes[2].low.covers(&snapshot.nodes[0].high.as_ref().unwrap().position)
    });
    live.servers.primary().kill9().unwrap();
    promoted.sql("STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = OFF").unwrap();
    left.sql(&format!("STOP SLAVE; CHANGE MASTER TO MASTER_PORT = {}; START SLAVE", promoted.port()))
        .unwrap();
    live.until("db2 is primary", |snapshot| snapshot.primary == Some(FIRST));
    // The next write has the number of the lost one.
    promoted.sql("UPDATE app.t SET v = 1000 WHERE id = 1").unwrap();
    let bound = runtime().block_on(live.cluster.ask_primary()).unwrap();
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(2) {
        let node = live.node(SECOND);
        if node.follows && node.low.covers(&bound.high) {
            // Seldom the server goes on behind the number that it knows: then it has both writes.
            assert_eq!(live.value(SECOND), 1000, "{} seems to be on {node:?}", bound.high);
            return;
        }
    }
    assert_eq!(live.value(SECOND), 1);
    assert!(live.node(SECOND).errant.is_some());
}
