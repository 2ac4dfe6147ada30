//! The clients of the registers: each writes its own, and reads all of them, in all the ways in which one can read.

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use tokio::time::sleep;

use super::connect::{Door, Line, patiently};
use super::{Log, REST, Shared};
use crate::chance::Chance;
use crate::history::{Level, Nanos, Read, Write};

/// Registers, and so clients, at most.
pub(crate) const REGISTERS: usize = 12;

/// Of a hundred operations, so many are writes, and some a reset of the connection.
const WRITES: u64 = 20;
const NO_READS: u64 = WRITES + 1;

/// Of a hundred writes, so many are followed by a read in the same packet.
const LOOKS: u64 = 20;

const READ: &str = "SELECT @@server_id, GROUP_CONCAT(v ORDER BY k) FROM registers";

/// The table with its rows, as statements for the primary.
pub(super) fn prepare() -> String {
    let rows: Vec<String> = (0..REGISTERS).map(|register| format!("({register}, 0)")).collect();
    format!(
        "DROP TABLE IF EXISTS app.registers;\n\
         CREATE TABLE app.registers (k INT PRIMARY KEY, v INT UNSIGNED NOT NULL);\n\
         INSERT INTO app.registers VALUES {};\n",
        rows.join(", ")
    )
}

/// How a read is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// One statement, as text.
    Text,
    /// One statement, prepared.
    Prepared,
    /// One statement that names its node.
    OnNode(u64),
    /// In a transaction that might write, and so runs on the primary.
    Transaction,
    /// Twice in a transaction that cannot write.
    Snapshot,
}

impl Manner {
    fn choose(chance: &mut Chance) -> Self {
        match chance.below(100) {
            0..70 => Self::Text,
            70..82 => Self::Prepared,
            82..90 => Self::OnNode(1 + chance.below(3)),
            90..95 => Self::Transaction,
            _ => Self::Snapshot,
        }
    }
}

/// What a read showed: the server, the registers; and once more where it was repeated.
type Shown = (u32, Box<[u32]>, Option<Box<[u32]>>);

/// One client.
#[derive(Debug)]
pub(crate) struct Recorder {
    line: Line,
    register: usize,
    /// The last value it tried to write.
    value: u32,
    chance: Chance,
}

impl Recorder {
    /// A client that writes this register, and nobody else does.
    pub(crate) fn new(door: Door, register: usize, chance: Chance) -> Self {
        Self { line: Line::new(door), register, value: 0, chance }
    }

    /// The number of its session, if it has one.
    pub(super) fn session(&self) -> Option<u32> {
        self.line.session()
    }

    pub(super) async fn work(&mut self, shared: &Shared, log: &mut Log) {
        match self.chance.below(100) {
            0..WRITES => self.write(shared, log).await,
            WRITES..NO_READS => self.reset(shared, log).await,
            _ => self.read(shared, log).await,
        }
        // Half of the operations follow the one before at once: that is when things are seen in between.
        if self.chance.percent(50) {
            sleep(self.chance.up_to(shared.rest * 4)).await;
        }
    }

    async fn write(&mut self, shared: &Shared, log: &mut Log) {
        let and_look = self.chance.percent(LOOKS);
        let Some(held) = self.line.held(shared).await else { return };
        self.value += 1;
        let (register, value, who) = (self.register, self.value, held.who);
        // One in doubt may be carried out after the next one; the number must not fall by that.
        let text = format!("UPDATE registers SET v = {value} WHERE k = {register} AND v < {value}");
        let begin = shared.now();
        let outcome = if and_look {
            patiently(write_and_look(&mut held.connection, &text)).await.map(Some)
        } else {
            patiently(held.connection.query_drop(text)).await.map(|()| None)
        };
        let now = shared.now();
        let end = outcome.is_ok().then_some(now);
        log.history.writes.push(Write { who, register, value, begin, end });
        match outcome {
            Ok(None) => {}
            Ok(Some((node, values))) => {
                log.history.reads.push(Read { who, begin, end: now, node, values, again: None });
            }
            Err(failure) => {
                log.failed(who.level, || format!("{who}, a write: {}", failure.text()));
                self.line.after(&failure);
                sleep(REST).await;
            }
        }
    }

