//! Real MySQL and MariaDB clusters on this machine: started in seconds, broken on purpose, healed, and gone afterwards.
//!
//! A [`Cluster`] is one primary (`db1`) and its replicas (`db2`, `db3`, ...), all on loopback, all under one directory that
//! is removed when the cluster is dropped. Should the process that started it die without running destructors (a panic
//! that aborts, Ctrl-C, `kill -9`), a small guard process notices and does the same work.
//!
//! ```no_run
//! use sandbox::{Cluster, ClusterOptions, Engine};
//! # fn main() -> sandbox::Result<()> {
//! sandbox::install(Engine::Mysql)?; // nothing to do the second time
//! let cluster = Cluster::start(ClusterOptions::new(Engine::Mysql).replicas(2))?;
//! cluster.replicas()[0].set_delay(5)?;
//! cluster.primary().sql("CREATE TABLE app.t (id INT PRIMARY KEY)")?;
//! # Ok(()) }
//! ```
//!
//! The servers are driven through their own command line client, not through the project's protocol code: what tests the
//! proxy must not stand on what is tested.
//!
//! Deliberately absent: anything a production server needs. There is no fsync, the passwords are published constants, and
//! the data is thrown away.

mod account;
mod apt;
mod apt_sources;
mod cache;
mod cluster;
mod command;
mod engine;
mod error;
mod guard;
mod install;
mod keys;
mod login_accounts;
mod mariadb;
mod mysql;
mod options;
mod placement;
mod ports;
mod process;
mod programs;
mod promotion;
mod replication;
mod server;
mod sql;
mod template;
mod unpack;
mod xml_rows;

pub use cluster::Cluster;
pub use engine::{Engine, Family};
pub use error::{Error, Result};
pub use install::{install, is_installed, system_packages};
pub use login_accounts::LoginPlugin;
pub use options::{ClusterOptions, ReplicaLog};
pub use replication::ReplicationStatus;
pub use server::{Role, Server};
pub use sql::Row;

/// The account of applications: every privilege with grant option, on MariaDB less the one that ignores `read_only`.
pub const APP_USER: &str = "app";
/// The password of [`APP_USER`].
pub const APP_PASSWORD: &str = "apppw";
/// The account a proxy watches the servers with: replication client, process, select on everything.
pub const MONITOR_USER: &str = "tidemark";
/// The password of [`MONITOR_USER`].
pub const MONITOR_PASSWORD: &str = "tidemarkpw";
/// The account the replicas read the primary's binary log with.
pub const REPLICATION_USER: &str = "repl";
/// The password of [`REPLICATION_USER`].
pub const REPLICATION_PASSWORD: &str = "replpw";
