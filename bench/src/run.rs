//! A run: the cluster, the parties before it, and round after round of every workload before each of them.

use std::fs;
use std::path::Path;
use std::time::Duration;

use sandbox::Engine;
use tokio::runtime::Runtime;

use crate::error::{Error, Result};
use crate::load::{measure, runtime};
use crate::memory;
use crate::parties::{Node, Party, Programs, Purpose, start_all};
use crate::responder::Responder;
use crate::results::{Load, Results};
use crate::scene::Scene;
use crate::workload::Workload;

/// What is to be measured.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The servers.
    pub(crate) engine: Engine,
    /// What the clients do.
    pub(crate) workloads: Vec<Workload>,
    /// How often.
    pub(crate) rounds: u32,
    /// For how long.
    pub(crate) time: Duration,
    /// How many clients.
    pub(crate) connections: usize,
}

/// Measures; also returns the version of the servers.
pub(crate) fn run(plan: &Plan, programs: &Programs) -> Result<(Results, String)> {
    allow_descriptors();
    let scene = Scene::start(plan.engine)?;
    let version = scene.version()?;
    let runtime = runtime()?;
    let mut results = Results::default();
    let (from_memory, real): (Vec<Workload>, Vec<Workload>) =
        plan.workloads.iter().copied().partition(|workload| *workload == Workload::Responder);
    if !real.is_empty() {
        let parties = start(&scene, programs, &scene.nodes(), "real", &runtime)?;
        if real.contains(&Workload::Memory) {
            results.memory = measure_memory(&parties, &runtime)?;
        }
        let loads = real.into_iter().filter(|workload| *workload != Workload::Memory);
        results.loads = rounds(plan, &loads.collect::<Vec<_>>(), &parties, &runtime)?;
    }
    if !from_memory.is_empty() {
        let (nodes, _responders) = before_responders(&scene.nodes())?;
        let parties = start(&scene, programs, &nodes, "responder", &runtime)?;
        results.loads.extend(rounds(plan, &from_memory, &parties, &runtime)?);
    }
    Ok((results, version))
}

/// Starts the parties, and waits until each knows its nodes.
fn start(
    scene: &Scene,
    programs: &Programs,
    nodes: &[Node],
    name: &str,
    runtime: &Runtime,
) -> Result<Vec<Party>> {
    let directory = scene.cluster.directory().join("bench").join(name);
    fs::create_dir_all(&directory).map_err(Error::system("cannot create a directory"))?;
    let parties = start_all(programs, nodes, Path::new(&directory))?;
    for party in &parties {
        party.open(scene)?;
        runtime.block_on(party.settle())?;
        say(&format!("{} serves", party.name));
    }
    Ok(parties)
}

/// The same nodes, with a responder before each replica.
fn before_responders(nodes: &[Node]) -> Result<(Vec<Node>, Vec<Responder>)> {
    let mut fronts = Vec::new();
    let mut responders = Vec::new();
    for (number, (name, address)) in nodes.iter().enumerate() {
        let mut front = *address;
        if number > 0 {
            let responder = Responder::open(*address)?;
            front = responder.address;
            responders.push(responder);
        }
        fronts.push((name.clone(), front));
    }
    Ok((fronts, responders))
}

fn measure_memory(parties: &[Party], runtime: &Runtime) -> Result<Vec<memory::Held>> {
    let mut all = Vec::new();
    for party in parties {
        say(&format!("memory, {}", party.name));
        all.extend(runtime.block_on(memory::measure(party)).map_err(party.during(Workload::Memory))?);
    }
    Ok(all)
}

fn rounds(plan: &Plan, workloads: &[Workload], parties: &[Party], runtime: &Runtime) -> Result<Vec<Load>> {
    let mut loads = Vec::new();
    for workload in workloads {
        let mut load = Load { workload: *workload, lines: Vec::new() };
        let mut targets: Vec<(&Party, String, Purpose)> = Vec::new();
        for party in parties {
            let named = workload.targets(party).into_iter();
            targets.extend(named.map(|(name, purpose)| (party, name, purpose)));
        }
        let connections = workload.connections(plan.connections);
        for round in 0..plan.rounds {
            say(&format!("{workload}, round {} of {}", round + 1, plan.rounds));
            for (party, name, purpose) in &targets {
                let measuring = measure(*workload, party, *purpose, connections, plan.time);
                load.add(name, runtime.block_on(measuring).map_err(party.during(*workload))?);
            }
            // Nobody always follows the same one.
            targets.rotate_left(1);
        }
        loads.push(load);
    }
    Ok(loads)
}

/// A thousand clients and their proxies need more descriptors than many shells allow; those started here inherit it.
pub(crate) fn allow_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _unchanged = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Tells how far it is.
pub(crate) fn say(text: &str) {
    eprintln!("bench: {text}");
}
