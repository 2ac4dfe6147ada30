//! The clusters of a test binary.
//!
//! They are never dropped: at the end of the process the guard of each ends its servers and removes its files.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use sandbox::{Cluster, ClusterOptions, Engine};

/// The cluster of an engine that the tests of this binary share: a primary and two replicas that nobody stops.
pub(crate) fn shared(engine: Engine) -> &'static Cluster {
    static MYSQL: OnceLock<Cluster> = OnceLock::new();
    static MARIADB: OnceLock<Cluster> = OnceLock::new();
    static MARIADB11: OnceLock<Cluster> = OnceLock::new();
    let slot = match engine {
        Engine::Mysql => &MYSQL,
        Engine::Mariadb => &MARIADB,
        Engine::Mariadb11 => &MARIADB11,
    };
    slot.get_or_init(|| start(ClusterOptions::new(engine)))
}

/// A cluster for one test, which may break it.
pub(crate) fn own(engine: Engine) -> Cluster {
    start(ClusterOptions::new(engine))
}

/// A cluster for one test, of its own kind.
pub(crate) fn start(options: ClusterOptions) -> Cluster {
    Cluster::start(options).expect("cluster: `cargo run -p sandbox --example install` brings what is missing")
}

/// A name that no other test of this process uses.
pub(crate) fn unique(prefix: &str) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("{prefix}_{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// A fresh schema on all servers of a cluster.
pub(crate) fn schema(cluster: &Cluster) -> String {
    let name = unique("it");
    cluster.primary().sql(&format!("CREATE DATABASE {name}")).unwrap();
    caught_up(cluster);
    name
}

/// Waits until the replicas have what the primary has.
pub(crate) fn caught_up(cluster: &Cluster) {
    cluster.wait_caught_up(std::time::Duration::from_secs(60)).unwrap();
}
