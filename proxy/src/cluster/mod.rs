//! What the proxy knows of the servers: who they are, which of them is primary, and how far each has applied the log.
//!
//! One task for each node asks it where it is, on one connection, and publishes what it hears in an immutable
//! [`Snapshot`]; sessions read the current one without a lock. Three more tasks ask the primary on behalf of sessions.
//! All of them run on the runtime that [`Cluster::start`] is called on; everything handed out may be used and waited
//! for on any thread.
//!
//! The parts: `sample` what is asked, `watch` and `pace` when, `board` what follows from it (with `discover`,
//! `purity`, `lag`, `facts`), `waiters` who is woken, `acknowledged` what this instance itself has told, `ask`, `shows` and `lost` the questions to the primary.
//!
//! Deliberately absent: which node a statement goes to (`route`), and any statement on a client's connection.

mod acknowledged;
mod ask;
mod board;
mod discover;
mod disowned;
mod entry;
mod facts;
mod group;
mod inspect;
mod lag;
mod lost;
mod monitor;
mod pace;
mod purity;
mod report;
mod said;
mod sample;
mod shared;
mod shows;
pub mod snapshot;
mod stray;
mod version;
mod waiters;
mod watch;

#[cfg(test)]
mod live_tests;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gtid::{Flavor, Position};
use tokio::sync::{oneshot, watch as watch_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::config::Config;
use crate::route::PrimaryBound;
use crate::transport::tls::ServerTls;
use board::Board;
use monitor::Monitor;
use shared::Shared;
use waiters::Mask;

pub use acknowledged::{Acknowledged, Mark};
pub use ask::AskError;
pub use group::Round;
pub use inspect::{Inspected, Inspection, inspect};
pub use snapshot::{Facts, Health, High, Node, NodeId, Reign, Role, Snapshot};
pub use version::dialect_of;

/// How long a waiter waits before it routes again: whether a replica is too late for its endpoint is not known here,
/// and changes without anything else changing.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What a caller grants beyond the asker's own limit, so that the asker's better reason comes first.
const GRACE: Duration = Duration::from_millis(200);

/// The primary's answer, when it is there.
#[derive(Debug)]
pub struct Answer(oneshot::Receiver<Result<PrimaryBound, AskError>>);

impl Answer {
    /// Waits for it.
    ///
    /// # Errors
    /// When no primary answers within five seconds.
    pub async fn told(&mut self) -> Result<PrimaryBound, AskError> {
        // Behind a question that is never answered the caller's own comes too late; its asker says why if it can.
        match timeout(ask::ASK_LIMIT + GRACE, &mut self.0).await {
            Ok(answer) => answer.unwrap_or(Err(AskError::Stopped)),
            Err(_) => Err(AskError::Failed { why: Arc::from("it is still busy with the question before") }),
        }
    }
}

/// The cluster, shared by all threads.
pub struct Cluster {
    shared: Arc<Shared>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Cluster {
    /// Starts to watch the nodes of the configuration, on the current runtime.
    pub fn start(config: &Config, tls: ServerTls) -> Arc<Self> {
        let shared = Arc::new(Shared::new(Board::new(&config.nodes), Monitor::new(&config.cluster, tls)));
        let mut tasks: Vec<JoinHandle<()>> = config
            .nodes
            .iter()
            .zip(0u8..=u8::MAX)
            .map(|(node, index)| {
                tokio::spawn(watch::watch(Arc::clone(&shared), NodeId(index), node.address.clone()))
            })
            .collect();
        tasks.push(tokio::spawn(ask::serve(Arc::clone(&shared))));
        tasks.push(tokio::spawn(shows::serve(Arc::clone(&shared))));
        tasks.push(tokio::spawn(lost::serve(Arc::clone(&shared))));
        Arc::new(Self { shared, tasks: Mutex::new(tasks) })
    }

    /// What is known now. Costs no lock.
    pub fn snapshot(&self) -> arc_swap::Guard<Arc<Snapshot>> {
        self.shared.snapshot.load()
    }

    /// Returns when a node that `among` admits has applied `position`, or when the caller should route again because
    /// the nodes are not what they were, or may be too late by now: after a tenth of a second in any case.
    ///
    /// Safe to cancel: the caller's own time limit ends it.
    pub async fn applied(&self, position: &Position, among: impl Fn(&Node) -> bool) {
        let look = |snapshot: &Snapshot| {
            let admitted = || snapshot.nodes.iter().filter(|node| node.follows && among(node));
            let done = admitted().any(|node| node.low.covers(position));
            (Mask::of(admitted().map(|node| node.id)), done)
        };
        let (nodes, _) = look(&self.snapshot());
        let mut place = self.shared.waiters.enter(position, nodes);
        // Once more: what was published before the entry is not told.
        let (nodes_now, done) = look(&self.snapshot());
        if done || nodes_now != nodes {
            // The caller's time limit must be looked at, however often this is called.
            return tokio::task::yield_now().await;
        }
        for node in self.snapshot().nodes.iter().filter(|node| nodes.contains(node.id)) {
            self.shared.nudge(node.id);
        }
        // Whoever is woken, or not in time, routes again.
        let _ = timeout(LOOK_AGAIN, place.woken()).await;
    }

    /// What this instance has acknowledged, for `global_scope = "proxy"`.
    pub fn acknowledged(&self) -> &Acknowledged {
        &self.shared.acknowledged
    }

    /// The primary's position, asked for after this was called.
    ///
    /// # Errors
    /// When no primary answers within five seconds.
    pub async fn ask_primary(&self) -> Result<PrimaryBound, AskError> {
        let (round, mut answer) = self.ask_meanwhile();
        self.press(round);
        answer.told().await
    }

    /// The same, for one who has something else to do before the answer is needed: the question may go out a little later,
    /// so that more can share it, until [`Self::press`] is called.
    pub fn ask_meanwhile(&self) -> (Round, Answer) {
        let (round, answer) = self.shared.probe.join();
        (round, Answer(answer))
    }

    /// The answer is needed now.
    pub fn press(&self, round: Round) {
        self.shared.probe.press(round);
    }

    /// Returns when the primary itself shows everything in `position` that it ever will.
    ///
    /// # Errors
    /// As [`Self::ask_primary`], and when a transaction stays between log and commit for fifteen seconds.
    pub async fn primary_shows(&self, position: &Position) -> Result<(), AskError> {
        let flavor = {
            let snapshot = self.snapshot();
            if snapshot.primary().is_some_and(|primary| primary.low.covers(position)) {
                return Ok(());
            }
            snapshot.flavor
        };
        if flavor == Some(Flavor::Mariadb) {
            return self.shared.shows.ask().await.unwrap_or(Err(AskError::Stopped));
        }
        let began = Instant::now();
        for count in 1.. {
            let bound = self.ask_primary().await?;
            let Some(missing) = shows::still_committing(position, &bound) else { return Ok(()) };
            if began.elapsed() > shows::SHOW_LIMIT {
                let position = Arc::from(missing.to_string());
                return Err(AskError::Stuck { seconds: shows::SHOW_LIMIT.as_secs(), position });
            }
            tokio::time::sleep(shows::pause(count)).await;
        }
        Ok(())
    }

    /// What of `need`, which was known under an earlier primary, the present one does not have. `bound`: what it has just
    /// answered.
    ///
    /// # Errors
    /// As [`Self::ask_primary`].
    pub async fn lost(&self, need: &Position, bound: &PrimaryBound) -> Result<Position, AskError> {
        if bound.high.flavor() == Flavor::Mysql || need.is_empty() {
            return Ok(need.missing_from(&bound.high));
        }
        let origins = self.shared.origins.ask().await.unwrap_or(Err(AskError::Stopped))?;
        Ok(origins.lost(need))
    }

    /// Takes a node out of rotation: it gets no new statements.
    pub fn drain(&self, node: NodeId) {
        self.shared.update(|board, now| board.drain(now, node, true));
    }

    /// Puts a drained node back.
    pub fn undrain(&self, node: NodeId) {
        self.shared.update(|board, now| board.drain(now, node, false));
    }

    /// The node of this name.
    pub fn node_id(&self, name: &[u8]) -> Option<NodeId> {
        self.snapshot().nodes.iter().find(|node| node.name.as_bytes() == name).map(|node| node.id)
    }

    /// How long the node took to answer the last ping of its watcher; `None` before the first.
    pub fn round_trip(&self, node: NodeId) -> Option<Duration> {
        self.shared.round_trip(node)
    }

    /// A session could not use the node; its watcher is to see for itself without rest.
    pub fn report_failure(&self, node: NodeId, why: &str) {
        tracing::debug!(node = node.index(), why, "a session could not use the node");
        self.shared.nudge(node);
    }

    /// Hears of changes of what the nodes are, as opposed to where they are in the log.
    pub fn changes(&self) -> watch_channel::Receiver<u64> {
        self.shared.topology()
    }

    /// Stops to watch. Whoever asks the primary afterwards is told so.
    pub async fn shutdown(&self) {
        self.shared.close();
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            task.abort();
            // It was told to end, and has nothing to say.
            let _ = task.await;
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.shared.close();
        for task in self.tasks.get_mut().unwrap_or_else(PoisonError::into_inner) {
            task.abort();
        }
    }
}
