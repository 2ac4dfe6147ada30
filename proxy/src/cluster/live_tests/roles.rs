//! Who is who.

use super::*;
use crate::cluster::snapshot::Role;
use crate::cluster::{AskError, Health, inspect};
use crate::config::Level;

#[test]
fn roles_are_discovered_and_follow_a_planned_switchover() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        let roles = |snapshot: &Snapshot| snapshot.nodes.iter().map(|node| node.role).collect::<Vec<_>>();
        assert_eq!(roles(&live.cluster.snapshot()), [Role::Primary, Role::Replica, Role::Replica]);
        assert_eq!(live.cluster.snapshot().epoch, 1);
        assert_eq!(live.cluster.node_id(b"db2"), Some(FIRST));
        assert_eq!(live.cluster.node_id(b"db9"), None);

        live.servers.promote(&live.servers.servers()[1]).unwrap();
        live.until("db2 is primary and all follow it", |snapshot| {
            snapshot.primary == Some(FIRST) && snapshot.nodes.iter().all(|node| node.follows)
        });
        assert_eq!(roles(&live.cluster.snapshot()), [Role::Replica, Role::Primary, Role::Replica]);
        assert_eq!(live.cluster.snapshot().epoch, 2);
        live.write();
        let bound = runtime().block_on(live.cluster.ask_primary()).unwrap();
        live.until("the write is applied everywhere", |snapshot| {
            snapshot
                .nodes
                .iter()
                .filter(|node| node.role == Role::Replica)
                .all(|node| node.low.covers(&bound.high))
        });
    }
}

#[test]
fn a_crashed_primary_stays_it_until_another_is_proven() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        live.servers.primary().kill9().unwrap();
        live.until("db1 is down", |snapshot| snapshot.primary().is_none());
        assert_eq!(live.cluster.snapshot().primary, Some(PRIMARY));
        assert!(live.node(FIRST).follows && live.node(SECOND).follows);

        live.servers.promote(&live.servers.servers()[1]).unwrap();
        live.until("db2 is primary", |snapshot| {
            snapshot.primary == Some(FIRST) && snapshot.nodes[1].follows && snapshot.nodes[2].follows
        });
        // Back from the dead, it still takes itself for a primary.
        live.servers.primary().start().unwrap();
        live.until("db1 is up", |snapshot| snapshot.nodes[0].health == Health::Up);
        std::thread::sleep(Duration::from_millis(500));
        let old = live.node(PRIMARY);
        assert_eq!((old.role, old.follows), (Role::Unknown, false));
        assert_eq!(live.cluster.snapshot().primary, Some(FIRST));
        live.servers.rejoin(live.servers.primary()).unwrap();
        live.settled();
        assert_eq!(live.cluster.snapshot().epoch, 2);
    }
}

#[test]
fn a_promoted_server_is_primary_when_it_has_executed_what_it_was_sent() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        let [promoted, other] = live.servers.replicas() else { panic!("two replicas") };
        promoted.set_delay(4).unwrap();
        live.settled();
        live.write();
        let acknowledged = runtime().block_on(live.cluster.ask_primary()).unwrap().high;
        let (show, column) = match engine {
            Engine::Mysql => ("SHOW REPLICA STATUS", "Retrieved_Gtid_Set"),
            _ => ("SHOW ALL SLAVES STATUS", "Gtid_IO_Pos"),
        };
        live.until("it was sent", |snapshot| {
            let text = promoted.query(show).unwrap()[0].get(column).unwrap_or_default().to_owned();
            let mut known = gtid::Position::parse(acknowledged.flavor(), text.as_bytes()).unwrap();
            known.merge(&snapshot.nodes[1].low).unwrap();
            known.covers(&acknowledged) && snapshot.nodes[2].low.covers(&acknowledged)
        });
        live.servers.primary().kill9().unwrap();
        assert_eq!(live.value(FIRST), 0, "the delay is too short for this machine");
        promoted.set_read_only(false).unwrap();
        let follow = match engine {
            Engine::Mysql => "STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_PORT = {}; START REPLICA",
            _ => "STOP SLAVE; CHANGE MASTER TO MASTER_PORT = {}; START SLAVE",
        };
        other.sql(&follow.replace("{}", &promoted.port().to_string())).unwrap();
        live.until("db2 is primary", |snapshot| snapshot.primary == Some(FIRST));
        assert_eq!(live.value(FIRST), 1, "{engine:?}: {acknowledged} was still on its way");
        let bound = runtime().block_on(live.cluster.ask_primary()).unwrap();
        assert!(bound.high.covers(&acknowledged));
    }
}

