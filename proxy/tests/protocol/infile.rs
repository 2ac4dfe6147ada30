//! LOAD DATA LOCAL INFILE.

use sandbox::{Cluster, ClusterOptions, Engine};
use wire::Capabilities;

use super::recorder::Stage;
use super::statements::combinations;
use crate::harness::clusters;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::proxy::Setup;

on_every_engine!(files_of_every_kind, a_file_larger_than_a_packet);

const LOAD: &str = "LOAD DATA LOCAL INFILE 'some.csv' INTO TABLE loaded FIELDS TERMINATED BY ',' (id, v)";

/// MySQL's servers refuse LOCAL unless told otherwise.
fn allow_local(cluster: &Cluster) {
    cluster.primary().sql("SET GLOBAL local_infile = 1").unwrap();
}

fn files_of_every_kind(engine: Engine) {
    let stage = Stage::new(engine);
    allow_local(stage.cluster);
    let table = format!("CREATE TABLE {}.loaded (id INT, v VARCHAR(20))", stage.schema);
    stage.cluster.primary().sql(&table).unwrap();
    for account in combinations().into_iter().step_by(2) {
        stage.compare(&account.with(Capabilities::LOCAL_FILES), |recorder| {
            recorder.query("TRUNCATE TABLE loaded");
            recorder.query_with_files(LOAD, &[&[b"1,one\n2,two\n"]]);
            recorder.query_with_files(LOAD, &[&[b"3,th", b"ree\n", b"4,four\n5"]]);
            recorder.query("SHOW WARNINGS");
            recorder.query_with_files(LOAD, &[&[]]);
            recorder.query_with_files(LOAD, &[&[b"not a number,x\n"]]);
            recorder.query("SHOW WARNINGS");
            // What looks like a command is a file's content.
            recorder.query_with_files(LOAD, &[&[b"\x03SELECT 1", b"\x01", b"\x0e"]]);
            recorder.query("SELECT * FROM loaded ORDER BY id, v");
            recorder.query_with_files("LOAD DATA LOCAL INFILE 'x' INTO TABLE no_such_table", &[&[b"1\n"]]);
            recorder.query_with_files(format!("{LOAD}; SELECT 1; {LOAD}"), &[&[b"6,six\n"], &[b"7,seven\n"]]);
            recorder.query_with_files(format!("{LOAD}; SELECT no_such; {LOAD}"), &[&[b"8,eight\n"], &[]]);
            recorder.query("SELECT COUNT(*) FROM loaded");
        });
    }
    stage.compare(&Account::app(), |recorder| {
        recorder.query(LOAD);
        recorder.query("SELECT 1");
    });
}

fn a_file_larger_than_a_packet(engine: Engine) {
    let cluster =
        clusters::start(ClusterOptions::new(engine).replicas(0).server_argument("--local-infile=1"));
    let proxy = Setup::of(&cluster).endpoint("rw", "").start();
    let account = Account::app().with(Capabilities::LOCAL_FILES).schema("app");
    let mut client = account.connect(&proxy.target("rw")).unwrap();
    client.run("CREATE TABLE loaded (id INT, v LONGTEXT)");
    client.send_query(LOAD);
    client.read_reply();
    for number in 0..8 {
        let line = format!("{number},{}\n", "x".repeat(3_000_000));
        client.send(line.as_bytes()).unwrap();
    }
    client.send(&[]).unwrap();
    assert_eq!(client.read_reply().ok().affected_rows, 8);
    assert_eq!(client.value("SELECT SUM(LENGTH(v)) FROM loaded"), "24000000");
    assert!(proxy.memory_kib() < 100_000, "a file is not kept");
}
