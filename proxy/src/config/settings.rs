//! What can be changed on an endpoint while it serves.
//!
//! [`Settings`] are valid by construction; a [`SettingsPatch`] is what somebody asked for, in the file, by `PATCH` or
//! by `tidemark set`, and becomes settings only through [`Settings::apply`].

use std::ops::RangeInclusive;

use super::choice::{GlobalScope, Level, OnTimeout};
use super::model::NodeConfig;
use super::patch::SettingsPatch;

/// Allowed values of `consistency_timeout_us`, in microseconds; 0 stands for no limit.
pub(super) const CONSISTENCY_TIMEOUT_US: RangeInclusive<u32> = 0..=1_000_000;
/// Allowed values of a read weight.
pub(super) const READ_WEIGHT: RangeInclusive<u16> = 0..=1000;
/// Allowed values of `max_lag_ms`, in milliseconds: up to a week; 0 stands for no limit.
pub(super) const MAX_LAG_MS: RangeInclusive<u32> = 0..=604_800_000;
/// Allowed values of `min_replicas`.
pub(super) const MIN_REPLICAS: RangeInclusive<u16> = 0..=1000;

/// Allowed values of `failover_hold_ms`, in milliseconds.
pub(super) const FAILOVER_HOLD_MS: RangeInclusive<u32> = 0..=600_000;

/// The weight of a replica whose weight nobody set.
const REPLICA_WEIGHT: u16 = 100;
/// The weight of the primary when nobody set one: it takes reads only when no replica can.
const PRIMARY_WEIGHT: u16 = 0;

/// The live settings of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// How fresh a node must be to serve a read.
    pub consistency: Level,
    /// Whose writes the level `global` is about.
    pub global_scope: GlobalScope,
    /// How long a read waits for a fresh replica, in microseconds, 0..=1 000 000; 0 = for ever.
    pub consistency_timeout_us: u32,
    /// What happens to a read whose wait has ended without one.
    pub on_timeout: OnTimeout,
    /// Share of the reads, 0..=1000, by node in the order of the file; `None` = the default of the node's role.
    pub read_weight: Vec<Option<u16>>,
    /// A replica further behind takes no reads, in milliseconds; 0 = no limit.
    pub max_lag_ms: u32,
    /// So many replicas stay in rotation, however far behind.
    pub min_replicas: u16,
    /// Whether the reads before the first write of a transaction may leave the primary.
    pub transaction_split: bool,
    /// Whether a read-only endpoint may use the primary when no replica can serve.
    pub primary_fallback: bool,
    /// How long what needs a primary waits while there is none, in milliseconds; 0 = not at all.
    pub failover_hold_ms: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            consistency: Level::default(),
            global_scope: GlobalScope::default(),
            consistency_timeout_us: 10_000,
            on_timeout: OnTimeout::default(),
            read_weight: Vec::new(),
            max_lag_ms: 30_000,
            min_replicas: 1,
            transaction_split: false,
            primary_fallback: false,
            failover_hold_ms: 10_000,
        }
    }
}

/// A value that a setting cannot take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {what}; {instead}")]
pub struct SettingsError {
    /// The setting, such as `max_lag_ms` or `read_weight.db2`.
    pub key: String,
    /// What is wrong with the value.
    pub what: String,
    /// What to write instead.
    pub instead: String,
}

impl SettingsError {
    pub(super) fn new(key: &str, what: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { key: key.to_owned(), what: what.into(), instead: instead.into() }
    }
}

/// Brings a number into the range of its setting.
pub(super) fn in_range<T>(key: &str, value: i64, range: &RangeInclusive<T>) -> Result<T, SettingsError>
where
    T: TryFrom<i64> + PartialOrd + std::fmt::Display,
{
    T::try_from(value).ok().filter(|number| range.contains(number)).ok_or_else(|| {
        let instead = format!("write a number from {} to {}", range.start(), range.end());
        SettingsError::new(key, format!("{value} is out of range"), instead)
    })
}

/// The index of a node by its name.
fn node_index(key: &str, name: &str, nodes: &[NodeConfig]) -> Result<usize, SettingsError> {
    nodes.iter().position(|node| node.name == name).ok_or_else(|| {
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        SettingsError::new(
            key,
            format!("no node is called \"{name}\""),
            format!("the nodes are {}", names.join(", ")),
        )
    })
}

impl Settings {
    /// The share of the reads that a node gets, 0..=1000; 0 = none while another node can serve.
    pub fn weight(&self, node: usize, is_primary: bool) -> u16 {
        let default = if is_primary { PRIMARY_WEIGHT } else { REPLICA_WEIGHT };
        self.read_weight.get(node).copied().flatten().unwrap_or(default)
    }

