//! A cluster, a proxy before it, and the schema that every conversation finds empty.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use sandbox::{Cluster, ClusterOptions, Engine};

use crate::harness::clusters::start;
use crate::harness::login::Account;
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::stream::Target;

/// Conversations take place in it, and in others whose names begin so.
pub(super) const SCHEMA: &str = "corpus";

/// What concerns all of a server, such as accounts, is the same for all tests: one at a time.
static TURNS: [Mutex<()>; 3] = [const { Mutex::new(()) }; 3];

static CLUSTERS: [OnceLock<Cluster>; 3] = [const { OnceLock::new() }; 3];

/// Longer than a replica needs that follows.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) struct Stage {
    pub(super) cluster: &'static Cluster,
    pub(super) proxy: Proxy,
    _turn: MutexGuard<'static, ()>,
}

impl Stage {
    pub(super) fn new(engine: Engine) -> Self {
        let index = Engine::ALL.iter().position(|other| *other == engine).unwrap();
        let turn = TURNS[index].lock().unwrap_or_else(PoisonError::into_inner);
        let cluster = CLUSTERS[index].get_or_init(|| start(options(engine)));
        // Reads wait for a replica however busy the machine is, so that they do run there.
        let lines = "consistency = \"session\"\nconsistency_timeout_us = 0\nmax_lag_ms = 0";
        let proxy = Setup::of(cluster).endpoint("rw", lines).start();
        Self { cluster, proxy, _turn: turn }
    }

    pub(super) fn server(&self) -> Target {
        Target::Tcp(self.cluster.primary().address())
    }

    pub(super) fn through_proxy(&self) -> Target {
        self.proxy.target("rw")
    }

    pub(super) fn replica(&self) -> Target {
        Target::Tcp(self.cluster.replicas()[0].address())
    }

    /// How many SELECTs the replica has run.
    pub(super) fn reads_on_replica(&self) -> u32 {
        let mut client = Account::app().connect(&self.replica()).unwrap();
        let row = client.rows("SHOW GLOBAL STATUS LIKE 'Com_select'").remove(0);
        row[1].as_ref().unwrap().parse().unwrap()
    }

    /// The schema anew, and no other of a conversation before.
    pub(super) fn clear(&self) {
        let mut client = Account::app().connect(&self.server()).unwrap();
        for row in client.rows(&format!("SHOW DATABASES LIKE '{SCHEMA}%'")) {
            client.run(format!("DROP DATABASE {}", row[0].as_ref().unwrap()));
        }
        client.run(format!("CREATE DATABASE {SCHEMA}"));
        client.quit();
        // FLUSH PRIVILEGES has a replica forget the password, and the proxy cannot tell it again.
        Account::app().connect(&self.replica()).unwrap().quit();
        if let Err(error) = self.cluster.wait_caught_up(PATIENCE) {
            let said = self.cluster.replicas()[0].replication_status().unwrap();
            panic!("a statement stops the replica: {error}, {said:?}");
        }
    }
}

/// One replica suffices, and of the time that the statements take most would go to disks.
fn options(engine: Engine) -> ClusterOptions {
    ClusterOptions::new(engine)
        .replicas(1)
        .server_argument("--innodb-flush-method=nosync")
        .server_argument("--innodb-flush-log-at-trx-commit=0")
}
