//! Changes that somebody asked for, not yet checked: by `PATCH`, by `tidemark set`, by a statement.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::choice::{GlobalScope, Level, OnTimeout, UnknownWord};
#[cfg(doc)]
use super::settings::Settings;
use super::settings::SettingsError;

/// Changes to some settings; what is absent stays as it is.
///
/// As JSON it is the body of `PATCH /api/endpoints/NAME`; as `KEY=VALUE` the arguments of `tidemark set`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SettingsPatch {
    /// See [`Settings::consistency`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consistency: Option<Level>,
    /// See [`Settings::global_scope`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global_scope: Option<GlobalScope>,
    /// See [`Settings::consistency_timeout_us`]; not yet checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consistency_timeout_us: Option<i64>,
    /// See [`Settings::on_timeout`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    /// Weights by node name, not yet checked. Nodes not named keep theirs; `null` brings the default back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_weight: Option<BTreeMap<String, Option<i64>>>,
    /// See [`Settings::max_lag_ms`]; not yet checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_lag_ms: Option<i64>,
    /// See [`Settings::min_replicas`]; not yet checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_replicas: Option<i64>,
    /// See [`Settings::transaction_split`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_split: Option<bool>,
    /// See [`Settings::primary_fallback`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_fallback: Option<bool>,
    /// See [`Settings::failover_hold_ms`]; not yet checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failover_hold_ms: Option<i64>,
}

/// The names of all settings, in the order of the documentation.
const KEYS: &str = "consistency, global_scope, consistency_timeout_us, on_timeout, read_weight.NODE, max_lag_ms, min_replicas, \
                    transaction_split, primary_fallback, failover_hold_ms";

impl SettingsPatch {
    /// Reads arguments of the form `KEY=VALUE`.
    pub fn from_assignments<S: AsRef<str>>(assignments: &[S]) -> Result<Self, SettingsError> {
        let mut patch = Self::default();
        for assignment in assignments {
            let text = assignment.as_ref();
            let (key, value) = text
                .split_once('=')
                .ok_or_else(|| SettingsError::new(text, "there is no =", "write KEY=VALUE"))?;
            patch.assign(key.trim(), value.trim())?;
        }
        Ok(patch)
    }

    /// This change and then the other.
    #[must_use]
    pub fn and_then(self, other: Self) -> Self {
        let read_weight = match (self.read_weight, other.read_weight) {
            (Some(mut earlier), Some(later)) => {
                earlier.extend(later);
                Some(earlier)
            }
            (earlier, later) => later.or(earlier),
        };
        Self {
            consistency: other.consistency.or(self.consistency),
            global_scope: other.global_scope.or(self.global_scope),
            consistency_timeout_us: other.consistency_timeout_us.or(self.consistency_timeout_us),
            on_timeout: other.on_timeout.or(self.on_timeout),
            read_weight,
            max_lag_ms: other.max_lag_ms.or(self.max_lag_ms),
            min_replicas: other.min_replicas.or(self.min_replicas),
            transaction_split: other.transaction_split.or(self.transaction_split),
            primary_fallback: other.primary_fallback.or(self.primary_fallback),
            failover_hold_ms: other.failover_hold_ms.or(self.failover_hold_ms),
        }
    }

    /// Sets one key from text. The weight of a node is `read_weight.NODE`, its default `default`.
    pub fn assign(&mut self, key: &str, value: &str) -> Result<(), SettingsError> {
        match key {
            "consistency" => self.consistency = Some(word(key, value)?),
            "global_scope" => self.global_scope = Some(word(key, value)?),
            "consistency_timeout_us" => self.consistency_timeout_us = Some(number(key, value)?),
            "on_timeout" => self.on_timeout = Some(word(key, value)?),
            "max_lag_ms" => self.max_lag_ms = Some(number(key, value)?),
            "min_replicas" => self.min_replicas = Some(number(key, value)?),
            "transaction_split" => self.transaction_split = Some(truth(key, value)?),
            "primary_fallback" => self.primary_fallback = Some(truth(key, value)?),
            "failover_hold_ms" => self.failover_hold_ms = Some(number(key, value)?),
            _ => {
                let Some(node) = key.strip_prefix("read_weight.").filter(|node| !node.is_empty()) else {
                    return Err(SettingsError::new(
                        key,
                        "there is no such setting",
                        format!("there are {KEYS}"),
                    ));
                };
                let weight = if value == "default" { None } else { Some(number(key, value)?) };
                self.read_weight.get_or_insert_default().insert(node.to_owned(), weight);
            }
        }
        Ok(())
    }
}

fn word<T: FromStr<Err = UnknownWord>>(key: &str, value: &str) -> Result<T, SettingsError> {
    value.parse().map_err(|error: UnknownWord| {
        SettingsError::new(key, format!("unknown {} \"{value}\"", error.what), error.instead())
    })
}

fn number(key: &str, value: &str) -> Result<i64, SettingsError> {
    value
        .parse()
        .map_err(|_| SettingsError::new(key, format!("\"{value}\" is not a number"), "write a whole number"))
}

fn truth(key: &str, value: &str) -> Result<bool, SettingsError> {
    value.parse().map_err(|_| {
        SettingsError::new(key, format!("\"{value}\" is neither true nor false"), "write true or false")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_and_json_say_the_same() {
        let assigned = SettingsPatch::from_assignments(&[
            "consistency=global",
            "consistency_timeout_us = 0",
            "read_weight.db2=50",
            "read_weight.db3=default",
            "transaction_split=true",
        ])
        .unwrap();
        let json = r#"{"consistency": "global", "consistency_timeout_us": 0,
                       "read_weight": {"db2": 50, "db3": null}, "transaction_split": true}"#;
        assert_eq!(assigned, serde_json::from_str(json).unwrap());
    }

    #[test]
    fn an_unknown_key_in_json_is_refused() {
        assert!(serde_json::from_str::<SettingsPatch>(r#"{"lag": 1}"#).is_err());
    }
}
