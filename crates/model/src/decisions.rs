//! The product's own decisions, asked with values of the model.
//!
//! Every function of `route` that decides anything is called here and nowhere else; what comes back is translated to the
//! model's sets and remembered, for the same is asked very often.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gtid::Position;
use tidemark::cluster::snapshot::{Health, High, Node, NodeId, Role, Snapshot};
use tidemark::config::{Address, GlobalScope, Mode, Settings};
use tidemark::route::{
    self, Attempt, Decision, Facts, Outcome, PrimaryBound, Promise, Reason, Request, Standing, route,
};

use super::numbers::Numbers;
use super::question::Question;
use super::scenario::Scenario;
use super::search::Fingerprint;
use super::state::{Bound, Kind, SERVERS, Sampled, bit};
use super::writes::{EACH, Set};

/// Lives of a node: the one that a result came from, and the one before.
pub(crate) const LIFE: u64 = 2;
pub(crate) const LIFE_BEFORE: u64 = 1;

/// How many sets of writes there are.
const SETS: usize = 1 << (2 * EACH);

/// `route::Decision`, in the model's words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    Go {
        node: u8,
        shows: Option<Set>,
        /// It goes to the primary because no replica is in rotation.
        no_replica: bool,
        /// The node is behind, and the settings let it serve all the same.
        stale: bool,
        /// The primary is asked meanwhile: what the node is known to have applied.
        proviso: Option<Set>,
    },
    Ask,
    MayAsk,
    Wait {
        position: Set,
    },
    Refuse,
}

/// A question with one set of samples, whether the session has read on one node for long, whether it may guess, and the
/// number that chooses among nodes.
type Asked = (Question, bool, bool, u32);

/// Asks the product, and remembers what it said.
pub(crate) struct Decisions {
    pub(crate) numbers: Numbers,
    settings: Settings,
    snapshot: Snapshot,
    /// By what the successor kept, and the set.
    positions: Vec<Option<Arc<Position>>>,
    remembered: HashMap<Question, Rc<[Choice]>, Fingerprint>,
    decided: HashMap<Asked, Choice, Fingerprint>,
    /// When the last result had come.
    pub(crate) until: Instant,
}

impl Decisions {
    pub(crate) fn new(numbers: Numbers, scenario: &Scenario) -> Self {
        let node = |index: u8| Node {
            id: NodeId(index),
            name: Arc::from(format!("db{index}")),
            address: Address::Tcp { host: "db".to_owned(), port: 3306 },
            health: Health::Up,
            role: Role::Unknown,
            drained: false,
            incarnation: LIFE,
            follows: true,
            low: Arc::default(),
            high: None,
            errant: None,
            lag: Some(Duration::ZERO),
            facts: None,
            tried: true,
        };
        let weight = if scenario.primary_reads { Some(100) } else { None };
        let scope = if scenario.one_proxy { GlobalScope::Proxy } else { GlobalScope::Cluster };
        Self {
            numbers,
            settings: Settings {
                global_scope: scope,
                on_timeout: scenario.on_timeout,
                read_weight: vec![weight; SERVERS],
                ..Settings::default()
            },
            snapshot: Snapshot {
                epoch: 0,
                flavor: Some(numbers.family),
                primary: None,
                nodes: [0, 1, 2].map(node).to_vec(),
            },
            positions: vec![None; SETS * SETS],
            remembered: HashMap::default(),
            decided: HashMap::default(),
            until: Instant::now() + Duration::from_secs(1),
        }
    }

    /// Everything the product may decide.
    pub(crate) fn choices(&mut self, question: &Question) -> Rc<[Choice]> {
        if let Some(known) = self.remembered.get(question) {
            return Rc::clone(known);
        }
        self.in_numbers(question.world.kept);
        let mut choices = Vec::new();
        let anchored = if question.needs.seen.is_some() { &[false, true][..] } else { &[false] };
        let guesses = if question.may_be_guessed() { &[false, true][..] } else { &[false] };
        for sampled in question.samples() {
            let each =
                anchored.iter().flat_map(|anchored| guesses.iter().map(move |guess| (anchored, guess)));
            for (anchored, guess) in each {
                for dice in dice(self.settings.read_weight[0].is_some()) {
                    let choice = self.choice((sampled, *anchored, *guess, *dice));
                    if !choices.contains(&choice) {
                        choices.push(choice);
                    }
                }
            }
        }
        let choices: Rc<[Choice]> = choices.into();
        self.remembered.insert(*question, Rc::clone(&choices));
        choices
    }

    /// What the primary lost changes what MariaDB's numbers stand for.
    pub(crate) fn in_numbers(&mut self, kept: Set) {
        self.numbers.kept = kept;
    }

    /// What the product decides when the watchers know just this.
    fn choice(&mut self, asked: Asked) -> Choice {
        if let Some(known) = self.decided.get(&asked) {
            return *known;
        }
        let (question, anchored, guess, dice) = asked;
        let needs = self.needs(&question.needs, anchored);
        self.publish(&question);
        let choice = self.decide(&question, &needs, guess, dice);
        self.decided.insert(asked, choice);
        choice
    }

