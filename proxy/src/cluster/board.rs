//! All that is known of the cluster, and what follows from it: a value without I/O, lock or clock.
//!
//! Watchers report what happened to one node; the board keeps it, decides the roles anew when that may change them,
//! and gives a [`Snapshot`] for the road.
//!
//! What is never done here: to believe a position of an earlier life of a node, or of another primary's time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gtid::{Flavor, Position};
use tracing::{error, info, warn};

use super::discover::{Roles, Verdict, Voice, discover};
use super::lag::Lag;
use super::purity::{History, LogState, Present, Purity};
use super::said::Said;
use super::sample::Sample;
use super::snapshot::{Facts, Health, High, Node, NodeId, Role, Snapshot};
use crate::config::NodeConfig;

/// What a server said at login or on a later look.
#[derive(Clone, Debug)]
pub(super) struct Told {
    /// What it is.
    pub(super) facts: Facts,
    /// Roles.
    pub(super) said: Said,
    /// Whether what it applies stands in its own binary log.
    pub(super) logs_updates: bool,
    /// How late the server itself says it is.
    pub(super) behind: Option<Duration>,
    /// Whether its transactions have numbers.
    pub(super) has_gtids: bool,
    /// MariaDB: who wrote what in its log.
    pub(super) log: Option<Arc<LogState>>,
}

/// The cluster as its watchers know it.
#[derive(Debug)]
pub(super) struct Board {
    entries: Vec<Entry>,
    flavor: Option<Flavor>,
    roles: Roles,
    /// Whose epoch it is: the last primary there was.
    reigning: Option<usize>,
    epoch: u64,
    lag: Lag,
}

#[derive(Debug)]
struct Entry {
    node: Node,
    /// Whether it was tried yet.
    asked: bool,
    told: Option<Told>,
    /// The watcher's last answer in this life.
    sample: Option<Sample>,
    /// What it was known to have, in any life.
    reached: Arc<Position>,
    purity: Purity,
}

impl Board {
    /// Nothing is known of these nodes yet.
    pub(super) fn new(nodes: &[NodeConfig]) -> Self {
        let entries: Vec<Entry> = nodes
            .iter()
            .zip(0u8..=u8::MAX)
            .map(|(config, index)| Entry::new(config, NodeId(index)))
            .collect();
        let roles = Roles {
            primary: None,
            verdict: Verdict::TooEarly,
            roles: vec![Role::Unknown; entries.len()],
            sources: vec![Vec::new(); entries.len()],
        };
        Self { entries, flavor: None, roles, reigning: None, epoch: 0, lag: Lag::default() }
    }

    /// The watcher is logged in: a new life of the node, as far as can be known.
    pub(super) fn joined(&mut self, now: Instant, id: NodeId, told: Told) {
        let flavor = *self.flavor.get_or_insert(told.facts.flavor);
        let Some(entry) = self.entries.get_mut(id.index()) else { return };
        let before = entry.told.as_ref().map(|told| told.said.identity.clone());
        if before.as_ref().is_some_and(|before| *before != told.said.identity) {
            warn!(node = %entry.node.name, server = %told.said.identity, "another server answers at this address; nothing known of the old one is used");
            entry.reached = Arc::new(Position::empty(told.facts.flavor));
        }
        if entry.node.health != Health::Up {
            info!(node = %entry.node.name, address = %entry.node.address, version = %told.facts.version, "node is up");
            entry.node.health = Health::Up;
        }
        entry.asked = true;
        entry.new_life();
        entry.take(told, flavor);
        self.settle(now);
    }

    /// What the server said on a later look, or what a sample told of its role.
    pub(super) fn told(&mut self, now: Instant, id: NodeId, told: Told) {
        let Some(flavor) = self.flavor else { return };
        let Some(entry) = self.entries.get_mut(id.index()) else { return };
        let changed = entry.take(told, flavor);
        if changed {
            self.settle(now);
        }
    }

    /// The watcher's connection broke: another life may follow, and this one's positions prove nothing for it.
    pub(super) fn lost(&mut self, now: Instant, id: NodeId) {
        if let Some(entry) = self.entries.get_mut(id.index()) {
            entry.new_life();
            self.follow(now);
        }
    }

    /// The node does not answer.
    pub(super) fn down(&mut self, now: Instant, id: NodeId, why: &str) {
        let Some(entry) = self.entries.get_mut(id.index()) else { return };
        let was_up = entry.node.is_up();
        if was_up {
            entry.new_life();
        }
        if let Health::Down(before) = &entry.node.health
            && **before == *why
        {
            return;
        }
        warn!(node = %entry.node.name, role = entry.node.role.as_str(), why, "node is down; it takes no statements until it answers again");
        entry.asked = true;
        entry.node.health = Health::Down(Arc::from(why));
        self.settle(now);
    }

