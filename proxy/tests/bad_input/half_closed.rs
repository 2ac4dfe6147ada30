//! Clients that close one half of their connection, with TLS's goodbye or without one, and stay: they cost neither processor
//! time nor descriptors.

use std::thread;
use std::time::{Duration, Instant};

use sandbox::Engine;
use wire::login::write_ssl_request;

use crate::harness::client::Client;
use crate::harness::clusters::shared;
use crate::harness::login::{Account, ORDINARY, Tls};
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};

on_every_engine!(half_closed_clients_cost_nothing, scans_and_resets_leak_no_descriptors);

/// How a client closes its half.
#[derive(Clone, Copy, Debug)]
enum Close {
    /// TLS says goodbye, and the socket stays open.
    Notify,
    /// The socket ends without a goodbye.
    Socket,
    /// Both.
    Both,
}

const CLOSES: [Close; 3] = [Close::Notify, Close::Socket, Close::Both];

fn close(client: &mut Client, how: Close) {
    if matches!(how, Close::Notify | Close::Both) {
        client.stream.finish();
    }
    if matches!(how, Close::Socket | Close::Both) {
        client.stream.finish_socket();
    }
}

/// At which point of its life a client closes its half.
#[derive(Clone, Copy, Debug)]
enum Point {
    /// It has been greeted.
    Greeted,
    /// It has asked for TLS, and begun the handshake.
    Handshake,
    Idle,
    /// It has sent a half of a command.
    Command,
    /// Its statement runs.
    Waiting,
    /// Rows are on the way that it does not read.
    Rows,
}

const POINTS: [Point; 6] =
    [Point::Greeted, Point::Handshake, Point::Idle, Point::Command, Point::Waiting, Point::Rows];

fn at(proxy: &Proxy, point: Point, tls: Tls) -> Client {
    let target = proxy.target("rw");
    if matches!(point, Point::Greeted | Point::Handshake) {
        let mut client = Client::greeted(&target).unwrap();
        if matches!(point, Point::Handshake) {
            let mut payload = Vec::new();
            write_ssl_request(&mut payload, (ORDINARY, 0), 1 << 24, 45);
            client.send(&payload).unwrap();
            client.send_raw(b"\x16\x03\x01\x02\x00\x01\x00").unwrap();
        }
        return client;
    }
    let mut client = Account::app().schema("app").tls(tls).connect(&target).unwrap();
    match point {
        Point::Command => client.send_raw(b"\x20\0\0\0\x03SELECT '").unwrap(),
        Point::Waiting => client.send_query("SELECT SLEEP(3)"),
        Point::Rows => {
            client.send_query("SELECT REPEAT('x', 1000000) FROM information_schema.columns LIMIT 400")
        }
        Point::Greeted | Point::Handshake | Point::Idle => {}
    }
    client
}

/// Processor time of the proxy in a second.
fn second(proxy: &Proxy) -> Duration {
    let before = proxy.processor_time();
    thread::sleep(Duration::from_secs(1));
    proxy.processor_time() - before
}

fn half_closed_clients_cost_nothing(engine: Engine) {
    let proxy = Setup::of(shared(engine)).endpoint("rw", "").start();
    let mut bystander = Account::app().connect(&proxy.target("rw")).unwrap();
    bystander.run("SELECT 1");
    let idle = second(&proxy);
    let descriptors = proxy.descriptors();
    let mut clients = Vec::new();
    for point in POINTS {
        for tls in [Tls::Yes, Tls::No] {
            for how in CLOSES {
                let mut client = at(&proxy, point, tls.clone());
                close(&mut client, how);
                clients.push(client);
            }
        }
    }
    // What they have caused is done, and they are still there.
    thread::sleep(Duration::from_millis(300));
    let busy = second(&proxy);
    eprintln!("{engine}: {idle:?} without them, {busy:?} with them");
    assert!(busy < idle + Duration::from_millis(300), "{busy:?} of processor time in a second, not {idle:?}");
    assert_eq!(bystander.value("SELECT 1"), "1");
    // Only those for whom rows are on the way are still there, for they may read them: six sockets, and what each has open to
    // three nodes.
    until_closed(&proxy, descriptors + 6 * 4);
    drop(clients);
    // The bystander may read on other nodes by now.
    until_closed(&proxy, descriptors + 2);
    assert_eq!(bystander.value("SELECT 1"), "1");
}

fn until_closed(proxy: &Proxy, descriptors: usize) {
    let begin = Instant::now();
    while proxy.descriptors() > descriptors {
        assert!(begin.elapsed() < Duration::from_secs(10), "{} of {descriptors}", proxy.descriptors());
        thread::sleep(Duration::from_millis(20));
    }
}

/// With TLS, at every point of a client's life. Those of plain clients before their login are in `before_login`.
fn scans_and_resets_leak_no_descriptors(engine: Engine) {
    let proxy = Setup::of(shared(engine)).endpoint("rw", "").start();
    let mut bystander = Account::app().connect(&proxy.target("rw")).unwrap();
    let storm = |rounds: usize| {
        for _ in 0..rounds {
            for point in [Point::Greeted, Point::Handshake, Point::Idle, Point::Command, Point::Rows] {
                let client = at(&proxy, point, Tls::Yes);
                client.stream.reset_when_dropped();
            }
        }
    };
    storm(10);
    thread::sleep(Duration::from_millis(300));
    let (descriptors, memory) = (proxy.descriptors(), proxy.memory_kib());
    storm(60);
    until_closed(&proxy, descriptors + 2);
    let grown = proxy.memory_kib().saturating_sub(memory);
    assert!(grown < 4096, "memory grew by {grown} KiB");
    assert_eq!(bystander.value("SELECT 1"), "1");
}
