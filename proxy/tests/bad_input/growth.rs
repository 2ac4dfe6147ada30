//! What is done over and over must not add up: texts, failures, resets and handshakes, each another one. Users are in
//! the tests of the login.

use sandbox::Engine;
use wire::CommandCode;

use crate::harness::clusters::shared;
use crate::harness::login::{Account, Tls};
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};
use crate::harness::proxy::{Proxy, Setup};

on_every_engine!(
    texts_each_another_one,
    statements_that_fail,
    resets_of_what_was_set,
    handshakes_new_and_resumed,
);

fn start(engine: Engine) -> Proxy {
    Setup::of(shared(engine)).endpoint("rw", "consistency = \"session\"").start()
}

/// Does it so often that whatever is made once is there, then so often that what is kept each time would show.
#[track_caller]
fn adds_nothing(proxy: &Proxy, (first, then): (u32, u32), most_kib: u64, mut work: impl FnMut(u32)) {
    (0..first).for_each(&mut work);
    let before = proxy.memory_kib();
    (first..first + then).for_each(&mut work);
    let grown = proxy.memory_kib().saturating_sub(before);
    eprintln!("{then} times: {grown} KiB more than {before}");
    assert!(grown < most_kib, "memory grew by {grown} KiB over {then} times");
}

fn texts_each_another_one(engine: Engine) {
    let proxy = start(engine);
    let mut client = Account::app().connect(&proxy.target("rw")).unwrap();
    let filler = "x".repeat(400);
    adds_nothing(&proxy, (1500, 6000), 768, |number| {
        client.run(format!("SELECT {number} AS c{number}, '{filler}' /* {number} */"));
    });
}

fn statements_that_fail(engine: Engine) {
    let proxy = start(engine);
    let mut client = Account::app().schema("app").connect(&proxy.target("rw")).unwrap();
    adds_nothing(&proxy, (1000, 3000), 768, |number| {
        let text = match number % 4 {
            0 => format!("SELECT no_such_{number}"),
            1 => format!("SELEC {number}"),
            2 => format!("INSERT INTO no_such_{number} VALUES (1)"),
            _ => return assert!(client.prepare(format!("SELECT no_such_{number}, ?")).is_err()),
        };
        client.error(&text);
    });
    assert_eq!(client.value("SELECT 1"), "1");
}

fn resets_of_what_was_set(engine: Engine) {
    let proxy = start(engine);
    let mut client = Account::app().schema("app").connect(&proxy.target("rw")).unwrap();
    let value = "x".repeat(1000);
    adds_nothing(&proxy, (200, 1000), 768, |number| {
        client.run(format!("SET @v{number} = '{value}', time_zone = '+0{}:00'", number % 10));
        let id = client.prepare(format!("SELECT {number}, ?")).unwrap().id;
        client.long_data(id, 0, value.as_bytes());
        let reply = client.execute(id, &[Param::sent_ahead(0xFD)], Execution::WithTypes);
        assert_eq!(reply.error(), None);
        assert_eq!(client.plain(CommandCode::ResetConnection, &[]).error(), None);
    });
    assert_eq!(client.value("SELECT @v1"), "NULL");
}

fn handshakes_new_and_resumed(engine: Engine) {
    let proxy = start(engine);
    adds_nothing(&proxy, (300, 900), 768, |number| {
        let tls = if number % 2 == 0 { Tls::Yes } else { Tls::Again };
        let client = Account::app().tls(tls).connect(&proxy.target("rw")).unwrap();
        // One in three says goodbye.
        if number % 3 == 0 {
            client.quit();
        }
    });
}
