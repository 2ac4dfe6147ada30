//! The configuration file as it is written: names, types and nothing else.
//!
//! Values that have more rules than their type keep their place in the text ([`Spanned`]), so that `resolve` can say
//! where a mistake is. The doc comments of the fields are the descriptions in the JSON Schema.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::choice::{Compression, GlobalScope, Level, Mode, OnTimeout, Pool, TlsMode};
use super::secret::Secret;

/// Configuration of Tidemark.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(title = "tidemark.toml", extend("required" = ["cluster", "node", "endpoint"]))]
pub(super) struct ConfigFile {
    /// What concerns all nodes.
    pub(super) cluster: ClusterFile,
    /// A server of the cluster. Its role is discovered, never configured.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub(super) node: Vec<NodeFile>,
    /// A listener for clients.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub(super) endpoint: Vec<EndpointFile>,
    /// TLS of the endpoints; without it a self-signed certificate is made at start.
    #[serde(default)]
    #[schemars(with = "TlsFile")]
    pub(super) tls: Option<TlsFile>,
    /// The admin API, the console and the metrics.
    #[serde(default)]
    #[schemars(with = "AdminFile")]
    pub(super) admin: Option<AdminFile>,
    /// Instances that share live settings. Not available in this version.
    #[serde(default)]
    #[schemars(with = "SharedFile")]
    pub(super) shared: Option<Spanned<SharedFile>>,
}

/// What concerns all nodes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table: [cluster]")]
pub(super) struct ClusterFile {
    /// The account that watches the nodes.
    #[schemars(with = "String", length(min = 1))]
    pub(super) monitor_user: Spanned<String>,
    /// Its password. Exactly one of monitor_password, monitor_password_file and monitor_password_env is given.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) monitor_password: Option<Spanned<Secret>>,
    /// A file whose first line is the password.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) monitor_password_file: Option<Spanned<String>>,
    /// An environment variable that holds the password.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) monitor_password_env: Option<Spanned<String>>,
    /// How connections to the nodes are protected.
    #[serde(default)]
    #[schemars(with = "TlsMode", extend("default" = "preferred"))]
    pub(super) tls: Option<Spanned<String>>,
    /// PEM file with the certificates that may sign those of the nodes; needed for verify_ca and verify_identity.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) tls_ca: Option<Spanned<String>>,
    /// How what sessions exchange with the servers is compressed.
    #[serde(default)]
    #[schemars(with = "Compression", extend("default" = "client"))]
    pub(super) compression: Option<Spanned<String>>,
    /// Default of every endpoint that does not say its own.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 0, max = 1_000_000), extend("default" = 10_000))]
    pub(super) consistency_timeout_us: Option<Spanned<i64>>,
    /// Threads that serve; absent = one for each processor.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1, max = 1024))]
    pub(super) workers: Option<Spanned<i64>>,
}

/// A server of the cluster.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table: [[node]]")]
pub(super) struct NodeFile {
    /// A unique name.
    #[schemars(with = "String", regex(pattern = r"^[A-Za-z0-9_-]{1,64}$"))]
    pub(super) name: Spanned<String>,
    /// "host:port" or "unix:/path".
    #[schemars(with = "String")]
    pub(super) address: Spanned<String>,
}

