//! What a reload changes, and what of that can be taken while serving.

use super::model::{Config, EndpointConfig};
use super::settings::Settings;

/// One difference between two configurations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What changed, for the log and the answer to a reload. Never shows a secret.
    pub text: String,
    /// When it takes effect.
    pub effect: Effect,
}

/// When a change takes effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// At the next statement of every session.
    Live {
        /// Index of the endpoint in the old configuration.
        endpoint: usize,
        /// Its new settings, with the weights in the node order of the old configuration.
        settings: Settings,
    },
    /// When the program is started again.
    Restart,
}

impl Change {
    fn restart(text: impl Into<String>) -> Self {
        Self { text: text.into(), effect: Effect::Restart }
    }
}

impl Config {
    /// What is different in `new`: first what needs a restart, then what can be taken live.
    pub fn diff(old: &Self, new: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        if old.cluster != new.cluster {
            changes.push(Change::restart("[cluster] changed"));
        }
        changes.extend(nodes(old, new));
        if old.tls != new.tls {
            changes.push(Change::restart("[tls] changed"));
        }
        if old.admin != new.admin {
            changes.push(Change::restart("[admin] changed"));
        }
        for endpoint in &new.endpoints {
            if find(old, endpoint).is_none() {
                changes.push(Change::restart(format!("endpoint {} is new", endpoint.name)));
            }
        }
        for endpoint in &old.endpoints {
            match find(new, endpoint) {
                None => changes.push(Change::restart(format!("endpoint {} is gone", endpoint.name))),
                Some(after) => changes.extend(fixed_parts(endpoint, after)),
            }
        }
        for (index, endpoint) in old.endpoints.iter().enumerate() {
            if let Some(after) = find(new, endpoint) {
                changes.extend(live_parts(old, new, index, after));
            }
        }
        changes
    }
}

/// The endpoint of the same name.
fn find<'a>(config: &'a Config, endpoint: &EndpointConfig) -> Option<&'a EndpointConfig> {
    config.endpoints.iter().find(|other| other.name == endpoint.name)
}

/// New, gone and moved nodes. A mere change of their order is none.
fn nodes(old: &Config, new: &Config) -> Vec<Change> {
    let mut changes = Vec::new();
    for node in &new.nodes {
        if !old.nodes.iter().any(|other| other.name == node.name) {
            changes.push(Change::restart(format!("node {} is new", node.name)));
        }
    }
    for node in &old.nodes {
        match new.nodes.iter().find(|other| other.name == node.name) {
            None => changes.push(Change::restart(format!("node {} is gone", node.name))),
            Some(after) if after.address != node.address => changes.push(Change::restart(format!(
                "node {} moved from {} to {}",
                node.name, node.address, after.address
            ))),
            Some(_) => {}
        }
    }
    changes
}

/// What an endpoint keeps as long as it listens.
fn fixed_parts(before: &EndpointConfig, after: &EndpointConfig) -> Vec<Change> {
    let name = &before.name;
    let mut changes = Vec::new();
    let mut note = |differs: bool, key: &str| {
        if differs {
            changes.push(Change::restart(format!("endpoint {name}: {key} changed")));
        }
    };
    note(before.listen != after.listen, "listen");
    note(before.mode != after.mode, "mode");
    note(before.allow != after.allow, "allow");
    note(before.max_connections != after.max_connections, "max_connections");
    note(before.pool != after.pool, "pool");
    note(before.pool_size != after.pool_size, "pool_size");
    changes
}

/// The settings, if they differ, told key by key.
fn live_parts(old: &Config, new: &Config, index: usize, after: &EndpointConfig) -> Option<Change> {
    let before = old.endpoints.get(index)?;
    let settings = Settings {
        read_weight: old.nodes.iter().map(|node| weight_of(new, after, &node.name)).collect(),
        ..after.settings.clone()
    };
    if settings == before.settings {
        return None;
    }
    let (was, is) = (&before.settings, &settings);
    let mut parts = Vec::new();
    let mut note = |key: &str, was: String, is: String| {
        if was != is {
            parts.push(format!("{key} {was} -> {is}"));
        }
    };
    note("consistency", was.consistency.to_string(), is.consistency.to_string());
    note("global_scope", was.global_scope.to_string(), is.global_scope.to_string());
    note(
        "consistency_timeout_us",
        was.consistency_timeout_us.to_string(),
        is.consistency_timeout_us.to_string(),
    );
    note("on_timeout", was.on_timeout.to_string(), is.on_timeout.to_string());
    for (index, node) in old.nodes.iter().enumerate() {
        let of = |settings: &Settings| {
            settings
                .read_weight
                .get(index)
                .copied()
                .flatten()
                .map_or("default".to_owned(), |weight| weight.to_string())
        };
        note(&format!("read_weight.{}", node.name), of(was), of(is));
    }
    note("max_lag_ms", was.max_lag_ms.to_string(), is.max_lag_ms.to_string());
    note("min_replicas", was.min_replicas.to_string(), is.min_replicas.to_string());
    note("transaction_split", was.transaction_split.to_string(), is.transaction_split.to_string());
    note("primary_fallback", was.primary_fallback.to_string(), is.primary_fallback.to_string());
    note("failover_hold_ms", was.failover_hold_ms.to_string(), is.failover_hold_ms.to_string());
    let text = format!("endpoint {}: {}", before.name, parts.join(", "));
    Some(Change { text, effect: Effect::Live { endpoint: index, settings } })
}

