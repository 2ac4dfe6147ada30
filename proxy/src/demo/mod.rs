//! `tidemark demo`: a private real cluster, three endpoints before it, and a small load that looks for stale reads.
//!
//! Nothing of it touches servers that were there before, and nothing of it stays: however the process ends, the
//! servers it started end too and their directory is removed (`sandbox` has a guard for that).
//!
//! Deliberately absent: a benchmark. The load is small and paced, to show what the levels mean and not how fast they are.

mod client;
mod error;
mod load;
mod report;
mod setting;
mod stop;
mod tally;
mod welcome;

use std::io;
use std::time::Duration;

use sandbox::{Cluster, ClusterOptions, Engine};

use crate::cli::{self, DemoArgs};
use crate::runtime;
use crate::serve::Running;

pub use error::DemoError;
use load::Load;
use setting::Setting;
use stop::Stop;

/// How late the slowed replica applies every write, in seconds; the servers know whole ones only.
const DELAY_S: u32 = 1;

/// How long replication may need for the first table.
const CATCH_UP: Duration = Duration::from_secs(30);

/// How long sessions have to end when the demonstration ends.
const DRAIN: Duration = Duration::from_millis(500);

/// Runs the demonstration until it is asked to stop, or nobody reads its output any more.
///
/// # Errors
/// When it cannot begin, or the system fails it.
pub fn run(args: &DemoArgs) -> Result<(), DemoError> {
    let engine = engine(args.engine)?;
    let setting = Setting::new(args.port);
    setting.check_ports()?;
    if let Some(directory) = &args.dir {
        error::check_empty(directory)?;
    }
    let runtime = runtime::control().map_err(DemoError::System)?;
    let outcome = runtime.block_on(demonstrate(args, engine, &setting));
    // A cluster that is still being started is not waited for: the guard ends it with this process.
    runtime.shutdown_background();
    outcome
}

async fn demonstrate(args: &DemoArgs, engine: Engine, setting: &Setting) -> Result<(), DemoError> {
    let mut stop = Stop::new().map_err(DemoError::System)?;
    if welcome::starting(engine, args.replicas).is_err() {
        return Ok(());
    }
    let mut options = ClusterOptions::new(engine).replicas(usize::from(args.replicas));
    if let Some(directory) = &args.dir {
        options = options.directory(directory);
    }
    let starting = tokio::task::spawn_blocking(|| prepare(options));
    let cluster = tokio::select! {
        cluster = starting => cluster.map_err(|error| DemoError::System(io::Error::other(error)))??,
        () = stop.asked() => return Ok(()),
    };
    let running = Running::start(setting.config(&cluster)?).await?;
    let shown = welcome::write(&cluster, setting, !args.no_load);
    if shown.is_ok() {
        until_the_end(args, &cluster, setting, &running, &mut stop).await?;
    }
    running.stop(DRAIN).await;
    cluster.stop();
    welcome::goodbye();
    Ok(())
}

/// Lets the load run, or nothing, until somebody wants an end.
async fn until_the_end(
    args: &DemoArgs,
    cluster: &Cluster,
    setting: &Setting,
    running: &Running,
    stop: &mut Stop,
) -> Result<(), DemoError> {
    if args.no_load {
        stop.asked().await;
        return Ok(());
    }
    let mut load = Load::start(cluster, setting, &running.instance).map_err(DemoError::System)?;
    tokio::select! {
        () = stop.asked() => load.stop(),
        () = load.ended() => {}
    }
    Ok(())
}

/// Starts the servers, makes the load's table on all of them, and then slows one replica down.
fn prepare(options: ClusterOptions) -> Result<Cluster, sandbox::Error> {
    let cluster = Cluster::start(options)?;
    cluster.primary().sql(&load::table())?;
    cluster.wait_caught_up(CATCH_UP)?;
    if let Some(replica) = cluster.replicas().first() {
        replica.set_delay(DELAY_S)?;
    }
    Ok(cluster)
}

/// The engine asked for, or the one that is here.
fn engine(wanted: Option<cli::Engine>) -> Result<Engine, DemoError> {
    match wanted {
        Some(cli::Engine::Mysql) => Ok(Engine::Mysql),
        Some(cli::Engine::Mariadb) => Ok(Engine::Mariadb),
        None => [Engine::Mysql, Engine::Mariadb]
            .into_iter()
            .find(|engine| sandbox::is_installed(*engine))
            .ok_or(DemoError::NoServer),
    }
}
