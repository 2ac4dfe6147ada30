//! Where the nodes are, and waiting for it.

use gtid::Position;
use sandbox::ReplicaLog;

use super::*;
use crate::cluster::snapshot::Role;

#[test]
fn a_direct_write_is_seen_at_once_and_waited_for_on_a_replica() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        runtime().block_on(async {
            let mut writer = live.connect(PRIMARY).await;
            let mut reader = live.connect(FIRST).await;
            let (mut asks, mut waits) = (Vec::new(), Vec::new());
            for round in 1..=300u64 {
                let sql = "UPDATE app.t SET v = v + 1 WHERE id = 1";
                writer.ask(sql, Duration::ZERO).await.unwrap();
                let acknowledged = Instant::now();
                let bound = live.cluster.ask_primary().await.unwrap();
                asks.push(acknowledged.elapsed());
                while !live.node(FIRST).low.covers(&bound.high) {
                    live.cluster.applied(&bound.high, |node| node.id == FIRST).await;
                }
                waits.push(acknowledged.elapsed());
                let answer = reader.ask("SELECT v FROM app.t WHERE id = 1", Duration::ZERO).await.unwrap();
                assert_eq!(answer.value(0, "v"), Some(round.to_string().as_bytes()));
                tokio::time::sleep(Duration::from_millis(round % 5)).await;
            }
            println!(
                "{engine:?}: from acknowledgement to bound {}, to applied {}",
                spread(asks),
                spread(waits)
            );
        });
    }
}

#[test]
fn waits_stay_short_while_others_write_all_the_time() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        live.servers.primary().sql("INSERT INTO app.t VALUES (2, 0), (3, 0), (4, 0)").unwrap();
        let over = std::sync::atomic::AtomicBool::new(false);
        let written = std::sync::atomic::AtomicU64::new(0);
        std::thread::scope(|scope| {
            for id in 2..=4 {
                let (live, over, written) = (&live, &over, &written);
                scope.spawn(move || {
                    runtime().block_on(async {
                        let mut writer = live.connect(PRIMARY).await;
                        let sql = format!("UPDATE app.t SET v = v + 1 WHERE id = {id}");
                        while !over.load(std::sync::atomic::Ordering::Relaxed) {
                            writer.ask(&sql, Duration::ZERO).await.unwrap();
                            written.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                            // A replica on a busy machine keeps up with this.
                            tokio::time::sleep(Duration::from_millis(8)).await;
                        }
                    });
                });
            }
            runtime().block_on(async {
                let mut writer = live.connect(PRIMARY).await;
                let mut readers = [live.connect(FIRST).await, live.connect(SECOND).await];
                let (began, mut waits, mut round) = (Instant::now(), Vec::new(), 0u64);
                while began.elapsed() < Duration::from_secs(3) {
                    round += 1;
                    writer.ask("UPDATE app.t SET v = v + 1 WHERE id = 1", Duration::ZERO).await.unwrap();
                    let acknowledged = Instant::now();
                    let bound = live.cluster.ask_primary().await.unwrap();
                    let node = if round % 2 == 0 { FIRST } else { SECOND };
                    while !live.node(node).low.covers(&bound.high) {
                        live.cluster.applied(&bound.high, |candidate| candidate.id == node).await;
                    }
                    waits.push(acknowledged.elapsed());
                    let reader = &mut readers[node.index() - 1];
                    let answer =
                        reader.ask("SELECT v FROM app.t WHERE id = 1", Duration::ZERO).await.unwrap();
                    assert_eq!(answer.value(0, "v"), Some(round.to_string().as_bytes()));
                }
                over.store(true, std::sync::atomic::Ordering::Relaxed);
                let rate = written.load(std::sync::atomic::Ordering::Relaxed) / began.elapsed().as_secs();
                println!(
                    "{engine:?}: {rate} other writes a second; {round} rounds, applied after {}",
                    spread(waits)
                );
            });
        });
    }
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: usize| times[times.len() * share / 100];
    format!("{:?}/{:?}/{:?} (p50/p90/p99)", at(50), at(90), at(99))
}

