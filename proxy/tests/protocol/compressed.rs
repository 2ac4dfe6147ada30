//! The compressed protocol, towards clients and towards servers.

use std::time::Duration;

use sandbox::Engine;
use wire::{Capabilities, CommandCode};

use super::large::connected_as;
use super::recorder::Stage;
use super::statements;
use crate::harness::client::Client;
use crate::harness::clusters::shared;
use crate::harness::login::{Account, Tls};
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};
use crate::harness::proxy::Setup;
use crate::harness::reply::Part;
use crate::harness::stream::{Stream, Target};

on_every_engine!(
    conversations_in_compressed_frames,
    large_values_in_compressed_frames,
    commands_sent_ahead_in_compressed_frames,
    what_goes_along_with_a_command_has_frames_of_its_own,
    packets_of_each_result_are_numbered_from_its_frame,
    the_servers_are_spoken_to_as_the_setting_says,
    what_cannot_be_decompressed_ends_its_own_connection,
    a_frame_that_grows_takes_no_memory,
);

const MYSQL_TYPE_BLOB: u8 = 252;

/// MariaDB has no zstd, and its clients are not offered it.
fn algorithms(engine: Engine) -> &'static [Capabilities] {
    match engine {
        Engine::Mysql => &[Capabilities::COMPRESS, Capabilities::ZSTD_COMPRESSION_ALGORITHM],
        Engine::Mariadb | Engine::Mariadb11 => &[Capabilities::COMPRESS],
    }
}

fn is_packed(client: &Client) -> bool {
    matches!(&client.stream, Stream::Packed(packed) if packed.unpacked > 0)
}

fn conversations_in_compressed_frames(engine: Engine) {
    let stage = Stage::new(engine);
    statements::prepare_stage(&stage);
    stage.cluster.primary().sql("SET GLOBAL local_infile = 1").unwrap();
    for algorithm in algorithms(engine) {
        for tls in [Tls::No, Tls::Yes] {
            let account = Account::app()
                .tls(tls)
                .with(*algorithm | Capabilities::MULTI_STATEMENTS | Capabilities::LOCAL_FILES);
            stage.compare(&account, |recorder| {
                statements::counts_and_ids(recorder);
                statements::warnings_and_errors(recorder);
                statements::several_statements(recorder);
                statements::procedures(recorder);
                statements::transactions(recorder);
                recorder.query("SELECT REPEAT('x', 100000), REPEAT('y', 49)");
                let id = recorder.prepare("SELECT ?, REPEAT('z', 1000)");
                recorder.execute(id, &[Param::number(7)], Execution::WithTypes);
                recorder.execute(id, &[Param::bytes(MYSQL_TYPE_BLOB, &[b'b'; 5000])], Execution::WithTypes);
                recorder.query("CREATE TABLE IF NOT EXISTS packed (v LONGTEXT)");
                let line = [b'x'; 3000];
                recorder.query_with_files(
                    "LOAD DATA LOCAL INFILE 'f' INTO TABLE packed",
                    &[&[b"one\n", &line, b"\n", &line]],
                );
                recorder.query("SELECT COUNT(*), SUM(LENGTH(v)) FROM packed");
                recorder.query("DROP TABLE packed");
                recorder.query("SHOW SESSION STATUS LIKE 'Compression'");
                recorder.command(CommandCode::ResetConnection, b"");
                recorder.query("SELECT REPEAT('x', 1000)");
                Account::app().change(&mut recorder.client).unwrap();
                recorder.query("SELECT REPEAT('y', 1000)");
                assert!(is_packed(&recorder.client));
            });
        }
    }
}

