//! What stands between the load and the servers: nothing, Tidemark, and those it is compared with.

mod haproxy;
mod program;
mod proxysql;
mod router;
mod tidemark;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use crate::chance::Chance;
use crate::client::Connection;
use crate::error::{Error, Result};
use crate::guarded::Guarded;
use crate::scene::Scene;
use crate::workload::Workload;

pub(crate) use haproxy::NAME as HAPROXY;
pub(crate) use program::Programs;
pub(crate) use tidemark::Level;

/// Threads of every proxy.
const THREADS: usize = 2;

/// How long a proxy may take to serve.
const START_LIMIT: Duration = Duration::from_secs(30);

/// How often a proxy that does not serve yet is asked again.
const POLL: Duration = Duration::from_millis(20);

/// So many reads in a row, all answered by replicas, mean that a proxy knows its nodes.
const SETTLED_READS: usize = 20;

/// Who a read was answered by: a statement that anybody may send to a replica.
const WHO: &str = "SELECT @@server_id FROM points WHERE id = 1";

/// A node's name and address; where there are several, the primary comes first.
pub(crate) type Node = (String, SocketAddr);

/// One of them, running.
#[derive(Debug)]
pub(crate) struct Party {
    /// As the tables call it.
    pub(crate) name: &'static str,
    /// Where to connect to.
    doors: Doors,
    /// The process; `None` where there is nothing between.
    process: Option<Guarded>,
}

/// Where a party takes what.
#[derive(Debug)]
enum Doors {
    /// By what the application says that it does.
    Apart {
        /// For those that only read; connections are spread over them.
        reads: Vec<SocketAddr>,
        /// For all others.
        writes: SocketAddr,
    },
    /// The proxy finds out what is a read.
    Together(SocketAddr),
    /// The same, with a door for each level.
    Levels([SocketAddr; Level::ALL.len()]),
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It only reads.
    Reads,
    /// It does everything.
    All,
    /// It does everything, at this level where there are levels.
    At(Level),
}

impl Party {
    /// Where the connection of this number goes to.
    pub(crate) fn door(&self, purpose: Purpose, number: usize) -> SocketAddr {
        match (&self.doors, purpose) {
            (Doors::Apart { reads, writes }, Purpose::Reads) => {
                reads.get(number % reads.len().max(1)).copied().unwrap_or(*writes)
            }
            (Doors::Apart { writes, .. }, _) => *writes,
            (Doors::Together(door), _) => *door,
            (Doors::Levels(doors), Purpose::At(level)) => doors[level.index()],
            (Doors::Levels(doors), _) => doors[Level::Session.index()],
        }
    }

