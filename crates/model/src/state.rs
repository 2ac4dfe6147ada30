//! One moment of the whole: servers, proxies and sessions as plain values that can be compared.
//!
//! What a proxy knows of positions is not in it: a sample may be of any age, so that the decision itself considers all
//! that can have been known (`decisions`).

use tidemark::config::Level;

use super::acknowledged::{Mark, Since};
use super::needs::{Needs, Reign};
use super::writes::{Set, Write};

/// The servers: the first primary, and two replicas of which the first is the one that is promoted.
pub(crate) const SERVERS: usize = 3;
pub(crate) const PROXIES: usize = 2;
/// At most so many sessions.
pub(crate) const SESSIONS: usize = 3;

/// A set of servers, proxies or sessions, one bit for each.
pub(crate) type Mask = u8;

/// Everything at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct State {
    pub(crate) servers: [Server; SERVERS],
    /// The server that takes writes.
    pub(crate) primary: u8,
    /// What the primary had when it became one, of its predecessor's writes.
    pub(crate) kept: Set,
    /// What it has received from its predecessor and not applied yet.
    pub(crate) relay: Set,
    /// Writes acknowledged to anybody, and writes that any finished read has shown; without what was lost.
    pub(crate) acked: Set,
    pub(crate) shown: Set,
    /// What may still happen.
    pub(crate) left: Left,
    pub(crate) proxies: [Proxy; PROXIES],
    pub(crate) sessions: [Session; SESSIONS],
}

/// A server. What it has logged it may show, what it shows it may not have executed yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Server {
    pub(crate) up: bool,
    pub(crate) logged: Set,
    pub(crate) visible: Set,
    pub(crate) executed: Set,
    /// The most it has executed in an earlier life that somebody may still believe in.
    pub(crate) before: Set,
    /// The proxies that have not noticed its new life.
    pub(crate) unnoticed: Mask,
}

/// Faults and writes of others that may still come.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Left {
    pub(crate) direct_writes: u8,
    pub(crate) primary_restarts: u8,
    pub(crate) replica_restarts: u8,
    pub(crate) replica_losses: u8,
    pub(crate) watcher_losses: u8,
    pub(crate) tokens: u8,
}

/// What a proxy believes of the cluster, and its line to the primary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Proxy {
    pub(crate) epoch: u8,
    pub(crate) primary: Option<u8>,
    /// Lives of the primary in this epoch, and whether it has told its position in the present one.
    pub(crate) life: u8,
    pub(crate) heard: bool,
    /// The servers whose positions speak about the primary's history.
    pub(crate) follows: Mask,
    /// The question under way, answered already by the server.
    pub(crate) probe: Option<Probe>,
    /// The sessions that share the next question.
    pub(crate) next: Mask,
    pub(crate) mark: Mark,
    /// Writes acknowledged through it; without what was lost.
    pub(crate) acked: Set,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Probe {
    pub(crate) group: Mask,
    pub(crate) answer: Bound,
    /// Under whom it was given.
    pub(crate) reign: Option<Reign>,
}

/// `route::PrimaryBound`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Bound {
    pub(crate) high: Set,
    /// What the answer says of what the primary shows, where it says that.
    pub(crate) shown: Option<Set>,
}

/// A session: what it is owed, what it does, what its proxy keeps of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Session {
    /// Own acknowledged writes, and writes in its own results; without what was lost.
    pub(crate) wrote: Set,
    pub(crate) saw: Set,
    /// Own writes, and writes it was given the position of, that were lost, while the client has not been told so.
    pub(crate) lost: Set,
    pub(crate) reads: u8,
    pub(crate) writes: u8,
    pub(crate) phase: Phase,
    pub(crate) needs: Needs,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Phase {
    Idle,
    /// A write is logged and not acknowledged. `heard`: its proxy listens to the reply.
    Writing {
        write: Write,
        heard: bool,
    },
    Reading(Read),
    /// The client was disconnected.
    Gone,
}