fn large_values_in_compressed_frames(engine: Engine) {
    const SIZE: usize = 20 << 20;
    for algorithm in algorithms(engine) {
        let (proxy, mut client) = connected_as(engine, &Account::app().schema("app").with(*algorithm));
        client.run("DROP TABLE IF EXISTS large_packed");
        client.run("CREATE TABLE large_packed (v LONGBLOB)");
        let value: Vec<u8> = (0..SIZE).map(|at| (at / 3 * 31 % 251).to_le_bytes()[0]).collect();
        let id = client.prepare("INSERT INTO large_packed VALUES (?)").unwrap().id;
        let reply = client.execute(id, &[Param::bytes(MYSQL_TYPE_BLOB, &value)], Execution::WithTypes);
        assert_eq!(reply.ok().affected_rows, 1);
        let reply = client.run("SELECT v FROM large_packed");
        let Some(Part::Rows { rows, .. }) = reply.parts.first() else { panic!("no rows") };
        assert!(rows[0][4..] == value || rows[0][9..] == value, "the value came back changed");
        assert!(is_packed(&client));
        assert!(proxy.memory_kib() < 90_000, "{} KiB: values are not kept", proxy.memory_kib());
    }
}

/// MariaDB forgets what follows a command in a frame, and both count frames for each command.
fn what_goes_along_with_a_command_has_frames_of_its_own(engine: Engine) {
    let stage = Stage::new(engine);
    for algorithm in algorithms(engine) {
        let account = Account::app().schema(&stage.schema).with(*algorithm);
        let mut client = account.connect(&stage.proxy.target("rw")).unwrap();
        client.run("SET NAMES latin1");
        client.run("SET @v = 5, sql_select_limit = 7");
        // The state goes along with the read.
        for _ in 0..4 {
            assert_eq!(
                client.value("SELECT CONCAT(@v, @@sql_select_limit, @@character_set_client)"),
                "57latin1"
            );
        }
        // The end of a statement goes along with what follows, be it large or small.
        for size in [10, 700_000, 3_000_000] {
            let id = client.prepare("SELECT ?").unwrap().id;
            client.execute(id, &[Param::number(1)], Execution::WithTypes);
            client.close(id);
            assert_eq!(client.value(&format!("SELECT LENGTH('{}')", "a".repeat(size))), size.to_string());
        }
    }
}

/// As by a server, when it has flushed the result before. Some drivers check it.
fn packets_of_each_result_are_numbered_from_its_frame(engine: Engine) {
    let stage = Stage::new(engine);
    let direct = Target::Tcp(stage.cluster.primary().address());
    for algorithm in algorithms(engine) {
        let account = Account::app().schema(&stage.schema).with(*algorithm | Capabilities::MULTI_STATEMENTS);
        let [server, proxy] = [direct.clone(), stage.proxy.target("rw")].map(|target| {
            let mut client = account.connect(&target).unwrap();
            let mut numbers = Vec::new();
            for text in ["SELECT 1; SELECT 2; DO 0; SELECT 3", "SELECT 1", "SELECT 1; SELECT nosuch"] {
                numbers.push(
                    client.query(text).packets.iter().map(|packet| packet.sequence).collect::<Vec<_>>(),
                );
            }
            numbers
        });
        assert_eq!(proxy, server);
    }
}

fn commands_sent_ahead_in_compressed_frames(engine: Engine) {
    let stage = Stage::new(engine);
    for algorithm in algorithms(engine) {
        let account = Account::app().schema(&stage.schema).with(*algorithm);
        let mut client = account.connect(&stage.proxy.target("rw")).unwrap();
        client.run("CREATE OR REPLACE TABLE piped (id INT PRIMARY KEY)".replace(
            "OR REPLACE TABLE",
            if engine == Engine::Mysql { "TABLE IF NOT EXISTS" } else { "OR REPLACE TABLE" },
        ));
        client.run("TRUNCATE TABLE piped");
        for number in 0..20 {
            client.send_query(format!("INSERT INTO piped VALUES ({number})"));
            client.send_query("SELECT COUNT(*), REPEAT('x', 200) FROM piped");
        }
        for number in 1..=20 {
            // Each reply is counted on from the frame of its own command.
            client.stream.begin_reply();
            assert_eq!(client.read_reply().ok().affected_rows, 1);
            client.stream.begin_reply();
            assert_eq!(client.read_reply().text_rows()[0][0], Some(number.to_string()));
        }
    }
}

