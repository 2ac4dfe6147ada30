//! What sessions that wait for a position cost the servers: one of them, and a thousand.

use std::fmt;
use std::thread;
use std::time::Duration;

use mysql_async::Conn;
use mysql_async::prelude::Queryable;

use super::{Bench, READ, direct, questions};
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::history::Level;

/// Sessions that wait at the same time.
const MANY: usize = 1000;

/// How long the servers' statements are counted.
const COUNTED: Duration = Duration::from_secs(2);

/// After the last session began to wait.
const CALM: Duration = Duration::from_millis(500);

/// So that the servers take as many connections.
pub(super) const ROOM: &str = "SET GLOBAL max_connections = 3000";

/// Statements per second and server, the primary first.
#[derive(Debug, Clone)]
pub struct Waiting {
    one: Vec<u64>,
    many: Vec<u64>,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "statements per second to the primary and each replica while 1 and while {MANY} sessions wait | {} and {}",
            list(&self.one),
            list(&self.many)
        )
    }
}

fn list(figures: &[u64]) -> String {
    figures.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Measures it, with every replica's applier stopped.
pub(super) fn measure(bench: &Bench, driver: &Driver) -> Result<Waiting> {
    let mut around = Vec::new();
    for server in bench.cluster.servers() {
        around.push(driver.handle().block_on(direct(server))?);
    }
    for replica in bench.cluster.replicas() {
        replica.stop_sql_thread()?;
    }
    let position = driver.handle().block_on(write(bench))?;
    let mut waiting = Vec::new();
    let mut rates = Vec::new();
    for count in [1, MANY] {
        while waiting.len() < count {
            let mut session = driver.handle().block_on(ready(bench, &position))?;
            waiting.push(driver.handle().spawn(async move {
                let value: Option<u32> = session.query_first(READ).await?;
                Ok::<_, Error>(value)
            }));
        }
        thread::sleep(CALM);
        rates.push(count_statements(&mut around, driver)?);
    }
    for replica in bench.cluster.replicas() {
        replica.start_sql_thread()?;
    }
    for read in waiting {
        driver.handle().block_on(read).map_err(Error::ended)??;
    }
    let many = rates.pop().unwrap_or_default();
    Ok(Waiting { one: rates.pop().unwrap_or_default(), many })
}

async fn write(bench: &Bench) -> Result<String> {
    let mut writer = bench.session(Level::Session).await?;
    super::write(&mut writer, 0).await
}

/// A session that must see a position.
async fn ready(bench: &Bench, position: &str) -> Result<Conn> {
    let mut session = bench.session(Level::Session).await?;
    super::need(&mut session, position).await?;
    Ok(session)
}

fn count_statements(around: &mut [Conn], driver: &Driver) -> Result<Vec<u64>> {
    let mut count = || -> Result<Vec<u64>> {
        around.iter_mut().map(|server| driver.handle().block_on(questions(server))).collect()
    };
    let before = count()?;
    thread::sleep(COUNTED);
    let after = count()?;
    Ok(after.iter().zip(before).map(|(after, before)| (after - before) / COUNTED.as_secs()).collect())
}
