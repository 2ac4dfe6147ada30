//! Which metrics there are: all names, labels and units in one place. Their meaning is told in `docs/admin.md`.
//!
//! A statement's counters appear when they are first raised, for most of their combinations never occur; everything
//! else is there from the start, so that a rate over it is known.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::NodeConnections;
use super::exposition::{Exposition, Kind};
use crate::cluster::snapshot::{Node, NodeId, Role, Snapshot};
use crate::config::Level;
use crate::endpoint::Endpoint;
use crate::route::{Outcome, Reason};

/// What the metrics are read from.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// The nodes.
    pub snapshot: &'a Snapshot,
    /// What clients connect to, with the counters.
    pub endpoints: &'a [Arc<Endpoint>],
    /// The sessions' connections to the nodes.
    pub connections: &'a NodeConnections,
    /// On how many of them a statement runs now, by node.
    pub active: &'a [usize],
    /// How long each node took to answer last, by node.
    pub round_trips: &'a [Option<Duration>],
    /// How long the program has been running.
    pub uptime: Duration,
}

/// The answer to a scrape.
pub fn metrics(observed: Observed<'_>) -> String {
    let mut text = Exposition::default();
    process(&mut text, observed);
    nodes(&mut text, observed);
    statements(&mut text, observed);
    promises(&mut text, observed);
    speculations(&mut text, observed);
    clients(&mut text, observed);
    text.finish()
}

fn process(text: &mut Exposition, observed: Observed<'_>) {
    text.family("tidemark_build_info", Kind::Gauge, "Always 1; the label tells the version.");
    text.sample(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    text.family(
        "tidemark_start_time_seconds",
        Kind::Gauge,
        "When the program began to serve, in seconds since 1970.",
    );
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    text.sample(&[], now.saturating_sub(observed.uptime).as_secs());
    text.family(
        "tidemark_failovers_total",
        Kind::Counter,
        "Changes of who is primary, or of the primary's history, after the first primary was found.",
    );
    text.sample(&[], observed.snapshot.failovers());
}

fn nodes(text: &mut Exposition, observed: Observed<'_>) {
    let nodes = || observed.snapshot.nodes.iter();
    text.family("tidemark_node_up", Kind::Gauge, "Whether the node answered the last question: 1 or 0.");
    for node in nodes() {
        text.sample(&[("node", &node.name)], u8::from(node.is_up()));
    }
    text.family("tidemark_node_role", Kind::Gauge, "1 for the role that the node has, 0 for the others.");
    for node in nodes() {
        for role in Role::ALL {
            text.sample(&[("node", &node.name), ("role", role.as_str())], u8::from(node.role == role));
        }
    }
    text.family(
        "tidemark_node_drained",
        Kind::Gauge,
        "Whether an operator took the node out of the reads: 1 or 0.",
    );
    for node in nodes() {
        text.sample(&[("node", &node.name)], u8::from(node.drained));
    }
    text.family(
        "tidemark_node_lag_seconds",
        Kind::Gauge,
        "Age of the oldest write that the node has not applied; absent while that is not known.",
    );
    for node in nodes() {
        if let Some(lag) = node.lag {
            text.sample(&[("node", &node.name)], lag.as_secs_f64());
        }
    }
    text.family(
        "tidemark_probe_round_trip_seconds",
        Kind::Gauge,
        "How long the node took to answer the last ping of its watcher; absent before the first.",
    );
    for (node, round_trip) in nodes().zip(observed.round_trips) {
        if let Some(round_trip) = round_trip {
            text.sample(&[("node", &node.name)], round_trip.as_secs_f64());
        }
    }
    backend_connections(text, observed);
}

fn backend_connections(text: &mut Exposition, observed: Observed<'_>) {
    text.family(
        "tidemark_backend_connections",
        Kind::Gauge,
        "Open connections of sessions to the node: active while a statement runs on it, else idle.",
    );
    for node in &observed.snapshot.nodes {
        let (active, idle) = connections(observed, node.id);
        text.sample(&[("node", &node.name), ("state", "active")], active);
        text.sample(&[("node", &node.name), ("state", "idle")], idle);
    }
    text.family(
        "tidemark_backend_connections_waiting",
        Kind::Gauge,
        "Clients in line for one of the connections to the node that sessions share.",
    );
    for node in &observed.snapshot.nodes {
        let waiting = u64::try_from(observed.connections.waiting(node.id)).unwrap_or(0);
        text.sample(&[("node", &node.name)], waiting);
    }
    text.family(
        "tidemark_backend_connections_handed_over_total",
        Kind::Counter,
        "Shared connections to the node that went from one session to another.",
    );
    for node in &observed.snapshot.nodes {
        text.sample(&[("node", &node.name)], observed.connections.handed_over(node.id));
    }
}

/// Active and idle connections to a node. The two counts they come from are not taken at the same moment.
pub fn connections(observed: Observed<'_>, node: NodeId) -> (u64, u64) {
    let open = u64::try_from(observed.connections.open(node)).unwrap_or(0);
    let active = observed.active.get(node.index()).copied().unwrap_or(0);
    let active = u64::try_from(active).unwrap_or(u64::MAX).min(open);
    (active, open - active)
}

fn statements(text: &mut Exposition, observed: Observed<'_>) {
    text.family(
        "tidemark_statements_total",
        Kind::Counter,
        "Statements that a node has answered, by the node's role then and the reason why they went there.",
    );
    for endpoint in observed.endpoints {
        for (node, role, reason, count) in statements_of(endpoint, observed.snapshot) {
            let labels = [
                ("endpoint", endpoint.name.as_str()),
                ("node", &node.name),
                ("role", role.as_str()),
                ("reason", reason.as_str()),
            ];
            text.sample(&labels, count);
        }
    }
}

/// Where an endpoint's statements went, and why: what has occurred.
pub fn statements_of<'a>(
    endpoint: &'a Endpoint,
    snapshot: &'a Snapshot,
) -> impl Iterator<Item = (&'a Node, Role, Reason, u64)> {
    snapshot.nodes.iter().flat_map(move |node| {
        Role::ALL.into_iter().flat_map(move |role| {
            Reason::all().filter_map(move |reason| {
                let count = endpoint.counters.statements(node.id, role, reason);
                (count > 0).then_some((node, role, reason, count))
            })
        })
    })
}

