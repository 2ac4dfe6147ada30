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

#[cfg(test)]
mod tests {
    use super::*;
    use gtid::Flavor;
    use proptest::prelude::*;

    fn at(last: u64) -> Position {
        Position::parse(Flavor::Mariadb, format!("0-1-{last}").as_bytes()).unwrap()
    }

    fn mask(ids: &[u8]) -> Mask {
        Mask::of(ids.iter().map(|id| NodeId(*id)))
    }

    fn is_woken(place: &mut Place<'_>) -> bool {
        !matches!(place.woken.try_recv(), Err(oneshot::error::TryRecvError::Empty))
    }

    #[test]
    fn only_those_concerned_are_woken() {
        let waiters = Waiters::default();
        let mut near = waiters.enter(&at(5), mask(&[1, 2]));
        let mut far = waiters.enter(&at(9), mask(&[1]));
        waiters.applied(NodeId(0), &at(100));
        waiters.applied(NodeId(1), &at(4));
        assert!(!is_woken(&mut near) && !is_woken(&mut far));
        waiters.applied(NodeId(2), &at(9));
        assert!(is_woken(&mut near) && !is_woken(&mut far));
        assert_eq!(waiters.count(), 1);
        waiters.look_again();
        assert!(is_woken(&mut far));
        assert_eq!(waiters.count(), 0);
    }

    #[test]
    fn who_leaves_is_forgotten() {
        let waiters = Waiters::default();
        let place = waiters.enter(&at(5), mask(&[1]));
        drop(waiters.enter(&at(6), mask(&[1])));
        assert_eq!(waiters.count(), 1);
        drop(place);
        assert_eq!(waiters.count(), 0);
    }

    #[test]
    fn the_nearest_position_is_the_next_target() {
        let waiters = Waiters::default();
        let _places =
            [(9, 1), (6, 1), (5, 2), (3, 1)].map(|(last, node)| waiters.enter(&at(last), mask(&[node])));
        assert_eq!(waiters.nearest(NodeId(1), &at(4)), Some(at(6)));
        assert_eq!(waiters.nearest(NodeId(2), &at(4)), Some(at(5)));
        assert_eq!(waiters.nearest(NodeId(3), &at(4)), None);
    }

    #[test]
    fn a_node_beyond_the_mask_is_never_in_it() {
        assert!(!mask(&[64, 200]).contains(NodeId(64)));
        assert!(mask(&[63]).contains(NodeId(63)));
    }

    proptest! {
        /// However entries and answers interleave: nobody is woken too early, nobody is left behind.
        #[test]
        fn everybody_is_woken_exactly_when_covered(
            steps in prop::collection::vec((any::<bool>(), 0u8..3, 1u64..20), 1..100),
        ) {
            let waiters = Waiters::default();
            let mut low = [0u64; 3];
            let mut places = Vec::new();
            for (enters, node, last) in steps {
                if enters {
                    let covered = low[usize::from(node)] >= last;
                    places.push((node, last, covered, waiters.enter(&at(last), mask(&[node]))));
                } else {
                    let known = &mut low[usize::from(node)];
                    *known = last.max(*known);
                    waiters.applied(NodeId(node), &at(*known));
                    for (waits_for, wanted, seen, place) in &mut places {
                        *seen |= *waits_for == node && is_woken(place);
                        prop_assert!(*waits_for != node || *seen == (low[usize::from(node)] >= *wanted));
                    }
                }
            }
        }
    }
}
