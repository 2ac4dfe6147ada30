//! Each rule left out on purpose: the search finds a shortest way to break a promise, in a scenario that breaks none when
//! all rules are kept. `cargo test -p model left_out -- --nocapture` prints the ways.

use gtid::Flavor;
use tidemark::config::Level::{Eventual, Global, Session};

use super::rules::Rules;
use super::scenario::{Change, Client, Scenario};
use super::search::{Counterexample, search};
use super::state::Kind;
use super::steps::Promise;

/// Reads at the level session; some of them only the primary can run.
const LOCKING: Client = Client { kinds: &[Kind::Plain, Kind::Locking], ..READER };
const READER: Client = Client::reader(0, &[Session], 2);
const WRITER: Client = READER.writing(1);
const ONLY_WRITES: Client = Client::reader(0, &[Session], 0).writing(1);
const GLOBAL: Client = Client::reader(0, &[Global], 1);
const GLOBAL_TWICE: Client = Client { reads: 2, ..GLOBAL };
const AT_THE_OTHER_PROXY: Client = Client { proxy: 1, ..GLOBAL };
const BOTH: &[Client] = &[GLOBAL, AT_THE_OTHER_PROXY];

/// Without the rule this promise is broken; with it none is. Prints the way.
#[track_caller]
fn breaks(promise: Promise, scenario: Scenario, leave_out: impl FnOnce(&mut Rules)) {
    if let Err(counterexample) = search(scenario, Rules::ALL) {
        panic!("with every rule {counterexample}");
    }
    let mut rules = Rules::ALL;
    leave_out(&mut rules);
    assert_eq!(counterexample(scenario, rules).promise, promise);
}

#[track_caller]
fn counterexample(scenario: Scenario, rules: Rules) -> Counterexample {
    match search(scenario, rules) {
        Ok(explored) => panic!("nothing breaks a promise: {explored}"),
        Err(counterexample) => {
            println!("{counterexample}");
            counterexample
        }
    }
}

fn changing(change: Change, scenario: Scenario) -> Scenario {
    Scenario { change: Some(change), ..scenario }
}

fn mariadb(scenario: Scenario) -> Scenario {
    Scenario { family: Flavor::Mariadb, ..scenario }
}

fn endless(scenario: Scenario) -> Scenario {
    Scenario { expires: false, ..scenario }
}

#[test]
fn a_read_that_comes_during_a_probe_joins_the_next() {
    let scenario = Scenario::of(&[GLOBAL, GLOBAL], 1);
    breaks(Promise::G1, scenario, |rules| rules.joins_the_next_probe = false);
}

#[test]
fn a_probe_tells_what_the_primary_still_commits() {
    breaks(Promise::G2, Scenario::of(BOTH, 1), |rules| rules.probes_what_is_owned = false);
}

#[test]
fn what_ran_while_the_primary_was_asked_is_held_back() {
    breaks(Promise::G1, Scenario::of(&[GLOBAL], 1), |rules| rules.holds_replies_back = false);
}

#[test]
fn a_probe_of_a_server_that_is_read_only_does_not_count() {
    let scenario = changing(Change::Planned, Scenario::of(&[GLOBAL], 1));
    breaks(Promise::G1, scenario, |rules| rules.probes_who_takes_writes = false);
}

#[test]
fn low_is_not_taken_from_the_log() {
    breaks(Promise::S2, Scenario::of(&[LOCKING], 1), |rules| rules.low_is_executed = false);
}

#[test]
fn high_has_what_is_shown_and_not_executed() {
    breaks(Promise::S2, Scenario::of(&[READER], 1), |rules| rules.high_is_owned = false);
}

#[test]
fn high_is_asked_for_after_the_result() {
    breaks(Promise::S2, Scenario::of(&[READER], 1), |rules| rules.high_is_younger_than_the_result = false);
}

