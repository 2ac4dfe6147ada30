//! Each command that carries a payload, around the size at which payloads are split. Statements, executions and rows are in
//! `large`.

use std::thread;
use std::time::{Duration, Instant};

use sandbox::Engine;
use wire::capability::extended;
use wire::frame::{MAX_PAYLOAD, write_packet};
use wire::{ChangeUser, CommandCode};

use super::large::{cluster, connected_as};
use crate::harness::client::Failure;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};
use crate::harness::proxy::Proxy;
use crate::harness::reply::Part;
use crate::harness::stream::Target;

on_every_engine!(
    preparations,
    parameters_sent_ahead,
    names_of_schemas_and_tables,
    commands_that_need_no_payload_or_less,
    changes_of_the_user,
);

const MYSQL_TYPE_BLOB: u8 = 252;

const SIZES: [usize; 3] = [MAX_PAYLOAD - 1, MAX_PAYLOAD, MAX_PAYLOAD + 1];

fn account() -> Account {
    Account::app().schema("app")
}

/// The value of an execution's only row: a length, behind the row's header and nulls.
fn length(reply: &crate::harness::reply::Reply) -> u32 {
    let Some(Part::Rows { rows, .. }) = reply.parts.first() else { panic!("{:?}", reply.error()) };
    u32::from_le_bytes(rows[0][2..6].try_into().unwrap())
}

/// One byte less than a full frame is the longest text that can be prepared.
fn preparations(engine: Engine) {
    let (_proxy, mut client) = connected_as(engine, &account());
    for size in SIZES {
        let text = "SELECT LENGTH('')";
        let value = size - 1 - text.len();
        match client.prepare(format!("SELECT LENGTH('{}')", "x".repeat(value))) {
            Ok(prepared) => {
                assert_eq!(size, MAX_PAYLOAD - 1);
                let reply = client.execute(prepared.id, &[], Execution::WithTypes);
                assert_eq!(length(&reply) as usize, value);
                client.close(prepared.id);
            }
            Err(error) => {
                assert!(size >= MAX_PAYLOAD, "{size}: {error:?}");
                assert_eq!(error.code, 1153);
            }
        }
        assert_eq!(client.value("SELECT 1"), "1");
    }
}

fn parameters_sent_ahead(engine: Engine) {
    let (_proxy, mut client) = connected_as(engine, &account());
    let id = client.prepare("SELECT LENGTH(?)").unwrap().id;
    // Command, id and number of the parameter stand before the data.
    const HEAD: usize = 1 + 4 + 2;
    for size in SIZES {
        let data = vec![b'x'; size - HEAD];
        for pieces in 1..=2 {
            for _ in 0..pieces {
                client.long_data(id, 0, &data);
            }
            let reply = client.execute(id, &[Param::sent_ahead(MYSQL_TYPE_BLOB)], Execution::WithTypes);
            assert_eq!(length(&reply) as usize, pieces * data.len(), "{size}");
        }
        assert_eq!(client.value("SELECT 1"), "1");
    }
}

/// What the server and the proxy answer to a command whose payload is filled up to this size.
fn compare(engine: Engine, code: CommandCode, begin: &[u8], filling: u8) {
    let (_proxy, mut proxied) = connected_as(engine, &account());
    let mut direct = account().connect(&Target::Tcp(cluster(engine).primary().address())).unwrap();
    for size in SIZES {
        let mut payload = [&[code.to_u8()], begin].concat();
        payload.resize(size, filling);
        let [expected, found] = [&mut direct, &mut proxied].map(|client| {
            client.command(&payload);
            let first = client.receive().unwrap();
            let error = (first.payload.first() == Some(&0xFF)).then(|| first.payload[1..3].to_vec());
            assert_eq!(client.value("SELECT 1"), "1", "{code:?} {size}");
            (first.sequence, first.payload.first().copied(), error)
        });
        assert_eq!(found, expected, "{code:?} {size}");
    }
}

fn names_of_schemas_and_tables(engine: Engine) {
    compare(engine, CommandCode::InitDb, b"", b'n');
    compare(engine, CommandCode::FieldList, b"", b'n');
    compare(engine, CommandCode::FieldList, b"no_such_table\0", b'%');
}

