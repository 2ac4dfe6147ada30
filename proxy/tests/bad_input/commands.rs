//! Clients that break the protocol after they were let in.

use sandbox::Engine;
use wire::frame::{Header, MAX_PAYLOAD};
use wire::{Capabilities, CommandCode};

use super::chance::Chance;
use crate::harness::client::{Client, Failure};
use crate::harness::clusters::shared;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::reply::Packet;

on_every_engine!(
    frames_out_of_order,
    commands_cut_short,
    every_command_byte_with_noise_behind_it,
    executions_that_do_not_fit,
    query_attributes_that_do_not_fit,
);

fn start(engine: Engine) -> Proxy {
    Setup::of(shared(engine)).endpoint("rw", "").start()
}

fn connect(proxy: &Proxy) -> Client {
    Account::app().schema("app").connect(&proxy.target("rw")).unwrap()
}

/// The code of the ERR that is the last word.
fn last_error(packets: &[Packet]) -> Option<u16> {
    match packets.last()?.payload.as_slice() {
        [0xFF, low, high, ..] => Some(u16::from_le_bytes([*low, *high])),
        _ => None,
    }
}

fn frames_out_of_order(engine: Engine) {
    let proxy = start(engine);
    let mut bystander = connect(&proxy);
    for (bytes, code) in [
        (b"\x09\0\0\x01\x03SELECT 1".to_vec(), 1156),
        (b"\x09\0\0\xFF\x03SELECT 1".to_vec(), 1156),
        (b"\0\0\0\0".to_vec(), 1835),
    ] {
        let mut client = connect(&proxy);
        client.send_raw(&bytes).unwrap();
        assert_eq!(last_error(&client.wait_for_end()), Some(code), "{bytes:x?}");
    }
    // The second frame of a large command has the wrong number.
    let mut client = connect(&proxy);
    let mut bytes = Header { length: MAX_PAYLOAD, sequence: 0 }.to_bytes().to_vec();
    bytes.extend_from_slice(b"\x03SELECT '");
    bytes.resize(4 + MAX_PAYLOAD, b'x');
    bytes.extend_from_slice(&Header { length: 1, sequence: 5 }.to_bytes());
    bytes.push(b'\'');
    client.send_raw(&bytes).unwrap();
    assert!(last_error(&client.wait_for_end()).is_some());
    assert!(proxy.log().contains("session closed with an error"));
    assert_eq!(bystander.value("SELECT 1"), "1");
}

fn commands_cut_short(engine: Engine) {
    let proxy = start(engine);
    let mut bystander = connect(&proxy);
    let command = b"\x20\0\0\0\x03SELECT 'a text of some length'";
    for length in 1..command.len() {
        let mut client = connect(&proxy);
        client.send_raw(&command[..length]).unwrap();
        client.stream.finish();
        assert_eq!(client.wait_for_end(), [], "{length}");
    }
    // In the middle of what is sent on as it comes, and in the middle of a file.
    let mut client = connect(&proxy);
    let mut bytes = Header { length: 8_000_000, sequence: 0 }.to_bytes().to_vec();
    bytes.extend_from_slice(b"\x03SELECT '");
    bytes.resize(3_000_000, b'x');
    client.send_raw(&bytes).unwrap();
    client.stream.finish();
    client.wait_for_end();
    assert_eq!(bystander.value("SELECT 1"), "1");
}

fn every_command_byte_with_noise_behind_it(engine: Engine) {
    let proxy = start(engine);
    let mut bystander = connect(&proxy);
    let mut chance = Chance::new(4);
    for code in 0..=255_u8 {
        // COM_QUIT and the tunnels of replication have rules of their own; statements are made of noise elsewhere.
        if [CommandCode::Quit, CommandCode::BinlogDump, CommandCode::BinlogDumpGtid]
            .iter()
            .any(|skipped| skipped.to_u8() == code)
        {
            continue;
        }
        for length in [0, 1, 2, 3, 4, 5, 9, 10, 40] {
            let mut client = connect(&proxy);
            client.command(&[&[code], chance.bytes(length).as_slice()].concat());
            // What is answered, if at all, does not matter; a ping behind it is answered, or the connection ended.
            client.command(&[CommandCode::Ping.to_u8()]);
            client.stream.finish();
            client.wait_for_end();
        }
    }
    for _ in 0..300 {
        let mut client = connect(&proxy);
        let length = chance.below(100);
        let noise = chance.bytes(length);
        client.send_query(&noise);
        if let Ok(reply) = client.try_reply() {
            assert!(reply.error().is_some() || noise.len() < 4, "{}", noise.escape_ascii());
        }
    }
    assert_eq!(bystander.value("SELECT 1"), "1");
}

fn executions_that_do_not_fit(engine: Engine) {
    let proxy = start(engine);
    let mut bystander = connect(&proxy);
    let mut chance = Chance::new(5);
    let good = {
        let body = [0, 0, 1, 8, 0, 0xFD, 0, 9, 0, 0, 0, 0, 0, 0, 0, 3, b'a', b'b', b'c'];
        [&[0, 1, 0, 0, 0], body.as_slice()].concat()
    };
    for number in 0..300 {
        let mut client = connect(&proxy);
        let id = client.prepare("SELECT ?, ?").unwrap().id;
        let damaged = match number % 3 {
            0 => good[..number / 3 % good.len()].to_vec(),
            1 => chance.damage(&good),
            _ => {
                let length = chance.below(60);
                chance.bytes(length)
            }
        };
        let payload = [&[CommandCode::StmtExecute.to_u8()], &id.to_le_bytes()[..], &damaged].concat();
        client.command(&payload);
        match client.try_reply() {
            // The session goes on unless the server itself has ended it.
            Ok(_) | Err(Failure::Refused(_)) => {}
            Err(Failure::Broken(what)) => assert!(what.contains("closed"), "{what}: {damaged:x?}"),
        }
    }
    // A statement that fits is executed all the same after one that did not.
    let mut client = connect(&proxy);
    let id = client.prepare("SELECT ?").unwrap().id;
    client.command(&[&[CommandCode::StmtExecute.to_u8()], &id.to_le_bytes()[..], &[0, 1]].concat());
    assert!(client.read_reply().error().is_some());
    assert!(client.execute(id, &[Param::number(1)], Execution::WithTypes).error().is_none());
    assert_eq!(bystander.value("SELECT 1"), "1");
}

fn query_attributes_that_do_not_fit(engine: Engine) {
    let proxy = start(engine);
    let account = Account::app().with(Capabilities::QUERY_ATTRIBUTES);
    let mut chance = Chance::new(6);
    let good = [1, 1, 0, 1, 0xFD, 0, 1, b'n', 1, b'v'];
    for number in 0..200 {
        let mut client = account.connect(&proxy.target("rw")).unwrap();
        let head = match number % 3 {
            0 => good[..number / 3 % good.len()].to_vec(),
            1 => chance.damage(&good),
            _ => chance.bytes(12),
        };
        client.command(&[&[CommandCode::Query.to_u8()], head.as_slice(), b"SELECT 1"].concat());
        let _ = client.try_reply();
    }
    let mut client = account.connect(&proxy.target("rw")).unwrap();
    assert_eq!(client.value("SELECT 1"), "1");
}