    /// Takes a node out of rotation, or back.
    pub(super) fn drain(&mut self, id: NodeId, drained: bool) {
        if let Some(entry) = self.entries.get_mut(id.index())
            && entry.node.drained != drained
        {
            entry.node.drained = drained;
            let what = if drained {
                "node is drained: it takes no new statements"
            } else {
                "node takes statements again"
            };
            info!(node = %entry.node.name, "{what}");
        }
    }

    /// The watcher's answer. Returns whether the node should be asked for its role again, soon.
    pub(super) fn sampled(&mut self, now: Instant, id: NodeId, sample: Sample) -> bool {
        let Some(entry) = self.entries.get_mut(id.index()) else { return false };
        let is_primary = self.roles.primary == Some(id.index());
        let history_lost = entry.check_growth(&sample);
        if history_lost && is_primary {
            error!(node = %entry.node.name, "the primary's history is another one than before; every replica is checked against it anew");
            self.begin_epoch();
        }
        let Some(entry) = self.entries.get_mut(id.index()) else { return false };
        let role_changed = entry.said_by(&sample);
        entry.observe(&sample, is_primary);
        entry.sample = Some(sample);
        if is_primary {
            self.lag.note(now, &entry.reached);
        }
        if role_changed || matches!(self.roles.verdict, Verdict::Unproven(_)) {
            self.settle(now);
        } else {
            self.look(now, is_primary, id.index());
        }
        role_changed
    }

    /// An answer of the same server on another connection, asked in this life: it can only add.
    pub(super) fn overheard(
        &mut self,
        id: NodeId,
        incarnation: u64,
        low: &Arc<Position>,
        high: Option<High>,
    ) {
        let Some(entry) = self.entries.get_mut(id.index()) else { return };
        if entry.node.incarnation != incarnation {
            return;
        }
        entry.raise(low);
        if let Some(high) = high {
            entry.node.raise_high(high);
        }
    }

    /// A primary's answer on another connection showed that it is one no more.
    pub(super) fn demoted(&mut self, now: Instant, id: NodeId) {
        if let Some(told) = self.entries.get_mut(id.index()).and_then(|entry| entry.told.as_mut()) {
            told.said.writable = false;
            self.settle(now);
        }
    }

    /// The value for the road.
    pub(super) fn snapshot(&self, now: Instant) -> Snapshot {
        Snapshot {
            epoch: self.epoch,
            flavor: self.flavor,
            primary: self.roles.primary.and_then(|index| Some(self.entries.get(index)?.node.id)),
            nodes: self
                .entries
                .iter()
                .enumerate()
                .map(|(index, entry)| self.node(now, index, entry))
                .collect(),
        }
    }

    fn node(&self, now: Instant, index: usize, entry: &Entry) -> Node {
        let mut node = entry.node.clone();
        node.lag = match node.role {
            Role::Primary => Some(Duration::ZERO),
            _ if entry.sample.is_none() || !self.roles.descends_from_primary(index) => None,
            _ => self.lag.of(now, &node.low, entry.told.as_ref().and_then(|told| told.behind)),
        };
        node
    }

    /// Decides the roles anew.
    fn settle(&mut self, now: Instant) {
        let last =
            self.reigning.and_then(|index| self.entries.get(index)).map(|entry| Arc::clone(&entry.reached));
        let voices: Vec<Voice<'_>> = self
            .entries
            .iter()
            .map(|entry| Voice {
                address: &entry.node.address,
                asked: entry.asked,
                up: entry.node.is_up(),
                said: entry.told.as_ref().map(|told| &told.said),
                complete: last.as_ref().is_some_and(|last| {
                    !last.is_empty() && entry.sample.as_ref().is_some_and(|sample| sample.logged.covers(last))
                }),
            })
            .collect();
        let roles = discover(&voices, self.roles.primary.or(self.reigning));
        self.report(&roles);
        let primary = roles.primary;
        for (entry, role) in self.entries.iter_mut().zip(&roles.roles) {
            entry.node.role = *role;
        }
        self.roles = roles;
        if primary.is_some() && primary != self.reigning {
            self.reigning = primary;
            self.begin_epoch();
        }
        self.follow(now);
    }

    fn begin_epoch(&mut self) {
        self.epoch += 1;
        self.lag.clear();
        for entry in &mut self.entries {
            entry.purity = Purity::default();
        }
    }

