//! What clients connect to, while the program runs: its fixed parts, its live settings and its counters.

use arc_swap::ArcSwap;

use crate::config::{Address, EndpointConfig, Mode, Settings};
use crate::observe::Counters;

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
    /// The settings in force for the next statement of every session.
    pub settings: ArcSwap<Settings>,
    /// What has happened here.
    pub counters: Counters,
}

impl Endpoint {
    /// Makes the endpoint that a part of the file describes, over so many nodes.
    pub fn new(config: EndpointConfig, nodes: usize) -> Self {
        Self {
            name: config.name.clone(),
            listen: config.listen.clone(),
            mode: config.mode,
            settings: ArcSwap::from_pointee(config.settings.clone()),
            counters: Counters::new(nodes),
            config,
        }
    }
}
