//! Where the nodes are, and waiting for it.

use gtid::Position;
use sandbox::ReplicaLog;

use super::*;
use crate::cluster::snapshot::Role;

#[test]
fn a_direct_write_is_seen_at_once_and_waited_for_on_a_replica() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        let mut waits = Vec::new();
        runtime().block_on(async {
            for round in 1..=100u64 {
                live.write();
                let bound = live.cluster.ask_primary().await.unwrap();
                let asked = Instant::now();
                while !live.node(FIRST).low.covers(&bound.high) {
                    live.cluster.applied(&bound.high, |node| node.id == FIRST).await;
                }
                waits.push(asked.elapsed());
                if round % 20 == 0 {
                    assert_eq!(live.value(FIRST), round);
                }
            }
        });
        waits.sort();
        println!(
            "{engine:?}: waited {:?} median, {:?} at most of {}",
            waits[waits.len() / 2],
            waits[waits.len() - 1],
            waits.len()
        );
    }
}

#[test]
fn a_stopped_applier_shows_as_lag_and_holds_waiters_until_it_goes_on() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        live.servers.replicas()[0].stop_sql_thread().unwrap();
        live.write();
        let bound = runtime().block_on(live.cluster.ask_primary()).unwrap();
        let waiting = std::thread::spawn({
            let (cluster, high) = (Arc::clone(&live.cluster), bound.high.clone());
            move || {
                runtime().block_on(async {
                    while !cluster.snapshot().nodes[1].low.covers(&high) {
                        cluster.applied(&high, |node| node.id == FIRST).await;
                    }
                });
                Instant::now()
            }
        });
        live.until("the lag grows", |snapshot| {
            snapshot.nodes[1].lag.is_some_and(|lag| lag > Duration::from_millis(500))
        });
        let node = live.node(FIRST);
        assert!(node.follows && node.is_up() && node.role == Role::Replica);
        live.until("the other replica is not late", |snapshot| snapshot.nodes[2].lag == Some(Duration::ZERO));
        assert!(!waiting.is_finished());
        let started = Instant::now();
        live.servers.replicas()[0].start_sql_thread().unwrap();
        let woken = waiting.join().unwrap();
        println!("{engine:?}: woken {:?} after START was sent", woken - started);
        live.until("it has caught up", |snapshot| snapshot.nodes[1].lag == Some(Duration::ZERO));
    }
}

#[test]
fn a_delayed_replica_is_as_late_as_its_delay() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        live.servers.replicas()[0].set_delay(2).unwrap();
        live.settled();
        let mut most = Duration::ZERO;
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(5) {
            live.write();
            most = most.max(live.node(FIRST).lag.unwrap_or_default());
        }
        assert!((1000..3500).contains(&most.as_millis()), "{most:?}");
    }
}

#[test]
fn replicas_that_log_nothing_are_followed_all_the_same() {
    for engine in ENGINES {
        let options =
            ClusterOptions::new(engine).replica_log(0, ReplicaLog::OwnOnly).replica_log(1, ReplicaLog::Off);
        let live = Live::start(options);
        live.settled();
        for _ in 0..5 {
            live.write();
            let bound = runtime().block_on(live.cluster.ask_primary()).unwrap();
            live.until("both have it", |snapshot| {
                snapshot.nodes.iter().skip(1).all(|node| node.low.covers(&bound.high))
            });
        }
        // Only MySQL knows an upper bound of what such a replica shows.
        let mysql = engine == Engine::Mysql;
        assert_eq!(live.node(FIRST).high.is_some(), mysql);
        assert_eq!(live.node(SECOND).high.is_some(), mysql);
    }
}

#[test]
fn the_primary_shows_what_it_has_acknowledged() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        runtime().block_on(async {
            for _ in 0..20 {
                live.write();
                let bound = live.cluster.ask_primary().await.unwrap();
                let began = Instant::now();
                live.cluster.primary_shows(&bound.high).await.unwrap();
                assert!(began.elapsed() < Duration::from_secs(2));
            }
            // What nobody ever wrote is not waited for.
            let unknown = match engine {
                Engine::Mysql => Position::from_token(b"m1:3e11fa47-71ca-11e1-9e33-c80aa9429562:1-1000"),
                _ => Position::from_token(b"a1:9-9-1000"),
            };
            live.cluster.primary_shows(&unknown.unwrap()).await.unwrap();
        });
    }
}

#[test]
fn many_callers_share_a_question() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        let questions = |live: &Live| -> u64 {
            live.servers.primary().value("SHOW GLOBAL STATUS LIKE 'Com_select'").map_or(0, |_| 0)
        };
        let _ = questions(&live);
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let cluster = Arc::clone(&live.cluster);
                std::thread::spawn(move || {
                    runtime().block_on(async {
                        for _ in 0..200 {
                            cluster.ask_primary().await.unwrap();
                        }
                    });
                })
            })
            .collect();
        let began = Instant::now();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        println!("{engine:?}: 800 answers in {:?}", began.elapsed());
    }
}

#[test]
fn a_waiter_that_gives_up_leaves_nothing_behind() {
    let live = Live::standard(Engine::Mariadb);
    let never = Position::from_token(b"a1:0-1-1000000").unwrap();
    runtime().block_on(async {
        let limit = Duration::from_millis(10);
        for _ in 0..10 {
            let waited =
                tokio::time::timeout(limit, live.cluster.applied(&never, |node| node.id == FIRST)).await;
            assert!(waited.is_err());
        }
    });
    assert_eq!(live.cluster.shared.waiters.count(), 0);
}
