//! What is known of one node, and its lives: a position proves something only within the life it was told in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gtid::{Flavor, Position};
use tracing::{error, info, warn};

use super::disowned::Disowned;
use super::purity::Purity;
use super::said::Said;
use super::sample::Sample;
use super::snapshot::{Facts, Health, High, Node, NodeId, Role};
use super::stray::History;
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
    /// What it was sent as a replica.
    pub(super) received: Option<Position>,
    /// Whether its transactions have numbers.
    pub(super) has_gtids: bool,
}

/// What is known of one node.
#[derive(Debug)]
pub(super) struct Entry {
    /// As the road sees it.
    pub(super) node: Node,
    /// What it said last.
    pub(super) told: Option<Told>,
    /// The watcher's last answer in this life.
    pub(super) sample: Option<Sample>,
    /// Its last answer in any life in which it kept its history.
    pub(super) remembered: Option<Sample>,
    /// What it was known to have, in any life.
    pub(super) reached: Arc<Position>,
    /// Whether it has transactions of its own.
    pub(super) purity: Purity,
    /// What it has and its author has lost.
    pub(super) disowned: Disowned,
    /// When its history was found to be another one than before: what it was asked earlier may speak of the old one.
    pub(super) reborn_at: Option<Instant>,
    /// It takes writes since it was last asked what it was sent.
    turned: bool,
}

