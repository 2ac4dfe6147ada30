//! What a cluster shall be like.

use std::path::PathBuf;

use crate::Engine;

/// What a replica writes to its own binary log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicaLog {
    /// What it applies, too (`log_replica_updates=ON`): the servers' default.
    Full,
    /// Only what is written on it directly (`log_replica_updates=OFF`).
    OwnOnly,
    /// Nothing: there is no binary log.
    Off,
}

/// The description of a cluster, made by chaining: `ClusterOptions::new(Engine::Mysql).replicas(3).tls(false)`.
#[derive(Debug, Clone)]
pub struct ClusterOptions {
    pub(crate) engine: Engine,
    pub(crate) replica_logs: Vec<ReplicaLog>,
    pub(crate) tls: bool,
    pub(crate) gtid: bool,
    pub(crate) performance_schema: bool,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) server_arguments: Vec<(Option<String>, String)>,
}

impl ClusterOptions {
    /// One primary and two replicas with full binary logs, GTIDs and TLS.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self {
            engine,
            replica_logs: vec![ReplicaLog::Full; 2],
            tls: true,
            gtid: true,
            performance_schema: false,
            directory: None,
            server_arguments: Vec::new(),
        }
    }

    /// The number of replicas; 0 gives a primary alone.
    #[must_use]
    pub fn replicas(mut self, count: usize) -> Self {
        self.replica_logs.resize(count, ReplicaLog::Full);
        self
    }

    /// What the replica at `index` logs (0 is `db2`). Says nothing about replicas the cluster does not have.
    #[must_use]
    pub fn replica_log(mut self, index: usize, log: ReplicaLog) -> Self {
        if let Some(entry) = self.replica_logs.get_mut(index) {
            *entry = log;
        }
        self
    }

    /// What every replica logs.
    #[must_use]
    pub fn replica_logs(mut self, log: ReplicaLog) -> Self {
        self.replica_logs.fill(log);
        self
    }

    /// Whether the servers offer TLS.
    #[must_use]
    pub fn tls(mut self, on: bool) -> Self {
        self.tls = on;
        self
    }

    /// Whether replication goes by GTID or by binary log file and offset. On MySQL this is `gtid_mode`; MariaDB numbers its
    /// transactions in any case.
    #[must_use]
    pub fn gtid(mut self, on: bool) -> Self {
        self.gtid = on;
        self
    }

    /// Whether the performance schema is on; off by default, since it costs MySQL some hundred megabytes per server.
    #[must_use]
    pub fn performance_schema(mut self, on: bool) -> Self {
        self.performance_schema = on;
        self
    }

    /// The directory to use instead of one among the temporary files. It must be absent or empty, and is removed likewise.
    #[must_use]
    pub fn directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.directory = Some(path.into());
        self
    }

    /// One more argument for every server, as in `--innodb-buffer-pool-size=1G`; it wins over the built-in ones.
    #[must_use]
    pub fn server_argument(mut self, argument: impl Into<String>) -> Self {
        self.server_arguments.push((None, argument.into()));
        self
    }

    /// One more argument for the server of that name.
    #[must_use]
    pub fn server_argument_on(mut self, server: impl Into<String>, argument: impl Into<String>) -> Self {
        self.server_arguments.push((Some(server.into()), argument.into()));
        self
    }

    /// The additional arguments that concern a server.
    pub(crate) fn arguments_of(&self, server: &str) -> impl Iterator<Item = &String> {
        self.server_arguments
            .iter()
            .filter(move |(only, _)| only.as_deref().is_none_or(|only| only == server))
            .map(|(_, argument)| argument)
    }
}