fn the_servers_are_spoken_to_as_the_setting_says(engine: Engine) {
    const ASK: &str = "SHOW SESSION STATUS LIKE 'Compression'";
    let mut settings = vec![("client", "ON", "OFF"), ("off", "OFF", "OFF"), ("zlib", "ON", "ON")];
    if engine == Engine::Mysql {
        settings.push(("zstd", "ON", "ON"));
    }
    for (setting, packed, plain) in settings {
        let proxy = Setup::of(shared(engine))
            .cluster(format!("compression = \"{setting}\""))
            .endpoint("rw", "consistency = \"session\"")
            .start();
        for (account, expected) in
            [(Account::app().with(Capabilities::COMPRESS), packed), (Account::app(), plain)]
        {
            let mut client = account.connect(&proxy.target("rw")).unwrap();
            assert_eq!(client.rows(ASK)[0][1].as_deref(), Some(expected), "{setting}");
            // On a replica, and state that is set there before the statement.
            client.run("SET time_zone = '+03:00', @text = 'text'");
            for _ in 0..10 {
                assert_eq!(client.rows("SELECT @@time_zone, @text")[0][0].as_deref(), Some("+03:00"));
            }
            let id = client.prepare("SELECT ?, REPEAT('x', 500)").unwrap().id;
            for number in 0..10 {
                client.long_data(id, 0, &[b'y'; 300]);
                let reply = client.execute(id, &[Param::sent_ahead(MYSQL_TYPE_BLOB)], Execution::WithTypes);
                assert!(reply.error().is_none(), "{setting} {number}");
            }
        }
    }
}

fn what_cannot_be_decompressed_ends_its_own_connection(engine: Engine) {
    let stage = Stage::new(engine);
    let mut bystander = Account::app().connect(&stage.proxy.target("rw")).unwrap();
    for algorithm in algorithms(engine) {
        let garbage: [&[u8]; 5] = [
            // Content that is no compressed data; one that says to become longer than it can; an empty frame, then nonsense.
            b"\x0a\0\0\0\xff\0\0aaaaaaaaaa",
            b"\x0a\0\0\0\xff\xff\xff\x28\xb5\x2f\xfd\x00\x00\x00\x00\x00\x00",
            b"\x0a\0\0\0\xff\xff\xff\x78\x9c\x03\x00\x00\x00\x00\x01\x00\x00",
            b"\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\xff\xff\xff\x05",
            b"\x04\0\0\0\x01\0\0aaaa",
        ];
        for bytes in garbage {
            let mut client = Account::app().with(*algorithm).connect(&stage.proxy.target("rw")).unwrap();
            assert_eq!(client.value("SELECT 1"), "1");
            let Stream::Packed(packed) = &mut client.stream else { panic!("it is not compressed") };
            std::io::Write::write_all(packed.socket_mut(), bytes).unwrap();
            client.stream.set_patience(Duration::from_secs(10));
            client.stream.finish();
            client.wait_for_end();
            assert_eq!(bystander.value("SELECT 2"), "2");
        }
    }
    assert!(stage.proxy.is_running());
}

/// Sixteen mebibytes of zeros take sixteen kilobytes on the way.
fn a_frame_that_grows_takes_no_memory(engine: Engine) {
    let stage = Stage::new(engine);
    for algorithm in algorithms(engine) {
        let account = Account::app().with(*algorithm);
        let mut clients: Vec<Client> =
            (0..10).map(|_| account.connect(&stage.proxy.target("rw")).unwrap()).collect();
        let before = stage.proxy.memory_kib();
        for client in &mut clients {
            // A statement that a server would refuse; how it ends does not matter here.
            client.send_query(vec![b' '; 15 << 20]);
        }
        for client in &mut clients {
            let _ = client.try_reply();
        }
        let grown = stage.proxy.memory_kib().saturating_sub(before);
        assert!(grown < 60_000, "{grown} KiB for ten frames");
    }
}