impl Entry {
    /// Nothing is known of it yet.
    pub(super) fn new(config: &NodeConfig, id: NodeId) -> Self {
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
                tried: false,
            },
            told: None,
            sample: None,
            remembered: None,
            reached: nothing,
            purity: Purity::default(),
            disowned: Disowned::default(),
            reborn_at: None,
            turned: false,
        }
    }

    /// What was known of its position belongs to a life that is over.
    pub(super) fn new_life(&mut self) {
        self.node.incarnation += 1;
        self.node.low = Arc::new(Position::empty(self.node.low.flavor()));
        self.node.high = None;
        self.sample = None;
        self.begin_proof();
    }

    /// Nothing is proven of its history, and until it is, its positions prove nothing.
    pub(super) fn begin_proof(&mut self) {
        self.purity = Purity::default();
        self.node.follows = false;
    }

    /// What it had in earlier lives says nothing any more.
    pub(super) fn forget(&mut self) {
        self.reached = Arc::new(Position::empty(self.reached.flavor()));
        self.remembered = None;
    }

    /// Its last answer, in whatever life.
    pub(super) fn last_answer(&self) -> Option<&Sample> {
        self.sample.as_ref().or(self.remembered.as_ref())
    }

    /// What it was sent and has not executed.
    pub(super) fn backlog(&self) -> Option<Position> {
        let received = self.told.as_ref()?.received.as_ref()?;
        let backlog = match &self.sample {
            // What a MariaDB server wrote itself stands in its log only, and its source may send it back.
            Some(sample) if sample.logged.flavor() == Flavor::Mariadb => {
                received.missing_from(&sample.applied).missing_from(&sample.logged)
            }
            Some(sample) => received.missing_from(&sample.applied),
            None => received.clone(),
        };
        (!backlog.is_empty()).then_some(backlog)
    }

    /// Whether it has, or may have, still to execute something that it was sent.
    pub(super) fn is_behind(&self) -> bool {
        self.turned || self.backlog().is_some()
    }

    /// Whether what it applies stands in its log, as far as is known.
    pub(super) fn logs_updates(&self) -> bool {
        self.told.as_ref().is_some_and(|told| told.logs_updates)
    }

    /// Everything it is known to have; of a server that does not answer, what it had when it last did.
    pub(super) fn history(&self) -> Option<History<'_>> {
        let last = self.last_answer()?;
        let sent_at = self.sample.as_ref().map(|sample| sample.sent_at);
        Some(match (&last.log, &self.node.high) {
            (Some(log), _) => History { position: &last.applied, log: Some(log), sent_at },
            (None, Some(high)) => {
                History { position: &high.position, log: None, sent_at: Some(high.sent_at) }
            }
            (None, None) => History { position: &self.reached, log: None, sent_at: None },
        })
    }

    /// Takes over what the server said. Returns whether anything is news.
    pub(super) fn take(&mut self, mut told: Told, flavor: Flavor) -> bool {
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
        std::mem::take(&mut self.turned) || said || facts
    }

    /// Shows, and says once, that the node has transactions of its own.
    pub(super) fn show_errant(&mut self) {
        let errant = match self.purity.errant() {
            Some(errant) => Some(errant.what.to_string()),
            None => (!self.disowned.is_empty()).then(|| self.disowned.to_string()),
        };
        if errant.as_deref() == self.node.errant.as_deref() {
            return;
        }
        match errant.as_deref() {
            Some(what) if !self.disowned.is_empty() => error!(
                node = %self.node.name,
                transactions = what,
                "the node has transactions that the server which wrote them has lost, and may give their numbers to \
                 others; drain it, clone it from the primary anew, and undrain it: until then no read goes there"
            ),
            Some(what) => error!(
                node = %self.node.name,
                transactions = what,
                "the node has transactions that the primary does not have; no read goes there until it is cloned from \
                 the primary anew"
            ),
            None if self.purity.is_pure() => {
                info!(node = %self.node.name, "the node has no transactions of its own any more")
            }
            None => {}
        }
        self.node.errant = errant.map(Arc::from);
    }

    /// Whether the node still has what it had. If not, its history was replaced or cut, and a new life begins.
    pub(super) fn check_growth(&mut self, sample: &Sample) -> bool {
        let same_life = self.sample.as_ref().is_none_or(|last| sample.applied.covers(&last.applied));
        let kept = same_life && sample.logged.covers(&self.reached);
        if !kept {
            let mut lost = self.reached.missing_from(&sample.logged);
            if let Some(last) = &self.sample {
                // Of one family they always are.
                let _ = lost.merge(&last.applied.missing_from(&sample.applied));
            }
            error!(
                node = %self.node.name,
                lost = %lost,
                "the node no longer has transactions that it had (a crash, a restore, or RESET); what was known of its position is dropped"
            );
            self.new_life();
            self.forget();
            self.reborn_at = Some(sample.received_at);
        }
        !kept
    }

    /// Takes over what the sample says of the role. Returns whether that is news.
    pub(super) fn said_by(&mut self, sample: &Sample) -> bool {
        let Some(told) = &mut self.told else { return false };
        let news = told.said.writable != sample.writable || told.said.identity != sample.identity;
        if told.said.identity != sample.identity {
            warn!(node = %self.node.name, server = %sample.identity, "the server names itself otherwise than before");
            told.said.identity.clone_from(&sample.identity);
            self.new_life();
        } else {
            self.turned |= sample.writable && !told.said.writable;
            told.said.writable = sample.writable;
        }
        news
    }

    /// Forgets of what its author has lost whatever it has not any more itself. Returns whether nothing is left of that.
    pub(super) fn look_for_disowned(&mut self, sample: &Sample) -> bool {
        let logs_updates = self.logs_updates();
        let before = self.disowned.is_empty();
        self.disowned.keep_what_is_left(sample, logs_updates);
        !before && self.disowned.is_empty()
    }

    /// Whether the last transaction that a MariaDB server has applied in some domain is another server's than before.
    pub(super) fn has_new_writer(&self, sample: &Sample) -> bool {
        let Some(last) = &self.sample else { return false };
        let (Position::Mariadb(before), Position::Mariadb(now)) = (&*last.applied, &*sample.applied) else {
            return false;
        };
        now.iter().any(|gtid| before.get(gtid.domain).is_some_and(|last| last.server_id != gtid.server_id))
    }

    /// Takes over the positions.
    pub(super) fn observe(&mut self, sample: &Sample, is_primary: bool) {
        self.raise(&sample.applied);
        if sample.applied.flavor() == Flavor::Mysql || self.logs_updates() || is_primary {
            self.node.raise_high(High { position: Arc::clone(&sample.logged), sent_at: sample.sent_at });
        }
        // What MySQL still commits may yet be rolled back.
        let has = if sample.applied.flavor() == Flavor::Mysql { &sample.applied } else { &sample.logged };
        if !self.reached.covers(has) {
            self.reached = Arc::clone(has);
        }
    }

    /// Everything in `low` is visible.
    pub(super) fn raise(&mut self, low: &Arc<Position>) {
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