    /// Compares histories where that is due: all replicas' when the primary answered, else the one's that did.
    fn look(&mut self, now: Instant, primary_answered: bool, index: usize) {
        let Some(primary) = self.roles.primary else { return };
        let undecided = |entry: &Entry| entry.purity.is_open();
        let due: Vec<usize> = if primary_answered {
            (0..self.entries.len())
                .filter(|other| *other != primary && self.entries.get(*other).is_some_and(undecided))
                .collect()
        } else {
            vec![index]
        };
        let mut changed = false;
        for index in due {
            changed |= self.compare(now, primary, index);
        }
        if changed {
            self.follow(now);
        }
    }

    fn compare(&mut self, now: Instant, primary: usize, index: usize) -> bool {
        let Some(reign) = self.entries.get(primary) else { return false };
        let high = reign.node.high.clone();
        let position =
            high.as_ref().map_or_else(|| Arc::clone(&reign.reached), |high| Arc::clone(&high.position));
        let applied = reign.sample.as_ref().map(|sample| Arc::clone(&sample.applied)).unwrap_or_default();
        let log = reign.told.as_ref().and_then(|told| told.log.clone());
        let Some(entry) = self.entries.get_mut(index) else { return false };
        let Some(sample) = &entry.sample else { return false };
        let present = Present {
            position: &entry.node.low,
            received_at: sample.received_at,
            log: entry.told.as_ref().and_then(|told| told.log.as_deref()),
        };
        let history = History {
            position: &position,
            sent_at: high.map(|high| high.sent_at),
            applied: &applied,
            log: log.as_deref(),
        };
        entry.purity.look(now, present, history)
    }

    /// Decides anew whose positions speak about the primary's history.
    fn follow(&mut self, now: Instant) {
        if let Some(primary) = self.roles.primary {
            for index in (0..self.entries.len()).filter(|index| *index != primary) {
                self.compare(now, primary, index);
            }
        }
        for (index, entry) in self.entries.iter_mut().enumerate() {
            let is_primary = self.roles.primary == Some(index);
            entry.show_errant();
            let able = entry.told.as_ref().is_some_and(|told| told.facts.shortcomings.is_empty());
            let pure = is_primary || (self.roles.descends_from_primary(index) && entry.purity.is_pure());
            entry.node.follows = able && pure;
        }
    }

    /// Tells the operator what changed.
    fn report(&self, roles: &Roles) {
        let name = |index: Option<usize>| {
            index.and_then(|index| self.entries.get(index)).map_or("none", |entry| &*entry.node.name)
        };
        for (index, (entry, role)) in self.entries.iter().zip(&roles.roles).enumerate() {
            let sources = roles.sources.get(index).map(Vec::as_slice).unwrap_or_default();
            if entry.node.role != *role || self.roles.sources.get(index).map(Vec::as_slice) != Some(sources) {
                let source: Vec<&str> = sources.iter().map(|source| name(Some(*source))).collect();
                info!(node = %entry.node.name, role = role.as_str(), source = source.join(","), "role");
            }
        }
        if roles.primary != self.roles.primary {
            let (to, last) = (name(roles.primary), name(self.reigning));
            match roles.primary {
                None => warn!(was = last, "there is no primary; writes are refused until there is one"),
                same if same == self.reigning => info!(primary = to, "the primary takes writes again"),
                _ => warn!(primary = to, was = last, epoch = self.epoch + 1, "another primary"),
            }
        }
        if roles.verdict != self.roles.verdict {
            let kept = name(roles.primary);
            match &roles.verdict {
                Verdict::TooEarly => {}
                Verdict::Clear => info!(primary = kept, "the nodes agree on the primary"),
                Verdict::NoneWritable => {
                    warn!(
                        primary = kept,
                        "no node that answers takes writes; SET GLOBAL read_only = OFF on the one that shall"
                    );
                }
                Verdict::SeveralWritable(nodes) => error!(
                    nodes = nodes.iter().map(|index| name(Some(*index))).collect::<Vec<_>>().join(","),
                    primary = kept,
                    "several nodes take writes and nothing tells which is meant; SET GLOBAL read_only = ON on the others"
                ),
                Verdict::Unproven(index) => error!(
                    node = name(Some(*index)),
                    primary = kept,
                    "the only writable node that answers is not followed by the others; make them replicate from it, or stop their replication"
                ),
            }
        }
    }
}

