//! How Tidemark's costs grow: with clients, nodes, positions, waiting sessions, the length of statements and of results.
//!
//! Each series changes one thing and measures, at each of its steps, the processor time of the proxy for a statement; where
//! clients are counted, also the memory of each. What is asked of it: nothing grows faster than what is counted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sandbox::Engine;
use tokio::runtime::Runtime;

use crate::client::Connection;
use crate::error::{Error, Result};
use crate::load::runtime;
use crate::parties::{Node, Party, Programs, Purpose, start_tidemark};
use crate::process::{processor_time, resident_kib};
use crate::responder::Responder;
use crate::run::{allow_descriptors, say};
use crate::scene::{POINTS, Scene};

/// Clients that work at the same time, where they are not what is counted.
const CLIENTS: usize = 16;

/// What runs before anything is counted.
const WARM_UP: Duration = Duration::from_millis(500);

/// How long clients are silent before their memory is read.
const SILENCE: Duration = Duration::from_secs(1);

/// One thing that grows.
#[derive(Debug)]
pub(crate) struct Series {
    /// What is counted, as a heading has it.
    pub(crate) of: &'static str,
    /// What a client does meanwhile.
    pub(crate) meanwhile: &'static str,
    pub(crate) steps: Vec<Step>,
}

/// What was measured at one of its sizes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Step {
    /// How many.
    pub(crate) count: u64,
    /// Processor time of the proxy for each statement, in microseconds.
    pub(crate) cpu_us: f64,
    /// Statements in a second.
    pub(crate) per_second: f64,
    /// Memory of the proxy for each client that is silent, in KiB.
    pub(crate) memory_kib: Option<f64>,
    /// Processor time of the proxy in each second in which nobody asks anything, in microseconds.
    pub(crate) idle_us: Option<f64>,
}

/// What makes a client's statements: its number and that of its turn.
type Script = Arc<dyn Fn(u64, u64) -> String + Send + Sync>;

/// Where the measurements are made, and for how long each.
struct Stage<'a> {
    scene: &'a Scene,
    programs: &'a Programs,
    runtime: &'a Runtime,
    time: Duration,
}

/// Measures all series. Also returns the versions of the servers.
pub(crate) fn measure(programs: &Programs, time: Duration) -> Result<(Vec<Series>, Vec<String>)> {
    allow_descriptors();
    let runtime = runtime()?;
    let mut all = Vec::new();
    let mut versions = Vec::new();
    {
        let scene = Scene::start(Engine::Mariadb)?;
        versions.push(scene.version()?);
        let stage = Stage { scene: &scene, programs, runtime: &runtime, time };
        all.push(stage.shared_clients()?);
        all.push(stage.own_clients()?);
        all.push(stage.statements()?);
        all.push(stage.results()?);
        all.push(stage.nodes()?);
        all.push(stage.waiting()?);
    }
    let scene = Scene::start(Engine::Mysql)?;
    versions.push(scene.version()?);
    all.push(Stage { scene: &scene, programs, runtime: &runtime, time }.positions()?);
    Ok((all, versions))
}