    /// What a pool does when it hands a connection on: the state is gone, and the promises go on.
    async fn reset(&mut self, shared: &Shared, log: &mut Log) {
        let Some(held) = self.line.held(shared).await else { return };
        let (who, connection) = (held.who, &mut held.connection);
        if let Err(failure) = patiently(async { connection.reset().await.map(drop) }).await {
            log.failed(who.level, || format!("{who}, a reset: {}", failure.text()));
            self.line.after(&failure);
        }
    }

    async fn read(&mut self, shared: &Shared, log: &mut Log) {
        let manner = Manner::choose(&mut self.chance);
        let direct = self.line.level() == Level::Direct;
        let Some(held) = self.line.held(shared).await else { return };
        let who = held.who;
        let begin = shared.now();
        let outcome = patiently(shown(&mut held.connection, manner, direct)).await;
        let end = shared.now();
        match outcome {
            Ok((node, values, again)) => {
                if matches!(manner, Manner::Text | Manner::Prepared) {
                    log.latencies_us.push((who.level, micros(end - begin)));
                }
                log.history.reads.push(Read { who, begin, end, node, values, again });
            }
            Err(failure) => {
                log.failed(who.level, || format!("{who}, a read ({manner:?}): {}", failure.text()));
                self.line.after(&failure);
                if matches!(manner, Manner::Transaction | Manner::Snapshot) {
                    // Whether it is open is not known.
                    self.line.end();
                }
                sleep(REST).await;
            }
        }
    }
}

fn micros(nanos: Nanos) -> u32 {
    u32::try_from(nanos / 1000).unwrap_or(u32::MAX)
}

async fn shown(connection: &mut Conn, manner: Manner, direct: bool) -> Result<Shown, mysql_async::Error> {
    match manner {
        Manner::OnNode(node) if !direct => {
            let (node, values) = one(connection, &format!("/* tidemark: node=db{node} */ {READ}")).await?;
            Ok((node, values, None))
        }
        Manner::Text | Manner::OnNode(_) => {
            let (node, values) = one(connection, READ).await?;
            Ok((node, values, None))
        }
        Manner::Prepared => {
            let row = connection.exec_first(READ, ()).await?;
            let (node, values) = read(row)?;
            Ok((node, values, None))
        }
        Manner::Transaction => {
            connection.query_drop("BEGIN").await?;
            let (node, values) = one(connection, READ).await?;
            connection.query_drop("COMMIT").await?;
            Ok((node, values, None))
        }
        Manner::Snapshot => {
            connection.query_drop("START TRANSACTION READ ONLY").await?;
            let (node, values) = one(connection, READ).await?;
            let (_, again) = one(connection, READ).await?;
            connection.query_drop("COMMIT").await?;
            Ok((node, values, Some(again)))
        }
    }
}

/// A write, and what the registers show right after it, in one packet of two statements.
async fn write_and_look(connection: &mut Conn, write: &str) -> Result<(u32, Box<[u32]>), mysql_async::Error> {
    let mut results = connection.query_iter(format!("{write}; {READ}")).await?;
    results.collect::<mysql_async::Row>().await?;
    let rows: Vec<(u32, String)> = results.collect().await?;
    results.drop_result().await?;
    read(rows.into_iter().next())
}

async fn one(connection: &mut Conn, text: &str) -> Result<(u32, Box<[u32]>), mysql_async::Error> {
    read(connection.query_first(text).await?)
}

fn read(row: Option<(u32, String)>) -> Result<(u32, Box<[u32]>), mysql_async::Error> {
    let broken = || mysql_async::Error::Other("the answer is not what was asked for".into());
    let (node, text) = row.ok_or_else(broken)?;
    let values: Result<Box<[u32]>, _> = text.split(',').map(str::parse).collect();
    let values = values.map_err(|_| broken())?;
    if values.len() == REGISTERS { Ok((node, values)) } else { Err(broken()) }
}