fn commands_that_need_no_payload_or_less(engine: Engine) {
    compare(engine, CommandCode::Ping, b"", 0);
    compare(engine, CommandCode::StmtReset, &99_u32.to_le_bytes(), 0);
    let (_proxy, mut client) = connected_as(engine, &account());
    for size in SIZES {
        // These have no answer, and what is behind them has its own.
        for begin in [
            &[CommandCode::StmtClose.to_u8(), 9, 0, 0, 0][..],
            &[CommandCode::StmtSendLongData.to_u8(), 9, 0, 0, 0],
        ] {
            let mut payload = begin.to_vec();
            payload.resize(size, 0);
            client.command(&payload);
            assert_eq!(client.value("SELECT 1"), "1", "{begin:?} {size}");
        }
    }
}

/// Nobody has a name of this size, nor anything to say behind it: the client is sent away, and nobody else notices.
fn changes_of_the_user(engine: Engine) {
    let (proxy, mut bystander) = connected_as(engine, &account());
    let mut told = 0;
    for (size, user) in SIZES.into_iter().flat_map(|size| [(size, size - 100), (size, 5)]) {
        let mut client = account().connect(&proxy.target("rw")).unwrap();
        let mut payload = Vec::new();
        let user = vec![b'u'; user];
        let change = ChangeUser {
            user: &user,
            auth_response: &[],
            schema: None,
            collation: Some(45),
            auth_plugin: Some(b"caching_sha2_password"),
            attributes: None,
        };
        change.write(&mut payload, client.capabilities).unwrap();
        payload.resize(size, 0);
        let before = proxy.memory_kib();
        let mut frames = Vec::new();
        write_packet(&mut frames, &mut 0, &payload);
        // It may be sent away before it has said all that, and before it has read why. The log says it in any case.
        if client.send_raw(&frames).is_ok() {
            match client.try_reply() {
                Ok(reply) => assert!(reply.error().is_some(), "{reply:?}"),
                Err(Failure::Broken(what)) => {
                    assert!(["closed", "reset"].iter().any(|end| what.contains(end)), "{what}");
                }
                Err(Failure::Refused(_)) => {}
            }
        }
        client.wait_for_end();
        told += 1;
        until_logged(&proxy, told);
        let grown = proxy.memory_kib().saturating_sub(before);
        assert!(grown < 40_000, "{grown} KiB");
        assert_eq!(bystander.value("SELECT 1"), "1");
    }
}

/// Waits until so many clients were refused for the length of what they said.
fn until_logged(proxy: &Proxy, count: usize) {
    let begin = Instant::now();
    while proxy.log().matches("COM_CHANGE_USER of more than").count() < count {
        assert!(begin.elapsed() < Duration::from_secs(10), "{count} refusals are not logged");
        thread::sleep(Duration::from_millis(5));
    }
}

/// COM_STMT_BULK_EXECUTE is MariaDB's alone.
#[test]
fn many_rows_in_one_execution() {
    let engine = Engine::Mariadb;
    let account = Account { extended: extended::STMT_BULK_OPERATIONS, ..account() };
    let (_proxy, mut client) = connected_as(engine, &account);
    client.run("CREATE OR REPLACE TABLE bulk (id INT AUTO_INCREMENT PRIMARY KEY, v LONGBLOB)");
    let id = client.prepare("INSERT INTO bulk (v) VALUES (?)").unwrap().id;
    for size in SIZES.into_iter().chain([2 * MAX_PAYLOAD]) {
        // Types are sent; then for each value whether it is one, and the value with its length in four bytes.
        let mut argument = [&id.to_le_bytes()[..], &[128, 0, MYSQL_TYPE_BLOB, 0]].concat();
        let each = (size - 1 - argument.len()) / 4 - 5;
        let last = size - 1 - argument.len() - 3 * (each + 5) - 5;
        for length in [each, each, each, last] {
            argument.push(0);
            argument.push(0xFD);
            argument.extend_from_slice(&length.to_le_bytes()[..3]);
            argument.resize(argument.len() + length, b'x');
        }
        assert_eq!(1 + argument.len(), size);
        let reply = client.plain(CommandCode::StmtBulkExecute, &argument);
        assert_eq!(reply.error(), None, "{size}");
        let stored = client.value("SELECT GROUP_CONCAT(LENGTH(v) ORDER BY id) FROM bulk");
        assert_eq!(stored, format!("{each},{each},{each},{last}"));
        client.run("TRUNCATE TABLE bulk");
    }
    client.run("DROP TABLE bulk");
}
