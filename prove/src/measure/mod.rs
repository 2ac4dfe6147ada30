//! What the promises cost, measured on a cluster of its own with nothing else going on: how soon a waiting read is answered,
//! what waiting costs the servers, and what asking the primary costs.
//!
//! The servers' own counters, and a client that goes around the proxy, say what happened.

mod asking;
mod waiting;
mod wake;

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use sandbox::{Cluster, ClusterOptions, Engine, Server};

pub use asking::Asking;
pub use waiting::Waiting;
pub use wake::Wake;

use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::history::Level;
use crate::load::{Door, Place};
use crate::scene::{Plan, Proxy};

/// Reads wait for ever, and for however late a replica: what is measured is the wait.
const ENDPOINT: &str = "consistency_timeout_us = 0\nmax_lag_ms = 0";

const TABLE: &str = "CREATE DATABASE IF NOT EXISTS app; CREATE TABLE app.measured (id INT PRIMARY KEY, v INT NOT NULL); \
                     INSERT INTO app.measured VALUES (1, 0)";

/// The row that is written and read.
const READ: &str = "SELECT v FROM app.measured WHERE id = 1";

/// The figures of one family.
#[derive(Debug, Clone)]
pub struct Measured {
    engine: Engine,
    /// By replica.
    wakes: Vec<Wake>,
    waiting: Waiting,
    asking: Asking,
}

/// A primary, three replicas, and a proxy that reaches them without detour.
struct Bench {
    cluster: Cluster,
    proxy: Proxy,
}

impl Bench {
    fn start(engine: Engine, program: &Path) -> Result<Self> {
        let cluster = Cluster::start(ClusterOptions::new(engine).tls(false).replicas(3))?;
        for server in cluster.servers() {
            server.sql(waiting::ROOM)?;
        }
        cluster.primary().sql(TABLE)?;
        cluster.wait_caught_up(Duration::from_secs(30))?;
        let directory = cluster.directory().join("measure");
        fs::create_dir_all(&directory).map_err(Error::system("cannot create a directory"))?;
        let nodes = cluster.servers().iter().map(|server| (server.name().to_owned(), server.address()));
        let plan = Plan {
            program,
            name: 'M',
            endpoint: ENDPOINT,
            nodes: nodes.collect(),
            sabotage: None,
            clock: None,
        };
        let proxy = Proxy::start(&plan, &directory)?;
        Ok(Self { cluster, proxy })
    }

    /// A new session at a level.
    async fn session(&self, level: Level) -> Result<Conn> {
        let place = Place::Socket(self.proxy.socket(level));
        Ok(Conn::new(Door { place, level, proxy: self.proxy.name() }.options()).await?)
    }
}

/// A client of the server itself.
async fn direct(server: &Server) -> Result<Conn> {
    let place = Place::port(server.port());
    Ok(Conn::new(Door { place, level: Level::Direct, proxy: '-' }.options()).await?)
}

/// Statements that a server has been sent, by anybody.
async fn questions(around: &mut Conn) -> Result<u64> {
    let row: Option<(String, u64)> = around.query_first("SHOW GLOBAL STATUS LIKE 'Questions'").await?;
    Ok(row.map_or(0, |(_, count)| count))
}

/// Writes a value that was not there. Returns the session's position.
async fn write(writer: &mut Conn, value: u32) -> Result<String> {
    writer.query_drop(format!("UPDATE app.measured SET v = {value} WHERE id = 1")).await?;
    let position: Option<String> = writer.query_first("TIDEMARK SHOW POSITION").await?;
    Ok(position.unwrap_or_default())
}

/// What this session reads from now on must show a position.
async fn need(session: &mut Conn, position: &str) -> Result<()> {
    Ok(session.query_drop(format!("TIDEMARK SET position = '{position}'")).await?)
}

/// Measures one family.
///
/// # Errors
/// When the cluster or the proxy does not do what is needed for it.
pub fn measure(engine: Engine, program: &Path) -> Result<Measured> {
    let bench = Bench::start(engine, program)?;
    let driver = Driver::start("measured")?;
    let wakes = wake::each_replica(&bench, &driver)?;
    let asking = driver.handle().block_on(asking::measure(&bench))?;
    let waiting = waiting::measure(&bench, &driver)?;
    Ok(Measured { engine, wakes, waiting, asking })
}

impl Measured {
    /// The heading of the table that `Display` continues.
    pub const HEADING: &'static str = "| Family | What | Figure |\n|---|---|---|";
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |line: &dyn fmt::Display| writeln!(f, "| {} | {line} |", self.engine);
        self.wakes.iter().try_for_each(|wake| row(wake))?;
        row(&self.waiting)?;
        row(&self.asking)
    }
}
