//! What the instance looks like now: the answer to `GET /api/status`, and what `tidemark status` reads.
//!
//! Only plain numbers and texts, so that it can be written and read back.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ready;
use crate::cluster::snapshot::{self, Health, Role, Snapshot};
use crate::config::{Level, SettingsPatch};
use crate::endpoint::Endpoint;
use crate::live::Live;
use crate::observe::{BOUNDS_US, Histogram, Observed, connections, statements_of};
use crate::route::{Outcome, Reason};

/// The whole instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Of the program.
    pub version: String,
    /// How long it has been serving.
    pub uptime_s: u64,
    /// Whether it has been asked to stop.
    pub stopping: bool,
    /// What keeps endpoints from serving; empty when `/readyz` says so.
    pub obstacles: Vec<String>,
    /// `mysql` or `mariadb`; absent until a node has answered.
    pub flavor: Option<String>,
    /// The node that takes the writes.
    pub primary: Option<String>,
    /// How often that has changed.
    pub failovers: u64,
    /// In the order of the file.
    pub nodes: Vec<Node>,
    /// In the order of the file.
    pub endpoints: Vec<EndpointStatus>,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its name in the file.
    pub name: String,
    /// Where it listens.
    pub address: String,
    /// `primary`, `replica` or `unknown`.
    pub role: String,
    /// `up` or `down`.
    pub health: String,
    /// Why it is down.
    pub why: Option<String>,
    /// Taken out of the reads by an operator.
    pub drained: bool,
    /// Age of the oldest write that it has not applied, in milliseconds; absent while not known.
    pub lag_ms: Option<u64>,
    /// How many transactions it has not applied that the primary has; absent while not known.
    pub behind: Option<u64>,
    /// How far it has applied the log.
    pub position: String,
    /// Counts its lives, as far as the proxy has seen them.
    pub incarnation: u64,
    /// Of the server; absent until it has answered.
    pub version: Option<String>,
    /// The levels at which it can serve reads.
    pub levels: Vec<Level>,
    /// Why not all of them, each with what to change.
    pub shortcomings: Vec<String>,
    /// Of sessions.
    pub connections: Connections,
    /// How long it took to answer the last ping, in microseconds.
    pub round_trip_us: Option<u64>,
}

/// The sessions' connections to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connections {
    /// A statement runs there.
    pub active: u64,
    /// None does.
    pub idle: u64,
}

/// What clients connect to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndpointStatus {
    /// Its name in the file.
    pub name: String,
    /// Where it listens.
    pub listen: String,
    /// `read-write` or `read-only`.
    pub mode: String,
    /// What can be changed by `PATCH /api/endpoints/NAME`, in the same form.
    pub settings: SettingsPatch,
    /// What has happened since the start.
    pub counters: EndpointCounters,
}

/// What has happened at an endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndpointCounters {
    /// Connected now.
    pub clients: u64,
    /// The most that may be.
    pub max_connections: u32,
    /// Clients turned away before or during login.
    pub logins_refused: u64,
    /// Connections closed because one side broke the protocol.
    pub protocol_errors: u64,
    /// Where statements went, and why.
    pub statements: Vec<Statements>,
    /// Reads by level and outcome.
    pub outcomes: BTreeMap<String, BTreeMap<String, u64>>,
    /// What reads waited for their level.
    pub waits: BTreeMap<String, Waits>,
    /// Sessions bound to one connection, by reason.
    pub pins: BTreeMap<String, u64>,
}

/// Statements that went one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statements {
    /// Where they went.
    pub node: String,
    /// What it was then.
    pub role: String,
    /// Why there.
    pub reason: String,
    /// How many.
    pub count: u64,
}

/// How long reads waited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// How many waited.
    pub count: u64,
    /// For how long, all together, in microseconds.
    pub sum_us: u64,
    /// Upper bounds, in microseconds, and how many waited so long but longer than the bound before. Waits above the
    /// last bound are in `count` alone.
    pub buckets: Vec<(u64, u64)>,
}

/// Takes stock.
pub fn status(live: &Live) -> Status {
    observed(live, |observed| Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_s: observed.uptime.as_secs(),
        stopping: live.is_stopping(),
        obstacles: obstacles(live, observed.snapshot),
        flavor: observed.snapshot.flavor.map(|flavor| flavor.to_string().to_ascii_lowercase()),
        primary: observed.snapshot.primary().map(|node| node.name.to_string()),
        failovers: observed.snapshot.failovers(),
        nodes: observed.snapshot.nodes.iter().map(|of| node(observed, of)).collect(),
        endpoints: observed
            .endpoints
            .iter()
            .map(|of| endpoint(of, observed.snapshot, live.settings_of(of)))
            .collect(),
    })
}