impl Stage<'_> {
    fn shared_clients(&self) -> Result<Series> {
        let settings = "pool = \"transaction\"\nmax_connections = 20000\n";
        let steps = self.clients("shared", settings, &[10, 100, 1_000, 5_000, 10_000])?;
        Ok(Series {
            of: "Clients that share 100 connections to each server",
            meanwhile: "a point read, again and again, all of them at the same time",
            steps,
        })
    }

    fn own_clients(&self) -> Result<Series> {
        let steps = self.clients("own", "", &[10, 100, 1_000])?;
        Ok(Series {
            of: "Clients with connections of their own",
            meanwhile: "a point read, again and again, all of them at the same time",
            steps,
        })
    }

    fn clients(&self, name: &str, settings: &str, counts: &[usize]) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        for &count in counts {
            say(&format!("growth, {count} clients"));
            // A process that has served more clients before keeps their memory.
            let party = self.tidemark(&format!("{name}{count}"), settings, &self.scene.nodes())?;
            let work = async {
                let before = resident_kib(pid(&party)?)?;
                let mut clients = connect(&party, count).await?;
                for client in &mut clients {
                    client.query(&point(0, 0)).await?;
                }
                tokio::time::sleep(SILENCE).await;
                let held = resident_kib(pid(&party)?)?.saturating_sub(before);
                let step = load(&party, clients, self.time, Arc::new(point)).await?;
                Ok::<_, Error>(Step { memory_kib: Some(held as f64 / count as f64), ..step })
            };
            steps.push(Step { count: count as u64, ..self.runtime.block_on(work)? });
        }
        Ok(steps)
    }

    fn statements(&self) -> Result<Series> {
        let party = self.tidemark("statements", "", &self.scene.nodes())?;
        let list = |count: u64| {
            let ids: Vec<String> = (1..=count).map(|id| id.to_string()).collect();
            let text = format!("SELECT COUNT(*) FROM points WHERE id IN ({})", ids.join(","));
            Arc::new(move |_, _| text.clone()) as Script
        };
        self.scripts(
            &party,
            "Numbers in a statement",
            "SELECT COUNT(*) ... WHERE id IN (1,2,...): up to half a megabyte of text",
            &[1, 10, 100, 1_000, 10_000, 100_000],
            list,
        )
    }

    fn results(&self) -> Result<Series> {
        let party = self.tidemark("results", "", &self.scene.nodes())?;
        let rows = |count: u64| {
            let text = format!("SELECT a.body FROM tall AS a JOIN tall AS b ON b.id <= 100 LIMIT {count}");
            Arc::new(move |_, _| text.clone()) as Script
        };
        self.scripts(
            &party,
            "Rows of a result",
            "rows of 1,000 bytes",
            &[1, 10, 100, 1_000, 10_000, 100_000],
            rows,
        )
    }

    fn scripts(
        &self,
        party: &Party,
        of: &'static str,
        meanwhile: &'static str,
        counts: &[u64],
        script: impl Fn(u64) -> Script,
    ) -> Result<Series> {
        let work = async {
            let mut steps = Vec::new();
            for &count in counts {
                say(&format!("growth, {of}: {count}"));
                let mut clients = connect(party, CLIENTS).await?;
                clients.iter_mut().for_each(Connection::expect_long_results);
                steps.push(Step { count, ..load(party, clients, self.time, script(count)).await? });
            }
            Ok::<_, Error>(steps)
        };
        Ok(Series { of, meanwhile, steps: self.runtime.block_on(work)? })
    }

    /// So many nodes, of which all but the primary are one of two replicas, each behind an address of its own.
    fn nodes(&self) -> Result<Series> {
        let mut steps = Vec::new();
        for count in [3_usize, 10, 25, 50] {
            let real = self.scene.nodes();
            let mut nodes: Vec<Node> = real.iter().take(1).cloned().collect();
            let mut fronts = Vec::new();
            for (number, (_, replica)) in (2..=count).zip(real.iter().skip(1).cycle()) {
                let front = Responder::open(*replica)?;
                nodes.push((format!("db{number}"), front.address));
                fronts.push(front);
            }
            say(&format!("growth, {count} nodes"));
            let party = self.tidemark(&format!("nodes{count}"), "", &nodes)?;
            let idle_us = self.runtime.block_on(idle(&party, self.time))?;
            let work = async {
                let clients = connect(&party, CLIENTS).await?;
                load(&party, clients, self.time, Arc::new(point)).await
            };
            let step = self.runtime.block_on(work)?;
            steps.push(Step { count: count as u64, idle_us: Some(idle_us), ..step });
        }
        Ok(Series { of: "Nodes", meanwhile: "point reads, spread over all replicas", steps })
    }

    /// Sessions whose reads wait a second for replicas that apply nothing.
    fn waiting(&self) -> Result<Series> {
        let party = self.tidemark("waiting", "consistency_timeout_us = 1000000\n", &self.scene.nodes())?;
        let mut steps = Vec::new();
        for count in [10, 100, 1_000] {
            say(&format!("growth, {count} sessions that wait"));
            let clients = self.runtime.block_on(connect(&party, count))?;
            for replica in self.scene.cluster.replicas() {
                replica.stop_sql_thread()?;
            }
            let script = Arc::new(move |number: u64, turn: u64| match turn % 2 {
                0 => format!("UPDATE points SET k=k+1 WHERE id={}", 1 + number % POINTS),
                _ => point(number, turn),
            });
            let step = self.runtime.block_on(load(&party, clients, self.time + SILENCE, script));
            for replica in self.scene.cluster.replicas() {
                replica.start_sql_thread()?;
            }
            self.scene.cluster.wait_caught_up(Duration::from_secs(60))?;
            steps.push(Step { count: count as u64, ..step? });
        }
        Ok(Series {
            of: "Sessions that wait for a replica",
            meanwhile: "a write, and a read that waits a second for it and goes to the primary then",
            steps,
        })
    }

    /// A GTID set with the histories of so many servers.
    fn positions(&self) -> Result<Series> {
        let mut steps = Vec::new();
        let mut known = 1;
        for count in [1, 10, 100, 1_000] {
            let new: Vec<String> = (known..count)
                .map(|number| format!("00000000-0000-4000-8000-{number:012x}:1-{}", 10 + number))
                .collect();
            known = count;
            if !new.is_empty() {
                for server in self.scene.cluster.servers() {
                    server.sql(&format!("SET GLOBAL gtid_purged = '+{}'", new.join(",")))?;
                }
            }
            say(&format!("growth, {count} servers in the GTID set"));
            let party = self.tidemark(&format!("positions{count}"), "", &self.scene.nodes())?;
            let idle_us = self.runtime.block_on(idle(&party, self.time))?;
            let script = Arc::new(|number: u64, turn: u64| match turn % 10 {
                0 => format!("UPDATE points SET k=k+1 WHERE id={}", 1 + number % POINTS),
                _ => point(number, turn),
            });
            let work = async {
                let clients = connect(&party, CLIENTS).await?;
                load(&party, clients, self.time, script).await
            };
            let step = self.runtime.block_on(work)?;
            steps.push(Step { count, idle_us: Some(idle_us), ..step });
        }
        Ok(Series {
            of: "Servers in the GTID set",
            meanwhile: "nine point reads for each write, at the level session (MySQL)",
            steps,
        })
    }

    fn tidemark(&self, name: &str, settings: &str, nodes: &[Node]) -> Result<Party> {
        start_tidemark(self.scene, self.programs, nodes, (name, settings), self.runtime)
    }
}

