//! The configuration after validation: what the rest of the program sees.
//!
//! Nothing here can be wrong any more: names are unique, numbers in range, secrets read. There is no global copy;
//! whoever needs a part is given it.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::address::Address;
use super::choice::{Compression, Mode, Pool, TlsMode};
use super::network::Network;
use super::secret::Secret;
use super::settings::Settings;

/// A whole configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// What concerns all nodes.
    pub cluster: ClusterConfig,
    /// The servers, in the order of the file, which is the order of every node index. At least one.
    pub nodes: Vec<NodeConfig>,
    /// What clients connect to. At least one.
    pub endpoints: Vec<EndpointConfig>,
    /// TLS towards the clients.
    pub tls: EndpointTls,
    /// The admin API and the console, if there is one.
    pub admin: Option<AdminConfig>,
    /// The file it was read from.
    pub(super) origin: PathBuf,
    /// What is allowed but deserves a word at start.
    pub(super) notices: Vec<String>,
}

/// What concerns all nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterConfig {
    /// The account that watches the nodes.
    pub monitor_user: String,
    /// Its password; may be empty.
    pub monitor_password: Secret,
    /// How connections to the nodes are protected.
    pub tls: TlsMode,
    /// Certificates that may sign those of the nodes; present whenever `tls` verifies.
    pub tls_ca: Option<PathBuf>,
    /// How what sessions exchange with the nodes is compressed.
    pub compression: Compression,
    /// Threads that serve; `None` = one for each processor.
    pub workers: Option<usize>,
}

/// A server. Its role is discovered, never configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeConfig {
    /// A unique name.
    pub name: String,
    /// Where it listens.
    pub address: Address,
}

/// What clients connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointConfig {
    /// A unique name.
    pub name: String,
    /// Where it listens.
    pub listen: Address,
    /// What it is for.
    pub mode: Mode,
    /// Client addresses that may connect; empty = all. See [`EndpointConfig::admits`].
    pub allow: Vec<Network>,
    /// Client connections at a time.
    pub max_connections: u32,
    /// When a connection to a server goes back to the pool.
    pub pool: Pool,
    /// Connections to each server that clients share, of all threads together, with `pool = "transaction"`.
    pub pool_size: u32,
    /// What can be changed while running.
    pub settings: Settings,
}

/// TLS towards the clients.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointTls {
    /// The certificate to show; `None` = a self-signed one is made at start.
    pub identity: Option<TlsIdentity>,
    /// Whether clients without TLS are refused. UNIX sockets count as protected.
    pub require: bool,
}

/// A certificate chain and its key, as PEM files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsIdentity {
    /// The chain, the server's own certificate first.
    pub cert: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// The admin API and the console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminConfig {
    /// Where it listens for HTTP.
    pub listen: Address,
    /// What a change must present; `None` only where just this machine can connect.
    pub token: Option<Secret>,
}

impl Config {
    /// The file it was read from, to be read again by a reload.
    pub fn origin(&self) -> &Path {
        &self.origin
    }

    /// What is allowed but deserves a word: settings without effect, files that others can read.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }
}

impl EndpointConfig {
    /// Whether a client from this address may connect.
    pub fn admits(&self, client: IpAddr) -> bool {
        self.allow.is_empty() || self.allow.iter().any(|network| network.contains(client))
    }
}