#[test]
fn a_session_does_not_go_back_on_the_primary() {
    breaks(Promise::S2, Scenario::of(&[LOCKING], 1), |rules| rules.primary_shows_first = false);
}

#[test]
fn nobody_goes_back_on_the_primary() {
    breaks(Promise::G2, Scenario::of(BOTH, 1), |rules| rules.primary_shows_first = false);
}

#[test]
fn an_own_write_is_needed() {
    breaks(Promise::S1, Scenario::of(&[WRITER], 0), |rules| rules.notes_writes = false);
}

#[test]
fn a_write_without_a_position_is_needed() {
    const UNTOLD: Client = Client { untold: true, ..WRITER };
    breaks(Promise::S1, Scenario::of(&[UNTOLD], 0), |rules| rules.notes_untold_writes = false);
}

#[test]
fn what_was_seen_is_needed() {
    breaks(Promise::S2, Scenario::of(&[READER], 1), |rules| rules.notes_results = false);
}

#[test]
fn what_was_seen_at_no_level_is_needed() {
    const MIXED: Client = Client::reader(0, &[Session, Eventual], 3);
    breaks(Promise::S2, Scenario::of(&[MIXED], 1), |rules| rules.notes_unchecked_results = false);
}

#[test]
fn what_was_noted_survives_a_reset() {
    const RESETTING: Client = Client { resets: true, ..WRITER };
    breaks(Promise::S1, Scenario::of(&[RESETTING], 0), |rules| rules.survives_a_reset = false);
}

#[test]
fn a_position_dies_with_its_node() {
    let mut scenario = Scenario::of(&[WRITER], 0);
    scenario.may.replica_restarts = 1;
    breaks(Promise::S1, scenario, |rules| rules.positions_die = false);
}

/// Not a rule but what the rules take for granted: whoever is let in by a restarted replica hears of the restart first. A
/// server that ends closes its watcher's connection; one that vanishes with its address and is back within the seconds
/// after which a silent watcher gives up does not.
#[test]
fn a_replica_that_restarts_unnoticed_is_believed() {
    let mut scenario = Scenario { notices_late: true, ..Scenario::of(&[WRITER], 0) };
    scenario.may.replica_restarts = 1;
    assert_eq!(counterexample(scenario, Rules::ALL).promise, Promise::S1);
}

#[test]
fn any_replica_ends_a_wait() {
    let mut scenario = endless(Scenario::of(&[WRITER], 0));
    scenario.may.replica_losses = 1;
    breaks(Promise::Answered, scenario, |rules| rules.waits_for_any = false);
}

#[test]
fn nobody_waits_without_a_replica() {
    let mut scenario = endless(Scenario::of(&[WRITER], 0));
    scenario.may.replica_losses = 2;
    breaks(Promise::Answered, scenario, |rules| rules.primary_without_replicas = false);
}

#[test]
fn what_another_primary_may_have_lost_is_asked_for() {
    let scenario = changing(Change::Lossy, Scenario::of(&[WRITER], 0));
    breaks(Promise::Told, scenario, |rules| rules.asks_another_primary = false);
}

/// Whoever is not told what was lost must at least not wait for it.
#[test]
fn what_another_primary_has_lost_is_not_awaited() {
    let scenario = endless(changing(Change::Lossy, Scenario::of(&[WRITER], 0)));
    let rules = Rules { asks_another_primary: false, tells_what_is_lost: false, ..Rules::ALL };
    let quiet = Scenario { tells_losses: false, ..scenario };
    assert_eq!(counterexample(quiet, rules).promise, Promise::Answered);
}

#[test]
fn what_is_lost_is_told() {
    let scenario = changing(Change::Lossy, Scenario::of(&[WRITER], 0));
    breaks(Promise::Told, scenario, |rules| rules.tells_what_is_lost = false);
}

#[test]
fn an_answer_is_that_of_whoever_gave_it() {
    let scenario = changing(Change::Lossy, Scenario::of(&[WRITER], 0));
    breaks(Promise::Told, scenario, |rules| rules.answers_tell_who_gives_them = false);
}

