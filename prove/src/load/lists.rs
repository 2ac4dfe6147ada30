//! The clients of the lists: transactions that append to them and read them, and snapshots of all of them.
//!
//! Each act has lists of its own, so that they stay short. A list is a row; one that is not there yet is empty.

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use tokio::time::sleep;

use super::connect::{Door, Failure, Line, patiently};
use super::{Log, REST, Shared};
use crate::chance::Chance;
use crate::history::{Outcome, Step, Transaction};

/// Lists in each act.
pub(crate) const LISTS: usize = 5;

/// Of a hundred operations, so many are transactions that write; the rest are snapshots.
const WRITERS: u64 = 40;

/// Elements of a list, in characters; the transactions of one act fill hardly a tenth.
const ROOM: u32 = 60_000;

/// The table, as statements for the primary.
pub(super) fn prepare() -> String {
    format!(
        "DROP TABLE IF EXISTS app.lists;\n\
         CREATE TABLE app.lists (k INT PRIMARY KEY, v VARCHAR({ROOM}) NOT NULL) CHARSET latin1;\n"
    )
}

/// The row of a list.
fn key(act: u32, list: usize) -> u32 {
    act * 100 + u32::try_from(list).unwrap_or_default()
}

/// One client.
#[derive(Debug)]
pub(crate) struct Appender {
    line: Line,
    chance: Chance,
}

impl Appender {
    pub(crate) fn new(door: Door, chance: Chance) -> Self {
        Self { line: Line::new(door), chance }
    }

    pub(super) fn session(&self) -> Option<u32> {
        self.line.session()
    }

    pub(super) async fn work(&mut self, shared: &Shared, log: &mut Log) {
        if self.chance.percent(WRITERS) {
            self.write(shared, log).await;
        } else {
            self.look(shared, log).await;
        }
        sleep(self.chance.up_to(shared.rest * 4)).await;
    }

    /// One to four steps, at READ COMMITTED on the primary.
    async fn write(&mut self, shared: &Shared, log: &mut Log) {
        let count = 1 + self.chance.below(4);
        let mut plan: Vec<Step> = (0..count).map(|_| self.step(shared)).collect();
        // Always in this order: so there are no deadlocks.
        plan.sort_by_key(|step| match step {
            Step::Append { list, .. } | Step::Read { list, .. } => *list,
        });
        let Some(held) = self.line.held(shared).await else { return };
        let who = held.who;
        let begin = shared.now();
        let mut node = 0;
        let mut steps = Vec::new();
        let mut sent_commit = false;
        let connection = &mut held.connection;
        let outcome = patiently(async {
            connection.query_drop("SET TRANSACTION ISOLATION LEVEL READ COMMITTED").await?;
            connection.query_drop("BEGIN").await?;
            for step in plan {
                match step {
                    Step::Append { list, element } => {
                        // It counts as tried before it is sent.
                        steps.push(step);
                        append(connection, key(shared.act, list), element).await?;
                    }
                    Step::Read { list, .. } => {
                        let (server, elements) = one(connection, key(shared.act, list)).await?;
                        node = server;
                        steps.push(Step::Read { list, elements });
                    }
                }
            }
            sent_commit = true;
            connection.query_drop("COMMIT").await
        })
        .await;
        let outcome = match outcome {
            Ok(()) => Outcome::Committed,
            Err(failure) => {
                log.failed(who.level, || format!("{who}, a transaction on lists: {}", failure.text()));
                self.line.end();
                sleep(REST).await;
                // What was not asked to be committed never will be.
                if sent_commit { Outcome::InDoubt } else { Outcome::Aborted }
            }
        };
        let end = shared.now();
        log.lists.push(Transaction { who, begin, end, node, outcome, snapshot: false, steps });
    }

    fn step(&mut self, shared: &Shared) -> Step {
        let list = usize::try_from(self.chance.below(LISTS as u64)).unwrap_or_default();
        if self.chance.percent(70) {
            Step::Append { list, element: shared.element() }
        } else {
            Step::Read { list, elements: Vec::new() }
        }
    }

