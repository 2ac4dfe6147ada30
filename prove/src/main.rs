//! `prove`: runs the checker, and ends with its tables. Exit code 0: every promise was kept; 1: one was broken, or a broken
//! build was not caught; 2: the checker could not do its work.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Parser;
use prove::fault::Kind;
use prove::measure::{Measured, measure};
use prove::report::Family;
use prove::run::{Extent, Options, family};
use sandbox::Engine;

/// Checks what the consistency levels promise, on real clusters that are broken on purpose.
#[derive(Debug, Parser)]
struct Arguments {
    /// The proxy to check.
    #[arg(long)]
    proxy: PathBuf,
    /// The same, built with the feature `sabotage`: the checker must catch each rule that it leaves out.
    #[arg(long)]
    sabotaged: Option<PathBuf>,
    /// mysql, mariadb or mariadb11; may be given several times.
    #[arg(long = "engine", default_values_t = [Engine::Mysql, Engine::Mariadb])]
    engines: Vec<Engine>,
    /// How long everything may take, start of the clusters included.
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// Repeats the faults of another run, in their order and at their times.
    #[arg(long)]
    seed: Option<u64>,
    /// Measure what the promises cost as well, within the same time.
    #[arg(long)]
    measure: bool,
    /// How long a client rests after an operation, on average, in microseconds.
    #[arg(long, default_value_t = 2000)]
    rest_us: u64,
}

const LEGEND: &str = "\
Operations are reads, writes and transactions of all clients at that level. Stale reads lack something that somebody, anywhere,
had been told or shown when they began: promised at `global` only, and counted for all. Added latency is that of single-statement
reads, against those at `eventual` in the same seconds. Of the two proxies one gives the primary a ninth of its reads.";

/// What measuring a family takes.
const MEASURE: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let engines = u64::try_from(arguments.engines.len()).unwrap_or(1).max(1);
    let reserved = if arguments.measure { MEASURE } else { Duration::ZERO };
    let seed = arguments.seed.unwrap_or_else(any_seed);
    let options = Options {
        seed,
        extent: Extent::Time(Duration::from_secs(arguments.seconds / engines).saturating_sub(reserved)),
        rest: Duration::from_micros(arguments.rest_us),
        proxy: arguments.proxy,
        sabotaged: arguments.sabotaged,
        faults: Kind::ALL.to_vec(),
        keep: std::env::temp_dir().join(format!("tidemark-prove-{seed}")),
    };
    println!("seed {seed}: `--seed {seed}` repeats the faults of this run");
    let mut families = Vec::new();
    for engine in &arguments.engines {
        match family(&options, *engine, &mut |line| println!("{line}")) {
            Ok(family) => families.push(family),
            Err(error) => {
                eprintln!("prove: {engine}, seed {seed}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    let mut measured = Vec::new();
    let mut unmeasured = false;
    for engine in arguments.engines.iter().filter(|_| arguments.measure) {
        match measure(*engine, &options.proxy) {
            Ok(figures) => measured.push(figures),
            // What was found before is told all the same.
            Err(error) => {
                eprintln!("prove: measuring {engine}: {error}");
                unmeasured = true;
            }
        }
    }
    println!("\n{}", Family::HEADING);
    families.iter().for_each(|family| print!("{family}"));
    println!("\n{LEGEND}\n\n{}", Family::CAUGHT_HEADING);
    families.iter().for_each(|family| print!("{}", family.caught()));
    if arguments.measure {
        println!("\n{}", Measured::HEADING);
        measured.iter().for_each(|figures| print!("{figures}"));
    }
    let violations: u64 = families.iter().map(Family::violations).sum();
    let catches = families.iter().all(Family::catches);
    let caught = if catches {
        "everything broken on purpose was caught"
    } else {
        "NOT everything broken on purpose was caught"
    };
    println!("\nseed {seed}: {violations} violations; {caught}");
    match (violations == 0 && catches, unmeasured) {
        (false, _) => ExitCode::FAILURE,
        (true, true) => ExitCode::from(2),
        (true, false) => ExitCode::SUCCESS,
    }
}

/// A small number, to be typed again.
fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos()) % 1_000_000
}
