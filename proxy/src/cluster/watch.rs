//! The watcher of one node: one connection, on which the node is asked where it is for as long as it lives.
//!
//! However many sessions wait for the node, this is the only connection that waits there: MySQL wakes every waiting
//! connection with every commit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gtid::{Flavor, Position};

use super::entry::Told;
use super::monitor::Connection;
use super::pace::{Pace, Plan};
use super::sample::{self, Reader, Sample};
use super::shared::Shared;
use super::snapshot::{Node, NodeId};
use crate::backend::error::BackendError;
use crate::config::Address;

/// How often a node is asked for its role and settings: a replica that was pointed at a new primary serves again
/// after at most so long.
const TOLD_EVERY: Duration = Duration::from_millis(250);

/// How often for all its settings, which costs it more.
const SETTINGS_EVERY: Duration = Duration::from_secs(10);

/// First and longest pause between two attempts to reach a node.
const RETRY_FIRST: Duration = Duration::from_millis(50);
const RETRY_LAST: Duration = Duration::from_secs(1);

/// Longest pause when the server refuses the login.
const RETRY_REFUSED: Duration = Duration::from_secs(5);

/// A connection that lasted so long was a good one: the first retry is at once.
const GOOD: Duration = Duration::from_secs(1);

/// Longest text of a position that is sent as the target of a wait, in bytes.
const TARGET_LIMIT: usize = 4096;

/// Watches the node until the task is stopped.
pub(super) async fn watch(shared: Arc<Shared>, id: NodeId, address: Address) {
    let mut pause = RETRY_FIRST;
    let name = node(&shared, id).map_or_else(|| Arc::from("?"), |node| node.name);
    loop {
        let began = Instant::now();
        let why = match join(&shared, &address).await {
            Ok((connection, told)) => {
                shared.update(|board, now| board.joined(now, id, told.clone()));
                let why = match attend(&shared, id, connection, told).await {
                    Ok(never) => match never {},
                    Err(why) => why,
                };
                shared.update(|board, now| board.lost(now, id));
                if began.elapsed() >= GOOD && !matches!(why, BackendError::Silent(_)) {
                    pause = RETRY_FIRST;
                    tracing::info!(node = &*name, %why, "the watcher's connection broke; connecting again");
                    continue;
                }
                why
            }
            Err(why) => why,
        };
        shared.update(|board, now| board.down(now, id, &why.to_string()));
        if matches!(why, BackendError::Refused(_)) {
            // Wrong passwords lock accounts and hosts out; haste helps nobody.
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(RETRY_REFUSED);
        } else {
            tokio::time::sleep(RETRY_FIRST.min(pause / 2)).await;
            shared.rest(id, pause).await;
            pause = (pause * 2).min(RETRY_LAST);
        }
    }
}

/// Logs in and learns what the node is.
async fn join(shared: &Shared, address: &Address) -> Result<(Connection, Told), BackendError> {
    let mut connection = shared.monitor.connect(address).await?;
    let told = connection.told().await?;
    Ok((connection, told))
}

/// Never: attending ends only with an error.
enum Never {}

/// Asks on until the connection fails.
async fn attend(
    shared: &Shared,
    id: NodeId,
    mut connection: Connection,
    told: Told,
) -> Result<Never, BackendError> {
    let flavor = connection.flavor;
    let mut reader = Reader::new(flavor);
    let mut pace = Pace::new(Instant::now(), told.has_gtids);
    let mut aim = Aim::default();
    let mut has_gtids = told.has_gtids;
    let (mut told_at, mut settings_at) = (Instant::now(), Instant::now());
    loop {
        let node = node(shared, id);
        let is_primary = shared.snapshot.load().primary == Some(id);
        // A MariaDB server's own writes never reach the position that it can wait for.
        pace.set_holds(has_gtids && !(flavor == Flavor::Mariadb && is_primary));
        let mut waited_for = nearest(shared, id, node.as_ref());
        let mut plan = pace.plan(Instant::now(), waited_for.is_some());
        if !plan.rest.is_zero() {
            shared.rest(id, plan.rest).await;
            waited_for = nearest(shared, id, self::node(shared, id).as_ref());
            plan = Plan { rest: Duration::ZERO, ..pace.plan(Instant::now(), waited_for.is_some()) };
        }
        let target = waited_for.or_else(|| aim.next(shared, id));
        if target.is_none() && plan.hold.is_some() {
            shared.rest(id, Pace::without_target()).await;
        }
        let sample = question(&mut connection, &mut reader, target.as_deref(), plan.hold).await?;
        pace.answered(Instant::now(), aim.moved(&sample));
        let writable = sample.writable;
        let role_changed = shared.update(|board, now| board.sampled(now, id, sample));
        if role_changed || told_at.elapsed() >= TOLD_EVERY {
            shared.note_round_trip(id, connection.ping().await?);
            let told = if role_changed || settings_at.elapsed() >= SETTINGS_EVERY {
                settings_at = Instant::now();
                connection.told().await?
            } else {
                connection.replication(writable).await?
            };
            has_gtids = told.has_gtids;
            told_at = Instant::now();
            shared.update(|board, now| board.told(now, id, told));
        }
    }
}