    /// The process's number.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Guarded::pid)
    }

    /// Whether it has levels.
    pub(crate) fn has_levels(&self) -> bool {
        matches!(self.doors, Doors::Levels(_))
    }

    /// Returns when it accepts logins at every door.
    pub(crate) fn open(&self, scene: &Scene) -> Result<()> {
        let doors = match &self.doors {
            Doors::Apart { reads, writes } => [reads.as_slice(), &[*writes]].concat(),
            Doors::Together(door) => vec![*door],
            Doors::Levels(doors) => doors.to_vec(),
        };
        let begin = Instant::now();
        for door in doors {
            while TcpStream::connect(door).is_err() {
                if begin.elapsed() > START_LIMIT {
                    return Err(self.silent(format!("{door} is not open")));
                }
                thread::sleep(POLL);
            }
            while let Err(error) = scene.introduce(door) {
                if begin.elapsed() > START_LIMIT {
                    return Err(self.silent(error.to_string()));
                }
                thread::sleep(POLL);
            }
        }
        Ok(())
    }

    fn silent(&self, reason: String) -> Error {
        Error::Silent { name: self.name, reason, log: self.log() }
    }

    /// For `map_err`: what was measured before it.
    pub(crate) fn during(&self, workload: Workload) -> impl FnOnce(Error) -> Error {
        move |source| Error::During {
            what: format!("{workload} before {}", self.name),
            source: Box::new(source),
            log: self.log(),
        }
    }

    fn log(&self) -> String {
        self.process.as_ref().map(Guarded::log).unwrap_or_default()
    }

    /// Returns when its reads are answered by replicas.
    pub(crate) async fn settle(&self) -> Result<()> {
        let begin = Instant::now();
        let mut in_a_row = 0;
        let mut number = 0;
        while in_a_row < SETTLED_READS {
            let answer = who_answers(self.door(Purpose::Reads, number)).await;
            number += 1;
            if answer.as_deref().is_ok_and(|server_id| server_id != "1") {
                in_a_row += 1;
                continue;
            }
            in_a_row = 0;
            if begin.elapsed() > START_LIMIT {
                let reason = match answer {
                    Ok(_) => "its reads are answered by the primary".to_owned(),
                    Err(error) => error.to_string(),
                };
                return Err(self.silent(reason));
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }
}

async fn who_answers(door: SocketAddr) -> Result<String> {
    let mut connection = Connection::open(door).await?;
    let answer = connection.value(WHO).await?;
    connection.quit().await?;
    Ok(answer)
}

/// Starts all that are there, before these nodes, each with a directory of its own below `directory`.
pub(crate) fn start_all(programs: &Programs, nodes: &[Node], directory: &Path) -> Result<Vec<Party>> {
    let starts: [(Option<&PathBuf>, Start); 4] = [
        (Some(&programs.haproxy), haproxy::start),
        (Some(&programs.tidemark), tidemark::start),
        (programs.router.as_ref(), router::start),
        (programs.proxysql.as_ref(), proxysql::start),
    ];
    let mut parties = vec![none(nodes)?];
    for (number, (program, start)) in starts.into_iter().enumerate() {
        let Some(program) = program else { continue };
        let place = Place { directory: directory.join(format!("party{number}")) };
        fs::create_dir_all(&place.directory).map_err(Error::system("cannot create a directory"))?;
        parties.push(start(program, nodes, &place)?);
    }
    Ok(parties)
}

/// Starts Tidemark alone, with a single endpoint that has these settings, and waits until its reads are answered by replicas.
pub(crate) fn start_tidemark(
    scene: &Scene,
    programs: &Programs,
    nodes: &[Node],
    (name, settings): (&str, &str),
    runtime: &Runtime,
) -> Result<Party> {
    let place = Place { directory: scene.cluster.directory().join(name) };
    fs::create_dir_all(&place.directory).map_err(Error::system("cannot create a directory"))?;
    let party = tidemark::start_one(&programs.tidemark, nodes, &place, settings)?;
    party.open(scene)?;
    runtime.block_on(party.settle())?;
    Ok(party)
}

type Start = fn(&Path, &[Node], &Place) -> Result<Party>;

/// Nothing: the servers themselves.
fn none(nodes: &[Node]) -> Result<Party> {
    let (primary, replicas) = split(nodes)?;
    let reads = replicas.iter().map(|(_, address)| *address).collect();
    Ok(Party { name: "none", doors: Doors::Apart { reads, writes: *primary }, process: None })
}

/// The primary's address, and the replicas.
fn split(nodes: &[Node]) -> Result<(&SocketAddr, &[Node])> {
    match nodes {
        [(_, primary), replicas @ ..] if !replicas.is_empty() => Ok((primary, replicas)),
        _ => Err(Error::Conversation("a cluster without replicas".to_owned())),
    }
}

/// Where a party keeps its files.
#[derive(Debug)]
struct Place {
    directory: PathBuf,
}

impl Place {
    /// Writes a file; returns its path.
    fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.directory.join(name);
        fs::write(&path, text).map_err(Error::system(format!("cannot write {}", path.display())))?;
        Ok(path)
    }

    fn run(&self, program: &Path, arguments: &[String]) -> Result<Guarded> {
        Guarded::start(program, arguments, self.directory.join("log"))
    }
}

/// An address on loopback that nobody listens at, below those that the system gives to outgoing connections.
fn free_address() -> SocketAddr {
    let mut chance = Chance::new(u64::from(std::process::id()) ^ clock());
    loop {
        let port = u16::try_from(20_000 + chance.below(12_000)).unwrap_or(20_000);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
        thread::yield_now();
    }
}

fn clock() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos()) << 20
}
