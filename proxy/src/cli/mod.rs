//! The command line: what can be asked for, and nothing about how it is done.
//!
//! Arguments are validated here into the types of the rest of the program. A mistake ends the process with exit code 2
//! and a text that says what to write instead, before anything was started.

mod admin;
mod demo;
mod explain;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use admin::{AdminArgs, DrainArgs, NoAdmin, SetArgs, StatusArgs};
pub use demo::{DEMO_PORT, DEMO_PORT_MAX, DemoArgs, Engine};
pub use explain::ExplainArgs;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "tidemark", version, propagate_version = true)]
#[command(about = "A MySQL proxy that splits reads and writes and keeps a chosen promise about freshness")]
#[command(after_help = "Exit codes: 0 done, 1 failed while running, 2 bad usage or configuration.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What Tidemark can be asked to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve; SIGHUP reloads the configuration, SIGTERM lets sessions finish and then ends
    Run(ConfigArgs),
    /// Validate the configuration and log in to every node: version, role, position, and which levels it can serve
    Check(ConfigArgs),
    /// Tell where statements would go, and why
    Explain(ExplainArgs),
    /// Start a private cluster with three endpoints, the console and a small load, to see it work
    Demo(DemoArgs),
    /// Show the nodes and endpoints of a running instance
    Status(StatusArgs),
    /// Change live settings of an endpoint of a running instance
    Set(SetArgs),
    /// Take a node of a running instance out of the reads
    Drain(DrainArgs),
    /// Put a drained node back
    Undrain(DrainArgs),
    /// Print the JSON Schema of the configuration file
    Schema,
    /// Print the version
    Version,
}

/// Where the configuration is.
#[derive(Debug, Clone, Args)]
pub struct ConfigArgs {
    /// The configuration file
    #[arg(long, short, value_name = "FILE", default_value = "tidemark.toml")]
    pub config: PathBuf,
}

#[cfg(test)]
mod tests;