    /// All lists: in one statement, or one after the other in a transaction that cannot write, the first one twice.
    async fn look(&mut self, shared: &Shared, log: &mut Log) {
        let alone = self.chance.percent(50);
        let Some(held) = self.line.held(shared).await else { return };
        let who = held.who;
        let begin = shared.now();
        let connection = &mut held.connection;
        let outcome = patiently(async {
            if alone { all(connection, shared.act).await } else { one_by_one(connection, shared.act).await }
        })
        .await;
        match outcome {
            Ok((node, steps)) => {
                let (end, outcome) = (shared.now(), Outcome::Committed);
                log.lists.push(Transaction { who, begin, end, node, outcome, snapshot: true, steps });
            }
            Err(failure) => self.not_read(&failure, log).await,
        }
    }

    async fn not_read(&mut self, failure: &Failure, log: &mut Log) {
        let level = self.line.level();
        log.failed(level, || format!("a look at the lists ({}): {}", level.as_str(), failure.text()));
        self.line.end();
        sleep(REST).await;
    }
}

async fn append(connection: &mut Conn, key: u32, element: u32) -> Result<(), mysql_async::Error> {
    let text = format!(
        "INSERT INTO lists VALUES ({key}, '{element}') ON DUPLICATE KEY UPDATE v = CONCAT(v, ',{element}')"
    );
    connection.query_drop(text).await
}

async fn one(connection: &mut Conn, key: u32) -> Result<(u32, Vec<u32>), mysql_async::Error> {
    let text = format!("SELECT @@server_id, (SELECT v FROM lists WHERE k = {key})");
    let row: Option<(u32, Option<String>)> = connection.query_first(text).await?;
    let (node, text) = row.ok_or_else(|| mysql_async::Error::Other("no row came".into()))?;
    Ok((node, elements(&text.unwrap_or_default())?))
}

type Looked = (u32, Vec<Step>);

async fn one_by_one(connection: &mut Conn, act: u32) -> Result<Looked, mysql_async::Error> {
    connection.query_drop("START TRANSACTION READ ONLY").await?;
    let mut looked = (0, Vec::new());
    for list in (0..LISTS).chain([0]) {
        let (node, elements) = one(connection, key(act, list)).await?;
        looked.0 = node;
        looked.1.push(Step::Read { list, elements });
    }
    connection.query_drop("COMMIT").await?;
    Ok(looked)
}

async fn all(connection: &mut Conn, act: u32) -> Result<Looked, mysql_async::Error> {
    let (first, last) = (key(act, 0), key(act, LISTS));
    // A row also when there is no list yet: it says which server looked.
    let text = format!(
        "SELECT s.id, l.k, l.v FROM (SELECT @@server_id AS id) s LEFT JOIN lists l ON l.k >= {first} AND l.k < {last}"
    );
    let rows: Vec<(u32, Option<u32>, Option<String>)> = connection.query(text).await?;
    let node = rows.first().map_or(0, |(node, ..)| *node);
    let mut found = vec![Vec::new(); LISTS];
    for (_, k, text) in rows {
        let list = k.and_then(|k| usize::try_from(k - first).ok());
        if let Some(slot) = list.and_then(|list| found.get_mut(list)) {
            *slot = elements(&text.unwrap_or_default())?;
        }
    }
    Ok((node, (0..).zip(found).map(|(list, elements)| Step::Read { list, elements }).collect()))
}

fn elements(text: &str) -> Result<Vec<u32>, mysql_async::Error> {
    let parsed: Result<_, _> =
        text.split(',').filter(|element| !element.is_empty()).map(str::parse).collect();
    parsed.map_err(|_| mysql_async::Error::Other("a list holds something that is no number".into()))
}

/// What the lists of an act are, read where they were written when all is over.
pub(crate) async fn in_the_end(door: &Door, act: u32) -> Result<Vec<Vec<u32>>, mysql_async::Error> {
    let mut connection = Conn::new(door.options()).await?;
    let (_, steps) = all(&mut connection, act).await?;
    connection.disconnect().await?;
    let lists = steps.into_iter().filter_map(|step| match step {
        Step::Read { elements, .. } => Some(elements),
        Step::Append { .. } => None,
    });
    Ok(lists.collect())
}