fn node(shared: &Shared, id: NodeId) -> Option<Node> {
    shared.snapshot.load().node(id).cloned()
}

/// What the nearest of those who wait for the node lacks there, as the target of a wait.
fn nearest(shared: &Shared, id: NodeId, node: Option<&Node>) -> Option<String> {
    let low = &node?.low;
    let missing = shared.waiters.nearest(id, low)?;
    let text = missing.to_string();
    if text.len() <= TARGET_LIMIT { Some(text) } else { missing.first_missing(low) }
}

async fn question(
    connection: &mut Connection,
    reader: &mut Reader,
    target: Option<&str>,
    hold: Option<Duration>,
) -> Result<Sample, BackendError> {
    let wait = target.zip(hold);
    let sql = sample::question(connection.flavor, wait);
    let sent_at = Instant::now();
    let answer = connection.ask(&sql, hold.unwrap_or_default()).await?;
    reader.read(&answer, sent_at, Instant::now()).map_err(|error| BackendError::Protocol(error.to_string()))
}

/// Which transaction comes next, to wait for: the one after the last of the source, or domain, that moved last.
#[derive(Default)]
struct Aim {
    last: Option<Arc<Position>>,
    next: Option<String>,
}

impl Aim {
    /// The target of the next wait.
    fn next(&self, shared: &Shared, id: NodeId) -> Option<String> {
        self.next.clone().or_else(|| {
            // Nothing moved yet on this connection: the primary is ahead, or its next write comes.
            let snapshot = shared.snapshot.load();
            let low = &snapshot.node(id)?.low;
            let primary = snapshot.primary()?;
            let reached = &primary.high.as_ref()?.position;
            reached.first_missing(low).or_else(|| {
                after_last(reached, primary.facts.as_ref().map(|facts| facts.server_uuid.as_str()))
            })
        })
    }

    /// How many transactions the position moved by, as this sample says.
    fn moved(&mut self, sample: &Sample) -> u64 {
        let Some(last) = self.last.replace(Arc::clone(&sample.applied)) else { return 0 };
        if Arc::ptr_eq(&last, &sample.applied) {
            return 0;
        }
        let fresh = sample.applied.missing_from(&last);
        self.next = after_first_source(&fresh, &sample.applied);
        fresh.count_missing_from(&last)
    }
}

/// The GTID after the last one in `all` of the source or domain that `fresh` begins with.
fn after_first_source(fresh: &Position, all: &Position) -> Option<String> {
    match (fresh, all) {
        (Position::Mysql(fresh), Position::Mysql(all)) => all.next_gtid(fresh.sources().next()?),
        (Position::Mariadb(fresh), Position::Mariadb(all)) => all.next_gtid(fresh.iter().next()?.domain),
        _ => None,
    }
}

/// The GTID that the server of this identity will write next.
fn after_last(reached: &Position, identity: Option<&str>) -> Option<String> {
    match reached {
        Position::Mysql(set) => set.next_gtid(&gtid::Uuid::parse(identity?.as_bytes()).ok()?.into()),
        Position::Mariadb(domains) => domains.next_gtid(domains.iter().next()?.domain),
    }
}
