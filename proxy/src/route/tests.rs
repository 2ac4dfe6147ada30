//! The decision, case by case: no server, no clock but the one given.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gtid::{Flavor, Position};

use super::*;
use crate::cluster::snapshot::{Health, High, Reign, Role};
use crate::config::GlobalScope;

const UUID: &str = "00000000-0000-0000-0000-000000000001";

fn at(last: u32) -> Position {
    Position::parse(Flavor::Mysql, format!("{UUID}:1-{last}").as_bytes()).unwrap()
}

/// A cluster of a primary (0) and two replicas (1, 2) that have applied so much, and a session without a past.
struct Case {
    snapshot: Snapshot,
    settings: Settings,
    needs: Needs,
    attempt: Attempt,
    request: Request,
    standing: Standing,
    promise: Promise,
    acknowledged: Option<Position>,
    start: Instant,
}

fn node(id: u8, role: Role, last: u32) -> Node {
    Node {
        id: NodeId(id),
        name: format!("db{id}").into(),
        address: crate::config::Address::Tcp { host: "127.0.0.1".to_owned(), port: 3306 },
        health: Health::Up,
        role,
        drained: false,
        incarnation: 1,
        follows: true,
        low: Arc::new(at(last)),
        high: None,
        errant: None,
        lag: Some(Duration::ZERO),
        facts: None,
        tried: true,
    }
}

impl Case {
    fn new(level: Level) -> Self {
        let nodes = vec![node(0, Role::Primary, 100), node(1, Role::Replica, 90), node(2, Role::Replica, 80)];
        Self {
            snapshot: Snapshot { epoch: 1, flavor: Some(Flavor::Mysql), primary: Some(NodeId(0)), nodes },
            settings: Settings { read_weight: vec![None; 3], ..Settings::default() },
            needs: Needs::default(),
            attempt: Attempt::default(),
            request: Request {
                target: sql::Target::Replica,
                reason: sql::Reason::Read,
                node: None,
                sees: true,
            },
            standing: Standing {
                mode: Mode::ReadWrite,
                transaction: None,
                pinned: None,
                home: None,
                autocommit: true,
                previous: None,
            },
            promise: Promise { level, on_timeout: OnTimeout::Primary },
            acknowledged: None,
            start: Instant::now(),
        }
    }

    fn decide(&self, dice: u32) -> Decision {
        route(Facts {
            request: self.request,
            standing: self.standing,
            promise: self.promise,
            needs: &self.needs,
            settings: &self.settings,
            snapshot: &self.snapshot,
            attempt: &self.attempt,
            acknowledged: self.acknowledged.as_ref(),
            dice,
        })
    }