/// A listener for clients.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table: [[endpoint]]")]
pub(super) struct EndpointFile {
    /// A unique name.
    #[schemars(with = "String", regex(pattern = r"^[A-Za-z0-9_-]{1,64}$"))]
    pub(super) name: Spanned<String>,
    /// "host:port" or "unix:/path".
    #[schemars(with = "String")]
    pub(super) listen: Spanned<String>,
    /// What it is for.
    #[serde(default)]
    #[schemars(with = "Mode", extend("default" = "read-write"))]
    pub(super) mode: Option<Spanned<String>>,
    /// How fresh a node must be to serve a read.
    #[serde(default)]
    #[schemars(with = "Level", extend("default" = "eventual"))]
    pub(super) consistency: Option<Spanned<String>>,
    /// Whose writes the level global is about.
    #[serde(default)]
    #[schemars(with = "GlobalScope", extend("default" = "cluster"))]
    pub(super) global_scope: Option<Spanned<String>>,
    /// How long a read waits for a fresh replica, in microseconds; 0 = for ever. Default: the one of [cluster].
    #[serde(default)]
    #[schemars(with = "u32", range(min = 0, max = 1_000_000))]
    pub(super) consistency_timeout_us: Option<Spanned<i64>>,
    /// What happens to a read whose wait has ended without a fresh replica.
    #[serde(default)]
    #[schemars(with = "OnTimeout", extend("default" = "primary"))]
    pub(super) on_timeout: Option<Spanned<String>>,
    /// Share of the reads by node name. Default: 100 for a replica, 0 for the primary.
    #[serde(default)]
    #[schemars(
        with = "BTreeMap<String, u16>",
        extend("additionalProperties" = { "type": "integer", "minimum": 0, "maximum": 1000 })
    )]
    pub(super) read_weight: BTreeMap<Spanned<String>, Spanned<i64>>,
    /// A replica further behind takes no reads, in milliseconds; 0 = no limit.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 0, max = 604_800_000), extend("default" = 30_000))]
    pub(super) max_lag_ms: Option<Spanned<i64>>,
    /// So many replicas stay in rotation, however far behind.
    #[serde(default)]
    #[schemars(with = "u16", range(min = 0, max = 1000), extend("default" = 1))]
    pub(super) min_replicas: Option<Spanned<i64>>,
    /// Whether the reads before the first write of a transaction may leave the primary.
    #[serde(default)]
    #[schemars(with = "bool", extend("default" = false))]
    pub(super) transaction_split: Option<bool>,
    /// Whether a read-only endpoint may use the primary when no replica can serve.
    #[serde(default)]
    #[schemars(with = "bool", extend("default" = false))]
    pub(super) primary_fallback: Option<bool>,
    /// How long what needs a primary waits while there is none, in milliseconds; 0 = not at all.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 0, max = 600_000), extend("default" = 10_000))]
    pub(super) failover_hold_ms: Option<Spanned<i64>>,
    /// When a connection to a server goes back to the pool.
    #[serde(default)]
    #[schemars(with = "Pool", extend("default" = "off"))]
    pub(super) pool: Option<Spanned<String>>,
    /// Connections to each server that clients share, with pool = "transaction".
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1, max = 100_000), extend("default" = 100))]
    pub(super) pool_size: Option<Spanned<i64>>,
    /// Client addresses or blocks that may connect; absent = all.
    #[serde(default)]
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub(super) allow: Option<Spanned<Vec<Spanned<String>>>>,
    /// Client connections at a time.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1, max = 1_000_000), extend("default" = 10_000))]
    pub(super) max_connections: Option<Spanned<i64>>,
}

/// TLS of the endpoints.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table: [tls]")]
pub(super) struct TlsFile {
    /// PEM file with the certificate chain to show; given together with key.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) cert: Option<Spanned<String>>,
    /// PEM file with its private key.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) key: Option<Spanned<String>>,
    /// Whether clients without TLS are refused.
    #[serde(default)]
    #[schemars(with = "bool", extend("default" = false))]
    pub(super) require: Option<bool>,
}

/// The admin API, the console and the metrics.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table: [admin]")]
pub(super) struct AdminFile {
    /// "host:port" or "unix:/path".
    #[schemars(with = "String")]
    pub(super) listen: Spanned<String>,
    /// A file whose first line is what a change must present; needed when not on loopback.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) token_file: Option<Spanned<String>>,
}

/// Instances that share live settings.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table: [shared]")]
pub(super) struct SharedFile {
    /// Members of the etcd cluster.
    #[expect(dead_code, reason = "read by the schema alone while the section is refused")]
    pub(super) etcd: Vec<String>,
}
