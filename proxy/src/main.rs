//! The program: reads the command line and hands over.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use tidemark::cli::{Cli, Command, DemoArgs};
use tidemark::config::{self, Config};
use tidemark::remote::{self, RemoteError};
use tidemark::{check, demo, explain, serve};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Run(args) => run(&args.config),
        Command::Explain(args) => done(
            explain::run(&args, io::stdin().lock(), io::stdout().lock()).map_err(|error| error.to_string()),
        ),
        Command::Demo(args) => demonstrate(&args),
        Command::Check(args) => match check::run(&args.config, io::stdout().lock()) {
            Ok(code) => code,
            Err(error) => failed(&error, error.exit_code()),
        },
        Command::Status(args) => remote_done(remote::status(&args, io::stdout().lock())),
        Command::Set(args) => remote_done(remote::set(&args, io::stdout().lock())),
        Command::Drain(args) => remote_done(remote::drain(&args, true, io::stdout().lock())),
        Command::Undrain(args) => remote_done(remote::drain(&args, false, io::stdout().lock())),
        Command::Schema => {
            done(writeln!(io::stdout(), "{}", config::schema()).map_err(|error| error.to_string()))
        }
        Command::Version => done(
            writeln!(io::stdout(), "tidemark {}", env!("CARGO_PKG_VERSION"))
                .map_err(|error| error.to_string()),
        ),
    }
}

fn run(path: &std::path::Path) -> ExitCode {
    log_to_stderr("info");
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

fn demonstrate(args: &DemoArgs) -> ExitCode {
    // The screen belongs to the report; what goes wrong on purpose there is in it.
    log_to_stderr("error");
    match demo::run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tidemark: {error}");
            error.exit_code()
        }
    }
}

fn remote_done(outcome: Result<(), RemoteError>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error, error.exit_code()),
    }
}

fn failed(error: &dyn std::error::Error, code: ExitCode) -> ExitCode {
    eprintln!("tidemark: {error}");
    code
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
/// `RUST_LOG` does for other programs; `default` without it.
fn log_to_stderr(default: &str) {
    let filter = EnvFilter::try_from_env("TIDEMARK_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
}