/// The weight an endpoint of `config` gives to the node of this name.
fn weight_of(config: &Config, endpoint: &EndpointConfig, node: &str) -> Option<u16> {
    let index = config.nodes.iter().position(|other| other.name == node)?;
    endpoint.settings.read_weight.get(index).copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const BASE: &str = r#"
        [cluster]
        monitor_user = "m"
        monitor_password = "one"
        [[node]]
        name = "db1"
        address = "a:1"
        [[node]]
        name = "db2"
        address = "b:1"
        [[endpoint]]
        name = "app"
        listen = "127.0.0.1:6446"
        read_weight = { db2 = 50 }
    "#;

    fn parse(text: &str) -> Config {
        Config::parse(text, Path::new("t.toml")).unwrap()
    }

    #[track_caller]
    fn texts(from: &str, to: &str) -> Vec<String> {
        let (old, new) = (parse(BASE), parse(&BASE.replace(from, to)));
        Config::diff(&old, &new)
            .into_iter()
            .map(|change| format!("{:?} {}", kind(&change), change.text))
            .collect()
    }

    fn kind(change: &Change) -> &'static str {
        match change.effect {
            Effect::Live { .. } => "live",
            Effect::Restart => "restart",
        }
    }

    #[test]
    fn settings_are_live() {
        let list = "listen = \"127.0.0.1:6446\"";
        assert_eq!(
            texts(list, &format!("{list}\nconsistency = \"global\"\nmax_lag_ms = 5")),
            ["\"live\" endpoint app: consistency eventual -> global, max_lag_ms 30000 -> 5"]
        );
        assert_eq!(
            texts("db2 = 50", "db1 = 0"),
            ["\"live\" endpoint app: read_weight.db1 default -> 0, read_weight.db2 50 -> default"]
        );
    }

    #[test]
    fn the_rest_needs_a_restart_and_shows_no_secret() {
        assert_eq!(texts("\"one\"", "\"two\""), ["\"restart\" [cluster] changed"]);
        assert_eq!(texts("a:1", "c:1"), ["\"restart\" node db1 moved from a:1 to c:1"]);
        assert_eq!(
            texts("\"app\"", "\"app2\""),
            ["\"restart\" endpoint app2 is new", "\"restart\" endpoint app is gone"]
        );
        assert_eq!(texts("6446", "6447"), ["\"restart\" endpoint app: listen changed"]);
    }

    #[test]
    fn an_unchanged_file_changes_nothing_whatever_the_order_of_its_nodes() {
        assert!(texts("", "").is_empty());
        let swapped =
            BASE.replace("db1", "X").replace("a:1", "Y").replace("\"db2\"", "\"db1\"").replace("b:1", "a:1");
        let swapped = swapped.replace("\"X\"", "\"db2\"").replace('Y', "b:1");
        assert!(Config::diff(&parse(BASE), &parse(&swapped)).is_empty());
    }

    #[test]
    fn live_weights_follow_the_old_order() {
        let old = parse(BASE);
        let new = parse(
            &BASE
                .replace("name = \"db1\"", "name = \"db0\"\naddress = \"z:1\"\n[[node]]\nname = \"db1\"")
                .replace("db2 = 50", "db2 = 60"),
        );
        let live: Vec<_> = Config::diff(&old, &new)
            .into_iter()
            .filter_map(|change| match change.effect {
                Effect::Live { settings, .. } => Some(settings.read_weight),
                Effect::Restart => None,
            })
            .collect();
        assert_eq!(live, [vec![None, Some(60)]]);
    }
}
