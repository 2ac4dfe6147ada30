//! Packets around the size at which they are split, and values much larger.

use std::sync::OnceLock;

use sandbox::{Cluster, ClusterOptions, Engine};
use wire::Capabilities;
use wire::frame::MAX_PAYLOAD;

use crate::harness::client::Client;
use crate::harness::clusters;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::reply::{Part, text_row};

on_every_engine!(
    statements_around_the_largest_payload,
    executions_around_the_largest_payload,
    large_executions_without_types,
    a_statement_too_large_to_be_prepared,
    rows_around_the_largest_payload,
    a_value_of_64_mebibytes_both_ways,
    a_statement_larger_than_the_server_takes,
    large_values_through_tls,
    who_reads_slowly_waits_alone,
);

const MYSQL_TYPE_BLOB: u8 = 252;

/// Servers that take packets of 100 MiB; a replica, so that rows come from there as well.
pub(super) fn cluster(engine: Engine) -> &'static Cluster {
    static MYSQL: OnceLock<Cluster> = OnceLock::new();
    static MARIADB: OnceLock<Cluster> = OnceLock::new();
    let slot = if engine == Engine::Mysql { &MYSQL } else { &MARIADB };
    slot.get_or_init(|| {
        let options = ClusterOptions::new(engine).replicas(1);
        clusters::start(options.server_argument("--max-allowed-packet=100M"))
    })
}

fn connected(engine: Engine) -> (Proxy, Client) {
    connected_as(engine, &Account::app().schema("app"))
}

/// A proxy of its own before servers that take packets of 100 MiB.
pub(super) fn connected_as(engine: Engine, account: &Account) -> (Proxy, Client) {
    let proxy = Setup::of(cluster(engine)).endpoint("rw", "consistency = \"session\"").start();
    let client = account.connect(&proxy.target("rw")).unwrap();
    (proxy, client)
}

fn sizes() -> impl Iterator<Item = usize> {
    [MAX_PAYLOAD - 1, MAX_PAYLOAD, MAX_PAYLOAD + 1, 2 * MAX_PAYLOAD].into_iter()
}

fn statements_around_the_largest_payload(engine: Engine) {
    let (_proxy, mut client) = connected(engine);
    for size in sizes() {
        // The command byte belongs to the payload.
        let frame = "SELECT LENGTH('')";
        let text = format!("SELECT LENGTH('{}')", "x".repeat(size - 1 - frame.len()));
        assert_eq!(client.run(&text).text_rows()[0][0], Some((size - 1 - frame.len()).to_string()));
        assert_eq!(client.value("SELECT 1"), "1");
    }
}

fn executions_around_the_largest_payload(engine: Engine) {
    let (_proxy, mut client) = connected(engine);
    let id = client.prepare("SELECT LENGTH(?), ?").unwrap().id;
    for size in sizes() {
        for how in [Execution::WithTypes, Execution::WithoutTypes] {
            // Command, id, flags, iterations, nulls, new-params-bound, types; then the values.
            let types = if how == Execution::WithTypes { 4 } else { 0 };
            let head = 1 + 4 + 1 + 4 + 1 + 1 + types;
            let length = size - head - 4 - 8;
            let params = [Param::bytes(MYSQL_TYPE_BLOB, &vec![b'x'; length]), Param::number(7)];
            let reply = client.execute(id, &params, how);
            let Some(Part::Rows { rows, .. }) = reply.parts.first() else { panic!("{:?}", reply.error()) };
            // A binary row: header, nulls, and the number first.
            assert_eq!(rows[0][2..6], u32::try_from(length).unwrap().to_le_bytes(), "{size} {how:?}");
        }
    }
}

/// Parameters without types, on a node that has not seen them: they are put in, and move what follows from frame to frame.
fn large_executions_without_types(engine: Engine) {
    let (_proxy, mut client) = connected(engine);
    let id = client.prepare("SELECT LENGTH(?), ?").unwrap().id;
    let small = [Param::bytes(MYSQL_TYPE_BLOB, b"small"), Param::number(7)];
    // On a replica; a larger one goes to the primary.
    assert!(client.execute(id, &small, Execution::WithTypes).error().is_none());
    let head = 1 + 4 + 1 + 4 + 1 + 1;
    for size in [2 << 20, MAX_PAYLOAD - 4, MAX_PAYLOAD - 1, MAX_PAYLOAD, MAX_PAYLOAD + 1, 2 * MAX_PAYLOAD - 2]
    {
        let mut client = Account::app().schema("app").connect(&_proxy.target("rw")).unwrap();
        let id = client.prepare("SELECT LENGTH(?), ?").unwrap().id;
        assert!(client.execute(id, &small, Execution::WithTypes).error().is_none());
        let length = size - head - 4 - 8;
        let params = [Param::bytes(MYSQL_TYPE_BLOB, &vec![b'x'; length]), Param::number(7)];
        let reply = client.execute(id, &params, Execution::WithoutTypes);
        let Some(Part::Rows { rows, .. }) = reply.parts.first() else {
            panic!("{size}: {:?}", reply.error())
        };
        assert_eq!(rows[0][2..6], u32::try_from(length).unwrap().to_le_bytes(), "{size}");
        assert_eq!(client.value("SELECT 1"), "1");
    }
}

