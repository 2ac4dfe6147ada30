//! A cluster to play with, until standard input ends or Ctrl-C:
//! `cargo run -p sandbox --example cluster -- --engine mysql --replicas 2`.

use std::{error::Error, io, path::PathBuf, thread, time::Instant};

use sandbox::{Cluster, ClusterOptions, Engine, ReplicaLog};

const USAGE: &str = "\
usage: cluster [--engine mysql|mariadb|mariadb11] [--replicas N] [--dir DIR] [--no-tls] [--no-gtid]
               [--performance-schema] [--replica-log full|own-only|off] [--arg --SERVER-OPTION]... [--until-killed]
Without --until-killed the end of standard input stops the cluster.";

fn main() -> Result<(), Box<dyn Error>> {
    let (options, engine, until_killed) = parse()?;
    sandbox::install(engine)?;
    let begin = Instant::now();
    let cluster = Cluster::start(options)?;
    println!("{engine} up in {:.1} s under {}", begin.elapsed().as_secs_f64(), cluster.directory().display());
    for server in cluster.servers() {
        println!(
            "{} {:?} {} pid {} socket {}",
            server.name(),
            server.role(),
            server.address(),
            server.pid().unwrap_or_default(),
            server.socket().display()
        );
    }
    let primary = cluster.primary();
    println!(
        "{} --no-defaults -h127.0.0.1 -P{} -u{} -p{} app",
        primary.client_program().display(),
        primary.port(),
        sandbox::APP_USER,
        sandbox::APP_PASSWORD
    );
    println!("monitor account: {} {}", sandbox::MONITOR_USER, sandbox::MONITOR_PASSWORD);
    if until_killed {
        // Whatever ends this process, the cluster's guard then stops the servers and removes the directory.
        loop {
            thread::park();
        }
    }
    io::copy(&mut io::stdin(), &mut io::sink())?;
    cluster.stop();
    println!("stopped");
    Ok(())
}

fn parse() -> Result<(ClusterOptions, Engine, bool), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut engine, mut replicas, mut directory) = (Engine::Mysql, 2, None::<PathBuf>);
    let (mut tls, mut gtid, mut performance_schema, mut until_killed) = (true, true, false, false);
    let (mut log, mut extra) = (ReplicaLog::Full, Vec::new());
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(USAGE);
        match argument.as_str() {
            "--engine" => engine = value()?.parse()?,
            "--replicas" => replicas = value()?.parse()?,
            "--dir" => directory = Some(value()?.into()),
            "--no-tls" => tls = false,
            "--no-gtid" => gtid = false,
            "--performance-schema" => performance_schema = true,
            "--until-killed" => until_killed = true,
            "--arg" => extra.push(value()?),
            "--replica-log" => {
                log = match value()?.as_str() {
                    "full" => ReplicaLog::Full,
                    "own-only" => ReplicaLog::OwnOnly,
                    "off" => ReplicaLog::Off,
                    _ => return Err(USAGE.into()),
                }
            }
            _ => return Err(USAGE.into()),
        }
    }
    let mut options = ClusterOptions::new(engine)
        .replicas(replicas)
        .replica_logs(log)
        .tls(tls)
        .gtid(gtid)
        .performance_schema(performance_schema);
    if let Some(directory) = directory {
        options = options.directory(directory);
    }
    for argument in extra {
        options = options.server_argument(argument);
    }
    Ok((options, engine, until_killed))
}
