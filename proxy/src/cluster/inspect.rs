//! A single look at every node, for `tidemark check`: what it is, which levels it can serve, and what to change so that
//! it serves more.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gtid::{Flavor, Position};

use super::discover::{Roles, Verdict, Voice, discover};
use super::entry::Told;
use super::monitor::Monitor;
use super::sample::{self, Reader, Sample};
use super::snapshot::Role;
use crate::backend::error::BackendError;
use crate::config::{Address, Config, Level};
use crate::transport::tls::ServerTls;

/// What was found at one node.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// Its name in the file.
    pub name: String,
    /// Where it listens.
    pub address: Address,
    /// What it said, or why it could not be asked, in words for an operator.
    pub outcome: Result<Inspected, String>,
}

/// What a node said.
#[derive(Clone, Debug)]
pub struct Inspected {
    /// Its version text.
    pub version: String,
    /// Its family.
    pub flavor: Flavor,
    /// Its role, as all nodes' answers together say.
    pub role: Role,
    /// How far it has applied the log.
    pub position: Position,
    /// `@@server_uuid`, or `@@server_id` for MariaDB.
    pub server_uuid: String,
    /// Whom it replicates from: names of nodes, or addresses of servers that are not in the file.
    pub sources: Vec<String>,
    /// The levels it can serve reads at.
    pub levels: Vec<Level>,
    /// Why not all of them, each with what to change.
    pub shortcomings: Vec<String>,
    /// What it can do and yet should not be.
    pub warnings: Vec<String>,
}

struct Look {
    told: Told,
    sample: Sample,
}

/// Logs in to every node once. The order is that of the file.
pub async fn inspect(config: &Config, tls: ServerTls) -> Vec<Inspection> {
    let looks = look_at_all(config, tls).await;
    let voices: Vec<Voice<'_>> = config
        .nodes
        .iter()
        .zip(&looks)
        .map(|(node, look)| Voice {
            address: &node.address,
            asked: true,
            up: look.is_ok(),
            said: look.as_ref().ok().map(|look| &look.told.said),
            complete: false,
            behind: false,
        })
        .collect();
    let roles = discover(&voices, None);
    config
        .nodes
        .iter()
        .zip(&looks)
        .enumerate()
        .map(|(index, (node, look))| Inspection {
            name: node.name.clone(),
            address: node.address.clone(),
            outcome: match look {
                Ok(look) => Ok(inspected(config, &roles, index, look, twin(config, &looks, index))),
                Err(why) => Err(in_words(why, &config.cluster.monitor_user)),
            },
        })
        .collect()
}

/// All at once: a node that does not answer costs seconds.
async fn look_at_all(config: &Config, tls: ServerTls) -> Vec<Result<Look, BackendError>> {
    let monitor = Arc::new(Monitor::new(&config.cluster, tls));
    let tasks: Vec<_> = config
        .nodes
        .iter()
        .map(|node| {
            let (monitor, address) = (Arc::clone(&monitor), node.address.clone());
            tokio::spawn(async move { look(&monitor, &address).await })
        })
        .collect();
    let mut looks = Vec::with_capacity(tasks.len());
    for task in tasks {
        looks.push(task.await.unwrap_or_else(|error| Err(BackendError::Protocol(error.to_string()))));
    }
    looks
}

async fn look(monitor: &Monitor, address: &Address) -> Result<Look, BackendError> {
    let mut connection = monitor.connect(address).await?;
    let told = connection.told().await?;
    let sent_at = Instant::now();
    let answer = connection.ask(&sample::question(connection.flavor, None), Duration::ZERO).await?;
    let sample = Reader::new(connection.flavor)
        .read(&answer, sent_at, Instant::now())
        .map_err(|error| BackendError::Protocol(error.to_string()))?;
    Ok(Look { told, sample })
}

/// The name of a node before this one that says it is the same server.
fn twin<'a>(config: &'a Config, looks: &[Result<Look, BackendError>], index: usize) -> Option<&'a str> {
    let identity = |index: usize| looks.get(index)?.as_ref().ok().map(|look| &look.told.said.identity);
    let own = identity(index).filter(|identity| !identity.is_empty())?;
    let earlier = (0..index).find(|other| identity(*other) == Some(own))?;
    config.nodes.get(earlier).map(|node| node.name.as_str())
}

fn inspected(config: &Config, roles: &Roles, index: usize, look: &Look, twin: Option<&str>) -> Inspected {
    let Look { told, sample } = look;
    let role = roles.roles.get(index).copied().unwrap_or(Role::Unknown);
    let known: Vec<String> = roles
        .sources
        .get(index)
        .into_iter()
        .flatten()
        .filter_map(|source| Some(config.nodes.get(*source)?.name.clone()))
        .collect();
    let sources = if known.is_empty() {
        told.said.sources().iter().map(|source| source.place()).collect()
    } else {
        known
    };
    let mut shortcomings = told.facts.shortcomings.clone();
    if role == Role::Replica && roles.primary.is_some() && !roles.descends_from_primary(index) {
        shortcomings.push("it does not replicate from the primary: add its source as a [[node]], or point it at the primary".to_owned());
    }
    if let Some(twin) = twin {
        shortcomings.push(format!(
            "it calls itself by the same server_uuid (MariaDB: server_id) as {twin}: list each server once, and give each \
             its own"
        ));
    } else if role == Role::Unknown {
        shortcomings.push(unknown_role(&roles.verdict, told));
    }
    let levels = match role {
        Role::Unknown => Vec::new(),
        _ if shortcomings.is_empty() => vec![Level::Eventual, Level::Session, Level::Global],
        _ => vec![Level::Eventual],
    };
    let mut warnings = Vec::new();
    if role == Role::Replica && told.said.writable {
        warnings.push("it is a replica and takes writes: SET PERSIST super_read_only = ON (MariaDB: SET GLOBAL read_only = ON)".to_owned());
    }
    Inspected {
        version: told.facts.version.clone(),
        flavor: told.facts.flavor,
        role,
        position: Position::clone(&sample.applied),
        server_uuid: told.said.identity.clone(),
        sources,
        levels,
        shortcomings,
        warnings,
    }
}

fn unknown_role(verdict: &Verdict, told: &Told) -> String {
    match (verdict, told.said.writable) {
        (Verdict::SeveralWritable(_), true) => {
            "several nodes take writes and nothing tells which is meant: SET GLOBAL read_only = ON on the others".to_owned()
        }
        (Verdict::Unproven(_), true) => {
            "it takes writes, but the others replicate from another server: make them replicate from this one".to_owned()
        }
        (_, true) => "it takes writes beside the primary: SET GLOBAL read_only = ON, and make it a replica".to_owned(),
        (_, false) => "it is read only and replicates from nobody: make it a replica, or SET GLOBAL read_only = OFF".to_owned(),
    }
}

fn in_words(why: &BackendError, user: &str) -> String {
    match why {
        BackendError::Refused(error) if error.code == 1045 => {
            format!(
                "{why}; CREATE USER '{user}' with the password of monitor_password, and grant it what the manual lists"
            )
        }
        _ => why.to_string(),
    }
}