/// What keeps endpoints from serving now.
pub(super) fn obstacles(live: &Live, snapshot: &Snapshot) -> Vec<String> {
    let endpoints = live.instance.endpoints.iter().map(AsRef::as_ref);
    ready::obstacles(snapshot, endpoints, live.is_stopping())
}

/// Collects what metrics and status are read from.
pub(super) fn observed<T>(live: &Live, read: impl FnOnce(Observed<'_>) -> T) -> T {
    let instance = &live.instance;
    let snapshot = instance.cluster.snapshot();
    let active = instance.registry.running_by_node(snapshot.nodes.len());
    let round_trips: Vec<_> =
        snapshot.nodes.iter().map(|node| instance.cluster.round_trip(node.id)).collect();
    read(Observed {
        snapshot: &snapshot,
        endpoints: &instance.endpoints,
        connections: &instance.connections,
        active: &active,
        round_trips: &round_trips,
        uptime: live.since.elapsed(),
    })
}

fn node(observed: Observed<'_>, of: &snapshot::Node) -> Node {
    let (active, idle) = connections(observed, of.id);
    let shortcomings = of.facts.as_ref().map(|facts| facts.shortcomings.clone()).unwrap_or_default();
    let levels = match &of.facts {
        None => Vec::new(),
        Some(_) if shortcomings.is_empty() => Level::ALL.to_vec(),
        Some(_) => vec![Level::Eventual],
    };
    Node {
        name: of.name.to_string(),
        address: of.address.to_string(),
        role: of.role.as_str().to_owned(),
        health: if of.is_up() { "up" } else { "down" }.to_owned(),
        why: match &of.health {
            Health::Up => None,
            Health::Down(why) => Some(why.to_string()),
        },
        drained: of.drained,
        lag_ms: of.lag.map(|lag| u64::try_from(lag.as_millis()).unwrap_or(u64::MAX)),
        behind: behind(of, observed.snapshot),
        position: position(of),
        incarnation: of.incarnation,
        version: of.facts.as_ref().map(|facts| facts.version.clone()),
        levels,
        shortcomings,
        connections: Connections { active, idle },
        round_trip_us: observed.round_trips.get(of.id.index()).copied().flatten().map(us),
    }
}

/// A MariaDB primary's own writes are not in what it has applied; what it has logged tells where it is.
fn position(of: &snapshot::Node) -> String {
    match &of.high {
        Some(high) if of.role == Role::Primary => high.position.to_string(),
        _ => of.low.to_string(),
    }
}

/// What a node lacks of what the primary had logged when it was last heard of. A node that has not told its position in
/// this life lacks nothing that is known.
fn behind(node: &snapshot::Node, snapshot: &Snapshot) -> Option<u64> {
    let primary = snapshot.primary()?;
    if primary.id == node.id {
        return Some(0);
    }
    let reached = &primary.high.as_ref()?.position;
    (node.is_up() && node.follows && node.low.flavor() == reached.flavor() && !node.low.is_empty())
        .then(|| reached.count_missing_from(&node.low))
}

fn us(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn endpoint(of: &Endpoint, snapshot: &Snapshot, settings: SettingsPatch) -> EndpointStatus {
    let counters = &of.counters;
    let outcomes = |level| {
        let count = |outcome: Outcome| (outcome.as_str().to_owned(), counters.outcomes(level, outcome));
        Outcome::ALL.into_iter().map(count).collect()
    };
    let by_level = |level: Level| level.as_str().to_owned();
    EndpointStatus {
        name: of.name.clone(),
        listen: of.listen.to_string(),
        mode: of.mode.as_str().to_owned(),
        settings,
        counters: EndpointCounters {
            clients: u64::try_from(counters.clients()).unwrap_or(0),
            max_connections: of.config.max_connections,
            logins_refused: counters.refused_logins(),
            protocol_errors: counters.broken_protocols(),
            statements: statements_of(of, snapshot)
                .map(|(node, role, reason, count)| Statements {
                    node: node.name.to_string(),
                    role: role.as_str().to_owned(),
                    reason: reason.as_str().to_owned(),
                    count,
                })
                .collect(),
            outcomes: Level::ALL.into_iter().map(|level| (by_level(level), outcomes(level))).collect(),
            waits: Level::ALL
                .into_iter()
                .filter_map(|level| Some((by_level(level), waits(counters.waits(level)?))))
                .collect(),
            pins: Reason::all()
                .filter(|reason| reason.pins())
                .map(|reason| (reason.as_str().to_owned(), counters.pins(reason)))
                .collect(),
        },
    }
}

fn waits(of: &Histogram) -> Waits {
    let buckets = of.buckets();
    Waits {
        count: buckets.iter().sum(),
        sum_us: of.sum_us(),
        buckets: BOUNDS_US.into_iter().zip(buckets).collect(),
    }
}