#[test]
fn watching_costs_few_questions() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        for server in live.servers.servers() {
            let asked = || -> f64 {
                let row = server.sql("SHOW GLOBAL STATUS LIKE 'Questions'").unwrap();
                row[0][1].as_ref().unwrap().parse().unwrap()
            };
            let (before, began) = (asked(), Instant::now());
            std::thread::sleep(Duration::from_secs(2));
            let rate = (asked() - before) / began.elapsed().as_secs_f64();
            println!("{engine:?} {}: {rate:.0} questions a second at rest", server.name());
            assert!(rate < 80.0, "{rate}");
        }
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
        // A busy machine adds to the delay; it takes nothing away.
        assert!((1000..10_000).contains(&most.as_millis()), "{most:?}");
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

/// The server waits for a semi-synchronous replica between its log and its engine; there is none.
const STUCK: [&str; 2] = [
    "INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'; \
     SET GLOBAL rpl_semi_sync_source_timeout = 1500, GLOBAL rpl_semi_sync_source_enabled = ON",
    "SET GLOBAL rpl_semi_sync_master_wait_point = AFTER_SYNC, GLOBAL rpl_semi_sync_master_timeout = 1500, \
     GLOBAL rpl_semi_sync_master_enabled = ON",
];

#[test]
fn a_primary_behind_its_replica_is_waited_for() {
    for (engine, stick) in ENGINES.into_iter().zip(STUCK) {
        let live = Live::standard(engine);
        live.write();
        live.servers.primary().sql(stick).unwrap();
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| live.write());
            while live.value(FIRST) < 2 {
                assert!(!writing.is_finished(), "the primary was not held back");
            }
            runtime().block_on(async {
                let began = Instant::now();
                let bound = live.cluster.ask_primary().await.unwrap();
                let asked = began.elapsed();
                let position = live.node(FIRST).low;
                assert!(bound.high.covers(&position), "the bound has what the replica shows");
                assert!(bound.shown.is_none_or(|shown| !shown.covers(&position)));
                live.cluster.primary_shows(&position).await.unwrap();
                println!("{engine:?}: asked in {asked:?}, shown after {:?}", began.elapsed());
                assert_eq!(live.value(PRIMARY), 2);
                assert!(live.node(PRIMARY).low.covers(&position) || engine == Engine::Mysql);
            });
        });
    }
}

#[test]
fn a_number_reserved_for_ever_is_waited_for_until_it_is_given_back() {
    let live = Live::standard(Engine::Mysql);
    let reserve = "SET gtid_next = '3e11fa47-71ca-11e1-9e33-c80aa9429562:1'; BEGIN; SELECT SLEEP(1.5)";
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| live.servers.primary().sql(reserve).unwrap());
        let mine = Position::from_token(b"m1:3e11fa47-71ca-11e1-9e33-c80aa9429562:1").unwrap();
        runtime().block_on(async {
            while !live.cluster.ask_primary().await.unwrap().high.covers(&mine) {}
            let began = Instant::now();
            live.cluster.primary_shows(&mine).await.unwrap();
            // Rolled back: it will never be there, and nobody waits for it any more.
            assert!(began.elapsed() > Duration::from_millis(300));
            assert!(!live.cluster.ask_primary().await.unwrap().high.covers(&mine));
        });
        holder.join().unwrap();
    });
}

#[test]
fn many_callers_share_a_question() {
    for engine in ENGINES {
        let live = Live::standard(engine);
        let asked = || -> u64 {
            let row = live.servers.primary().sql("SHOW GLOBAL STATUS LIKE 'Questions'").unwrap();
            row[0][1].as_ref().unwrap().parse().unwrap()
        };
        let before = asked();
        let began = Instant::now();
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let cluster = Arc::clone(&live.cluster);
                std::thread::spawn(move || {
                    let local = tokio::task::LocalSet::new();
                    for _ in 0..50 {
                        let cluster = Arc::clone(&cluster);
                        local.spawn_local(async move {
                            for _ in 0..40 {
                                cluster.ask_primary().await.unwrap();
                            }
                        });
                    }
                    runtime().block_on(local);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let (elapsed, questions) = (began.elapsed(), asked() - before);
        println!("{engine:?}: 4000 answers in {elapsed:?} by {questions} questions");
        assert!(questions < 2000, "{questions}");
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