    /// These settings with the changes made, or the first change that cannot be made.
    pub fn apply(&self, patch: &SettingsPatch, nodes: &[NodeConfig]) -> Result<Self, SettingsError> {
        let mut new = self.clone();
        new.read_weight.resize(nodes.len(), None);
        if let Some(level) = patch.consistency {
            new.consistency = level;
        }
        if let Some(scope) = patch.global_scope {
            new.global_scope = scope;
        }
        if let Some(value) = patch.consistency_timeout_us {
            new.consistency_timeout_us = in_range("consistency_timeout_us", value, &CONSISTENCY_TIMEOUT_US)?;
        }
        if let Some(action) = patch.on_timeout {
            new.on_timeout = action;
        }
        for (name, weight) in patch.read_weight.iter().flatten() {
            let key = format!("read_weight.{name}");
            let index = node_index(&key, name, nodes)?;
            let weight = weight.map(|value| in_range(&key, value, &READ_WEIGHT)).transpose()?;
            if let Some(slot) = new.read_weight.get_mut(index) {
                *slot = weight;
            }
        }
        if let Some(value) = patch.max_lag_ms {
            new.max_lag_ms = in_range("max_lag_ms", value, &MAX_LAG_MS)?;
        }
        if let Some(value) = patch.min_replicas {
            new.min_replicas = in_range("min_replicas", value, &MIN_REPLICAS)?;
        }
        if let Some(value) = patch.transaction_split {
            new.transaction_split = value;
        }
        if let Some(value) = patch.primary_fallback {
            new.primary_fallback = value;
        }
        if let Some(value) = patch.failover_hold_ms {
            new.failover_hold_ms = in_range("failover_hold_ms", value, &FAILOVER_HOLD_MS)?;
        }
        Ok(new)
    }

    /// The patch that turns any settings into these: what `GET /api/status` shows.
    pub fn to_patch(&self, nodes: &[NodeConfig]) -> SettingsPatch {
        let weights = nodes.iter().enumerate().map(|(index, node)| {
            let weight = self.read_weight.get(index).copied().flatten();
            (node.name.clone(), weight.map(i64::from))
        });
        SettingsPatch {
            consistency: Some(self.consistency),
            global_scope: Some(self.global_scope),
            consistency_timeout_us: Some(self.consistency_timeout_us.into()),
            on_timeout: Some(self.on_timeout),
            read_weight: Some(weights.collect()),
            max_lag_ms: Some(self.max_lag_ms.into()),
            min_replicas: Some(self.min_replicas.into()),
            transaction_split: Some(self.transaction_split),
            primary_fallback: Some(self.primary_fallback),
            failover_hold_ms: Some(self.failover_hold_ms.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes() -> Vec<NodeConfig> {
        ["db1", "db2", "db3"]
            .into_iter()
            .zip(["a:1", "b:1", "c:1"])
            .map(|(name, address)| NodeConfig { name: name.into(), address: address.parse().unwrap() })
            .collect()
    }

    #[test]
    fn a_patch_changes_what_it_names_and_nothing_else() {
        let start =
            Settings { max_lag_ms: 7, read_weight: vec![Some(1), Some(2), None], ..Settings::default() };
        let patch =
            SettingsPatch::from_assignments(&["read_weight.db2=default", "read_weight.db3=9"]).unwrap();
        let new = start.apply(&patch, &nodes()).unwrap();
        assert_eq!(new, Settings { read_weight: vec![Some(1), None, Some(9)], ..start });
    }

    #[test]
    fn settings_survive_the_way_through_a_patch() {
        let settings = Settings {
            consistency: Level::Global,
            global_scope: GlobalScope::Proxy,
            consistency_timeout_us: 0,
            on_timeout: OnTimeout::Stale,
            read_weight: vec![None, Some(0), Some(1000)],
            max_lag_ms: 0,
            min_replicas: 0,
            transaction_split: true,
            primary_fallback: true,
            failover_hold_ms: 0,
        };
        let json = serde_json::to_string(&settings.to_patch(&nodes())).unwrap();
        let patch: SettingsPatch = serde_json::from_str(&json).unwrap();
        assert_eq!(Settings::default().apply(&patch, &nodes()).unwrap(), settings);
    }

    #[test]
    fn limits_are_kept_and_told() {
        #[track_caller]
        fn check(assignment: &str, wanted: &str) {
            let error = SettingsPatch::from_assignments(&[assignment])
                .and_then(|patch| Settings::default().apply(&patch, &nodes()))
                .unwrap_err()
                .to_string();
            assert!(error.contains(wanted), "{assignment}: {error}");
        }
        check("consistency_timeout_us=1000001", "from 0 to 1000000");
        check("consistency_timeout_us=-1", "from 0 to 1000000");
        check("consistency_timeout_us=1.5", "not a number");
        check("read_weight.db2=1001", "from 0 to 1000");
        check("read_weight.db9=1", "the nodes are db1, db2, db3");
        check("min_replicas=70000", "from 0 to 1000");
        check("max_lag_ms=9223372036854775807", "from 0 to 604800000");
        check("consistency=strong", "\"eventual\", \"session\" or \"global\"");
        check("primary_fallback=yes", "true or false");
        check("timeout=1", "consistency_timeout_us");
        check("read_weight.=1", "no such setting");
        check("consistency", "KEY=VALUE");
    }

    #[test]
    fn weights_default_by_role() {
        let settings = Settings { read_weight: vec![None, Some(7)], ..Settings::default() };
        assert_eq!(settings.weight(0, true), 0);
        assert_eq!(settings.weight(0, false), 100);
        assert_eq!(settings.weight(1, true), 7);
        assert_eq!(settings.weight(99, false), 100);
    }
}