#[test]
fn an_inspection_tells_what_each_node_can_serve() {
    for engine in ENGINES {
        let servers = sandbox::Cluster::start(ClusterOptions::new(engine).gtid(false)).unwrap();
        servers.replicas()[1].terminate().unwrap();
        let tls = ServerTls::new(TlsMode::Preferred, None).unwrap();
        let found = runtime().block_on(inspect(&config(&servers), tls));
        let primary = found[0].outcome.as_ref().unwrap();
        assert_eq!(primary.role, Role::Primary);
        let replica = found[1].outcome.as_ref().unwrap();
        assert_eq!(
            (replica.role, replica.sources.as_slice()),
            (Role::Replica, ["db1".to_owned()].as_slice())
        );
        assert_eq!(replica.levels, [Level::Eventual]);
        let fix = if engine == Engine::Mysql { "gtid_mode = ON" } else { "MASTER_USE_GTID = slave_pos" };
        assert!(replica.shortcomings.iter().any(|text| text.contains(fix)), "{:?}", replica.shortcomings);
        assert!(found[2].outcome.as_ref().unwrap_err().contains("cannot connect"));
    }
}

#[test]
fn an_account_without_privileges_is_told_which_to_grant() {
    for engine in ENGINES {
        let servers = sandbox::Cluster::start(ClusterOptions::new(engine).replicas(1)).unwrap();
        let revoke = match engine {
            Engine::Mysql => "REVOKE REPLICATION CLIENT ON *.* FROM",
            _ => "REVOKE BINLOG MONITOR, SLAVE MONITOR ON *.* FROM",
        };
        servers.primary().sql(&format!("{revoke} {}@'%'", sandbox::MONITOR_USER)).unwrap();
        servers.wait_caught_up(PATIENCE).unwrap();
        let tls = ServerTls::new(TlsMode::Preferred, None).unwrap();
        for found in runtime().block_on(inspect(&config(&servers), tls)) {
            let found = found.outcome.unwrap();
            let grant = format!("ON *.* TO '{}'@'%'", sandbox::MONITOR_USER);
            assert!(found.shortcomings.iter().any(|text| text.contains(&grant)), "{:?}", found.shortcomings);
            assert!(!found.levels.contains(&Level::Session));
        }
    }
}

#[test]
fn mariadb_of_another_series_is_understood_as_well() {
    let live = Live::standard(Engine::Mariadb11);
    live.servers.promote(&live.servers.servers()[1]).unwrap();
    live.until("db2 is primary and all follow it", |snapshot| {
        snapshot.primary == Some(FIRST) && snapshot.nodes.iter().all(|node| node.follows)
    });
    live.write();
    runtime().block_on(async {
        let bound = live.cluster.ask_primary().await.unwrap();
        live.cluster.primary_shows(&bound.high).await.unwrap();
        live.until("it is applied", |snapshot| snapshot.nodes[2].low.covers(&bound.high));
    });
}

#[test]
fn whoever_asks_a_stopped_cluster_is_told_so() {
    let live = Live::standard(Engine::Mariadb);
    let position = live.node(FIRST).low;
    runtime().block_on(async {
        live.cluster.shutdown().await;
        assert_eq!(live.cluster.ask_primary().await, Err(AskError::Stopped));
        assert_eq!(live.cluster.primary_shows(&position).await, Err(AskError::Stopped));
    });
}
