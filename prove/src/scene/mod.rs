//! What is broken and mended: a cluster, the proxies before it, and the network between all of them.
//!
//! Every connection from a proxy to a node, and from a replica to its source, goes through a relay of its own.

mod clock;
mod proxy;
mod relay;
mod settle;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sandbox::{Cluster, ClusterOptions, Engine, Family, Server};

pub use clock::Clock;
pub(crate) use proxy::Plan;
pub use proxy::Proxy;
pub use relay::Relay;

use crate::driver::Driver;
use crate::error::{Error, Result};

/// How long replicas may take to catch up when everything is mended.
const CATCH_UP_LIMIT: Duration = Duration::from_secs(60);

/// What the endpoints of the proxies say: the first as an example would, the second with much patience, a primary that
/// takes its share of the reads, and transactions that begin on replicas.
const ENDPOINTS: [&str; 2] = [
    "consistency_timeout_us = 10000",
    "consistency_timeout_us = 200000\nread_weight = { db1 = 25 }\ntransaction_split = true",
];

/// All of it. Dropping it ends the servers and proxies and removes their files.
#[derive(Debug)]
pub struct Scene {
    /// The proxies, `A` and `B`.
    pub proxies: Vec<Proxy>,
    /// By proxy, then by node: the way there.
    pub links: Vec<Vec<Relay>>,
    /// By node: the way of what it replicates.
    pub feeds: Vec<Relay>,
    /// The clock of the proxies, where it can be set.
    pub clock: Option<Clock>,
    /// The servers.
    pub cluster: Cluster,
    primary_port: Arc<Mutex<u16>>,
    _network: Driver,
    directory: PathBuf,
}

impl Scene {
    /// Starts the servers and two proxies.
    pub(crate) fn start(engine: Engine, program: &Path) -> Result<Self> {
        let options = ClusterOptions::new(engine).tls(false);
        let cluster = Cluster::start(options)?;
        let network = Driver::start("network")?;
        let directory = cluster.directory().join("prove");
        fs::create_dir_all(&directory).map_err(Error::system("cannot create a directory"))?;
        let clock = Clock::new(&directory)?;
        let addresses: Vec<SocketAddr> = cluster.servers().iter().map(Server::address).collect();
        let open = |target: &SocketAddr| Relay::open(network.handle(), *target);
        let links: Vec<Vec<Relay>> =
            ENDPOINTS.iter().map(|_| addresses.iter().map(open).collect()).collect::<Result<_>>()?;
        let source = cluster.primary().address();
        let feeds = addresses.iter().map(|_| open(&source)).collect::<Result<_>>()?;
        let primary_port = Arc::new(Mutex::new(source.port()));
        let mut scene = Self {
            proxies: Vec::new(),
            links,
            feeds,
            clock,
            cluster,
            primary_port,
            _network: network,
            directory,
        };
        for replica in scene.cluster.replicas() {
            scene.follow_through_relay(replica)?;
        }
        for (name, endpoint) in ('A'..).zip(ENDPOINTS) {
            let links = usize::try_from(u32::from(name) - u32::from('A')).unwrap_or_default();
            let proxy = scene.start_proxy(program, name, endpoint, links, None)?;
            scene.proxies.push(proxy);
        }
        Ok(scene)
    }

    /// Starts one more proxy on the ways of another.
    pub(crate) fn start_proxy(
        &self,
        program: &Path,
        name: char,
        endpoint: &str,
        links: usize,
        sabotage: Option<&str>,
    ) -> Result<Proxy> {
        let names = self.cluster.servers().iter().map(|server| server.name().to_owned());
        let ways = self.links.get(links).map(Vec::as_slice).unwrap_or_default();
        let nodes = names.zip(ways.iter().map(Relay::address)).collect();
        let clock = self.clock.as_ref();
        Proxy::start(&proxy::Plan { program, name, endpoint, nodes, sabotage, clock }, &self.directory)
    }

    /// Has a server fetch what it replicates through its relay, from the primary of now.
    pub(crate) fn follow_through_relay(&self, server: &Server) -> Result<()> {
        let Some(feed) = self.feed(server) else { return Ok(()) };
        feed.lead_to(self.cluster.current_primary().address());
        let port = feed.address().port();
        let statements = match server.engine().family() {
            Family::Mysql => {
                format!("STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_PORT={port}; START REPLICA")
            }
            Family::Mariadb => {
                format!(
                    "STOP SLAVE; CHANGE MASTER TO MASTER_PORT={port}, MASTER_USE_GTID=slave_pos; START SLAVE"
                )
            }
        };
        server.sql(&statements)?;
        Ok(())
    }

    /// The way of what a server replicates.
    pub(crate) fn feed(&self, server: &Server) -> Option<&Relay> {
        self.feeds.get(self.index(server)?)
    }

    /// Which of the servers it is.
    pub(crate) fn index(&self, server: &Server) -> Option<usize> {
        self.cluster.servers().iter().position(|known| known.name() == server.name())
    }

    /// The servers that are replicas now.
    pub(crate) fn replicas(&self) -> Vec<&Server> {
        let primary = self.cluster.current_primary().name();
        self.cluster.servers().iter().filter(|server| server.name() != primary).collect()
    }

    /// The port of the primary, whichever server that is.
    pub(crate) fn primary_port(&self) -> Arc<Mutex<u16>> {
        Arc::clone(&self.primary_port)
    }

    /// Has those who go around the proxies use another primary.
    pub(crate) fn tell_primary(&self) {
        let port = self.cluster.current_primary().port();
        *self.primary_port.lock().unwrap_or_else(PoisonError::into_inner) = port;
    }
}
