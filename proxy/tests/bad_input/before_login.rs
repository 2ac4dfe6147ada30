//! Clients that break the protocol before they are let in.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use sandbox::{APP_USER, Engine};
use socket2::SockRef;
use wire::Capabilities;
use wire::frame::write_packet;
use wire::login::{Login, write_ssl_request};

use super::chance::Chance;
use crate::harness::client::{Client, Failure};
use crate::harness::clusters::shared;
use crate::harness::login::{Account, ORDINARY};
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::stream::Target;

on_every_engine!(
    logins_cut_short_and_damaged,
    packets_that_cannot_be_one,
    noise_instead_of_tls,
    thousands_leave_nothing_behind,
    who_says_nothing_is_sent_away,
);

/// The bytes of a good login, as a whole packet.
fn good_login() -> Vec<u8> {
    let mut payload = Vec::new();
    Login {
        capabilities: ORDINARY | Capabilities::CONNECT_WITH_DB | Capabilities::CONNECT_ATTRS,
        max_packet: 1 << 24,
        collation: 45,
        user: APP_USER.as_bytes(),
        auth_response: &[7; 32],
        schema: Some(b"app"),
        auth_plugin: Some(b"caching_sha2_password"),
        attributes: Some(b"\x04_pid\x011"),
        ..Login::default()
    }
    .write(&mut payload)
    .unwrap();
    framed(1, &payload)
}

fn framed(mut sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_packet(&mut out, &mut sequence, payload);
    out
}

/// Sends bytes in answer to the greeting and the end of the stream behind them. The proxy must close, in words or without.
fn try_bytes(proxy: &Proxy, bytes: &[u8]) {
    let mut client = Client::greeted(&proxy.target("rw")).unwrap();
    // The proxy may close before it has been sent everything.
    let _ = client.send_raw(bytes);
    client.stream.finish();
    client.wait_for_end();
}

fn start(engine: Engine) -> Proxy {
    Setup::of(shared(engine)).endpoint("rw", "").start()
}

fn logins_cut_short_and_damaged(engine: Engine) {
    let proxy = start(engine);
    let mut bystander = Account::app().connect(&proxy.target("rw")).unwrap();
    let good = good_login();
    // The stream ends in the middle; and the packet is whole but says less than it must.
    for length in 0..good.len() {
        try_bytes(&proxy, &good[..length]);
        if length >= 4 {
            try_bytes(&proxy, &framed(1, &good[4..length]));
        }
    }
    let mut chance = Chance::new(1);
    for _ in 0..400 {
        let damaged = chance.damage(&good[4..]);
        try_bytes(&proxy, &framed(1, &damaged));
        let length = chance.below(200);
        try_bytes(&proxy, &framed(1, &chance.bytes(length)));
        try_bytes(&proxy, &chance.bytes(length));
    }
    assert!(proxy.log().contains("login failed, connection closed"));
    assert_eq!(bystander.value("SELECT 1"), "1");
}

fn packets_that_cannot_be_one(engine: Engine) {
    let proxy = start(engine);
    let target = proxy.target("rw");
    for (bytes, code) in [
        // Numbers that are not due.
        (framed(0, &good_login()[4..]), 1043),
        (framed(7, &good_login()[4..]), 1043),
        // Longer than any login, announced and never sent.
        (vec![0xFF, 0xFF, 0xFF, 1], 1043),
        (vec![0, 0, 0x10, 1], 1043),
        // Nothing in it.
        (vec![0, 0, 0, 1], 1043),
        // The login of a client of twenty years ago.
        (framed(1, b"\x05\x24\0\0\0root\0secret"), 1043),
    ] {
        let mut client = Client::greeted(&target).unwrap();
        client.send_raw(&bytes).unwrap();
        let last = client.wait_for_end();
        let error = last.first().map(|packet| packet.payload[..3].to_vec());
        assert_eq!(error, Some([&[0xFF], &u16::to_le_bytes(code)[..]].concat()), "{bytes:x?}: {last:?}");
    }
    // HTTP, SSH, TLS without asking.
    for bytes in [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".as_slice(),
        b"SSH-2.0-x\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ] {
        let mut client = Client::greeted(&target).unwrap();
        client.send_raw(bytes).unwrap();
        client.wait_for_end();
    }
    Account::app().connect(&target).unwrap();
}

