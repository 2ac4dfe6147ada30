//! What honest but trying clients may cost.

use std::thread;
use std::time::Duration;

use sandbox::Engine;

use crate::harness::clusters::shared;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::proxy::Setup;

on_every_engine!(
    a_gibibyte_for_a_slow_reader,
    ten_thousand_statements_prepared_and_closed,
    many_idle_sessions
);

const ROW: usize = 1 << 20;
const ROWS: usize = 1024;

/// The rows wait on the server, not in the proxy.
fn a_gibibyte_for_a_slow_reader(engine: Engine) {
    let proxy = Setup::of(shared(engine)).endpoint("rw", "").start();
    let mut client = Account::app().connect(&proxy.target("rw")).unwrap();
    client.run("SELECT 1");
    let before = proxy.memory_kib();
    let digits = "SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3";
    let tables: Vec<String> = (0..5).map(|number| format!("({digits}) AS d{number}")).collect();
    client.send_query(format!("SELECT REPEAT('x', {ROW}) FROM {}", tables.join(", ")));
    let (mut rows, mut most) = (0, 0);
    loop {
        let packet = client.receive().unwrap().payload;
        match packet.first() {
            // The end; a row of this length begins with 0xFD.
            Some(0xFE) => break,
            Some(0xFD) => rows += 1,
            _ => {}
        }
        // The first rows are read with pauses, while the server pushes.
        if rows < 8 {
            thread::sleep(Duration::from_millis(100));
        }
        if rows < 8 || rows % 50 == 0 {
            most = most.max(proxy.memory_kib());
        }
    }
    assert_eq!(rows, ROWS);
    let grown = most.saturating_sub(before);
    assert!(grown < 16 * 1024, "memory grew by {grown} KiB");
    assert_eq!(client.value("SELECT 1"), "1");
}

fn ten_thousand_statements_prepared_and_closed(engine: Engine) {
    let cluster = shared(engine);
    let proxy = Setup::of(cluster).endpoint("rw", "").start();
    let mut client = Account::app().connect(&proxy.target("rw")).unwrap();
    let mut round = |count: usize| {
        for number in 0..count {
            let id = client.prepare(format!("SELECT {number}, ?")).unwrap().id;
            client.close(id);
        }
    };
    round(2000);
    let before = proxy.memory_kib();
    round(8000);
    let grown = proxy.memory_kib().saturating_sub(before);
    assert!(grown < 2048, "memory grew by {grown} KiB");
    // The servers have been told as well.
    for server in cluster.servers() {
        let row = server.sql("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'").unwrap();
        let open: u32 = row[0][1].as_deref().unwrap().parse().unwrap();
        assert!(open < 2000, "{open} statements are open on {}", server.name());
    }
}

fn many_idle_sessions(engine: Engine) {
    let proxy = Setup::of(shared(engine)).endpoint("rw", "").start();
    let target = proxy.target("rw");
    let connect = || {
        let mut client = Account::app().connect(&target).unwrap();
        client.run("SELECT 1");
        client
    };
    let mut clients: Vec<_> = (0..20).map(|_| connect()).collect();
    let before = proxy.memory_kib();
    clients.extend((0..60).map(|_| connect()));
    let each = proxy.memory_kib().saturating_sub(before) / 60;
    assert!(each < 128, "a session that waits holds {each} KiB");
    drop(clients);
    thread::sleep(Duration::from_millis(500));
    assert!(proxy.descriptors() < 100, "{} descriptors", proxy.descriptors());
}
