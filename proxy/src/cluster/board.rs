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
use super::disowned::Disowned;
use super::entry::{Entry, Told};
use super::lag::Lag;
use super::purity::Errant;
use super::report::Change;
use super::sample::Sample;
use super::snapshot::{Health, High, Node, NodeId, Role, Snapshot};
use super::stray::Stray;
use crate::config::NodeConfig;

/// How long a node that was promoted may take to execute what it was sent before. Writes wait meanwhile.
pub(super) const CATCH_UP_LIMIT: Duration = Duration::from_secs(30);

/// The cluster as its watchers know it.
#[derive(Debug)]
pub(super) struct Board {
    entries: Vec<Entry>,
    flavor: Option<Flavor>,
    roles: Roles,
    /// Whose epoch it is: the last primary there was.
    reigning: Option<usize>,
    epoch: u64,
    /// Who is to be primary as soon as it has executed what it was sent, and since when that is so.
    awaited: Option<(usize, Instant)>,
    lag: Lag,
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
        Self { entries, flavor: None, roles, reigning: None, epoch: 0, awaited: None, lag: Lag::default() }
    }

    /// The watcher is logged in: a new life of the node, as far as can be known.
    pub(super) fn joined(&mut self, now: Instant, id: NodeId, told: Told) {
        let flavor = *self.flavor.get_or_insert(told.facts.flavor);
        let Some(entry) = self.entries.get_mut(id.index()) else { return };
        let before = entry.told.as_ref().map(|told| told.said.identity.clone());
        if before.as_ref().is_some_and(|before| *before != told.said.identity) {
            warn!(node = %entry.node.name, server = %told.said.identity, "another server answers at this address; nothing known of the old one is used");
            entry.forget();
            entry.disowned = Disowned::default();
        }
        if entry.node.health != Health::Up {
            info!(node = %entry.node.name, address = %entry.node.address, version = %told.facts.version, "node is up");
            entry.node.health = Health::Up;
        }
        entry.node.tried = true;
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
        entry.node.tried = true;
        entry.node.health = Health::Down(Arc::from(why));
        self.settle(now);
    }

    /// Takes a node out of rotation, or back. Putting it back is an operator's word that it is sound.
    pub(super) fn drain(&mut self, now: Instant, id: NodeId, drained: bool) {
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
            if !drained && !entry.disowned.is_empty() {
                warn!(
                    node = %entry.node.name,
                    transactions = %entry.disowned,
                    "taken for cloned anew: what it had of lost transactions is not held against it any more"
                );
                entry.disowned = Disowned::default();
                self.follow(now);
            }
        }
    }

    /// The watcher's answer. Returns whether the node should be asked for its role again, soon.
    pub(super) fn sampled(&mut self, now: Instant, id: NodeId, sample: Sample) -> bool {
        let index = id.index();
        let is_primary = self.roles.primary == Some(index);
        let Some(entry) = self.entries.get_mut(index) else { return false };
        if entry.reborn_at.is_some_and(|reborn_at| sample.sent_at < reborn_at) {
            return false;
        }
        let history_lost = entry.check_growth(&sample);
        let role_changed = entry.said_by(&sample);
        if !is_primary && entry.has_new_writer(&sample) {
            // It may follow another server by now, which gives numbers anew; what it says of its source is older.
            entry.begin_proof();
        }
        entry.observe(&sample, is_primary);
        let cleared = entry.look_for_disowned(&sample);
        entry.remembered = Some(sample.clone());
        entry.sample = Some(sample);
        if history_lost && is_primary {
            error!(node = %entry.node.name, "the primary's history is another one than before; every replica is checked against it anew");
            self.begin_epoch();
            self.disown(index);
        }
        if is_primary {
            let reached = self.entries.get(index).map(|entry| Arc::clone(&entry.reached));
            self.lag.note(now, &reached.unwrap_or_default());
        }
        if role_changed || matches!(self.roles.verdict, Verdict::Unproven(_) | Verdict::Behind(_)) {
            self.settle(now);
        } else if history_lost || cleared {
            self.follow(now);
        } else {
            self.look(now, is_primary, index);
        }
        role_changed
    }

    /// What a node is known to have, by its watcher.
    pub(super) fn reached(&self, id: NodeId) -> Arc<Position> {
        self.entries.get(id.index()).map(|entry| Arc::clone(&entry.reached)).unwrap_or_default()
    }

    /// The primary's answer on another connection, asked in this life of it. `known`: what it was known to have before it was
    /// asked.
    pub(super) fn answered(
        &mut self,
        now: Instant,
        id: NodeId,
        incarnation: u64,
        known: &Position,
        sample: &Sample,
    ) {
        let same_life =
            self.entries.get(id.index()).is_some_and(|entry| entry.node.incarnation == incarnation);
        if same_life && !sample.logged.covers(known) {
            // Before anybody takes the new numbers for the old ones.
            self.sampled(now, id, sample.clone());
            return;
        }
        // What a MariaDB primary has applied as a replica and what it logged are no news about what it shows.
        let high = High { position: Arc::clone(&sample.logged), sent_at: sample.sent_at };
        self.overheard(id, incarnation, &sample.applied, Some(high));
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
            .enumerate()
            .map(|(index, entry)| Voice {
                address: &entry.node.address,
                asked: entry.node.tried,
                up: entry.node.is_up(),
                said: entry.told.as_ref().map(|told| &told.said),
                complete: last.as_ref().is_some_and(|last| {
                    !last.is_empty() && entry.sample.as_ref().is_some_and(|sample| sample.logged.covers(last))
                }),
                behind: entry.is_behind() && !self.was_awaited_long_enough(now, index),
            })
            .collect();
        let roles = discover(&voices, self.roles.primary.or(self.reigning));
        let names = self.entries.iter().map(|entry| Arc::clone(&entry.node.name)).collect();
        let (before, reigning, epoch) = (&self.roles, self.reigning, self.epoch);
        Change { names, before, after: &roles, reigning, epoch }.log();
        let primary = roles.primary;
        self.await_next(now, &roles);
        for (entry, role) in self.entries.iter_mut().zip(&roles.roles) {
            entry.node.role = *role;
        }
        self.roles = roles;
        if primary.is_some() && primary != self.reigning {
            self.reigning = primary;
            self.begin_epoch();
            self.turn();
        }
        self.follow(now);
    }

    fn was_awaited_long_enough(&self, now: Instant, index: usize) -> bool {
        self.awaited.is_some_and(|(awaited, since)| {
            awaited == index && now.saturating_duration_since(since) >= CATCH_UP_LIMIT
        })
    }

    /// Keeps in mind since when a promoted node is waited for, and says so when that was in vain.
    fn await_next(&mut self, now: Instant, roles: &Roles) {
        let before = self.awaited.take();
        if let Verdict::Behind(next) = roles.verdict {
            self.awaited = before.filter(|(awaited, _)| *awaited == next).or(Some((next, now)));
            return;
        }
        if !matches!(roles.verdict, Verdict::Clear) {
            // A link that breaks for a moment does not begin the wait anew.
            self.awaited = before;
            return;
        }
        let adopted = roles.primary.filter(|next| before.is_some_and(|(awaited, _)| awaited == *next));
        let Some(entry) = adopted.and_then(|index| self.entries.get(index)) else { return };
        if let Some(backlog) = entry.backlog() {
            error!(
                node = %entry.node.name,
                %backlog,
                "the new primary is taken without what it was sent and has not executed; sessions that wrote or saw that \
                 are told that it is lost"
            );
        }
    }

    fn begin_epoch(&mut self) {
        self.epoch += 1;
        self.lag.clear();
        self.entries.iter_mut().for_each(Entry::begin_proof);
    }

    /// What the new primary has is right from now on.
    fn turn(&mut self) {
        let Some(primary) = self.reigning.and_then(|index| self.entries.get_mut(index)) else { return };
        let kept = std::mem::take(&mut primary.disowned);
        if kept.is_empty() {
            return;
        }
        for (index, entry) in self.entries.iter_mut().enumerate() {
            if self.reigning != Some(index) {
                let logs_updates = entry.logs_updates();
                entry.disowned.turn(&kept, entry.sample.as_ref().or(entry.remembered.as_ref()), logs_updates);
            }
        }
    }

    /// The primary has lost transactions: notes who is known to have them, also of nodes that are away.
    fn disown(&mut self, primary: usize) {
        for index in (0..self.entries.len()).filter(|index| *index != primary) {
            let Ok([reign, entry]) = self.entries.get_disjoint_mut([primary, index]) else { return };
            let (Some(author), Some(history)) = (&reign.sample, reign.history()) else { return };
            let Some(had) = entry.last_answer().filter(|had| had.received_at <= author.sent_at) else {
                continue;
            };
            let stray = Stray::all_of(had).without(history);
            entry.disowned.note(&stray, author, history);
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
        let Ok([reign, entry]) = self.entries.get_disjoint_mut([primary, index]) else { return false };
        let (Some(sample), Some(history)) = (&entry.sample, reign.history()) else { return false };
        let changed = entry.purity.look(now, sample, history);
        if let Some(errant) = entry.purity.errant().cloned() {
            self.ask_authors(primary, index, &errant);
        }
        changed
    }

    /// Notes which of a node's own transactions were lost by whoever wrote them.
    fn ask_authors(&mut self, primary: usize, index: usize, errant: &Errant) {
        let mut disowned = match self.entries.get_mut(index) {
            Some(entry) => std::mem::take(&mut entry.disowned),
            None => return,
        };
        if let Some(history) = self.entries.get(primary).and_then(Entry::history) {
            let others = self.entries.iter().enumerate().filter(|(other, _)| *other != index);
            let answers = others.filter_map(|(_, other)| other.sample.as_ref());
            for author in answers.filter(|answer| answer.sent_at >= errant.heard_at) {
                disowned.note(&errant.what, author, history);
            }
        }
        if let Some(entry) = self.entries.get_mut(index) {
            entry.disowned = disowned;
        }
    }

    /// Decides anew whose positions speak about the primary's history.
    fn follow(&mut self, now: Instant) {
        if let Some(primary) = self.roles.primary {
            for index in (0..self.entries.len()).filter(|index| *index != primary) {
                self.compare(now, primary, index);
            }
        }
        let is_able =
            |entry: &Entry| entry.told.as_ref().is_some_and(|told| told.facts.shortcomings.is_empty());
        // What a primary writes without positions no position of a replica speaks about.
        let primary_is_able =
            self.roles.primary.and_then(|index| self.entries.get(index)).is_some_and(is_able);
        for (index, entry) in self.entries.iter_mut().enumerate() {
            let is_primary = self.roles.primary == Some(index);
            entry.show_errant();
            let descends = primary_is_able && self.roles.descends_from_primary(index);
            let pure = entry.purity.is_pure() && entry.disowned.is_empty();
            entry.node.follows = is_able(entry) && (is_primary || (descends && pure));
        }
    }
}

#[cfg(test)]
#[path = "board_tests.rs"]
mod tests;
