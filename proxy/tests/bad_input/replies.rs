//! Servers that break the protocol, as nodes of the cluster.

use std::time::Duration;

use sandbox::Engine;
use wire::frame::write_packet;

use super::chance::Chance;
use super::fake_node::{FakeNode, Script};
use crate::harness::client::Failure;
use crate::harness::clusters::shared;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::proxy::Setup;

on_every_engine!(greetings_of_every_bad_kind, replies_of_every_bad_kind);

fn packets(first: u8, payloads: &[&[u8]]) -> Vec<u8> {
    let (mut out, mut sequence) = (Vec::new(), first);
    payloads.iter().for_each(|payload| write_packet(&mut out, &mut sequence, payload));
    out
}

/// A node that nobody can talk to is down; the others serve.
fn greetings_of_every_bad_kind(engine: Engine) {
    let cluster = shared(engine);
    let mut chance = Chance::new(7);
    let greeting = b"\x0a9.0.0\0\x01\0\0\x0012345678\0\xff\xff\xff\x02\0\xff\xdf\x15\0\0\0\0\0\0\0\0\0\x00123456789012\0caching_sha2_password\0";
    let kinds = [
        (Vec::new(), true),
        (Vec::new(), false),
        (chance.bytes(200), true),
        (chance.bytes(100_000), false),
        (vec![0xFF, 0xFF, 0xFF, 0], false),
        (packets(0, &[b"\x09old server\0"]), false),
        (packets(3, &[greeting]), false),
        (packets(0, &[&greeting[..20]]), false),
        (packets(0, &[b"\xff\x10\x04Too many connections"]), true),
        (packets(0, &[greeting, b"\x00\x00\x00\x02\x00\x00\x00"]), false),
        (packets(0, &[greeting, &chance.bytes(50)]), false),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), true),
    ];
    let fakes: Vec<FakeNode> =
        kinds.into_iter().map(|(bytes, closes)| FakeNode::says(bytes, closes)).collect();
    let mut nodes: Vec<_> = cluster
        .servers()
        .iter()
        .map(|server| (server.name().to_owned(), server.address().to_string()))
        .collect();
    nodes.extend(fakes.iter().enumerate().map(|(number, fake)| (format!("fake{number}"), fake.address())));
    let proxy = Setup::nodes(nodes).endpoint("rw", "").start();
    let mut client = Account::app().connect(&proxy.target("rw")).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    for _ in 0..20 {
        assert_eq!(client.value("SELECT 1"), "1");
        client.run("DO 1");
    }
    for row in client.rows("TIDEMARK SHOW NODES") {
        let (name, health) = (row[0].clone().unwrap(), row[3].clone().unwrap());
        assert_eq!(health == "up", !name.starts_with("fake"), "{name} is {health}");
        assert!(
            !name.starts_with("fake") || health.len() > "down: ".len(),
            "{name}: why it is down is not said"
        );
    }
    assert!(proxy.memory_kib() < 80_000);
}

fn scripts() -> Vec<(Vec<u8>, bool)> {
    let column = b"\x03def\0\0\0\x01a\0\x0c?\0\x01\0\0\0\x08\x81\0\0\0\0";
    let ok = b"\x00\x00\x00\x02\x00\x00\x00";
    let mut chance = Chance::new(8);
    let mut all = vec![
        (Vec::new(), true),
        // Numbers that are not due.
        (packets(0, &[ok]), false),
        (packets(9, &[ok]), false),
        (packets(1, &[&[1], column]).into_iter().chain(packets(9, &[b"\x011"])).collect(), false),
        // Cut short: in the header, in an OK, in the columns, in a row.
        (vec![7, 0], true),
        (packets(1, &[&ok[..3]]), false),
        (packets(1, &[&[2], column]), true),
        (packets(1, &[&[1], column, b"\x011"]), true),
        (packets(1, &[&[1], column]).into_iter().chain([200, 0, 0, 3, 1, 2, 3]).collect(), true),
        // Counts and lengths that cannot be.
        (packets(1, &[&[0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]]), false),
        (packets(1, &[&[0xFD, 0xFF]]), false),
        (packets(1, &[&[0xFC]]), false),
        (packets(1, &[b""]), false),
        (packets(1, &[b"\x00\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x00\x02\x00\x00\x00"]), false),
        // Trackers that cannot be read.
        (packets(1, &[b"\x00\x00\x00\x02\x40\x00\x00\x00\x05\x00\xff\xff\xff\xff"]), false),
        (packets(1, &[b"\x00\x00\x00\x02\x40\x00\x00\x00\xfe"]), false),
        // Errors without a number, or without an end.
        (packets(1, &[b"\xff"]), false),
        (packets(1, &[b"\xff\x10"]), false),
        (packets(1, &[&[1], column, b"\xff"]), false),
        // More than was asked for.
        (packets(1, &[ok, ok, ok]), false),
        (packets(1, &[ok, &chance.bytes(100)]), false),
        // An OK that promises more, and nothing follows.
        (packets(1, &[b"\x00\x00\x00\x0a\x00\x00\x00"]), true),
    ];
    for _ in 0..40 {
        let length = 1 + chance.below(200);
        let payload = chance.bytes(length);
        all.push((packets(1, &[payload.as_slice()]), true));
        all.push((payload, true));
        let damaged = chance.damage(&packets(1, &[&[1], column, b"\x011", b"\xfe\x00\x00\x02\x00\x00\x00"]));
        all.push((damaged, true));
    }
    all
}

/// A client hears an error, or an answer from another node, or the end; and the next one is served.
fn replies_of_every_bad_kind(engine: Engine) {
    let cluster = shared(engine);
    let scripts: Vec<Script> = scripts()
        .into_iter()
        .enumerate()
        .map(|(number, (bytes, closes))| Script { marker: format!("bad reply {number}."), bytes, closes })
        .collect();
    let count = scripts.len();
    let [primary, replica, other] = cluster.servers() else { panic!("not three servers") };
    let fake_replica = FakeNode::before(replica.address(), scripts.clone());
    let fake_primary = FakeNode::before(primary.address(), scripts);
    let nodes = vec![
        ("db1".to_owned(), fake_primary.address()),
        ("db2".to_owned(), fake_replica.address()),
        ("db3".to_owned(), other.address().to_string()),
    ];
    // Without TLS towards the servers, so that the node can read along.
    let proxy = Setup::nodes(nodes).cluster("tls = \"disabled\"").endpoint("rw", "").start();
    let mut bystander = Account::app().connect(&proxy.target("rw")).unwrap();
    bystander.run("SET @mine = 1");
    for number in 0..count {
        for statement in [
            format!("/* tidemark: node=db2 */ SELECT 'bad reply {number}.'"),
            format!("SET @a = 'bad reply {number}.'"),
        ] {
            let mut client = Account::app().connect(&proxy.target("rw")).unwrap();
            client.stream.set_patience(Duration::from_secs(3));
            client.send_query(&statement);
            match client.try_reply() {
                Ok(_) | Err(Failure::Refused(_)) => {
                    // Whatever it was taken for, the session knows itself what to think of the connection.
                    client.send_query("SELECT 'next'");
                    let _ = client.try_reply();
                }
                Err(Failure::Broken(what)) => {
                    assert!(!what.contains("temporarily unavailable"), "script {number} hangs: {statement}");
                }
            }
        }
        assert_eq!(bystander.value("SELECT 1 + @mine"), "2", "after script {number}");
    }
    assert!(proxy.log().contains("connection to the node closed"), "nothing is said of it in the log");
    assert!(proxy.memory_kib() < 80_000);
}
