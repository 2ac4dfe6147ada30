//! Those who follow the binary log through the proxy: a replica, and a program that reads it to its end.

use std::thread;
use std::time::{Duration, Instant};

use sandbox::{Cluster, ClusterOptions, Engine, Family, Server};

use crate::harness::client::Client;
use crate::harness::clusters::{caught_up, start};
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::reply::Packet;
use crate::harness::stream::Target;

on_every_engine!(a_replica_follows_through_the_proxy, the_log_is_read_to_its_end);

const PATIENCE: Duration = Duration::from_secs(30);

/// Only the first two servers are nodes.
fn before_two(cluster: &Cluster) -> Proxy {
    let nodes = cluster.servers().iter().take(2);
    let nodes = nodes.map(|server| (server.name().to_owned(), server.address().to_string())).collect();
    Setup::nodes(nodes)
        .endpoint("rw", "consistency = \"session\"")
        .endpoint("ro", "mode = \"read-only\"")
        .start()
}

fn follow(server: &Server, endpoint: &Target) {
    let Target::Tcp(address) = endpoint else { panic!("{endpoint:?}") };
    let port = address.port();
    let sql = match server.engine().family() {
        Family::Mysql => {
            format!("STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_PORT={port}; START REPLICA")
        }
        Family::Mariadb => format!("STOP SLAVE; CHANGE MASTER TO MASTER_PORT={port}; START SLAVE"),
    };
    server.sql(&sql).unwrap();
}

fn shows(server: &Server, count: &str) {
    let begin = Instant::now();
    while server.value("SELECT COUNT(*) FROM app.followed").ok().as_deref() != Some(count) {
        let status = server.replication_status();
        assert!(begin.elapsed() < PATIENCE, "no {count} rows on {}: {status:?}", server.name());
        thread::sleep(Duration::from_millis(20));
    }
}

/// Inserts a row through the proxy as soon as that can be done. MySQL's servers want to be told a password once more when they
/// have restarted, by a client that connects.
fn insert_again(proxy: &Proxy) -> Client {
    let begin = Instant::now();
    loop {
        if let Ok(mut client) = Account::app().schema("app").connect(&proxy.target("rw")) {
            client.send_query("INSERT INTO followed (v) VALUES ('behind a restart')");
            if client.try_reply().is_ok_and(|reply| reply.error().is_none()) {
                return client;
            }
        }
        assert!(begin.elapsed() < PATIENCE, "nothing can be written");
        thread::sleep(Duration::from_millis(50));
    }
}

fn a_replica_follows_through_the_proxy(engine: Engine) {
    let cluster = start(ClusterOptions::new(engine).replicas(2));
    let proxy = before_two(&cluster);
    let [_, second, third] = cluster.servers() else { panic!("three servers") };
    let mut client = Account::app().schema("app").connect(&proxy.target("rw")).unwrap();
    client.run("CREATE TABLE followed (id INT PRIMARY KEY AUTO_INCREMENT, v LONGTEXT)");
    shows(third, "0");
    for (endpoint, rows) in [("rw", ["1", "2", "3"]), ("ro", ["4", "5", "6"])] {
        follow(third, &proxy.target(endpoint));
        client.run("INSERT INTO followed (v) VALUES ('small')");
        shows(third, rows[0]);
        // Larger than any buffer.
        client.run("INSERT INTO followed (v) VALUES (REPEAT('x', 5000000))");
        shows(third, rows[1]);
        // The connection ends, and the replica makes a new one.
        let source = if endpoint == "rw" { cluster.primary() } else { second };
        source.restart().unwrap();
        client = insert_again(&proxy);
        shows(third, rows[2]);
        // A MariaDB server refuses whoever is ahead of it.
        shows(second, rows[2]);
    }
    drop(proxy);
    client = Account::app().schema("app").connect(&Target::Tcp(cluster.primary().address())).unwrap();
    client.run("INSERT INTO followed (v) VALUES ('around')");
    shows(second, "7");
    assert_eq!(third.value("SELECT COUNT(*) FROM app.followed").unwrap(), "6", "it follows the proxy");
}

/// The first log from its beginning, without waiting at its end: BINLOG_DUMP_NON_BLOCK.
fn read_log(client: &mut Client) -> Vec<Packet> {
    for name in ["source", "master"] {
        client.run(format!("SET @{name}_binlog_checksum = @@global.binlog_checksum"));
    }
    let mut command = vec![18];
    command.extend_from_slice(&4u32.to_le_bytes());
    command.extend_from_slice(&1u16.to_le_bytes());
    command.extend_from_slice(&4711u32.to_le_bytes());
    command.extend_from_slice(b"binlog.000001");
    client.command(&command);
    let mut packets = Vec::new();
    loop {
        let packet = client.receive().unwrap();
        let last = packet.payload.first() != Some(&0);
        packets.push(packet);
        if last {
            return packets;
        }
    }
}

fn the_log_is_read_to_its_end(engine: Engine) {
    let cluster = start(ClusterOptions::new(engine).replicas(1));
    let proxy = before_two(&cluster);
    cluster.primary().sql("CREATE TABLE app.followed (id INT PRIMARY KEY, v LONGTEXT)").unwrap();
    for id in 0..20 {
        let size = id * 50_000;
        cluster
            .primary()
            .sql(&format!("INSERT INTO app.followed VALUES ({id}, REPEAT('x', {size}))"))
            .unwrap();
    }
    caught_up(&cluster);
    let read = |target: &Target| read_log(&mut Account::app().connect(target).unwrap());
    let (direct, through) = (read(&Target::Tcp(cluster.primary().address())), read(&proxy.target("rw")));
    assert!(direct.len() > 40, "{direct:?}");
    let last = direct.last().unwrap().payload.first();
    assert_eq!(last, Some(&0xFE), "{:?}", direct.last());
    assert_eq!(direct.len(), through.len());
    for (direct, through) in direct.iter().zip(&through) {
        assert_eq!(direct, through);
    }
    // A log that does not exist is the server's error.
    let mut client = Account::app().connect(&proxy.target("rw")).unwrap();
    client.command(b"\x12\x04\0\0\0\x01\0\x01\0\0\0no_such.000001");
    let packet = client.receive().unwrap();
    assert_eq!(packet.payload.first(), Some(&0xFF), "{packet:?}");
    let mut other = Account::app().connect(&proxy.target("rw")).unwrap();
    assert_eq!(other.value("SELECT 1"), "1");
}
