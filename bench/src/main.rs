//! `bench`: what the proxy costs, next to HAProxy and to no proxy at all, on a real cluster on this machine.
//!
//! The order in which it goes: `run` starts a `scene` (servers and tables) and the `parties` before it; `load` lets the
//! clients (`player`, each with a connection of `client`) work before each party in turn; `results` makes tables of what
//! they noted, and `page` and `picture` what is published.
//!
//! What is measured first is the processor time of the proxy's own process for each statement: it is nearly the same on a
//! machine where load, proxy and servers share two processors as on one where each has its own. The program knows the
//! proxies only as processes. Deliberately absent: TLS, compression, and networks.

mod chance;
mod client;
mod error;
mod figures;
mod growth;
mod growth_page;
mod guarded;
mod load;
mod machine;
mod memory;
mod page;
mod parties;
mod picture;
mod player;
mod process;
mod responder;
mod results;
mod run;
mod scene;
mod table;
mod workload;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use sandbox::Engine;

use crate::error::{Error, Result};
use crate::page::Circumstances;
use crate::parties::Programs;
use crate::run::Plan;
use crate::workload::Workload;

/// Measures what the proxy costs, next to HAProxy and to no proxy at all, on a real cluster on this machine.
#[derive(Debug, Parser)]
struct Arguments {
    /// mysql, mariadb or mariadb11.
    #[arg(long, default_value_t = Engine::Mariadb)]
    engine: Engine,
    /// What the clients do, separated by commas [default: everything].
    #[arg(long, value_delimiter = ',')]
    workloads: Vec<Workload>,
    /// How often each workload runs before each target, in turn.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// For how long each time.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// How many clients work at the same time.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=1000))]
    connections: u16,
    /// The program to measure [default: the one built beside this].
    #[arg(long)]
    tidemark: Option<PathBuf>,
    /// MySQL Router [default: the one on the path, if any].
    #[arg(long)]
    router: Option<PathBuf>,
    /// ProxySQL [default: the one on the path, if any].
    #[arg(long)]
    proxysql: Option<PathBuf>,
    /// Measure how costs grow with clients, nodes, positions, statements and results instead.
    #[arg(long, conflicts_with_all = ["workloads", "rounds", "connections", "engine"])]
    growth: bool,
    /// Write docs/benchmarks.md and docs/benchmarks.svg as well; with --growth docs/growth.md and docs/growth.svg.
    #[arg(long)]
    write_docs: bool,
}

fn main() -> ExitCode {
    match bench(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bench(arguments: Arguments) -> Result<()> {
    let workloads = match arguments.workloads.as_slice() {
        [] => Workload::value_variants().to_vec(),
        chosen => chosen.to_vec(),
    };
    if arguments.write_docs {
        page::check()?;
    }
    if let Some(percent) = machine::busy() {
        if arguments.write_docs {
            return Err(Error::Busy { percent });
        }
        println!("other programs use {percent:.0} % of the processors: beside them the figures say little");
    }
    let programs = Programs::find(arguments.tidemark, arguments.router, arguments.proxysql)?;
    if arguments.growth {
        return growth(&programs, Duration::from_secs(arguments.seconds), arguments.write_docs);
    }
    let plan = Plan {
        engine: arguments.engine,
        workloads,
        rounds: arguments.rounds,
        time: Duration::from_secs(arguments.seconds),
        connections: usize::from(arguments.connections),
    };
    let (results, server) = run::run(&plan, &programs)?;
    let versions = [vec![server], programs.versions()].concat();
    println!("\n{}\n{}\n", machine::described(), versions.join("\n"));
    for table in [results.loads_table(), results.levels_table(), results.memory_table()] {
        if !table.is_empty() {
            println!("{}", table.plain());
        }
    }
    results.given_up().iter().for_each(|line| println!("{line}"));
    if arguments.write_docs {
        let circumstances = Circumstances {
            command: command(),
            day: machine::today(),
            machine: machine::described(),
            versions,
            workloads: plan.workloads.iter().map(|workload| (workload.name(), workload.meaning())).collect(),
            connections: plan.connections,
            rounds: plan.rounds,
            seconds: arguments.seconds,
        };
        page::write(&results, &circumstances)?;
        println!("docs/benchmarks.md and docs/benchmarks.svg are written");
    }
    Ok(())
}

fn growth(programs: &Programs, time: Duration, write_docs: bool) -> Result<()> {
    let (series, servers) = growth::measure(programs, time)?;
    let versions = [servers, programs.versions()].concat();
    println!("\n{}\n{}\n", machine::described(), versions.join("\n"));
    for series in &series {
        println!("{}: {}\n{}", series.of, series.meanwhile, growth_page::table(series).plain());
    }
    if write_docs {
        let circumstances =
            [command(), machine::today(), machine::described(), format!("{} s", time.as_secs())];
        growth_page::write(&series, circumstances, &versions)?;
        println!("docs/growth.md and docs/growth.svg are written");
    }
    Ok(())
}

/// What to type to run this again; where programs lie on this machine is left out.
fn command() -> String {
    let mut flags = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.split('=').next() {
            Some("--tidemark" | "--router" | "--proxysql") => {
                if !argument.contains('=') {
                    arguments.next();
                }
            }
            _ => flags.push(argument),
        }
    }
    match flags.as_slice() {
        [] => "make bench".to_owned(),
        flags => format!("make bench BENCH_FLAGS=\"{}\"", flags.join(" ")),
    }
}
