//! What clients connect to: `[[endpoint]]`.

use std::ops::RangeInclusive;

use super::Resolver;
use crate::config::choice::{Mode, OnTimeout, Pool};
use crate::config::file::{EndpointFile, NodeFile};
use crate::config::model::EndpointConfig;
use crate::config::network::Network;
use crate::config::settings::{self, Settings};

/// Allowed values of `max_connections`.
const MAX_CONNECTIONS: RangeInclusive<u32> = 1..=1_000_000;
/// `max_connections` unless the file says otherwise.
const MAX_CONNECTIONS_DEFAULT: u32 = 10_000;
/// Allowed numbers of shared connections to a server.
const POOL_SIZE: RangeInclusive<u32> = 1..=100_000;
/// Below the servers' own default of `max_connections`, 151.
const POOL_SIZE_DEFAULT: u32 = 100;

impl Resolver<'_, '_> {
    pub(super) fn endpoints(
        &mut self,
        files: &[EndpointFile],
        nodes: &[NodeFile],
        defaults: &Settings,
    ) -> Option<Vec<EndpointConfig>> {
        if files.is_empty() {
            self.problems.add(0..0, "there is no endpoint", "add an [[endpoint]] with name and listen");
            return None;
        }
        let mut complete = Vec::with_capacity(files.len());
        for (index, file) in files.iter().enumerate() {
            let earlier = files.get(..index).unwrap_or_default();
            let name =
                self.name("endpoint", &file.name, earlier.iter().map(|endpoint| endpoint.name.get_ref()));
            self.unique(
                "listen",
                &file.listen,
                earlier.iter().map(|other| (&other.name, other.listen.get_ref())),
            );
            complete.push(self.endpoint(file, name, nodes, defaults));
        }
        complete.into_iter().collect()
    }

    fn endpoint(
        &mut self,
        file: &EndpointFile,
        name: Option<String>,
        nodes: &[NodeFile],
        defaults: &Settings,
    ) -> Option<EndpointConfig> {
        let listen = self.address(&file.listen);
        let mode = self.word(file.mode.as_ref());
        let allow = self.allow(file);
        let pool = self.word(file.pool.as_ref());
        let max_connections = match &file.max_connections {
            Some(number) => self.number("max_connections", Some(number), &MAX_CONNECTIONS),
            None => Some(MAX_CONNECTIONS_DEFAULT),
        };
        let pool_size = match &file.pool_size {
            Some(number) => self.number("pool_size", Some(number), &POOL_SIZE),
            None => Some(POOL_SIZE_DEFAULT),
        };
        let settings = self.settings(file, nodes, defaults);
        let endpoint = EndpointConfig {
            name: name?,
            listen: listen?,
            mode: mode?,
            allow: allow?,
            max_connections: max_connections?,
            pool: pool?,
            pool_size: pool_size?,
            settings: settings?,
        };
        self.notice_without_effect(&endpoint, file);
        Some(endpoint)
    }

    fn settings(&mut self, file: &EndpointFile, nodes: &[NodeFile], defaults: &Settings) -> Option<Settings> {
        let consistency = self.word(file.consistency.as_ref());
        let global_scope = self.word(file.global_scope.as_ref());
        let on_timeout = self.word(file.on_timeout.as_ref());
        let timeout = self.number_or(
            "consistency_timeout_us",
            file.consistency_timeout_us.as_ref(),
            &settings::CONSISTENCY_TIMEOUT_US,
            defaults.consistency_timeout_us,
        );
        let max_lag = self.number_or(
            "max_lag_ms",
            file.max_lag_ms.as_ref(),
            &settings::MAX_LAG_MS,
            defaults.max_lag_ms,
        );
        let min_replicas = self.number_or(
            "min_replicas",
            file.min_replicas.as_ref(),
            &settings::MIN_REPLICAS,
            defaults.min_replicas,
        );
        let failover_hold = self.number_or(
            "failover_hold_ms",
            file.failover_hold_ms.as_ref(),
            &settings::FAILOVER_HOLD_MS,
            defaults.failover_hold_ms,
        );
        let read_weight = self.read_weight(file, nodes);
        Some(Settings {
            consistency: consistency?,
            global_scope: global_scope?,
            consistency_timeout_us: timeout?,
            on_timeout: on_timeout?,
            read_weight: read_weight?,
            max_lag_ms: max_lag?,
            min_replicas: min_replicas?,
            transaction_split: file.transaction_split.unwrap_or(defaults.transaction_split),
            primary_fallback: file.primary_fallback.unwrap_or(defaults.primary_fallback),
            failover_hold_ms: failover_hold?,
        })
    }

    fn read_weight(&mut self, file: &EndpointFile, nodes: &[NodeFile]) -> Option<Vec<Option<u16>>> {
        let mut weights = vec![None; nodes.len()];
        let mut complete = true;
        for (name, weight) in &file.read_weight {
            let value = self.number("read_weight", Some(weight), &settings::READ_WEIGHT);
            complete &= value.is_some();
            match nodes.iter().position(|node| node.name.get_ref() == name.get_ref()) {
                Some(index) => {
                    if let Some(slot) = weights.get_mut(index) {
                        *slot = value;
                    }
                }
                None => {
                    let names: Vec<&str> = nodes.iter().map(|node| node.name.get_ref().as_str()).collect();
                    let what = format!("read_weight names \"{}\", which is no node", name.get_ref());
                    self.problems.add(name.span(), what, format!("the nodes are {}", names.join(", ")));
                    complete = false;
                }
            }
        }
        complete.then_some(weights)
    }

    fn allow(&mut self, file: &EndpointFile) -> Option<Vec<Network>> {
        let Some(allow) = &file.allow else { return Some(Vec::new()) };
        if allow.get_ref().is_empty() {
            self.problems.add(allow.span(), "allow lists nobody", "leave it out to let everybody connect");
            return None;
        }
        let networks: Vec<Option<Network>> = allow
            .get_ref()
            .iter()
            .map(|text| match text.get_ref().parse() {
                Ok(network) => Some(network),
                Err(error) => {
                    self.add_sentence(text.span(), &format!("{error}"));
                    None
                }
            })
            .collect();
        networks.into_iter().collect()
    }

    /// Settings that are kept but change nothing here.
    fn notice_without_effect(&mut self, endpoint: &EndpointConfig, file: &EndpointFile) {
        let name = &endpoint.name;
        if endpoint.pool_size != POOL_SIZE_DEFAULT && endpoint.pool != Pool::Transaction {
            self.notices
                .push(format!("endpoint {name}: pool_size has no effect without pool = \"transaction\""));
        }
        if endpoint.settings.transaction_split && endpoint.mode == Mode::ReadOnly {
            self.notices.push(format!(
                "endpoint {name}: transaction_split has no effect with mode = \"read-only\", whose transactions run on \
                 one replica"
            ));
        }
        if endpoint.mode == Mode::ReadOnly
            && !endpoint.settings.primary_fallback
            && let Some(action) = &file.on_timeout
            && endpoint.settings.on_timeout == OnTimeout::Primary
        {
            self.notices.push(format!(
                "endpoint {name}: on_timeout = \"{}\" gives an error with mode = \"read-only\", unless \
                 primary_fallback = true",
                action.get_ref()
            ));
        }
        if endpoint.settings.primary_fallback && endpoint.mode == Mode::ReadWrite {
            self.notices.push(format!(
                "endpoint {name}: primary_fallback has no effect with mode = \"read-write\", whose reads may always \
                 use the primary"
            ));
        }
    }
}