/// A read that has begun and is not answered, or a write on its way to the primary: `route::Attempt`, and what the client is
/// owed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Read {
    pub(crate) level: Level,
    pub(crate) kind: Kind,
    /// What was acknowledged to anybody, and shown to anybody, before it began.
    pub(crate) owes_acked: Set,
    pub(crate) owes_shown: Set,
    pub(crate) at: At,
    /// The epoch of what was asked, sampled and awaited.
    pub(crate) epoch: u8,
    /// A write: whether its proxy listens to the reply.
    pub(crate) heard: bool,
    /// The mark when the primary was asked.
    pub(crate) since: Option<Since>,
    pub(crate) asked: Option<Bound>,
    pub(crate) sampled: Option<Sampled>,
    pub(crate) awaited: Option<Set>,
    pub(crate) expired: bool,
}

/// What a statement is by its text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    /// A read that may run anywhere.
    Plain,
    /// A read that must run on the primary: it locks, or begins a transaction.
    Locking,
    /// A read on the node that a hint names.
    On(u8),
    Write,
}

/// The step that a read is at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum At {
    /// To be routed, for the first time or again.
    Route,
    /// The primary is asked.
    Asking,
    /// The same, while the read has run on a node, which shows the least when it runs at once. The node was known to have applied
    /// `low`. `alive`: it is still in that life.
    Held { node: u8, low: Set, result: Set, alive: bool },
    /// The same, and the read may go on without an answer.
    MayAsk,
    /// For a replica; for this one only when the rule is left out that any will do.
    Waiting { only: Option<u8> },
    /// For the primary, until it shows this; then the read runs on `node`.
    Showing { node: u8, position: Set },
}

/// `route::Sampled`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Sampled {
    AtMost(Set),
    Nothing,
}

impl State {
    /// Everything that the cluster will ever show again: the primary's log.
    pub(crate) fn history(&self) -> Set {
        self.server(self.primary).logged.with(self.relay)
    }

    pub(crate) fn server(&self, node: u8) -> &Server {
        &self.servers[usize::from(node)]
    }

    pub(crate) fn server_mut(&mut self, node: u8) -> &mut Server {
        &mut self.servers[usize::from(node)]
    }

    /// Whether this proxy knows who takes writes.
    pub(crate) fn knows_the_primary(&self, proxy: usize) -> bool {
        self.proxies[proxy].primary == Some(self.primary)
    }

    /// Whether there was a change of primary.
    pub(crate) fn has_successor(&self) -> bool {
        self.primary != 0
    }
}

impl Proxy {
    /// Everybody knows everybody.
    pub(crate) fn new() -> Self {
        Self {
            epoch: 1,
            primary: Some(0),
            life: 0,
            heard: true,
            follows: 0b111,
            probe: None,
            next: 0,
            mark: Mark::default(),
            acked: Set::EMPTY,
        }
    }

    /// `cluster::snapshot::Snapshot::reign`.
    pub(crate) fn reign(&self) -> Option<Reign> {
        let knows = self.primary.is_some() && self.heard;
        knows.then_some(Reign { epoch: self.epoch, life: self.life })
    }
}

impl Session {
    /// Whether a read is open, or may begin.
    pub(crate) fn will_read(&self) -> bool {
        self.reads > 0 || self.read().is_some()
    }

    /// A read of this session, while one is open.
    pub(crate) fn read(&self) -> Option<&Read> {
        match &self.phase {
            Phase::Reading(read) => Some(read),
            _ => None,
        }
    }

    /// The node has a new life, as far as the proxy knows.
    pub(crate) fn outlived(&mut self, node: u8) {
        if let Some(seen) = self.needs.seen.as_mut().filter(|seen| seen.node == node) {
            (seen.alive, seen.high) = (false, Set::EMPTY);
        }
        if let Phase::Reading(Read { at: At::Held { node: held, alive, .. }, .. }) = &mut self.phase
            && *held == node
        {
            *alive = false;
        }
    }
}

/// The bit of a server, proxy or session.
pub(crate) fn bit(index: impl Into<usize>) -> Mask {
    1 << index.into()
}

/// The members of a set, in order.
pub(crate) fn members(mask: Mask) -> impl Iterator<Item = usize> {
    (0..8).filter(move |index| mask & bit(*index) != 0)
}