#[test]
fn what_was_noted_before_there_was_a_primary_is_asked_for() {
    const TAKER: Client = Client::reader(1, &[Session], 1);
    let mut scenario = changing(Change::Lossy, Scenario::of(&[ONLY_WRITES, TAKER], 0));
    scenario.may.tokens = 1;
    breaks(Promise::Told, scenario, |rules| rules.every_past_is_to_be_proven = false);
}

#[test]
fn a_primary_that_has_not_told_its_position_counts() {
    let mut scenario = changing(Change::Lossy, Scenario::of(&[WRITER], 0));
    scenario.may.watcher_losses = 1;
    breaks(Promise::Told, scenario, |rules| rules.reigns_before_it_has_told = false);
}

#[test]
fn an_answer_of_another_epoch_does_not_count() {
    let scenario = endless(changing(Change::Lossy, Scenario::of(&[GLOBAL], 1)));
    breaks(Promise::Answered, scenario, |rules| rules.forgets_answers_of_old_epochs = false);
}

#[test]
fn a_read_runs_on_the_primary_that_was_asked() {
    let scenario = changing(Change::Planned, Scenario::of(&[LOCKING], 1));
    breaks(Promise::S2, scenario, |rules| rules.routes_again_after_a_change = false);
}

#[test]
fn a_primary_has_applied_what_it_was_sent() {
    let scenario = changing(Change::Early, Scenario::of(&[WRITER], 0));
    breaks(Promise::S1, scenario, |rules| rules.primary_has_applied_all = false);
}

#[test]
fn a_sample_tells_the_role() {
    let scenario = mariadb(changing(Change::Lossy, Scenario::of(&[WRITER], 1)));
    breaks(Promise::S2, scenario, |rules| rules.samples_tell_the_role = false);
}

#[test]
fn replicas_are_compared_with_another_primary() {
    let scenario = mariadb(changing(Change::Lossy, Scenario::of(&[GLOBAL], 2)));
    breaks(Promise::G1, scenario, |rules| rules.compares_in_a_new_epoch = false);
}

#[test]
fn replicas_without_a_log_are_compared_too() {
    let scenario = mariadb(changing(Change::Lossy, Scenario::of(&[GLOBAL], 2)));
    let scenario = Scenario { replicas_log: false, ..scenario };
    breaks(Promise::G1, scenario, |rules| rules.compares_by_server = false);
}

#[test]
fn a_write_that_began_before_the_first_read_is_heard_of() {
    let scenario = Scenario { one_proxy: true, ..Scenario::of(&[GLOBAL_TWICE, ONLY_WRITES], 0) };
    breaks(Promise::G1, scenario, |rules| rules.heralds_listen_from_the_first = false);
}

#[test]
fn a_write_is_heard_of_before_its_client_knows() {
    let scenario = Scenario { one_proxy: true, ..Scenario::of(&[GLOBAL_TWICE, ONLY_WRITES], 0) };
    breaks(Promise::G1, scenario, |rules| rules.heralds_come_first = false);
}

#[test]
fn a_position_that_is_given_away_has_what_was_seen() {
    const GIVER: Client = Client::reader(0, &[Session], 1);
    const TAKER: Client = Client { proxy: 1, ..GIVER };
    let mut scenario = Scenario::of(&[GIVER, TAKER], 1);
    scenario.may.tokens = 1;
    breaks(Promise::S2, scenario, |rules| rules.tokens_tell_what_was_seen = false);
}

#[test]
fn a_position_that_the_primary_may_lack_is_asked_for() {
    const TAKER: Client = Client { proxy: 1, ..READER };
    let mut scenario = changing(Change::Lossy, Scenario::of(&[ONLY_WRITES, TAKER], 0));
    scenario.may.tokens = 1;
    breaks(Promise::Told, scenario, |rules| rules.proves_tokens = false);
}