    /// The nodes that a read goes to, over every throw of the dice.
    fn nodes(&self) -> Vec<u8> {
        let mut nodes: Vec<u8> = (0..1000)
            .map(|dice| match self.decide(dice) {
                Decision::Go(go) => go.node.0,
                other => panic!("not a node: {other:?}"),
            })
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    fn goes(&self) -> Go {
        match self.decide(0) {
            Decision::Go(go) => go,
            other => panic!("not a node: {other:?}"),
        }
    }

    fn wrote(mut self, last: u32) -> Self {
        self.needs.wrote(at(last), true);
        self
    }

    fn saw(mut self, id: u8) -> Self {
        self.needs.saw(NodeId(id), 1, self.start, true);
        self
    }

    /// A HIGH of a node, sampled so many milliseconds after the session's last result.
    fn high(mut self, id: u8, last: u32, after_ms: i64) -> Self {
        let by = Duration::from_millis(after_ms.unsigned_abs());
        let sent_at = if after_ms < 0 { self.start - by } else { self.start + by };
        self.snapshot.nodes[usize::from(id)].high = Some(High { position: Arc::new(at(last)), sent_at });
        self
    }

    fn expired(mut self) -> Self {
        self.attempt.expired = true;
        self
    }
}

fn awaited(decision: &Decision) -> &Position {
    match decision {
        Decision::Wait { position, .. } => position,
        other => panic!("no wait: {other:?}"),
    }
}

#[test]
fn what_is_not_a_safe_read_goes_to_the_primary() {
    let mut case = Case::new(Level::Eventual);
    case.request =
        Request { target: sql::Target::Primary, reason: sql::Reason::Write, node: None, sees: false };
    assert_eq!(case.nodes(), [0]);
    assert_eq!(case.goes().reason, Reason::Statement(sql::Reason::Write));
}

#[test]
fn reads_are_spread_by_weight() {
    let mut case = Case::new(Level::Eventual);
    assert_eq!(case.nodes(), [1, 2]);
    case.settings.read_weight = vec![Some(50), Some(0), None];
    assert_eq!(case.nodes(), [0, 2]);
    let share =
        (0..1500).filter(|dice| matches!(case.decide(*dice), Decision::Go(go) if go.node.0 == 0)).count();
    assert_eq!(share, 500, "50 of 150");
}

#[test]
fn without_a_replica_in_rotation_the_primary_reads_whatever_its_weight() {
    let mut case = Case::new(Level::Session);
    case.snapshot.nodes[1].health = Health::Down("gone".into());
    case.snapshot.nodes[2].drained = true;
    let go = case.goes();
    assert_eq!((go.node, go.reason, go.outcome), (NodeId(0), Reason::NoReplica, Some(Outcome::Primary)));
}

#[test]
fn a_transaction_and_a_pin_hold_the_session() {
    let mut case = Case::new(Level::Eventual);
    case.standing.pinned = Some((NodeId(0), Reason::PinnedLock));
    assert_eq!(case.goes().reason, Reason::PinnedLock);
    case.standing.transaction = Some(NodeId(2));
    assert_eq!((case.goes().node, case.goes().reason), (NodeId(2), Reason::Transaction));
}

#[test]
fn without_autocommit_a_read_begins_a_transaction_on_the_primary() {
    let mut case = Case::new(Level::Eventual);
    case.standing.autocommit = false;
    assert_eq!((case.goes().node, case.goes().reason), (NodeId(0), Reason::AutocommitOff));
}

#[test]
fn a_session_reads_only_where_its_write_is_visible() {
    assert_eq!(Case::new(Level::Session).wrote(85).nodes(), [1]);
    assert_eq!(*awaited(&Case::new(Level::Session).wrote(95).decide(0)), at(95));
    assert_eq!(Case::new(Level::Eventual).wrote(95).nodes(), [1, 2]);
}

#[test]
fn when_the_time_is_over_the_settings_decide() {
    let mut case = Case::new(Level::Session).wrote(95).expired();
    let go = case.goes();
    assert_eq!((go.node, go.reason, go.outcome), (NodeId(0), Reason::Timeout, Some(Outcome::Primary)));
    case.promise.on_timeout = OnTimeout::Error;
    assert_eq!(case.decide(0), Decision::Refuse(Refusal::TimedOut { position: at(95) }));
    case.promise.on_timeout = OnTimeout::Stale;
    assert_eq!(case.goes().outcome, Some(Outcome::Stale));
    assert_ne!(case.goes().node, NodeId(0));
}

#[test]
fn a_session_stays_where_it_read_until_another_node_is_known_to_show_as_much() {
    assert_eq!(Case::new(Level::Session).saw(2).nodes(), [2], "nothing is known of what node 2 showed");
    assert_eq!(
        Case::new(Level::Session).saw(2).high(2, 80, -1).nodes(),
        [2],
        "a sample from before proves nothing"
    );
    assert_eq!(Case::new(Level::Session).saw(2).high(2, 91, 1).nodes(), [2], "node 1 has applied 90");
    assert_eq!(Case::new(Level::Session).saw(2).high(2, 90, 1).nodes(), [1, 2]);
}

#[test]
fn a_session_that_only_reads_follows_the_weights_in_time() {
    let mut case = Case::new(Level::Session).saw(2);
    let later = case.start + ANCHORED_AT_MOST + Duration::from_millis(1);
    case.needs.saw(NodeId(2), 1, later, true);
    let asks = (0..200).filter(|dice| case.decide(*dice) == Decision::MayAsk).count();
    assert_eq!(asks, 100, "when the dice name the other node");
    case.attempt.sampled = Some(Sampled::Nothing);
    assert_eq!(case.nodes(), [2], "nobody answered: it stays");
    case.attempt.sampled = Some(Sampled::AtMost(at(91)));
    assert_eq!(case.nodes(), [2], "the other has applied 90: it stays");
    case.attempt.sampled = Some(Sampled::AtMost(at(90)));
    assert_eq!(case.nodes(), [1, 2]);
    case.attempt.sampled = None;
    case.needs.saw(NodeId(1), 1, later, true);
    assert_eq!(case.nodes(), [1], "it has just moved");
}

#[test]
fn when_the_node_read_last_is_gone_the_primary_is_asked() {
    let mut case = Case::new(Level::Session).saw(2);
    case.snapshot.nodes[2].incarnation = 2;
    assert_eq!(case.decide(0), Decision::Ask, "another life may show less");
    let mut case = Case::new(Level::Session).saw(2);
    case.snapshot.nodes[2].health = Health::Down("gone".into());
    assert_eq!(case.decide(0), Decision::Ask);
    assert_eq!(
        Case::new(Level::Session).saw(0).decide(0),
        Decision::Ask,
        "the primary takes no reads by weight"
    );
}

#[test]
fn a_write_of_unknown_position_makes_the_session_ask() {
    let mut case = Case::new(Level::Session);
    case.needs.lost_track();
    assert_eq!(case.decide(0), Decision::Ask);
}

#[test]
fn global_asks_for_every_read_and_then_needs_what_it_heard() {
    let mut case = Case::new(Level::Global);
    assert_eq!(case.decide(0), Decision::Ask);
    let bound = PrimaryBound { high: at(85), shown: Some(at(85)) };
    case.needs.learnt(&bound);
    case.attempt.asked = Some(bound);
    assert_eq!(case.nodes(), [1]);
}

#[test]
fn where_all_writes_pass_this_instance_global_asks_nobody() {
    let mut case = Case::new(Level::Global);
    case.settings.global_scope = GlobalScope::Proxy;
    assert_eq!(case.decide(0), Decision::Ask, "it is not known yet what was acknowledged");
    case.acknowledged = Some(at(85));
    assert_eq!(case.nodes(), [1]);
    case.acknowledged = Some(at(120));
    assert_eq!(*awaited(&case.decide(0)), at(120));
    case.attempt.expired = true;
    assert_eq!(case.goes().shows, None, "the primary showed it when it said so");
    // What the session itself saw counts as at the level session.
    let mut case = Case { acknowledged: Some(at(80)), ..case }.saw(1);
    case.attempt.expired = false;
    assert_eq!(case.nodes(), [1]);
    case = case.high(1, 90, 1);
    assert_eq!(case.nodes(), [1]);
    case.needs.lost_track();
    assert_eq!(case.decide(0), Decision::Ask);
    case.settings.global_scope = GlobalScope::Cluster;
    assert_eq!(Case { needs: Needs::default(), ..case }.decide(0), Decision::Ask);
}

#[test]
fn the_primary_must_itself_show_what_it_said_is_on_the_way() {
    let mut case = Case::new(Level::Global).expired();
    let bound = PrimaryBound { high: at(105), shown: Some(at(100)) };
    case.needs.learnt(&bound);
    case.attempt.asked = Some(bound);
    assert_eq!(case.goes().shows, Some(at(105)), "105 is in its log and not yet in its engine");
    let bound = PrimaryBound { high: at(100), shown: Some(at(100)) };
    case.needs = Needs::default();
    case.needs.learnt(&bound);
    case.attempt.asked = Some(bound);
    case.snapshot.nodes[1].low = Arc::new(at(1));
    assert_eq!(case.goes().shows, None);
}

#[test]
fn an_own_write_needs_no_proof_on_the_primary_and_a_foreign_one_does() {
    let case = Case::new(Level::Session).wrote(120).expired();
    assert_eq!(case.goes().shows, None, "its OK came after it was visible there");
    let mut case = Case::new(Level::Session).expired();
    case.needs.raise(&at(120), true);
    assert_eq!(case.goes().shows, Some(at(120)));
}

#[test]
fn a_transaction_does_not_begin_behind_what_a_replica_has_shown() {
    let begin =
        Request { target: sql::Target::Primary, reason: sql::Reason::Transaction, node: None, sees: true };
    let case = |case: Case| Case { request: begin, ..case };
    assert_eq!(case(Case::new(Level::Session)).goes().shows, None);
    assert_eq!(case(Case::new(Level::Session).saw(1)).decide(0), Decision::Ask);
    assert_eq!(case(Case::new(Level::Session).saw(1).high(1, 90, 1)).goes().shows, None);
    assert_eq!(case(Case::new(Level::Session).saw(1).high(1, 101, 1)).goes().shows, Some(at(101)));
    assert_eq!(case(Case::new(Level::Session).saw(0)).goes().shows, None, "it stays on the primary");
    assert_eq!(case(Case::new(Level::Global)).decide(0), Decision::Ask);
    assert_eq!(case(Case::new(Level::Eventual).saw(1)).goes().shows, None);
}

#[test]
fn after_a_change_of_primary_whatever_comes_first_asks_whether_the_past_still_holds() {
    let under_the_next = |mut case: Case| {
        case.needs.under(Reign { epoch: 1, incarnation: 1 });
        case.needs.under(Reign { epoch: 1, incarnation: 2 });
        case
    };
    let mut case = under_the_next(Case::new(Level::Session).wrote(80));
    assert_eq!(case.decide(0), Decision::Ask);
    case.request =
        Request { target: sql::Target::Primary, reason: sql::Reason::Write, node: None, sees: false };
    assert_eq!(case.decide(0), Decision::Ask, "it would write on top of what may be lost");
    let bound = PrimaryBound { high: at(100), shown: Some(at(100)) };
    case.needs.learnt(&bound);
    case.attempt.asked = Some(bound);
    assert_eq!(case.goes().node, NodeId(0));
    assert!(!case.needs.unproven);
    assert!(!under_the_next(Case::new(Level::Session)).needs.unproven, "no past, nothing to lose");
    assert!(under_the_next(Case::new(Level::Eventual).wrote(80)).goes().outcome.is_some());
}

#[test]
fn what_an_unchecked_read_came_after_is_not_forgotten() {
    let unchecked = |node: u8, level: Level| {
        let mut case = Case::new(level).saw(1).high(1, 85, 1).high(2, 80, 1);
        case.needs.saw(NodeId(node), 1, case.start, false);
        case
    };
    assert_eq!(unchecked(1, Level::Session).nodes(), [1], "the same node shows no less than before");
    assert_eq!(unchecked(2, Level::Session).decide(0), Decision::Ask);
    assert_eq!(unchecked(2, Level::Eventual).nodes(), [1, 2]);
    let mut case = unchecked(0, Level::Session);
    case.request.target = sql::Target::Primary;
    assert_eq!(case.decide(0), Decision::Ask, "the primary may be behind node 1");
}

#[test]
fn a_write_does_not_stand_for_other_domains() {
    let position = |text: &str| Position::parse(Flavor::Mariadb, text.as_bytes()).unwrap();
    let write = |one_order: bool| {
        let mut case = Case::new(Level::Session);
        for (node, applied) in
            case.snapshot.nodes.iter_mut().zip(["0-1-80,7-1-5", "0-1-75,7-1-4", "0-1-80,7-1-5"])
        {
            node.low = Arc::new(position(applied));
        }
        case.needs.raise(&position("0-1-70,7-1-5"), true);
        case.needs.wrote(position("0-1-75"), one_order);
        case
    };
    assert_eq!(write(true).nodes(), [1, 2]);
    assert_eq!(write(false).nodes(), [2], "node 1 lacks what was seen in the other domain");
    let mut case = Case::new(Level::Session).saw(1);
    case.needs.wrote(position("0-1-75"), false);
    assert_eq!(case.decide(0), Decision::Ask, "node 1 may have shown anything in the other domain");
}

#[test]
fn what_shows_data_on_a_read_only_endpoint_is_as_fresh_as_a_read() {
    let case = |level: Level, reason: sql::Reason, sees: bool| {
        let mut case = Case::new(level).wrote(85);
        case.standing.mode = Mode::ReadOnly;
        case.standing.previous = Some(NodeId(2));
        case.request = Request { target: sql::Target::Primary, reason, node: None, sees };
        case
    };
    let begin = |level: Level| case(level, sql::Reason::Transaction, true);
    assert_eq!(begin(Level::Session).nodes(), [1], "node 2 lacks the write");
    assert_eq!(begin(Level::Eventual).nodes(), [2], "where the session was last");
    assert_eq!(case(Level::Session, sql::Reason::SessionState, false).nodes(), [2]);
    let mut at_home = begin(Level::Session);
    at_home.standing.home = Some(NodeId(2));
    assert_eq!(*awaited(&at_home.decide(0)), at(85), "what node 2 alone has is asked there");
    let mut late = begin(Level::Session).wrote(95).expired();
    assert_eq!(late.decide(0), Decision::Refuse(Refusal::TimedOut { position: at(95) }));
    late.settings.primary_fallback = true;
    assert!(matches!(late.decide(0), Decision::Refuse(Refusal::TimedOut { .. })), "a transaction may write");
    late.request.target = sql::Target::Replica;
    assert_eq!(late.nodes(), [0]);
}

#[test]
fn late_replicas_leave_rotation_but_not_all_of_them() {
    let mut case = Case::new(Level::Eventual);
    case.settings.max_lag_ms = 1000;
    case.snapshot.nodes[1].lag = Some(Duration::from_millis(1001));
    assert_eq!(case.nodes(), [2]);
    case.snapshot.nodes[2].lag = Some(Duration::from_secs(5));
    assert_eq!(case.nodes(), [1], "min_replicas keeps the least late one");
    case.settings.min_replicas = 0;
    assert_eq!(case.nodes(), [0]);
}

#[test]
fn a_node_that_follows_another_history_keeps_no_promise() {
    let mut case = Case::new(Level::Session).wrote(50);
    case.snapshot.nodes[1].follows = false;
    assert_eq!(case.nodes(), [2]);
    case.promise.level = Level::Eventual;
    assert_eq!(case.nodes(), [1, 2]);
    case.snapshot.nodes[1].errant = Some("U:9".into());
    assert_eq!(case.nodes(), [2], "a node with a history of its own serves nothing");
}

#[test]
fn what_failed_is_not_chosen_again() {
    let mut case = Case::new(Level::Session);
    case.attempt.excluded.insert(NodeId(1));
    assert_eq!(case.nodes(), [2]);
    case.attempt.fallback = Some(Reason::ReadOnlyRefused);
    assert_eq!((case.goes().node, case.goes().reason), (NodeId(0), Reason::ReadOnlyRefused));
}

#[test]
fn a_read_only_endpoint_never_uses_the_primary_unless_told_to() {
    let mut case = Case::new(Level::Eventual);
    case.standing.mode = Mode::ReadOnly;
    case.settings.read_weight = vec![Some(100), None, None];
    assert_eq!(case.nodes(), [1, 2]);
    case.request.target = sql::Target::Primary;
    assert_ne!(case.goes().node, NodeId(0), "a write gets the replica's own error");
    case.snapshot.nodes[1].health = Health::Down("gone".into());
    case.snapshot.nodes[2].health = Health::Down("gone".into());
    assert_eq!(case.decide(0), Decision::Refuse(Refusal::NoReplica));
    case.settings.primary_fallback = true;
    assert_eq!(case.decide(0), Decision::Refuse(Refusal::ReadOnly), "it is told to for reads");
    case.standing.transaction = Some(NodeId(0));
    assert_eq!(
        case.decide(0),
        Decision::Refuse(Refusal::ReadOnly),
        "nor where the replica became the primary"
    );
    for reason in [sql::Reason::SessionState, sql::Reason::TransactionControl] {
        case.request.reason = reason;
        assert_eq!(case.goes().node, NodeId(0), "{reason:?}");
    }
    case.standing.transaction = None;
    case.request.target = sql::Target::Replica;
    assert_eq!(case.goes().node, NodeId(0));
}

#[test]
fn a_hint_names_the_node_and_the_promise_still_holds() {
    let mut case = Case::new(Level::Session).wrote(85);
    case.request.node = Some(NodeId(1));
    assert_eq!(case.goes().reason, Reason::Statement(sql::Reason::Hint));
    case.request.node = Some(NodeId(2));
    assert!(matches!(case.decide(0), Decision::Wait { among, .. } if among == NodeSet::only(NodeId(2))));
    case.request.node = Some(NodeId(0));
    assert_eq!(case.goes().node, NodeId(0));
}

#[test]
fn without_a_primary_writes_are_refused_and_covered_reads_go_on() {
    let mut case = Case::new(Level::Session).wrote(85);
    case.snapshot.primary = None;
    case.snapshot.nodes[0].health = Health::Down("gone".into());
    assert_eq!(case.nodes(), [1]);
    case.request.target = sql::Target::Primary;
    assert_eq!(case.decide(0), Decision::Refuse(Refusal::NoPrimary));
}

#[test]
fn what_the_primary_does_not_tell_in_time_is_done_without() {
    let mut case = Case::new(Level::Global);
    for on_timeout in [OnTimeout::Error, OnTimeout::Stale] {
        case.promise.on_timeout = on_timeout;
        case.attempt.expired = false;
        // Another primary may be there in time.
        for primary in [Some(NodeId(0)), None] {
            case.snapshot.primary = primary;
            assert_eq!(case.decide(0), Decision::Ask);
        }
        case.attempt.expired = true;
        if on_timeout == OnTimeout::Error {
            assert_eq!(case.decide(0), Decision::Refuse(Refusal::NotTold));
        } else {
            assert_eq!(case.goes().outcome, Some(Outcome::Stale));
            assert_eq!(case.nodes(), [1, 2]);
        }
    }
    // A write never is.
    case.request.target = sql::Target::Primary;
    assert_eq!(case.decide(0), Decision::Refuse(Refusal::NoPrimary));
}

#[test]
fn every_reason_has_its_own_index_and_name() {
    let all: Vec<_> = Reason::all().collect();
    assert_eq!(all.len(), Reason::COUNT);
    let mut names: Vec<_> = all.iter().map(|reason| reason.as_str()).collect();
    for (index, reason) in all.iter().enumerate() {
        assert_eq!(reason.index(), index, "{}", reason.as_str());
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Reason::COUNT);
}

/// A read at the level global that may run while the primary is asked, by a cluster of which so much is known.
fn guessing() -> Case {
    let mut case = Case::new(Level::Global).high(0, 90, 1);
    case.attempt.may_speculate = true;
    case
}

#[test]
fn a_read_may_run_while_the_primary_is_asked() {
    let case = guessing();
    let go = case.goes();
    assert_eq!((go.node, go.outcome), (NodeId(1), Some(Outcome::Fresh)));
    assert_eq!(go.proviso.as_deref(), Some(&at(90)), "what it is known to have applied");
    let told = |last| PrimaryBound { high: at(last), shown: None };
    assert!(had_applied(&at(90), &told(90)));
    assert!(!had_applied(&at(90), &told(91)), "somebody has written meanwhile");
}

#[test]
fn nobody_guesses_what_is_known_to_be_wrong() {
    let asks = |case: Case| assert!((0..1000).all(|dice| case.decide(dice) == Decision::Ask));
    asks(guessing().high(0, 91, 1));
    asks(guessing().wrote(95));
    let mut case = guessing();
    case.snapshot.nodes[0].high = None;
    asks(case);
    let mut case = guessing();
    case.needs.lost_track();
    asks(case);
    let mut case = guessing();
    case.attempt.may_speculate = false;
    asks(case);
    let mut case = guessing();
    case.snapshot.nodes[1].drained = true;
    asks(case);
}

#[test]
fn what_was_asked_is_not_guessed_again() {
    let mut case = guessing();
    let told = PrimaryBound { high: at(85), shown: None };
    case.needs.learnt(&told);
    case.attempt.asked = Some(told);
    assert_eq!(case.goes().proviso, None);
}

#[test]
fn reads_stay_where_the_last_one_ran_and_the_weights_are_kept_all_the_same() {
    let mut case = guessing();
    case.snapshot.nodes[2].low = Arc::new(at(90));
    case.settings.read_weight = vec![None, Some(300), Some(100)];
    let mut dice = 1u32;
    let (mut served, mut moves) = ([0u32; 3], 0);
    for _ in 0..200_000 {
        // xorshift, as a session throws.
        dice ^= dice << 13;
        dice ^= dice >> 17;
        dice ^= dice << 5;
        let Decision::Go(go) = case.decide(dice) else { panic!("no node") };
        served[go.node.index()] += 1;
        moves += u32::from(case.standing.previous.replace(go.node) != Some(go.node));
    }
    assert_eq!(served[0], 0);
    assert!((140_000..160_000).contains(&served[1]), "{served:?}");
    assert!((1_000..4_000).contains(&moves), "{moves}");
}
