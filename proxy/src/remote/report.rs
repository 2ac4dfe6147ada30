//! What an instance said, as tables.

use std::fmt;

use crate::admin::status::{EndpointStatus, Node, Status};
use crate::config::SettingsPatch;
use crate::table::Align::{Left, Right};
use crate::table::{Table, printable, shortened};

/// The longest position that is shown, in characters: a set with one source fits.
const POSITION_LIMIT: usize = 60;

/// The whole instance.
pub(super) struct Report<'a>(pub(super) &'a Status);

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.0;
        let primary = status.primary.as_deref().unwrap_or("none");
        write!(f, "tidemark {}, up {}, primary {primary}", status.version, duration(status.uptime_s))?;
        match status.failovers {
            0 => {}
            1 => write!(f, ", which has changed once")?,
            times => write!(f, ", which has changed {times} times")?,
        }
        writeln!(f, "{}\n", if status.stopping { ", stopping" } else { "" })?;
        write!(f, "{}\n{}", nodes(&status.nodes), endpoints(&status.endpoints))?;
        let mut notes = status.nodes.iter().flat_map(notes).peekable();
        if notes.peek().is_some() {
            writeln!(f)?;
        }
        notes.try_for_each(|note| writeln!(f, "{}", printable(&note)))
    }
}

fn nodes(nodes: &[Node]) -> Table {
    let mut table = Table::new(&[
        ("NODE", Left),
        ("ADDRESS", Left),
        ("ROLE", Left),
        ("HEALTH", Left),
        ("LAG_MS", Right),
        ("BEHIND", Right),
        ("SESSIONS", Right),
        ("POSITION", Left),
    ]);
    for node in nodes {
        let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
        let drained = if node.drained { ", drained" } else { "" };
        table.row([
            node.name.clone(),
            node.address.clone(),
            node.role.clone(),
            format!("{}{drained}", node.health),
            number(node.lag_ms),
            number(node.behind),
            (node.connections.active + node.connections.idle).to_string(),
            shortened(&node.position, POSITION_LIMIT),
        ]);
    }
    table
}

fn endpoints(endpoints: &[EndpointStatus]) -> Table {
    let mut table = Table::new(&[
        ("ENDPOINT", Left),
        ("LISTEN", Left),
        ("MODE", Left),
        ("CONSISTENCY", Left),
        ("TIMEOUT_US", Right),
        ("CLIENTS", Right),
        ("STATEMENTS", Right),
        ("ON REPLICAS", Right),
        ("FRESH", Right),
        ("WAITED", Right),
        ("PRIMARY", Right),
        ("STALE", Right),
        ("ERROR", Right),
    ]);
    for endpoint in endpoints {
        let statements = &endpoint.counters.statements;
        let all: u64 = statements.iter().map(|way| way.count).sum();
        let on_replicas: u64 =
            statements.iter().filter(|way| way.role == "replica").map(|way| way.count).sum();
        let outcome = |name: &str| {
            let levels = endpoint.counters.outcomes.values();
            levels.filter_map(|outcomes| outcomes.get(name)).sum::<u64>().to_string()
        };
        table.row([
            endpoint.name.clone(),
            endpoint.listen.clone(),
            endpoint.mode.clone(),
            endpoint.settings.consistency.map_or("", |level| level.as_str()).to_owned(),
            endpoint.settings.consistency_timeout_us.map_or_else(String::new, |timeout| timeout.to_string()),
            endpoint.counters.clients.to_string(),
            all.to_string(),
            on_replicas.to_string(),
            outcome("fresh"),
            outcome("waited"),
            outcome("primary"),
            outcome("stale"),
            outcome("error"),
        ]);
    }
    table
}

/// What an operator should know of a node and cannot see in its row.
fn notes(node: &Node) -> impl Iterator<Item = String> {
    let down = node.why.iter().map(|why| format!("{} is down: {why}", node.name));
    let short = node.shortcomings.iter().map(|what| format!("{} serves eventual only: {what}", node.name));
    down.chain(short)
}

fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86400, seconds % 86400 / 3600),
    }
}

/// The settings of an endpoint, one a line, as `tidemark set` takes them.
pub(super) struct Settings<'a>(pub(super) &'a SettingsPatch);

impl fmt::Display for Settings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(serde_json::Value::Object(settings)) = serde_json::to_value(self.0) else { return Ok(()) };
        for (key, value) in &settings {
            match value {
                serde_json::Value::Object(weights) => {
                    for (node, weight) in weights {
                        let weight = if weight.is_null() { "default".to_owned() } else { weight.to_string() };
                        writeln!(f, "  {key}.{node}={weight}")?;
                    }
                }
                serde_json::Value::String(word) => writeln!(f, "  {key}={word}")?,
                other => writeln!(f, "  {key}={other}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_printed_as_they_are_set() {
        let patch = SettingsPatch::from_assignments(&[
            "consistency=global",
            "read_weight.db1=default",
            "read_weight.db2=5",
            "transaction_split=true",
        ])
        .unwrap();
        let text = Settings(&patch).to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(SettingsPatch::from_assignments(&lines).unwrap(), patch);
    }

    #[test]
    fn durations_are_told_in_two_units() {
        assert_eq!([59, 61, 3_700, 90_000].map(duration), ["59 s", "1 min 1 s", "1 h 1 min", "1 d 1 h"]);
    }
}
