//! A cluster that a test may break: whole when the test begins, and nobody else's until it ends.

use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use sandbox::{Cluster, ClusterOptions, Engine, Server};

use crate::harness::client::Client;
use crate::harness::clusters::{caught_up, own, schema, start};
use crate::harness::login::Account;
use crate::harness::proxy::Proxy;
use crate::harness::stream::Target;
use crate::harness::wait::PATIENCE;

/// So late that nothing arrives while a test runs, in seconds.
pub(super) const NEVER: u32 = 3600;

/// A cluster with a fresh schema.
pub(super) struct Scene {
    pub(super) cluster: Held,
    pub(super) schema: String,
}

/// How a test has its cluster.
pub(super) enum Held {
    /// Others have it after this test.
    Shared(MutexGuard<'static, Cluster>),
    /// It ends with the test.
    Own(Box<Cluster>),
}

impl Deref for Held {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        match self {
            Self::Shared(cluster) => cluster,
            Self::Own(cluster) => cluster,
        }
    }
}

impl Scene {
    /// The engine's cluster, as soon as no other test has it. What the test before broke is mended.
    pub(super) fn new(engine: Engine) -> Self {
        static MYSQL: OnceLock<Mutex<Cluster>> = OnceLock::new();
        static MARIADB: OnceLock<Mutex<Cluster>> = OnceLock::new();
        let slot = if engine == Engine::Mysql { &MYSQL } else { &MARIADB };
        let cluster = slot.get_or_init(|| Mutex::new(own(engine)));
        let cluster = cluster.lock().unwrap_or_else(PoisonError::into_inner);
        mend(&cluster);
        let schema = schema(&cluster);
        Self { cluster: Held::Shared(cluster), schema }
    }

    /// A cluster of its own kind, or one that cannot be mended.
    pub(super) fn own(options: ClusterOptions) -> Self {
        let cluster = start(options);
        let schema = schema(&cluster);
        Self { cluster: Held::Own(Box::new(cluster)), schema }
    }

    /// The application's account, with the schema.
    pub(super) fn account(&self) -> Account {
        Account::app().schema(&self.schema)
    }

    /// A client of an endpoint.
    pub(super) fn client(&self, proxy: &Proxy, endpoint: &str) -> Client {
        self.account().connect(&proxy.target(endpoint)).unwrap()
    }

    /// A client of the primary itself.
    pub(super) fn at_primary(&self) -> Client {
        self.account().connect(&Target::Tcp(self.cluster.current_primary().address())).unwrap()
    }

    /// A table `t` with a number and a value, on all servers.
    pub(super) fn table(&self) {
        let create = format!("CREATE TABLE {}.t (id INT PRIMARY KEY, v BIGINT)", self.schema);
        self.cluster.primary().sql(&create).unwrap();
        caught_up(&self.cluster);
    }

    /// The replicas apply nothing any more.
    pub(super) fn stop_appliers(&self) {
        each(self.cluster.replicas(), |replica| replica.stop_sql_thread().unwrap());
    }

    /// And again they do. Returns when they have applied everything.
    pub(super) fn start_appliers(&self) {
        each(self.cluster.replicas(), |replica| replica.start_sql_thread().unwrap());
        caught_up(&self.cluster);
    }

    /// Every replica applies what it gets so many seconds late.
    pub(super) fn delay(&self, seconds: u32) {
        each(self.cluster.replicas(), |replica| replica.set_delay(seconds).unwrap());
    }
}

/// Waits until every replica serves reads of an endpoint.
pub(super) fn settled(cluster: &Cluster, proxy: &Proxy, endpoint: &str) {
    let mut missing: Vec<&str> = cluster.replicas().iter().map(Server::name).collect();
    missing.push(cluster.primary().name());
    missing.retain(|name| *name != cluster.current_primary().name());
    let begin = Instant::now();
    while !missing.is_empty() {
        // A new session each time: one that a restarted server does not know tells it its password by that.
        let mut client = Account::app().connect(&proxy.target(endpoint)).unwrap();
        for _ in 0..4 {
            client.run("DO 0");
            let route = client.route();
            missing.retain(|name| *name != route.node);
        }
        assert!(begin.elapsed() < PATIENCE, "{missing:?} take no reads");
    }
}

/// Does the same to several servers at the same time.
pub(super) fn each(servers: &[Server], work: impl Fn(&Server) + Sync) {
    thread::scope(|scope| {
        for server in servers {
            scope.spawn(|| work(server));
        }
    });
}

fn mend(cluster: &Cluster) {
    each(cluster.servers(), |server| {
        // A test that failed may have left it paused.
        let _ = server.resume();
        server.start().unwrap();
    });
    each(cluster.replicas(), |replica| {
        replica.set_delay(0).unwrap();
        replica.start_replica().unwrap();
    });
    caught_up(cluster);
}
