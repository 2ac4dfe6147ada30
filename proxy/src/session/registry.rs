//! Who is connected: what KILL, the admin API and a drain need of a session, without asking the session.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::backend::pool::Owner;
use crate::bell::Bell;
use crate::cluster::snapshot::NodeId;
use crate::frontend::Peer;

/// A session as others see it.
#[derive(Debug)]
pub struct Card {
    /// The client's connection id.
    pub id: u32,
    user: Mutex<Box<[u8]>>,
    /// Where the client is.
    pub peer: Peer,
    /// The endpoint it came through.
    pub endpoint: String,
    /// When it came.
    pub since: Instant,
    running: AtomicU64,
    rests_on: AtomicU64,
    ending: AtomicU8,
    interrupted: AtomicBool,
    /// So many KILLs are on their way to the connection on which the session's statement runs or ran.
    kills: AtomicU32,
    /// The statement that runs has been running at the last look.
    looked_at: AtomicBool,
    /// Wakes the session when it is to end, or its statement is to be given up.
    pub wake: Bell,
}

impl Owner for Card {
    fn lets_go(&self, node: NodeId, thread: u32) -> bool {
        let rests_on = self.rests_on.load(Ordering::Relaxed);
        let is_this = rests_on & PLACE == pack(node, thread);
        if is_this {
            self.rests_on.store(0, Ordering::Relaxed);
        }
        // Who aims behind this finds no thread.
        fence(Ordering::SeqCst);
        let goes = self.kills.load(Ordering::SeqCst) == 0;
        if is_this && !goes {
            self.rests_on.store(rests_on, Ordering::Relaxed);
        }
        goes
    }
}

/// A KILL on its way. Dropped when it has arrived.
pub struct Aim<'a>(&'a Card);

impl Drop for Aim<'_> {
    fn drop(&mut self) {
        self.0.kills.fetch_sub(1, Ordering::SeqCst);
    }
}

/// How a session is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It goes on.
    No,
    /// When no transaction is open any more.
    Drained,
    /// Now.
    Killed,
}

impl Card {
    /// A card for a session that has just been let in.
    pub fn new(id: u32, user: &[u8], peer: Peer, endpoint: &str) -> Self {
        Self {
            id,
            user: Mutex::new(user.into()),
            peer,
            endpoint: endpoint.to_owned(),
            since: Instant::now(),
            running: AtomicU64::new(0),
            rests_on: AtomicU64::new(0),
            ending: AtomicU8::new(0),
            interrupted: AtomicBool::new(false),
            kills: AtomicU32::new(0),
            looked_at: AtomicBool::new(false),
            wake: Bell::default(),
        }
    }

    /// The account, which COM_CHANGE_USER can change.
    pub fn user(&self) -> Box<[u8]> {
        self.user.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The session belongs to another account now.
    pub fn belongs_to(&self, user: &[u8]) {
        *self.user.lock().unwrap_or_else(PoisonError::into_inner) = user.into();
    }

    /// The session's statement runs on this node, in this thread of the server.
    pub fn runs_on(&self, node: NodeId, incarnation: u64, thread: u32) {
        let place = pack(node, thread);
        self.running.store(place, Ordering::Relaxed);
        self.rests_on.store(place | incarnation << 40, Ordering::Relaxed);
        self.looked_at.store(false, Ordering::Relaxed);
    }

    /// The session has a connection to this node, of this life of it, in this thread of the server.
    pub fn rests_on(&self, node: NodeId, incarnation: u64, thread: u32) {
        self.rests_on.store(pack(node, thread) | incarnation << 40, Ordering::Relaxed);
    }

    /// A thread that serves this session, or has served it; `lives` tells the life of a node. A server does not give the
    /// number of a thread to another one as long as it lives.
    pub fn thread(&self, lives: impl Fn(NodeId) -> Option<u64>) -> Option<(NodeId, u32)> {
        let packed = self.rests_on.load(Ordering::Relaxed);
        let (node, thread) = unpack(packed & PLACE)?;
        (lives(node)? & (u64::MAX >> 40) == packed >> 40).then_some((node, thread))
    }

    /// Somebody is about to kill what runs on the session's connection: nobody else gets that meanwhile.
    pub fn is_aimed_at(&self) -> Aim<'_> {
        self.kills.fetch_add(1, Ordering::SeqCst);
        // A thread that is found behind this is let go by nobody until the end: see `lets_go`.
        fence(Ordering::SeqCst);
        Aim(self)
    }

