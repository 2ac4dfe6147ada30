//! Names by the thousand: wrong ones in a storm, and right ones.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sandbox::{Engine, LoginPlugin};

use crate::harness::clusters::{caught_up, shared, unique};
use crate::harness::login::{Account, Tls};
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};

on_every_engine!(a_storm_of_unknown_names, one_of_a_thousand_accounts, users_one_after_the_other);

/// Logs in with so many names that nobody has, four at a time.
fn storm(proxy: &Proxy, names: std::ops::Range<u32>) {
    let target = proxy.target("rw");
    thread::scope(|scope| {
        for part in 0..4 {
            let (target, names) = (&target, names.clone());
            scope.spawn(move || {
                for number in names.filter(|number| number % 4 == part) {
                    // As long as a name may be: what is kept of each would show.
                    let name = format!("nobody_of_{number:022}");
                    let tls = if number % 8 < 4 { Tls::No } else { Tls::Again };
                    let password = if number % 16 < 15 { "wrong" } else { "" };
                    let error = Account::new(&name, password).tls(tls).connect(target).err().unwrap();
                    assert_eq!(error.code, 1045, "{error:?}");
                }
            });
        }
    });
}

fn a_storm_of_unknown_names(engine: Engine) {
    let proxy = Setup::of(shared(engine)).endpoint("rw", "").start();
    let mut client = Account::app().connect(&proxy.target("rw")).unwrap();
    storm(&proxy, 0..400);
    let (memory, descriptors) = (proxy.memory_kib(), proxy.descriptors());
    let over = AtomicBool::new(false);
    let slowest = thread::scope(|scope| {
        let bystander = scope.spawn(|| {
            let mut slowest = Duration::ZERO;
            while !over.load(Ordering::Relaxed) {
                let begin = Instant::now();
                assert_eq!(client.value("SELECT 1"), "1");
                slowest = slowest.max(begin.elapsed());
            }
            slowest
        });
        storm(&proxy, 400..2000);
        over.store(true, Ordering::Relaxed);
        bystander.join().unwrap()
    });
    let grown = proxy.memory_kib().saturating_sub(memory);
    eprintln!("{engine}: slowest {slowest:?}, memory grew by {grown} KiB");
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
    assert!(grown < 3072, "memory grew by {grown} KiB");
    assert!(proxy.descriptors() <= descriptors + 5);
    Account::app().connect(&proxy.target("rw")).unwrap();
}

/// Each is who it says, however many were there before.
fn one_of_a_thousand_accounts(engine: Engine) {
    let cluster = shared(engine);
    let plugin = if engine == Engine::Mysql { LoginPlugin::CachingSha2 } else { LoginPlugin::Native };
    let model = unique("one_of");
    cluster.create_account(&model, plugin, "shared-secret").unwrap();
    let hash = format!("SELECT HEX(authentication_string) FROM mysql.user WHERE user = '{model}'");
    let hash = cluster.primary().value(&hash).unwrap();
    let accounts: Vec<String> = (0..1000)
        .map(|number| match engine {
            Engine::Mysql => {
                format!("'{model}_{number}'@'%' IDENTIFIED WITH caching_sha2_password AS 0x{hash}")
            }
            _ => format!("'{model}_{number}'@'%' IDENTIFIED BY 'shared-secret'"),
        })
        .collect();
    cluster.primary().sql(&format!("CREATE USER {}", accounts.join(", "))).unwrap();
    caught_up(cluster);
    let proxy = Setup::of(cluster).endpoint("rw", "").start();
    let log_in = |number: u32, password: &str| {
        let account = Account::new(&format!("{model}_{number}"), password).tls(Tls::Again);
        account.connect(&proxy.target("rw"))
    };
    for round in 0..2 {
        for number in (0..1000).step_by(20) {
            let mut client = log_in(number, "shared-secret").unwrap();
            assert_eq!(client.value("SELECT CURRENT_USER()"), format!("{model}_{number}@%"), "{round}");
            assert_eq!(log_in(number, "wrong").err().unwrap().code, 1045);
        }
    }
    assert!(proxy.memory_kib() < 40_000, "{} KiB", proxy.memory_kib());
    let names: Vec<String> = (0..1000).map(|number| format!("'{model}_{number}'@'%'")).collect();
    cluster.primary().sql(&format!("DROP USER {}", names.join(", "))).unwrap();
    assert_eq!(log_in(0, "shared-secret").err().unwrap().code, 1045);
}

/// One session is all of them in turn, and so are sessions of their own; one in three is refused. Nothing of them adds up.
fn users_one_after_the_other(engine: Engine) {
    let cluster = shared(engine);
    let plugin = if engine == Engine::Mysql { LoginPlugin::CachingSha2 } else { LoginPlugin::Native };
    let users: Vec<String> = (0..8)
        .map(|_| {
            let user = unique("grows");
            cluster.create_account(&user, plugin, "grows").unwrap();
            user
        })
        .collect();
    let proxy = Setup::of(cluster).endpoint("rw", "").start();
    let target = proxy.target("rw");
    let mut session = Account::app().connect(&target).unwrap();
    let mut work = |number: usize| {
        let user = &users[number % users.len()];
        match number % 3 {
            0 => {
                let stranger = format!("{user}_{number}");
                assert_eq!(Account::new(&stranger, "grows").connect(&target).err().unwrap().code, 1045);
            }
            1 => Account::new(user, "grows").change(&mut session).unwrap(),
            _ => assert_eq!(Account::new(user, "grows").connect(&target).unwrap().value("SELECT 1"), "1"),
        }
    };
    (0..100).for_each(&mut work);
    let before = proxy.memory_kib();
    (100..600).for_each(&mut work);
    let grown = proxy.memory_kib().saturating_sub(before);
    assert!(grown < 512, "memory grew by {grown} KiB");
    assert_eq!(session.value("SELECT 1"), "1");
}
