//! Whether the instance should be sent clients: `GET /readyz`.

use crate::cluster::snapshot::Snapshot;
use crate::config::Mode;
use crate::endpoint::Endpoint;

/// What keeps endpoints from serving; empty when all can.
pub(super) fn obstacles<'a>(
    snapshot: &Snapshot,
    endpoints: impl Iterator<Item = &'a Endpoint>,
    stopping: bool,
) -> Vec<String> {
    let mut found = Vec::new();
    if stopping {
        found.push("the proxy is stopping".to_owned());
    }
    for endpoint in endpoints {
        let has_primary = snapshot.primary().is_some();
        let has_replica = snapshot.nodes.iter().any(|node| node.takes_reads());
        let fallback = endpoint.settings.load().primary_fallback;
        match endpoint.mode {
            Mode::ReadWrite if !has_primary => {
                found.push(format!(
                    "endpoint {}: no node is primary; tidemark check tells why",
                    endpoint.name
                ));
            }
            Mode::ReadOnly if !(has_replica || fallback && has_primary) => {
                found.push(format!("endpoint {}: no replica is up and in rotation", endpoint.name));
            }
            _ => {}
        }
    }
    found
}
