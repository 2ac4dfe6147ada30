//! One server's place in a cluster: its number, its directory and the options that follow from them.

use std::path::PathBuf;

use crate::{
    Family, mariadb, mysql,
    options::{ClusterOptions, ReplicaLog},
    programs::Programs,
};

/// Where a server stands in its cluster.
#[derive(Debug, Clone)]
pub(crate) struct Placement {
    /// Also its `server_id`: 1 is the primary.
    pub(crate) number: usize,
    /// The server's own directory.
    pub(crate) directory: PathBuf,
    pub(crate) log: ReplicaLog,
}

impl Placement {
    pub(crate) fn is_replica(&self) -> bool {
        self.number > 1
    }

    pub(crate) fn name(&self) -> String {
        format!("db{}", self.number)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.join("mysqld.sock")
    }

    pub(crate) fn error_log(&self) -> PathBuf {
        self.directory.join("error.log")
    }

    /// The arguments of a server that never change.
    pub(crate) fn arguments(&self, options: &ClusterOptions, programs: &Programs) -> Vec<String> {
        let mut arguments = match options.engine.family() {
            Family::Mysql => mysql::server_options(programs, options, self),
            Family::Mariadb => mariadb::server_options(programs, options, self),
        };
        arguments.extend(
            [
                "--bind-address=127.0.0.1",
                "--report-host=127.0.0.1",
                "--skip-name-resolve",
                "--max-connections=4000",
                "--back-log=1000",
                "--thread-cache-size=128",
                "--innodb-buffer-pool-size=64M",
                // Nothing is synced to disk, but everything is written at commit: it survives the end of the process.
                "--innodb-flush-log-at-trx-commit=2",
                "--innodb-flush-method=nosync",
                "--innodb-fast-shutdown=2",
                // A stored function without a declared nature must not stop the replicas (error 1418).
                "--log-bin-trust-function-creators=ON",
            ]
            .map(str::to_owned),
        );
        arguments.push(format!("--server-id={}", self.number));
        arguments.push(format!("--datadir={}", self.data().display()));
        arguments.push(format!("--socket={}", self.socket().display()));
        // Servers that share a directory for temporary tables delete each other's.
        arguments.push(format!("--tmpdir={}", self.directory.display()));
        arguments.push(format!("--pid-file={}", self.directory.join("pid").display()));
        arguments.push(format!("--log-error={}", self.error_log().display()));
        arguments.extend(options.arguments_of(&self.name()).cloned());
        arguments
    }
}
