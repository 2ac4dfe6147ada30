//! What a session sees in a split transaction: its own writes, and never less than it saw before.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use sandbox::Engine;

use super::stage::Stage;
use crate::harness::client::Client;
use crate::harness::on_every_engine;

on_every_engine!(earlier_writes_are_seen, nothing_goes_back_while_others_write);

const READ: &str = "SELECT v FROM t WHERE id = 1";

fn number(client: &mut Client) -> i64 {
    client.value(READ).parse().unwrap()
}

fn earlier_writes_are_seen(engine: Engine) {
    let stage = Stage::new(engine);
    for level in ["session", "global"] {
        let mut client = stage.committed_at(level);
        let mut on_replicas = 0;
        for round in 0..40 {
            client.run(format!("UPDATE t SET v = {} WHERE id = 1", 2 * round));
            client.run("BEGIN");
            assert_eq!(number(&mut client), 2 * round, "{level}");
            on_replicas += u32::from(client.route().reason == "split");
            client.run(format!("UPDATE t SET v = {} WHERE id = 1", 2 * round + 1));
            assert_eq!(number(&mut client), 2 * round + 1, "{level}");
            let (end, left) = if round % 2 == 0 { ("COMMIT", 1) } else { ("ROLLBACK", 0) };
            client.run(end);
            assert_eq!(number(&mut client), 2 * round + left, "{level}");
        }
        assert!(on_replicas > 0, "{level}: no read was on a replica");
    }
}

fn nothing_goes_back_while_others_write(engine: Engine) {
    let stage = Stage::new(engine);
    for level in ["session", "global"] {
        let (over, acknowledged) = (AtomicBool::new(false), AtomicI64::new(0));
        stage.direct().run("UPDATE t SET v = 0 WHERE id = 1");
        let on_replicas: u32 = thread::scope(|scope| {
            scope.spawn(|| {
                let mut writer = stage.direct();
                let mut next = 1;
                while !over.load(Ordering::Relaxed) {
                    writer.run(format!("UPDATE t SET v = {next} WHERE id = 1"));
                    acknowledged.store(next, Ordering::SeqCst);
                    next += 1;
                    // Other tests read on these replicas, and wait for what was written to all of them.
                    thread::sleep(Duration::from_millis(2));
                }
            });
            let readers: Vec<_> =
                (0..4).map(|_| scope.spawn(|| read(&stage, level, &acknowledged))).collect();
            let sum = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
            over.store(true, Ordering::Relaxed);
            sum
        });
        assert!(on_replicas > 0, "{level}: no read was on a replica");
    }
}

/// Reads on replicas, then on the primary within the same transaction, then on replicas again. Returns how many of the
/// first were on a replica.
fn read(stage: &Stage<'_>, level: &str, acknowledged: &AtomicI64) -> u32 {
    let mut client = stage.committed_at(level);
    let (mut seen, mut on_replicas) = (0, 0);
    let mut check = |value: i64, floor: i64, what: &str| {
        assert!(value >= seen, "{level}, {what}: {value} after {seen}");
        assert!(
            level != "global" || value >= floor,
            "{level}, {what}: {value}, and {floor} was acknowledged"
        );
        seen = value;
    };
    let floor = || acknowledged.load(Ordering::SeqCst);
    for _ in 0..100 {
        client.run("BEGIN");
        for what in ["first", "second"] {
            let least = floor();
            check(number(&mut client), least, what);
            on_replicas += u32::from(client.route().reason == "split");
        }
        let least = floor();
        client.run("SAVEPOINT opens");
        check(number(&mut client), least, "on the primary");
        client.run("COMMIT");
        let least = floor();
        check(number(&mut client), least, "behind it");
    }
    on_replicas
}