    /// The session's statement has ended.
    pub fn runs_nothing(&self) {
        self.running.store(0, Ordering::Relaxed);
    }

    /// Where the session's statement runs now.
    pub fn running(&self) -> Option<(NodeId, u32)> {
        unpack(self.running.load(Ordering::Relaxed))
    }

    /// Wakes the session when its statement was running at the last look as well.
    fn look(&self) {
        if self.running().is_some() && self.looked_at.swap(true, Ordering::Relaxed) {
            self.wake.ring();
        }
    }

    /// How the session is asked to end.
    pub fn ending(&self) -> Ending {
        match self.ending.load(Ordering::Acquire) {
            0 => Ending::No,
            1 => Ending::Drained,
            _ => Ending::Killed,
        }
    }

    /// KILL QUERY while the statement has reached no node: it is given up.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
        self.wake.ring();
    }

    /// Whether the statement is to be given up; asked once.
    pub fn take_interrupt(&self) -> bool {
        // Nearly always there is none, and to look costs less than to exchange.
        self.interrupted.load(Ordering::Relaxed) && self.interrupted.swap(false, Ordering::Relaxed)
    }

    /// Asks the session to end; a stronger wish is not taken back.
    pub fn end(&self, ending: Ending) {
        self.ending.fetch_max(ending as u8, Ordering::Release);
        self.wake.ring();
    }
}

/// The bits of a node and a thread; above them is room for the node's life.
const PLACE: u64 = (1 << 40) - 1;

fn pack(node: NodeId, thread: u32) -> u64 {
    (u64::from(node.0) + 1) << 32 | u64::from(thread)
}

fn unpack(packed: u64) -> Option<(NodeId, u32)> {
    let node = u8::try_from((packed >> 32).checked_sub(1)?).ok()?;
    Some((NodeId(node), u32::try_from(packed & u64::from(u32::MAX)).ok()?))
}

/// All sessions.
#[derive(Debug, Default)]
pub struct Registry {
    cards: Mutex<HashMap<u32, Arc<Card>>>,
}

impl Registry {
    /// Adds a session.
    pub fn add(&self, card: Arc<Card>) {
        self.lock().insert(card.id, card);
    }

    /// Takes a session out.
    pub fn remove(&self, id: u32) {
        self.lock().remove(&id);
    }

    /// Whether a session has this id.
    pub fn contains(&self, id: u32) -> bool {
        self.lock().contains_key(&id)
    }

    /// The session with this id.
    pub fn get(&self, id: u32) -> Option<Arc<Card>> {
        self.lock().get(&id).cloned()
    }

    /// All of them, by id.
    pub fn all(&self) -> Vec<Arc<Card>> {
        let mut all: Vec<_> = self.lock().values().cloned().collect();
        all.sort_by_key(|card| card.id);
        all
    }

    /// Wakes all sessions whose statement has been running since the last look: while they wait for a node, their clients
    /// may have left.
    pub fn look(&self) {
        self.lock().values().for_each(|card| card.look());
    }

    /// On how many sessions' connections to each of so many nodes a statement runs now.
    pub fn running_by_node(&self, nodes: usize) -> Vec<usize> {
        let mut counts = vec![0; nodes];
        for (node, _) in self.lock().values().filter_map(|card| card.running()) {
            if let Some(count) = counts.get_mut(node.index()) {
                *count += 1;
            }
        }
        counts
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u32, Arc<Card>>> {
        // The map is changed by single insertions and removals, whole in themselves.
        self.cards.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