fn ssl_request() -> Vec<u8> {
    let mut payload = Vec::new();
    write_ssl_request(&mut payload, (ORDINARY, 0), 1 << 24, 45);
    framed(1, &payload)
}

fn noise_instead_of_tls(engine: Engine) {
    let proxy = start(engine);
    let mut chance = Chance::new(2);
    for _ in 0..100 {
        let length = chance.below(300);
        try_bytes(&proxy, &[ssl_request(), chance.bytes(length)].concat());
    }
    // A login in the clear right behind the request must not be taken for one that came through TLS.
    let mut client = Client::greeted(&proxy.target("rw")).unwrap();
    client.send_raw(&[ssl_request(), framed(2, &good_login()[4..])].concat()).unwrap();
    client.stream.finish();
    let said = client.wait_for_end();
    assert!(said.iter().all(|packet| packet.payload.first() != Some(&0)), "{said:?}");
    try_bytes(&proxy, &ssl_request());
    try_bytes(&proxy, &[ssl_request(), ssl_request()].concat());
    Account::app().tls(crate::harness::login::Tls::Yes).connect(&proxy.target("rw")).unwrap();
}

fn thousands_leave_nothing_behind(engine: Engine) {
    let proxy = start(engine);
    let Target::Tcp(address) = proxy.target("rw") else { panic!("no TCP endpoint") };
    let mut bystander = Account::app().connect(&proxy.target("rw")).unwrap();
    let good = good_login();
    let mut chance = Chance::new(3);
    let mut storm = |count: usize| {
        for number in 0..count {
            let mut stream = TcpStream::connect(address).unwrap();
            match number % 4 {
                // A port scan: gone at once, or with a reset.
                0 => {}
                1 => SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap(),
                2 => {
                    let _ = stream.write_all(&framed(1, &chance.damage(&good[4..])));
                    let _ = stream.read(&mut [0; 100]);
                }
                _ => {
                    let _ = stream.write_all(&chance.bytes(64));
                }
            }
        }
    };
    storm(1000);
    thread::sleep(Duration::from_millis(300));
    let (memory, descriptors) = (proxy.memory_kib(), proxy.descriptors());
    storm(3000);
    wait_until("their descriptors are closed", || proxy.descriptors() <= descriptors + 5);
    let grown = proxy.memory_kib().saturating_sub(memory);
    assert!(grown < 4096, "memory grew by {grown} KiB");
    assert_eq!(bystander.value("SELECT 1"), "1");
}

fn who_says_nothing_is_sent_away(engine: Engine) {
    let proxy = start(engine);
    let target = proxy.target("rw");
    let begin = Instant::now();
    let mut silent: Vec<(&str, Client)> = Vec::new();
    for (name, bytes) in [
        ("nothing", Vec::new()),
        ("half a header", vec![40, 0]),
        ("half a login", good_login()[..30].to_vec()),
        ("a request for TLS", ssl_request()),
        ("half a ClientHello", [ssl_request(), b"\x16\x03\x01\x02\x00\x01\x00".to_vec()].concat()),
    ] {
        let mut client = Client::greeted(&target).unwrap();
        client.send_raw(&bytes).unwrap();
        silent.push((name, client));
    }
    // A client that is slow but alive gets in meanwhile.
    let slow = thread::spawn(move || -> Result<(), Failure> {
        let mut client = Client::greeted(&target)?;
        thread::sleep(Duration::from_secs(4));
        Account::app().log_in(&mut client)
    });
    for (name, client) in &mut silent {
        client.wait_for_end();
        assert!(begin.elapsed() < Duration::from_secs(20), "{name}");
    }
    slow.join().unwrap().unwrap();
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(10), "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