fn promises(text: &mut Exposition, observed: Observed<'_>) {
    text.family(
        "tidemark_consistency_outcomes_total",
        Kind::Counter,
        "Reads under a consistency level, by how the level was kept.",
    );
    for endpoint in observed.endpoints {
        for level in Level::ALL {
            for outcome in Outcome::ALL {
                let labels = [
                    ("endpoint", endpoint.name.as_str()),
                    ("level", level.as_str()),
                    ("outcome", outcome.as_str()),
                ];
                text.sample(&labels, endpoint.counters.outcomes(level, outcome));
            }
        }
    }
    text.family(
        "tidemark_consistency_wait_seconds",
        Kind::Histogram,
        "How long reads waited for the primary's position or for a replica; those that did not wait are not counted.",
    );
    for endpoint in observed.endpoints {
        for level in Level::ALL {
            if let Some(waits) = endpoint.counters.waits(level) {
                text.histogram(&[("endpoint", &endpoint.name), ("level", level.as_str())], waits);
            }
        }
    }
}

fn speculations(text: &mut Exposition, observed: Observed<'_>) {
    text.family(
        "tidemark_speculative_reads_total",
        Kind::Counter,
        "Reads that ran while the primary was asked how fresh they must be: kept, or repeated because it was not enough.",
    );
    for endpoint in observed.endpoints {
        for (result, kept) in [("kept", true), ("repeated", false)] {
            let labels = [("endpoint", endpoint.name.as_str()), ("result", result)];
            text.sample(&labels, endpoint.counters.speculations(kept));
        }
    }
}

fn clients(text: &mut Exposition, observed: Observed<'_>) {
    text.family("tidemark_client_connections", Kind::Gauge, "Clients connected now.");
    for endpoint in observed.endpoints {
        text.sample(&[("endpoint", &endpoint.name)], endpoint.counters.clients());
    }
    text.family(
        "tidemark_logins_refused_total",
        Kind::Counter,
        "Clients turned away before or during login: wrong password, address or number of connections.",
    );
    for endpoint in observed.endpoints {
        text.sample(&[("endpoint", &endpoint.name)], endpoint.counters.refused_logins());
    }
    text.family(
        "tidemark_protocol_errors_total",
        Kind::Counter,
        "Connections closed because a client or a node broke the protocol.",
    );
    for endpoint in observed.endpoints {
        text.sample(&[("endpoint", &endpoint.name)], endpoint.counters.broken_protocols());
    }
    text.family(
        "tidemark_pins_total",
        Kind::Counter,
        "Sessions bound to one connection, by what bound them there.",
    );
    for endpoint in observed.endpoints {
        for reason in Reason::all().filter(|reason| reason.pins()) {
            let labels = [("endpoint", endpoint.name.as_str()), ("reason", reason.as_str())];
            text.sample(&labels, endpoint.counters.pins(reason));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANUAL: &str = include_str!("../../../docs/admin.md");

    #[test]
    fn the_manual_names_every_metric_and_every_value_of_its_labels() {
        let snapshot = Snapshot { epoch: 1, flavor: None, primary: None, nodes: Vec::new() };
        let connections = NodeConnections::new(0);
        let text = metrics(Observed {
            snapshot: &snapshot,
            endpoints: &[],
            connections: &connections,
            active: &[],
            round_trips: &[],
            uptime: Duration::ZERO,
        });
        let names: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
        assert!(names.len() > 10, "{text}");
        let outcomes = Outcome::ALL.map(Outcome::as_str);
        let reasons: Vec<&str> = Reason::all().map(Reason::as_str).collect();
        let labels = outcomes.iter().chain(&reasons).map(|word| format!("`{word}`"));
        for wanted in names.iter().map(|name| format!("`{name}")).chain(labels) {
            assert!(MANUAL.contains(&wanted), "docs/admin.md does not name {wanted}");
        }
    }
}
