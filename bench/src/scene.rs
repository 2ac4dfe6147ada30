//! What is measured on: a primary with two replicas, and the tables of the load.

use std::fmt::Write;
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use sandbox::{APP_PASSWORD, APP_USER, Cluster, ClusterOptions, Engine, Family, Server};

use crate::chance::Chance;
use crate::error::{Error, Result};
use crate::parties::Node;

/// Rows of `points`.
pub(crate) const POINTS: u64 = 20_000;

/// Rows of `wide`, 64 KiB each.
pub(crate) const WIDE: u64 = 16;

/// Rows of `tall`, 1,000 bytes each; the long result has each of them a hundred times.
const TALL: u64 = 1_000;

/// Rows in one INSERT.
const BATCH: u64 = 1_000;

/// How long the replicas may take for the tables.
const CATCH_UP_LIMIT: Duration = Duration::from_secs(120);

/// A running cluster with the tables. Dropping it ends the servers.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) cluster: Cluster,
    engine: Engine,
}

impl Scene {
    /// Starts the servers and fills the tables.
    pub(crate) fn start(engine: Engine) -> Result<Self> {
        // Each idle client has a connection of its own, at some proxies two.
        let options = ClusterOptions::new(engine).tls(false).server_argument("--max-connections=5000");
        let scene = Self { cluster: Cluster::start(options)?, engine };
        scene.cluster.primary().query_within(&tables(), CATCH_UP_LIMIT)?;
        scene.cluster.wait_caught_up(CATCH_UP_LIMIT)?;
        for node in scene.cluster.servers() {
            scene.introduce(node.address())?;
        }
        Ok(scene)
    }

    /// The names and addresses of the servers, the primary first.
    pub(crate) fn nodes(&self) -> Vec<Node> {
        let servers = self.cluster.servers().iter();
        servers.map(|server: &Server| (server.name().to_owned(), server.address())).collect()
    }

    /// What the servers say of their version.
    pub(crate) fn version(&self) -> Result<String> {
        let name = match self.engine.family() {
            Family::Mysql => "MySQL",
            Family::Mariadb => "MariaDB",
        };
        Ok(format!("{name} {}", self.cluster.primary().value("SELECT VERSION()")?))
    }

    /// Logs in once with the servers' own client, which can show its password to who has not seen it yet: the accounts of
    /// MySQL need that before the quick exchange, the only one that the load's client knows.
    pub(crate) fn introduce(&self, door: SocketAddr) -> Result<()> {
        if self.engine.family() == Family::Mariadb {
            return Ok(());
        }
        let output = Command::new(self.cluster.primary().client_program())
            .args(["--no-defaults", "--ssl-mode=DISABLED", "--get-server-public-key", "--protocol=TCP"])
            .args([format!("--host={}", door.ip()), format!("--port={}", door.port())])
            .args([format!("--user={APP_USER}"), format!("--password={APP_PASSWORD}")])
            .args(["--execute", "SELECT 1"])
            .output()
            .map_err(Error::system("cannot run the servers' client"))?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        Err(Error::Conversation(format!("{APP_USER} cannot log in at {door}: {}", text.trim())))
    }
}

/// The statements that make the tables of the load, in the schema `sbtest`.
fn tables() -> String {
    let mut sql = "\
        CREATE TABLE sbtest.points (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL, KEY (k));\n\
        CREATE TABLE sbtest.wide (id INT PRIMARY KEY, body LONGTEXT NOT NULL);\n\
        CREATE TABLE sbtest.tall (id INT PRIMARY KEY, body VARCHAR(1000) NOT NULL);\n"
        .to_owned();
    let mut chance = Chance::new(1);
    fill(&mut sql, "points", POINTS, |id| {
        let k = chance.below(POINTS);
        format!("({id},{k},'{}','{}')", digits(&mut chance, 119), digits(&mut chance, 59))
    });
    fill(&mut sql, "wide", WIDE, |id| format!("({id},REPEAT('w',65536))"));
    fill(&mut sql, "tall", TALL, |id| format!("({id},REPEAT('t',1000))"));
    sql
}

fn fill(sql: &mut String, table: &str, rows: u64, mut row: impl FnMut(u64) -> String) {
    for first in (1..=rows).step_by(usize::try_from(BATCH).unwrap_or(1)) {
        let batch: Vec<String> = (first..=rows.min(first + BATCH - 1)).map(&mut row).collect();
        let _ = writeln!(sql, "INSERT INTO sbtest.{table} VALUES {};", batch.join(","));
    }
}

/// So many digits in groups.
pub(crate) fn digits(chance: &mut Chance, length: usize) -> String {
    let mut text = String::with_capacity(length + 12);
    while text.len() < length {
        let _ = write!(text, "{:011}-", chance.below(100_000_000_000));
    }
    text.truncate(length);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_made_once() {
        let mut sql = String::new();
        let mut made = Vec::new();
        fill(&mut sql, "t", 2_500, |id| {
            made.push(id);
            format!("({id})")
        });
        assert_eq!(made, (1..=2_500).collect::<Vec<u64>>());
        assert_eq!(sql.lines().count(), 3);
    }

    #[test]
    fn digits_have_their_length() {
        assert_eq!(digits(&mut Chance::new(1), 119).len(), 119);
        assert_eq!(digits(&mut Chance::new(1), 0), "");
    }
}