fn point(number: u64, turn: u64) -> String {
    format!("SELECT c FROM points WHERE id={}", 1 + (number * 7_919 + turn * 104_729) % POINTS)
}

fn pid(party: &Party) -> Result<u32> {
    party.pid().ok_or_else(|| Error::Conversation("no process is measured".to_owned()))
}

async fn connect(party: &Party, count: usize) -> Result<Vec<Connection>> {
    let mut clients = Vec::with_capacity(count);
    for number in 0..count {
        clients.push(Connection::open(party.door(Purpose::All, number)).await?);
    }
    Ok(clients)
}

/// What a second costs in which nobody asks anything, in microseconds.
async fn idle(party: &Party, time: Duration) -> Result<f64> {
    tokio::time::sleep(WARM_UP).await;
    let before = processor_time(pid(party)?)?;
    tokio::time::sleep(time).await;
    let spent = processor_time(pid(party)?)?.saturating_sub(before);
    Ok(spent.as_secs_f64() * 1e6 / time.as_secs_f64())
}

/// Lets clients work for this time, and leave.
async fn load(party: &Party, clients: Vec<Connection>, time: Duration, script: Script) -> Result<Step> {
    let (clients, _) = work(clients, WARM_UP, &script).await?;
    let before = processor_time(pid(party)?)?;
    let begin = Instant::now();
    let (clients, statements) = work(clients, time, &script).await?;
    let elapsed = begin.elapsed().as_secs_f64();
    let spent = processor_time(pid(party)?)?.saturating_sub(before);
    for client in clients {
        client.quit().await?;
    }
    Ok(Step {
        cpu_us: spent.as_secs_f64() * 1e6 / statements.max(1) as f64,
        per_second: statements as f64 / elapsed,
        ..Step::default()
    })
}

async fn work(clients: Vec<Connection>, time: Duration, script: &Script) -> Result<(Vec<Connection>, u64)> {
    let end = Instant::now() + time;
    let working: Vec<_> = (0..)
        .zip(clients)
        .map(|(number, mut client)| {
            let script = Arc::clone(script);
            tokio::spawn(async move {
                let mut turns = 0;
                while Instant::now() < end {
                    client.query(&script(number, turns)).await?;
                    turns += 1;
                }
                Ok::<_, Error>((client, turns))
            })
        })
        .collect();
    let (mut clients, mut statements) = (Vec::new(), 0);
    for client in working {
        let ended = |error| Error::Conversation(format!("a client ended before its time: {error}"));
        let (client, turns) = client.await.map_err(ended)??;
        clients.push(client);
        statements += turns;
    }
    Ok((clients, statements))
}