impl Entry {
    fn new(config: &NodeConfig, id: NodeId) -> Self {
        let nothing: Arc<Position> = Arc::default();
        Self {
            node: Node {
                id,
                name: Arc::from(config.name.as_str()),
                address: config.address.clone(),
                health: Health::Down(Arc::from("not asked yet")),
                role: Role::Unknown,
                drained: false,
                incarnation: 0,
                follows: false,
                low: Arc::clone(&nothing),
                high: None,
                errant: None,
                lag: None,
                facts: None,
            },
            asked: false,
            told: None,
            sample: None,
            reached: nothing,
            purity: Purity::default(),
        }
    }

    fn new_life(&mut self) {
        self.node.incarnation += 1;
        self.node.low = Arc::new(Position::empty(self.node.low.flavor()));
        self.node.high = None;
        self.sample = None;
        self.purity = Purity::default();
    }

    /// Takes over what the server said. Returns whether anything is news.
    fn take(&mut self, mut told: Told, flavor: Flavor) -> bool {
        if told.facts.flavor != flavor {
            told.facts
                .shortcomings
                .push(format!("it is {}, the rest of the cluster {flavor}", told.facts.flavor));
        }
        let (said, facts) = match &self.told {
            Some(old) => (old.said != told.said, old.facts != told.facts),
            None => (true, true),
        };
        if facts {
            let known = self.told.as_ref().map(|told| told.facts.shortcomings.as_slice()).unwrap_or_default();
            for shortcoming in told.facts.shortcomings.iter().filter(|text| !known.contains(text)) {
                warn!(node = %self.node.name, "serves reads at the level eventual only: {shortcoming}");
            }
            self.node.facts = Some(Arc::new(told.facts.clone()));
        }
        self.told = Some(told);
        said || facts
    }

    /// Shows, and says once, that the node has transactions of its own.
    fn show_errant(&mut self) {
        let errant = self.purity.errant();
        if errant == self.node.errant.as_deref() {
            return;
        }
        match errant {
            Some(what) => error!(
                node = %self.node.name,
                transactions = what,
                "the node has transactions that the primary does not have; it serves reads at the level eventual \
                 only until it is cloned from the primary anew"
            ),
            None if self.purity.is_pure() => {
                info!(node = %self.node.name, "the node has no transactions of its own any more")
            }
            None => {}
        }
        self.node.errant = errant.map(Arc::from);
    }

    /// Whether the node still has what it had. If not, its history was replaced or cut, and a new life begins.
    fn check_growth(&mut self, sample: &Sample) -> bool {
        let same_life = self.sample.as_ref().is_none_or(|last| sample.applied.covers(&last.applied));
        let kept = same_life && sample.logged.covers(&self.reached);
        if !kept {
            let lost = self.reached.missing_from(&sample.logged);
            error!(
                node = %self.node.name,
                lost = %lost,
                "the node no longer has transactions that it had (a crash, a restore, or RESET); what was known of its position is dropped"
            );
            self.new_life();
            self.reached = Arc::new(Position::empty(sample.applied.flavor()));
        }
        !kept
    }

    /// Takes over what the sample says of the role. Returns whether that is news.
    fn said_by(&mut self, sample: &Sample) -> bool {
        let Some(told) = &mut self.told else { return false };
        let news = told.said.writable != sample.writable || told.said.identity != sample.identity;
        if told.said.identity != sample.identity {
            warn!(node = %self.node.name, server = %sample.identity, "the server names itself otherwise than before");
            told.said.identity.clone_from(&sample.identity);
            self.new_life();
        } else {
            told.said.writable = sample.writable;
        }
        news
    }

    fn observe(&mut self, sample: &Sample, is_primary: bool) {
        self.raise(&sample.applied);
        let logs = self.told.as_ref().is_some_and(|told| told.logs_updates);
        if sample.applied.flavor() == Flavor::Mysql || logs || is_primary {
            self.node.raise_high(High { position: Arc::clone(&sample.logged), sent_at: sample.sent_at });
        }
        // What MySQL still commits may yet be rolled back.
        let has = if sample.applied.flavor() == Flavor::Mysql { &sample.applied } else { &sample.logged };
        if !self.reached.covers(has) {
            self.reached = Arc::clone(has);
        }
    }

    fn raise(&mut self, low: &Arc<Position>) {
        if low.covers(&self.node.low) {
            if !self.node.low.covers(low) {
                self.node.low = Arc::clone(low);
            }
        } else {
            let mut all = Position::clone(&self.node.low);
            // One server has one flavour.
            let _ = all.merge(low);
            self.node.low = Arc::new(all);
        }
    }
}

#[cfg(test)]
#[path = "board_tests.rs"]
mod tests;
