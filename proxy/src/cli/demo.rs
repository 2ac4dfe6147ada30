//! Arguments of `tidemark demo`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The port of the first endpoint when none is asked for.
pub const DEMO_PORT: u16 = 6446;

/// The highest first port: the admin API's port lies above it.
pub const DEMO_PORT_MAX: u16 = 65_500;

/// The cluster to start.
#[derive(Debug, Clone, Args)]
pub struct DemoArgs {
    /// The servers; without it MySQL where a mysqld is at hand, else MariaDB
    #[arg(long, value_enum)]
    pub engine: Option<Engine>,
    /// How many replicas
    #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8))]
    pub replicas: u8,
    /// Where the servers keep their data, an empty directory or none yet; without it a temporary one. Removed in the end
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// The port of the first endpoint; the others listen behind it, the admin API 34 above
    #[arg(long, value_name = "PORT", default_value_t = DEMO_PORT,
        value_parser = clap::value_parser!(u16).range(1..=i64::from(DEMO_PORT_MAX)))]
    pub port: u16,
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
