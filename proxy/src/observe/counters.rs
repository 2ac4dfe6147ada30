//! The counters of one endpoint.

use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use super::histogram::Histogram;
use crate::cluster::snapshot::{NodeId, Role};
use crate::config::Level;
use crate::route::{Outcome, Reason};

const LEVELS: usize = 3;
const OUTCOMES: usize = 5;
const ROLES: usize = 3;

/// Everything that is counted per endpoint. Every number only grows, except the open connections.
#[derive(Debug)]
pub struct Counters {
    statements: Spread,
    outcomes: Spread,
    waits: [Histogram; LEVELS],
    pins: Box<[AtomicU64]>,
    speculations: [AtomicU64; 2],
    clients: AtomicI64,
    /// Clients that were refused before or during login.
    pub logins_refused: AtomicU64,
    /// Connections closed because a client or a node broke the protocol.
    pub protocol_errors: AtomicU64,
}

/// Threads beyond so many share their counters with others.
const SHARES: usize = 8;

thread_local! {
    /// Which share this thread raises.
    static SHARE: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed) % SHARES
    };
}

/// Counters that every statement raises: each thread has its own, so that no two fight for a line of the cache.
#[derive(Debug)]
struct Spread(Box<[Box<[AtomicU64]>]>);

impl Spread {
    fn zeros(count: usize) -> Self {
        Self((0..SHARES).map(|_| zeros(count)).collect())
    }

    fn raise(&self, place: usize) {
        raise(self.0.get(SHARE.with(|share| *share)).and_then(|share| share.get(place)));
    }

    fn sum(&self, place: usize) -> u64 {
        self.0
            .iter()
            .filter_map(|share| share.get(place))
            .map(|counter| counter.load(Ordering::Relaxed))
            .sum()
    }
}

fn zeros(count: usize) -> Box<[AtomicU64]> {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}

fn raise(counter: Option<&AtomicU64>) {
    if let Some(counter) = counter {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl Counters {
    /// All zero, for so many nodes.
    pub fn new(nodes: usize) -> Self {
        Self {
            statements: Spread::zeros(nodes * ROLES * Reason::COUNT),
            outcomes: Spread::zeros(LEVELS * OUTCOMES),
            waits: Default::default(),
            pins: zeros(Reason::COUNT),
            speculations: Default::default(),
            clients: AtomicI64::new(0),
            logins_refused: AtomicU64::new(0),
            protocol_errors: AtomicU64::new(0),
        }
    }

    /// A statement was sent to a node in this role for this reason.
    pub fn statement(&self, node: NodeId, role: Role, reason: Reason) {
        self.statements.raise(Self::place(node, role, reason));
    }

    fn place(node: NodeId, role: Role, reason: Reason) -> usize {
        (node.index() * ROLES + role as usize) * Reason::COUNT + reason.index()
    }

    /// How many statements were sent there for this reason.
    pub fn statements(&self, node: NodeId, role: Role, reason: Reason) -> u64 {
        self.statements.sum(Self::place(node, role, reason))
    }

    /// A read under a promise was answered.
    pub fn outcome(&self, level: Level, outcome: Outcome) {
        self.outcomes.raise(level as usize * OUTCOMES + outcome as usize);
    }

    /// How many reads were answered so.
    pub fn outcomes(&self, level: Level, outcome: Outcome) -> u64 {
        self.outcomes.sum(level as usize * OUTCOMES + outcome as usize)
    }

    /// A read waited so long, for the primary's position or for a replica, whatever became of it.
    pub fn waited(&self, level: Level, duration: Duration) {
        if let Some(histogram) = self.waits.get(level as usize) {
            histogram.observe(duration);
        }
    }

    /// The waits at a level.
    pub fn waits(&self, level: Level) -> Option<&Histogram> {
        self.waits.get(level as usize)
    }

    /// A read ran while the primary was asked how fresh it must be. `kept`: its reply was fresh enough; else it ran again.
    pub fn speculated(&self, kept: bool) {
        raise(self.speculations.get(usize::from(kept)));
    }

    /// How many reads did so.
    pub fn speculations(&self, kept: bool) -> u64 {
        self.speculations.get(usize::from(kept)).map_or(0, |counter| counter.load(Ordering::Relaxed))
    }

    /// A session was pinned for this reason.
    pub fn pinned(&self, reason: Reason) {
        raise(self.pins.get(reason.index()));
    }

    /// How many sessions were pinned for this reason.
    pub fn pins(&self, reason: Reason) -> u64 {
        self.pins.get(reason.index()).map_or(0, |counter| counter.load(Ordering::Relaxed))
    }

    /// Counts a client in. `false`: there are `limit` already, and it was not counted.
    pub fn client_came(&self, limit: u32) -> bool {
        let before = self.clients.fetch_add(1, Ordering::Relaxed);
        let fits = before < i64::from(limit);
        if !fits {
            self.client_went();
        }
        fits
    }

    /// Counts a client out.
    pub fn client_went(&self) {
        self.clients.fetch_sub(1, Ordering::Relaxed);
    }

    /// Clients that were refused before or during login.
    pub fn refused_logins(&self) -> u64 {
        self.logins_refused.load(Ordering::Relaxed)
    }

    /// Connections closed because a client or a node broke the protocol.
    pub fn broken_protocols(&self) -> u64 {
        self.protocol_errors.load(Ordering::Relaxed)
    }

    /// Clients connected now.
    pub fn clients(&self) -> i64 {
        self.clients.load(Ordering::Relaxed)
    }
}
