//! What clients connect to, while the program runs: its fixed parts, its live settings and its counters.

use arc_swap::ArcSwap;

use crate::cluster::snapshot::Node;
use crate::config::{Address, EndpointConfig, Mode, Settings};
use crate::observe::Counters;

/// Of the connections that a server takes so many are left to others: replicas, administrators, and Tidemark itself, which
/// watches the server and asks it for its position.
const LEFT_FREE: usize = 10;

/// A running endpoint.
#[derive(Debug)]
pub struct Endpoint {
    /// Its name in the file.
    pub name: String,
    /// Where it listens.
    pub listen: Address,
    /// What it is for.
    pub mode: Mode,
    /// The part of the file it was made from.
    pub config: EndpointConfig,
    threads: usize,
    /// The settings in force for the next statement of every session.
    pub settings: ArcSwap<Settings>,
    /// What has happened here.
    pub counters: Counters,
}

impl Endpoint {
    /// Makes the endpoint that a part of the file describes, over so many nodes, served by so many threads.
    pub fn new(config: EndpointConfig, nodes: usize, threads: usize) -> Self {
        Self {
            threads: threads.max(1),
            name: config.name.clone(),
            listen: config.listen.clone(),
            mode: config.mode,
            settings: ArcSwap::from_pointee(config.settings.clone()),
            counters: Counters::new(nodes),
            config,
        }
    }

    /// How many connections to a node sessions share on each thread, with `pool = "transaction"`.
    pub fn places(&self, node: &Node) -> usize {
        let pool_size = usize::try_from(self.config.pool_size).unwrap_or(usize::MAX);
        let takes = node.facts.as_ref().map_or(usize::MAX, |facts| facts.max_connections);
        // A thread without any could serve nobody.
        (pool_size.min(takes.saturating_sub(LEFT_FREE)) / self.threads).max(1)
    }
}
