//! What the watchers, the askers and the sessions have in common, and the one place where a snapshot is published.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use gtid::Position;
use tokio::sync::{Notify, watch};

use super::acknowledged::Acknowledged;
use super::ask::AskError;
use super::board::Board;
use super::group::Group;
use super::lost::Origins;
use super::monitor::Monitor;
use super::snapshot::{Node, NodeId, Snapshot};
use super::waiters::Waiters;
use crate::route::PrimaryBound;

/// Shared by the cluster's tasks and all threads with sessions.
pub(super) struct Shared {
    board: Mutex<Board>,
    /// What the road reads.
    pub(super) snapshot: ArcSwap<Snapshot>,
    /// Who waits for a position.
    pub(super) waiters: Waiters,
    /// Counts the changes of what the nodes are, as opposed to where they are.
    topology: watch::Sender<u64>,
    /// For each node: its watcher is not to rest now.
    nudges: Vec<Notify>,
    /// For each node: how long it took to answer the last ping, in microseconds; 0 before the first.
    round_trips_us: Vec<AtomicU64>,
    /// Who asks the primary for its position.
    pub(super) probe: Group<Result<PrimaryBound, AskError>>,
    /// Who asks a MariaDB primary to show what it has logged.
    pub(super) shows: Group<Result<(), AskError>>,
    /// Who asks a MariaDB primary what it has of an earlier one's.
    pub(super) origins: Group<Result<Arc<Origins>, AskError>>,
    /// What this instance has acknowledged to its clients.
    pub(super) acknowledged: Acknowledged,
    /// How to log in.
    pub(super) monitor: Monitor,
}

impl Shared {
    pub(super) fn new(board: Board, monitor: Monitor) -> Self {
        let snapshot = board.snapshot(Instant::now());
        Self {
            nudges: snapshot.nodes.iter().map(|_| Notify::new()).collect(),
            round_trips_us: snapshot.nodes.iter().map(|_| AtomicU64::new(0)).collect(),
            snapshot: ArcSwap::from_pointee(snapshot),
            board: Mutex::new(board),
            waiters: Waiters::default(),
            topology: watch::Sender::new(0),
            probe: Group::default(),
            shows: Group::default(),
            origins: Group::default(),
            acknowledged: Acknowledged::default(),
            monitor,
        }
    }

    /// Changes the board, publishes what follows, and wakes whom it concerns.
    pub(super) fn update<T>(&self, change: impl FnOnce(&mut Board, Instant) -> T) -> T {
        let mut board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let result = change(&mut board, now);
        let new = Arc::new(board.snapshot(now));
        // Under the lock, so that an older snapshot never replaces a younger one.
        let old = self.snapshot.swap(Arc::clone(&new));
        drop(board);
        if same_topology(&old, &new) {
            for (before, after) in old.nodes.iter().zip(&new.nodes) {
                if !Arc::ptr_eq(&before.low, &after.low) {
                    self.waiters.applied(after.id, &after.low);
                }
            }
        } else {
            self.topology.send_modify(|count| *count += 1);
            self.waiters.look_again();
        }
        result
    }

    /// What a node is known to have.
    pub(super) fn reached(&self, id: NodeId) -> Arc<Position> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner).reached(id)
    }

    /// The node has answered a ping after so long.
    pub(super) fn note_round_trip(&self, id: NodeId, took: Duration) {
        if let Some(slot) = self.round_trips_us.get(id.index()) {
            let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1);
            slot.store(us, Ordering::Relaxed);
        }
    }

    /// How long the node took to answer the last ping.
    pub(super) fn round_trip(&self, id: NodeId) -> Option<Duration> {
        let us = self.round_trips_us.get(id.index())?.load(Ordering::Relaxed);
        (us > 0).then(|| Duration::from_micros(us))
    }

    /// Nobody asks the primary any more; who waits for that is told.
    pub(super) fn close(&self) {
        self.probe.close();
        self.shows.close();
        self.origins.close();
    }

    /// Hears of changes of what the nodes are.
    pub(super) fn topology(&self) -> watch::Receiver<u64> {
        self.topology.subscribe()
    }

    /// The node's watcher is not to rest.
    pub(super) fn nudge(&self, id: NodeId) {
        if let Some(nudge) = self.nudges.get(id.index()) {
            nudge.notify_one();
        }
    }

    /// Rests, unless the node's watcher is nudged.
    pub(super) async fn rest(&self, id: NodeId, rest: Duration) {
        if let Some(nudge) = self.nudges.get(id.index()) {
            // Either way the next question goes out.
            let _ = tokio::time::timeout(rest, nudge.notified()).await;
        }
    }
}

/// Whether no statement would be routed otherwise but for positions.
fn same_topology(old: &Snapshot, new: &Snapshot) -> bool {
    let key = |node: &Node| (node.role, node.drained, node.incarnation, node.follows);
    old.epoch == new.epoch
        && old.primary == new.primary
        && old.nodes.iter().zip(&new.nodes).all(|(old, new)| key(old) == key(new) && old.health == new.health)
}