    fn publish(&mut self, question: &Question) {
        let world = &question.world;
        self.snapshot.epoch = world.epoch.into();
        self.snapshot.primary = world.primary.map(NodeId);
        for index in 0..SERVERS {
            let low = self.position(world.lows[index][0]);
            let saw = question.needs.seen.is_some_and(|seen| seen.alive && usize::from(seen.node) == index);
            let high = saw.then(|| {
                let counts = world.highs.is_some() || world.any_high_counts;
                High {
                    position: self.position(world.highs.map_or(Set::EMPTY, |[high, _]| high)),
                    sent_at: self.until + Duration::from_millis(counts.into()),
                }
            });
            // How far the primary is known to be only spares guesses that are sure to fail: here it has told nothing.
            let told = world.reigns && world.primary.map(usize::from) == Some(index);
            let high = high.or_else(|| {
                let sent_at = self.until - Duration::from_secs(1);
                told.then(|| High { position: self.position(Set::EMPTY), sent_at })
            });
            let up = world.up & bit(index) != 0;
            let node = &mut self.snapshot.nodes[index];
            node.health = if up { Health::Up } else { Health::Down(Arc::from("it is dead")) };
            node.role = match world.primary.map(usize::from) {
                Some(primary) if primary == index => Role::Primary,
                Some(_) => Role::Replica,
                None => Role::Unknown,
            };
            node.follows = world.follows & bit(index) != 0;
            (node.low, node.high) = (low, high);
        }
    }

    fn decide(&mut self, question: &Question, needs: &route::Needs, guess: bool, dice: u32) -> Choice {
        let attempt = Attempt {
            asked: question.asked.map(|bound| self.bound(bound)),
            sampled: question.sampled.map(|sampled| match sampled {
                Sampled::AtMost(high) => route::Sampled::AtMost(Position::clone(&self.position(high))),
                Sampled::Nothing => route::Sampled::Nothing,
            }),
            awaited: question.awaited.map(|awaited| Position::clone(&self.position(awaited))),
            expired: question.expired,
            may_speculate: guess,
            ..Attempt::default()
        };
        let (target, reason, node) = match question.kind {
            Kind::Plain => (sql::Target::Replica, sql::Reason::Read, None),
            Kind::Locking => (sql::Target::Primary, sql::Reason::LockingRead, None),
            Kind::On(node) => (sql::Target::Replica, sql::Reason::Hint, Some(NodeId(node))),
            Kind::Write => (sql::Target::Primary, sql::Reason::Write, None),
        };
        let acknowledged = question.world.acknowledged.map(|set| self.position(set));
        let decision = route(Facts {
            request: Request { target, reason, node, sees: question.kind != Kind::Write },
            standing: Standing {
                mode: Mode::ReadWrite,
                transaction: None,
                pinned: None,
                home: None,
                autocommit: true,
                previous: None,
            },
            promise: Promise { level: question.level, on_timeout: self.settings.on_timeout },
            needs,
            settings: &self.settings,
            snapshot: &self.snapshot,
            attempt: &attempt,
            acknowledged: acknowledged.as_deref(),
            dice,
        });
        match decision {
            Decision::Go(go) => Choice::Go {
                node: go.node.0,
                shows: go.shows.map(|position| self.numbers.set(&position)),
                no_replica: go.reason == Reason::NoReplica,
                stale: go.outcome == Some(Outcome::Stale),
                proviso: go.proviso.map(|_| question.world.lows[go.node.index()][0]),
            },
            Decision::Ask => Choice::Ask,
            Decision::MayAsk => Choice::MayAsk,
            Decision::Wait { position, .. } => Choice::Wait { position: self.numbers.set(&position) },
            Decision::Refuse(_) => Choice::Refuse,
        }
    }

    /// Whether these are known to be the very transactions: `Position::surely_has`.
    pub(crate) fn surely_has(&mut self, have: Set, need: Set) -> bool {
        let need = self.position(need);
        self.position(have).surely_has(&need)
    }

    /// Whether the servers' numbers say so: `Position::covers`.
    pub(crate) fn covers(&mut self, have: Set, need: Set) -> bool {
        let need = self.position(need);
        self.position(have).covers(&need)
    }

    /// Whether a reply counts that was held back: `route::had_applied`.
    pub(crate) fn had_applied(&mut self, low: Set, bound: Bound) -> bool {
        let (low, bound) = (self.position(low), self.bound(bound));
        route::had_applied(&low, &bound)
    }

    pub(crate) fn bound(&mut self, bound: Bound) -> PrimaryBound {
        PrimaryBound {
            high: Position::clone(&self.position(bound.high)),
            shown: bound.shown.map(|shown| Position::clone(&self.position(shown))),
        }
    }

    /// The position of a server that has these.
    pub(crate) fn position(&mut self, set: Set) -> Arc<Position> {
        let numbers = self.numbers;
        let slot = &mut self.positions[usize::from(numbers.kept.0) * SETS + usize::from(set.0)];
        Arc::clone(slot.get_or_insert_with(|| Arc::new(numbers.position(set))))
    }
}

/// One for each node that weights can choose between; each weighs 100.
fn dice(primary_reads: bool) -> &'static [u32] {
    if primary_reads { &[0, 100, 200] } else { &[0, 100] }
}
