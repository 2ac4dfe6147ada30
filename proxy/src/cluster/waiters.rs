//! Who waits for a node to apply a position: one list, under one short lock, off the road of statements that need not
//! wait.
//!
//! A waiter is woken by whoever publishes the position, so that no timer stands between the node's answer and the
//! statement. It looks again itself: being woken promises nothing.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use gtid::Position;
use tokio::sync::oneshot;

use super::snapshot::NodeId;

/// Which nodes would do: one bit for each, by index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Mask(u64);

impl Mask {
    /// The nodes of these ids.
    pub(super) fn of(ids: impl Iterator<Item = NodeId>) -> Self {
        Self(ids.fold(0, |bits, id| bits | Self::bit(id)))
    }

    /// Whether the node is among them.
    pub(super) fn contains(self, id: NodeId) -> bool {
        self.0 & Self::bit(id) != 0
    }

    fn bit(id: NodeId) -> u64 {
        1u64.checked_shl(u32::from(id.0)).unwrap_or(0)
    }
}

/// Waiters looked at to find the nearest position: beyond that the oldest stand for all.
const CONSIDERED: usize = 256;

/// The list. Bounded by the number of sessions, each of which waits once at a time.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    list: Mutex<List>,
    count: AtomicUsize,
}

#[derive(Debug, Default)]
struct List {
    next: u64,
    waiting: BTreeMap<u64, Waiting>,
}

#[derive(Debug)]
struct Waiting {
    position: Position,
    nodes: Mask,
    wake: oneshot::Sender<()>,
}

/// A place in the list; leaving it out of patience or out of scope takes the waiter off.
pub(super) struct Place<'a> {
    waiters: &'a Waiters,
    number: u64,
    woken: oneshot::Receiver<()>,
}

impl Waiters {
    /// Enters somebody who waits until one of `nodes` has applied `position`. The caller looks at the snapshot once
    /// more after this: what was published before is not told again.
    pub(super) fn enter(&self, position: &Position, nodes: Mask) -> Place<'_> {
        let (wake, woken) = oneshot::channel();
        let mut list = self.lock();
        let number = list.next;
        list.next += 1;
        list.waiting.insert(number, Waiting { position: position.clone(), nodes, wake });
        self.count.store(list.waiting.len(), Ordering::Relaxed);
        Place { waiters: self, number, woken }
    }

    /// How many wait.
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// A node has applied this; wakes who waited for it.
    pub(super) fn applied(&self, node: NodeId, low: &Position) {
        self.wake(|waiting| waiting.nodes.contains(node) && low.covers(&waiting.position));
    }

    /// The nodes are not what they were; everybody is to look again.
    pub(super) fn look_again(&self) {
        self.wake(|_| true);
    }

    /// What the least demanding of those who wait for this node still lacks there.
    pub(super) fn nearest(&self, node: NodeId, low: &Position) -> Option<Position> {
        if self.count() == 0 {
            return None;
        }
        let list = self.lock();
        list.waiting
            .values()
            .take(CONSIDERED)
            .filter(|waiting| waiting.nodes.contains(node))
            .map(|waiting| waiting.position.missing_from(low))
            .filter(|missing| !missing.is_empty())
            .min_by_key(|missing| missing.count_missing_from(low))
    }

    fn wake(&self, due: impl Fn(&Waiting) -> bool) {
        let mut list = self.lock();
        let woken: Vec<Waiting> =
            list.waiting.extract_if(.., |_, waiting| due(waiting)).map(|(_, waiting)| waiting).collect();
        self.count.store(list.waiting.len(), Ordering::Relaxed);
        drop(list);
        for waiting in woken {
            // Nobody there any more: it has stopped waiting at this very moment.
            let _ = waiting.wake.send(());
        }
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// Returns when the waiter is to look again.
    pub(super) async fn woken(&mut self) {
        let _ = (&mut self.woken).await;
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut list = self.waiters.lock();
        if list.waiting.remove(&self.number).is_some() {
            self.waiters.count.store(list.waiting.len(), Ordering::Relaxed);
        }
    }
}
