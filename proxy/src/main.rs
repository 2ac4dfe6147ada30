//! The program: reads the command line and hands over.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use tidemark::cli::{Cli, Command};
use tidemark::config::{self, Config};
use tidemark::{explain, serve};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Run(args) => run(&args.config),
        Command::Explain(args) => done(
            explain::run(&args, io::stdin().lock(), io::stdout().lock()).map_err(|error| error.to_string()),
        ),
        Command::Schema => {
            done(writeln!(io::stdout(), "{}", config::schema()).map_err(|error| error.to_string()))
        }
        Command::Version => done(
            writeln!(io::stdout(), "tidemark {}", env!("CARGO_PKG_VERSION"))
                .map_err(|error| error.to_string()),
        ),
        _ => ExitCode::from(2),
    }
}

fn run(path: &std::path::Path) -> ExitCode {
    log_to_stderr();
    let config = match Config::load(path) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    match serve::serve(config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tidemark: {error}");
            error.exit_code()
        }
    }
}

fn done(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tidemark: {error}");
            ExitCode::from(1)
        }
    }
}

/// Logs to standard error, where a service manager or a terminal takes them. `TIDEMARK_LOG` chooses what, as
/// `RUST_LOG` does for other programs; `info` without it.
fn log_to_stderr() {
    let filter = EnvFilter::try_from_env("TIDEMARK_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
}