/// A statement that cannot be kept whole is refused, and the session goes on.
fn a_statement_too_large_to_be_prepared(engine: Engine) {
    let (_proxy, mut client) = connected(engine);
    let error = client.prepare(format!("SELECT '{}'", "x".repeat(MAX_PAYLOAD))).unwrap_err();
    assert_eq!(error.code, 1153, "{error:?}");
    assert_eq!(client.value("SELECT 1"), "1");
}

fn rows_around_the_largest_payload(engine: Engine) {
    let (_proxy, mut client) = connected(engine);
    for eof in [true, false] {
        let mut account = Account::app().schema("app");
        if eof {
            account = account.without(Capabilities::DEPRECATE_EOF);
        }
        client = account.connect(&_proxy.target("rw")).unwrap();
        for size in sizes() {
            // The value's length stands in front of it, in four bytes or in nine.
            let length = if size - 4 < MAX_PAYLOAD + 1 { size - 4 } else { size - 9 };
            let reply = client.run(format!("SELECT REPEAT('x', {length}) UNION ALL SELECT 'last'"));
            let Some(Part::Rows { rows, .. }) = reply.parts.first() else { panic!("no rows") };
            assert_eq!(rows.len(), 2);
            assert_eq!(rows[0].len(), size);
            assert_eq!(text_row(&rows[1]), [Some("last".to_owned())]);
        }
    }
    assert_eq!(client.value("SELECT 1"), "1");
}

fn a_value_of_64_mebibytes_both_ways(engine: Engine) {
    const SIZE: usize = 64 << 20;
    let (proxy, mut client) = connected(engine);
    client.run("CREATE OR REPLACE VIEW one AS SELECT 1");
    client.run("DROP TABLE IF EXISTS large");
    client.run("CREATE TABLE large (v LONGBLOB)");
    let value: Vec<u8> = (0..SIZE).map(|at| (at * 31 % 251).to_le_bytes()[0]).collect();
    let id = client.prepare("INSERT INTO large VALUES (?)").unwrap().id;
    let reply = client.execute(id, &[Param::bytes(MYSQL_TYPE_BLOB, &value)], Execution::WithTypes);
    assert_eq!(reply.ok().affected_rows, 1);
    for _ in 0..2 {
        let reply = client.run("SELECT v FROM large");
        let Some(Part::Rows { rows, .. }) = reply.parts.first() else { panic!("no rows") };
        assert!(rows[0][9..] == value, "the value came back changed");
    }
    assert!(proxy.memory_kib() < 80_000, "{} KiB: values are not kept", proxy.memory_kib());
}

/// The server says so and closes, and the client hears it.
fn a_statement_larger_than_the_server_takes(engine: Engine) {
    let cluster = clusters::shared(engine);
    let proxy = Setup::of(cluster).endpoint("rw", "").start();
    let mut client = Account::app().connect(&proxy.target("rw")).unwrap();
    let text = format!("SELECT '{}'", "x".repeat(90 << 20));
    let payload = [&[3], text.as_bytes()].concat();
    let mut out = Vec::new();
    wire::frame::write_packet(&mut out, &mut 0, &payload);
    client.send_raw(&out).unwrap();
    let error = client.read_reply().error().unwrap();
    assert_eq!((error.code, &*error.state), (1153, "08S01"), "{error:?}");
    assert!(proxy.memory_kib() < 80_000);
    let mut other = Account::app().connect(&proxy.target("rw")).unwrap();
    assert_eq!(other.value("SELECT 1"), "1");
}

/// The node is held back, and neither the proxy's memory nor anybody else.
fn who_reads_slowly_waits_alone(engine: Engine) {
    let (proxy, mut reader) = connected(engine);
    let mut other = Account::app().schema("app").connect(&proxy.target("rw")).unwrap();
    other.run("SELECT 1");
    reader.send_query("SELECT REPEAT('x', 200000) FROM information_schema.columns LIMIT 600");
    std::thread::sleep(std::time::Duration::from_millis(500));
    let begun = std::time::Instant::now();
    for _ in 0..200 {
        assert_eq!(other.value("SELECT 2"), "2");
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(proxy.memory_kib() < 60_000, "{} KiB: a result is not kept", proxy.memory_kib());
    let reply = reader.read_reply();
    let Some(Part::Rows { rows, .. }) = reply.parts.first() else { panic!("{:?}", reply.error()) };
    assert_eq!(rows.len(), 600);
}

fn large_values_through_tls(engine: Engine) {
    let proxy = Setup::of(cluster(engine)).cluster("tls = \"required\"").endpoint("rw", "").start();
    let account = Account::app().tls(crate::harness::login::Tls::Yes);
    let mut client = account.connect(&proxy.target("rw")).unwrap();
    let id = client.prepare("SELECT ?").unwrap().id;
    for size in [0, 1, 16_384, 65_536, 1_000_000, 20_000_000] {
        let value: Vec<u8> = (0..size).map(|at: usize| (at * 17 % 253).to_le_bytes()[0]).collect();
        let reply = client.execute(id, &[Param::bytes(MYSQL_TYPE_BLOB, &value)], Execution::WithTypes);
        let Some(Part::Rows { rows, .. }) = reply.parts.first() else { panic!("{:?}", reply.error()) };
        assert!(rows[0].ends_with(&value), "{size}");
    }
}
