//! Large statements: neither what they write nor how long they are makes a read forget what it must see.

use sandbox::{ClusterOptions, Engine};

use super::scene::{Scene, settled};
use crate::harness::client::Client;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};
use crate::harness::proxy::Setup;
use crate::harness::wait::until;

on_every_engine!(large_statements_lose_no_consistency);

/// Above 64 KiB, above what the proxy reads whole, and above what a frame holds.
const SIZES: [usize; 3] = [(64 << 10) + 1, (1 << 20) + 1, (16 << 20) + 1];

const MYSQL_TYPE_BLOB: u8 = 252;

/// Writes a value of this size by text, by an execution, and by a parameter that is sent ahead.
fn write(client: &mut Client, id: i64, size: usize, how: usize) {
    let value = "x".repeat(size);
    if how == 0 {
        client.run(format!("INSERT INTO large VALUES ({id}, '{value}')"));
        return;
    }
    let insert = client.prepare("INSERT INTO large VALUES (?, ?)").unwrap().id;
    let value = if how == 1 {
        Param::bytes(MYSQL_TYPE_BLOB, value.as_bytes())
    } else {
        client.long_data(insert, 1, value.as_bytes());
        Param::sent_ahead(MYSQL_TYPE_BLOB)
    };
    let reply = client.execute(insert, &[Param::number(id), value], Execution::WithTypes);
    assert_eq!(reply.error(), None, "{size} bytes, {how}");
    client.close(insert);
}

fn large_statements_lose_no_consistency(engine: Engine) {
    let options = ClusterOptions::new(engine).replicas(1).server_argument("--max-allowed-packet=64M");
    let scene = Scene::own(options);
    let lines = "consistency = \"session\"\nconsistency_timeout_us = 2000";
    let proxy = Setup::of(&scene.cluster).endpoint("session", lines).start();
    scene.at_primary().run("CREATE TABLE large (id INT PRIMARY KEY, v LONGBLOB)");
    crate::harness::clusters::caught_up(&scene.cluster);
    settled(&scene.cluster, &proxy, "session");
    let mut client = scene.client(&proxy, "session");
    scene.stop_appliers();
    let mut id = 0;
    for size in SIZES {
        for how in 0..3 {
            id += 1;
            write(&mut client, id, size, how);
            let short = format!("SELECT LENGTH(v) FROM large WHERE id = {id}");
            assert_eq!(client.value(&short), size.to_string(), "{how}");
            assert_eq!(client.route().role, "primary");
        }
        // Reads that are as long themselves, text and parameter.
        let comment = "x".repeat(size);
        assert_eq!(client.value(&format!("SELECT COUNT(*) FROM large /* {comment} */")), id.to_string());
        assert_eq!(client.route().role, "primary");
        let count = client.prepare("SELECT CAST(COUNT(*) AS CHAR) FROM large WHERE ? <> ''").unwrap().id;
        let params = [Param::bytes(MYSQL_TYPE_BLOB, comment.as_bytes())];
        let reply = client.execute(count, &params, Execution::WithTypes);
        let Some(crate::harness::reply::Part::Rows { rows, .. }) = reply.parts.first() else {
            panic!("{:?}", reply.error())
        };
        assert!(rows[0].ends_with(id.to_string().as_bytes()), "{:?}", rows[0]);
    }

    scene.start_appliers();
    until("the replica is known to have it all", || {
        client.value("SELECT COUNT(*) FROM large");
        client.route().role == "replica"
    });
    for size in SIZES {
        let text = format!("SELECT COUNT(*) FROM large /* {} */", "x".repeat(size));
        assert_eq!(client.value(&text), id.to_string());
        // Only what is read whole can be known to be a read.
        let expected = if size <= 1 << 20 { "replica" } else { "primary" };
        assert_eq!(client.route().role, expected, "{size}");
    }
    let length = "SELECT LENGTH(v) FROM large WHERE id = 9";
    assert_eq!(client.value(length), SIZES[2].to_string());
    assert_eq!(client.route().role, "replica");
}
