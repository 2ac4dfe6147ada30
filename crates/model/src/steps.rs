//! What can happen next: all steps of all parts.

use gtid::Flavor;
use tidemark::config::Level;

use super::decisions::{Choice, Decisions};
use super::numbers::Numbers;
use super::rules::Rules;
use super::scenario::{Change, Scenario};
use super::state::{Kind, PROXIES, Proxy, Session, State};
use super::writes::{Set, Write};

/// What is promised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Promise {
    /// A read sees every write that its session was told of.
    S1,
    /// A read sees whatever an earlier one of its session saw.
    S2,
    /// A read sees every write that was acknowledged to anybody before it began.
    G1,
    /// A read sees whatever a read that ended before it began saw, whosever.
    G2,
    /// A session that has lost something is told before it goes on under the new primary.
    Told,
    /// Every read is answered.
    Answered,
}

/// One step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    // Servers.
    DirectWrite(Write),
    Commits(Write),
    Acknowledges { write: Write, told: bool },
    Applies { node: u8, write: Write },
    HasApplied { node: u8 },
    // Faults.
    PrimaryRestarts,
    ReplicaRestarts { node: u8, lost: Set },
    RestartIsNoticed { proxy: usize, node: u8 },
    ReplicaDies { node: u8 },
    WatcherIsCutOff { proxy: usize, node: u8 },
    PrimaryChanges(Change),
    // Proxies.
    LearnsOfTheChange { proxy: usize },
    Compares { proxy: usize, node: u8 },
    Hears { proxy: usize },
    Asks { proxy: usize },
    IsAnswered { proxy: usize },
    NotesLate { proxy: usize },
    // Sessions.
    Resets { session: usize },
    HandsOver { from: usize, to: usize },
    Begins { session: usize, level: Level, kind: Kind },
    Routes { session: usize, choice: Choice },
    Expires { session: usize },
    GoesOn { session: usize },
    IsShown { session: usize },
}

impl Step {
    /// Whether it happens by itself, sooner or later, when nothing new begins and nothing breaks.
    pub(crate) fn is_due(self) -> bool {
        !matches!(
            self,
            Self::DirectWrite(_)
                | Self::PrimaryRestarts
                | Self::ReplicaRestarts { .. }
                | Self::ReplicaDies { .. }
                | Self::WatcherIsCutOff { .. }
                | Self::PrimaryChanges(_)
                | Self::Resets { .. }
                | Self::HandsOver { .. }
                | Self::Begins { .. }
        )
    }
}

/// A step and where it leads.
pub(crate) struct Next {
    pub(crate) step: Step,
    pub(crate) state: State,
    /// The promise that it breaks.
    pub(crate) broken: Option<Promise>,
}

/// Collects what can happen.
#[derive(Default)]
pub(crate) struct Steps(pub(crate) Vec<Next>);

impl Steps {
    pub(crate) fn add(&mut self, step: Step, state: State) {
        self.0.push(Next { step, state, broken: None });
    }
}

/// A scenario under some rules.
pub(crate) struct Model {
    pub(crate) scenario: Scenario,
    pub(crate) rules: Rules,
    pub(crate) decisions: Decisions,
}

impl Model {
    pub(crate) fn new(scenario: Scenario, rules: Rules) -> Self {
        let numbers = Numbers { family: scenario.family, kept: Set::EMPTY };
        Self { scenario, rules, decisions: Decisions::new(numbers, &scenario) }
    }

    /// Everything that can happen in this state.
    pub(crate) fn steps(&mut self, state: &State) -> Vec<Next> {
        let mut steps = Steps::default();
        if !state.sessions.iter().any(Session::will_read) {
            return Vec::new();
        }
        self.decisions.in_numbers(state.kept);
        self.servers(state, &mut steps);
        self.faults(state, &mut steps);
        self.probes(state, &mut steps);
        self.clients(state, &mut steps);
        for next in &mut steps.0 {
            self.forget_what_nobody_needs(&mut next.state);
        }
        steps.0
    }

    /// States that differ only in what can make no difference any more are one.
    fn forget_what_nobody_needs(&self, state: &mut State) {
        for session in &mut state.sessions {
            if !session.will_read() && state.left.tokens == 0 {
                (session.needs, session.wrote, session.saw, session.lost) = Default::default();
            }
        }
        for proxy in 0..PROXIES {
            if !self.is_used(state, proxy) {
                state.proxies[proxy] = Proxy::new();
            }
        }
        if !self.will_begin_a_global_read(state) {
            (state.acked, state.shown) = (Set::EMPTY, Set::EMPTY);
            state.proxies.iter_mut().for_each(|proxy| proxy.acked = Set::EMPTY);
        }
        for server in &mut state.servers {
            if server.unnoticed == 0 && self.rules.positions_die {
                server.before = Set::EMPTY;
            }
        }
    }

    /// Whether anybody will read through this proxy, or give a position away.
    pub(crate) fn is_used(&self, state: &State, proxy: usize) -> bool {
        let mut clients = state.sessions.iter().zip(self.scenario.clients);
        clients
            .any(|(session, client)| client.proxy == proxy && (session.will_read() || state.left.tokens > 0))
    }

    fn will_begin_a_global_read(&self, state: &State) -> bool {
        let mut clients = state.sessions.iter().zip(self.scenario.clients);
        clients.any(|(session, client)| session.reads > 0 && client.levels.contains(&Level::Global))
    }

    /// MySQL tells with its bound what it shows itself.
    pub(crate) fn tells_what_it_shows(&self) -> bool {
        self.scenario.family == Flavor::Mysql
    }

    /// The name of a write, which its OK tells.
    pub(crate) fn told(&self, state: &State, write: Write) -> Set {
        let numbers = Numbers { family: self.scenario.family, kept: state.kept };
        numbers.told(write, state.server(state.primary).logged)
    }
}
