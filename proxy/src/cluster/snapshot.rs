//! What is known of the cluster at one moment: an immutable value that the road of a statement reads.
//!
//! `cluster` publishes a new snapshot whenever something changes; a session loads the current one per statement
//! and never waits for a lock. Nothing here does I/O or reads a clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gtid::{Flavor, Position};
use wire::capability::Capabilities;
use wire::wanted::Wanted;

use crate::config::{Address, Level};

/// A node's place in the configuration file: the index into [`Snapshot::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u8);

impl NodeId {
    /// The index this id stands for.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The cluster at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Grows by one with every change of who is primary.
    pub epoch: u64,
    /// Which family the servers belong to; `None` until one of them has answered.
    pub flavor: Option<Flavor>,
    /// The one node that takes writes, when there is exactly one.
    pub primary: Option<NodeId>,
    /// Every configured node, in the order of the file.
    pub nodes: Vec<Node>,
}

/// A life of a primary. What was known under one may be lost under the next: by a failover, or by a crash of a server that
/// had not written everything to its disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reign {
    /// Of the cluster.
    pub epoch: u64,
    /// Of the primary.
    pub incarnation: u64,
}

/// One node at one moment.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its index.
    pub id: NodeId,
    /// Its name in the file.
    pub name: Arc<str>,
    /// Where it listens.
    pub address: Address,
    /// Whether it answers, and if not, why.
    pub health: Health,
    /// What the servers say it is.
    pub role: Role,
    /// Taken out of rotation by an operator; takes no new statements.
    pub drained: bool,
    /// Counts the lives of the node: what was learnt of an earlier life (its positions) proves nothing about this one.
    pub incarnation: u64,
    /// Whether its position speaks about the current primary's history: it is the primary, or a replica of it
    /// without errant transactions or shortcomings. Whether its applier runs is not asked here; a stopped one shows as lag.
    pub follows: bool,
    /// LOW: everything in here is visible to a statement that starts on the node now.
    pub low: Arc<Position>,
    /// HIGH: whatever a statement that ended before `sent_at` saw on the node is in here.
    pub high: Option<High>,
    /// The transactions that it has and its primary does not; such a node does not follow. Its data differ until it is
    /// cloned anew.
    pub errant: Option<Arc<str>>,
    /// How old the oldest write is that the replica has not applied; `None` while that is not known.
    pub lag: Option<Duration>,
    /// What does not change while the server runs; `None` until it has answered once.
    pub facts: Option<Arc<Facts>>,
    /// Whether it was asked yet, with or without an answer.
    pub tried: bool,
}

/// A safe upper bound of what can have been seen on a node.
#[derive(Clone, Debug)]
pub struct High {
    /// The bound.
    pub position: Arc<Position>,
    /// When the question was sent: it speaks about statements that had ended by then.
    pub sent_at: Instant,
}

/// Whether a node answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// It answered the last question.
    Up,
    /// It did not, for this reason, in words for an operator.
    Down(Arc<str>),
}

/// What a node is, as the servers themselves say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The writable node that the others follow.
    Primary,
    /// Read only, and follows another node.
    Replica,
    /// Not known yet, or it fits neither.
    Unknown,
}

impl Role {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Primary, Self::Replica, Self::Unknown];

    /// The name used in metrics and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Replica => "replica",
            Self::Unknown => "unknown",
        }
    }
}

/// What a server said about itself when the proxy logged in.
#[derive(Clone, PartialEq, Debug)]
pub struct Facts {
    /// Its version text as its greeting gives it, without the `5.5.5-` that MariaDB puts before it.
    pub version: String,
    /// The same as a number: see [`sql::Dialect::version`].
    pub release: u16,
    /// Its family.
    pub flavor: Flavor,
    /// What its protocol can do.
    pub capabilities: Capabilities,
    /// Likewise MariaDB's own capabilities.
    pub extended: u32,
    /// `@@server_uuid` (MySQL) or `@@server_id` (MariaDB), as text.
    pub server_uuid: String,
    /// The names that `session_track_system_variables` takes for "every session variable": all that the server lists,
    /// less those that change with every statement.
    pub trackable: Arc<str>,
    /// What the server tells a client that did not ask for anything else.
    pub default_wanted: Wanted,
    /// The default character set's collation, which the greeting shows.
    pub collation: u16,
    /// `@@global.sql_mode`, which a new session starts with.
    pub sql_mode: String,
    /// Whether it runs statements at the beginning of a connection (`@@global.init_connect`).
    pub has_init_connect: bool,
    /// How many connections it takes in all.
    pub max_connections: usize,
    /// Why the node cannot serve the `session` and `global` levels, with the setting to change; empty when it can.
    pub shortcomings: Vec<String>,
}

impl Snapshot {
    /// The node with this id.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index())
    }

    /// Whether every node that has answered can keep the promise of a level.
    ///
    /// # Errors
    /// Names each node that cannot, with what to change.
    pub fn can_serve(&self, level: Level) -> Result<(), String> {
        if level == Level::Eventual {
            return Ok(());
        }
        let lacking = self.nodes.iter().filter_map(|node| {
            let facts = node.facts.as_ref().filter(|facts| !facts.shortcomings.is_empty())?;
            Some(format!("node {}: {}", node.name, facts.shortcomings.join("; ")))
        });
        let lacking: Vec<_> = lacking.collect();
        if lacking.is_empty() {
            return Ok(());
        }
        Err(format!("the level {} cannot be kept: {}", level.as_str(), lacking.join("; ")))
    }

    /// How often the primary has changed, or its history was replaced, since the first primary was found.
    pub fn failovers(&self) -> u64 {
        self.epoch.saturating_sub(1)
    }

    /// Whose word on positions counts now; `None` while no primary has answered in its present life.
    pub fn reign(&self) -> Option<Reign> {
        let primary = self.primary().filter(|primary| primary.high.is_some())?;
        Some(Reign { epoch: self.epoch, incarnation: primary.incarnation })
    }

    /// The primary, when there is one and it answers.
    pub fn primary(&self) -> Option<&Node> {
        self.node(self.primary?).filter(|node| node.is_up())
    }
}

impl Node {
    /// Takes a younger upper bound.
    pub(super) fn raise_high(&mut self, high: High) {
        if self.high.as_ref().is_none_or(|known| known.sent_at <= high.sent_at) {
            self.high = Some(high);
        }
    }

    /// Whether it answers.
    pub fn is_up(&self) -> bool {
        self.health == Health::Up
    }

    /// Whether reads may go to it as to a replica, before any question of freshness.
    pub fn takes_reads(&self) -> bool {
        self.is_up() && !self.drained && self.role == Role::Replica
    }
}
