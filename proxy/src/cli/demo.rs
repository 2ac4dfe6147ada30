//! Arguments of `tidemark demo`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The cluster to start.
#[derive(Debug, Clone, Args)]
pub struct DemoArgs {
    /// The servers; without it MySQL where a mysqld is at hand, else MariaDB
    #[arg(long, value_enum)]
    pub engine: Option<Engine>,
    /// How many replicas
    #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8))]
    pub replicas: u8,
    /// Where the servers keep their data; without it a temporary folder that is removed in the end
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Do not run the small load: leave the cluster to you
    #[arg(long)]
    pub no_load: bool,
}

/// A server family that can be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// MySQL
    Mysql,
    /// MariaDB
    Mariadb,
}
