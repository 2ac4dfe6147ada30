//! The parts of the running program that every session needs, made once at start.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio_rustls::TlsAcceptor;

use crate::cluster::Cluster;
use crate::config::Compression;
use crate::endpoint::Endpoint;
use crate::frontend::{Accounts, Hashes, RsaKey};
use crate::observe::NodeConnections;
use crate::session::Registry;
use crate::transport::compression::{Algorithm, ZSTD_LEVEL};
use crate::transport::tls::ServerTls;

/// The running program. Shared by all threads; what changes in it changes inside its parts.
pub struct Instance {
    /// The nodes.
    pub cluster: Arc<Cluster>,
    /// How many connections the sessions have open to each.
    pub connections: NodeConnections,
    /// What clients connect to.
    pub endpoints: Vec<Arc<Endpoint>>,
    /// TLS towards the nodes.
    pub server_tls: ServerTls,
    /// Compression towards the nodes.
    pub compression: Compression,
    /// TLS towards the clients.
    pub acceptor: TlsAcceptor,
    /// Whether clients must use it.
    pub require_tls: bool,
    /// The key for passwords of clients without TLS.
    pub rsa: RsaKey,
    /// What is remembered of accounts.
    pub accounts: Accounts,
    /// The servers' hashes of native passwords.
    pub hashes: Hashes,
    /// The sessions.
    pub registry: Registry,
    /// The next session's id.
    pub next_id: AtomicU32,
}

impl Instance {
    /// How a session compresses what it exchanges with the nodes, given how its client does.
    pub fn compression_to_servers(&self, client: Option<Algorithm>) -> Option<Algorithm> {
        match self.compression {
            Compression::Client => client,
            Compression::Off => None,
            Compression::Zlib => Some(Algorithm::Zlib),
            Compression::Zstd => Some(Algorithm::Zstd { level: ZSTD_LEVEL }),
        }
    }

    /// An id for a new session: what its client sees as its connection id. Never 0.
    pub fn new_id(&self) -> u32 {
        loop {
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            if id != 0 && !self.registry.contains(id) {
                return id;
            }
        }
    }
}
