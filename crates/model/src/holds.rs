//! With every rule the promises hold, whatever happens in whatever order.

use gtid::Flavor;
use gtid::Flavor::{Mariadb, Mysql};
use tidemark::config::Level::{Eventual, Global, Session};
use tidemark::config::OnTimeout;

use super::rules::Rules;
use super::scenario::{Change, Client, Scenario};
use super::search::search;
use super::state::Kind;

const CHANGES: [Change; 3] = [Change::Lossy, Change::Early, Change::Planned];
const EVERY_KIND: &[Kind] = &[Kind::Plain, Kind::Locking, Kind::On(0), Kind::On(1)];
const SESSION: Client = Client { kinds: &[Kind::Plain, Kind::Locking], ..Client::reader(0, &[Session], 2) };
const WRITER: Client = SESSION.writing(1);
const ONLY_WRITES: Client = Client::reader(0, &[Session], 0).writing(1);
const GLOBAL: Client = Client::reader(0, &[Global], 1);
const AT_THE_OTHER_PROXY: Client = Client { proxy: 1, ..GLOBAL };

/// No way to break a promise. Prints how much was searched.
#[track_caller]
fn check(scenario: Scenario) {
    match search(scenario, Rules::ALL) {
        Ok(explored) => println!("{explored}"),
        Err(counterexample) => panic!("{counterexample}"),
    }
}

#[test]
fn reads_of_anybody_see_what_anybody_knows() {
    check(Scenario::of(&[GLOBAL, GLOBAL, AT_THE_OTHER_PROXY], 1));
    check(Scenario::of(&[GLOBAL, AT_THE_OTHER_PROXY], 2));
    check(Scenario { family: Mariadb, ..Scenario::of(&[GLOBAL, AT_THE_OTHER_PROXY], 1) });
}

#[test]
fn a_session_sees_what_it_wrote_and_saw() {
    const MIXED: Client = Client { levels: &[Session, Global, Eventual], untold: true, ..WRITER };
    check(Scenario::of(&[MIXED], 1));
    check(Scenario::of(&[Client { kinds: EVERY_KIND, levels: &[Session, Global], ..SESSION }], 1));
    check(Scenario::of(&[SESSION], 2));
}

#[test]
fn sessions_do_not_disturb_each_other() {
    check(Scenario::of(&[WRITER, AT_THE_OTHER_PROXY], 0));
    check(Scenario::of(&[SESSION, Client { reads: 1, proxy: 1, ..SESSION }], 1));
}

#[test]
fn settings_make_no_difference_to_the_promises() {
    check(Scenario { primary_reads: true, ..Scenario::of(&[WRITER, AT_THE_OTHER_PROXY], 0) });
    check(Scenario { primary_reads: true, ..Scenario::of(&[SESSION], 1) });
    check(Scenario { on_timeout: OnTimeout::Stale, ..Scenario::of(&[WRITER], 1) });
    check(Scenario { replicas_log: false, family: Mariadb, ..Scenario::of(&[WRITER], 1) });
}

#[test]
fn servers_restart_and_watchers_are_cut_off() {
    let broken = |mut scenario: Scenario, primary_restarts| {
        scenario.may.primary_restarts = primary_restarts;
        scenario.may.replica_restarts = 1;
        scenario.may.watcher_losses = 1;
        check(scenario);
    };
    broken(Scenario::of(&[SESSION], 1), 1);
    broken(Scenario::of(&[WRITER], 0), 1);
    broken(Scenario::of(&[GLOBAL, AT_THE_OTHER_PROXY], 1), 0);
}

fn change_of_primary(family: Flavor) {
    for change in CHANGES {
        let check = |scenario| check(Scenario { family, change: Some(change), ..scenario });
        check(Scenario::of(&[SESSION], 1));
        check(Scenario::of(&[WRITER], 0));
        check(Scenario::of(&[GLOBAL], 1));
    }
    // Where the old primary lives on, two proxies make a search of minutes.
    let change = Some(Change::Lossy);
    check(Scenario { family, change, ..Scenario::of(&[GLOBAL, AT_THE_OTHER_PROXY], 1) });
}

#[test]
fn the_primary_changes_mysql() {
    change_of_primary(Mysql);
}

#[test]
fn the_primary_changes_mariadb() {
    change_of_primary(Mariadb);
}

#[test]
fn waits_without_a_limit_end() {
    let endless = |scenario: Scenario| {
        let mut scenario = Scenario { expires: false, ..scenario };
        scenario.may.replica_losses = 2;
        check(scenario);
        for family in [Mysql, Mariadb] {
            for change in CHANGES {
                check(Scenario { family, change: Some(change), ..scenario });
            }
        }
    };
    endless(Scenario::of(&[WRITER], 0));
    endless(Scenario::of(&[GLOBAL], 1));
}

#[test]
fn one_proxy_asks_nobody() {
    const READER: Client = Client { reads: 2, ..GLOBAL };
    const BOTH: Client = Client { levels: &[Session, Global], untold: true, ..GLOBAL.writing(1) };
    let scenario = Scenario { one_proxy: true, ..Scenario::of(&[READER, ONLY_WRITES], 0) };
    check(scenario);
    check(Scenario { clients: &[BOTH, ONLY_WRITES], ..scenario });
    for change in CHANGES {
        check(Scenario { change: Some(change), ..scenario });
    }
}

#[test]
fn positions_are_handed_over() {
    const GIVER: Client = Client::reader(0, &[Session], 1).writing(1);
    const TAKER: Client = Client::reader(1, &[Session], 1);
    let mut scenario = Scenario::of(&[GIVER, TAKER], 0);
    scenario.may.tokens = 1;
    for family in [Mysql, Mariadb] {
        for change in CHANGES {
            for expires in [true, false] {
                check(Scenario { family, change: Some(change), expires, ..scenario });
            }
        }
    }
    scenario.may.direct_writes = 1;
    check(scenario);
}

#[test]
fn everything_at_once() {
    const ONCE: Client = Client::reader(0, &[Session], 1).writing(1);
    let mut scenario = Scenario::of(&[ONCE, AT_THE_OTHER_PROXY], 0);
    scenario.change = Some(Change::Lossy);
    scenario.may.replica_restarts = 1;
    scenario.may.watcher_losses = 1;
    check(scenario);
}
