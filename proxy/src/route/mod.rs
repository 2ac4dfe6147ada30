//! Where a statement goes: a pure function of the statement, what its session needs, and what is known of the cluster.
//! No I/O, no lock, no clock; randomness comes in as a number.
//!
//! The rules are those of `docs/routing.md`: a statement goes to a replica only when it is known to be safe there, and
//! fresh enough there for the session's level; else to the primary. The answer may also be a step to take first:
//! ask the primary for its position ([`Decision::Ask`]) or wait for a replica ([`Decision::Wait`]); after it the
//! same function is called again and knows more.

mod choose;
mod demand;
mod freshness;
mod needs;
mod reason;
#[cfg(feature = "sabotage")]
mod sabotage;

use std::sync::Arc;
use std::time::Duration;

use gtid::Position;

use crate::cluster::snapshot::{Node, NodeId, Role, Snapshot};
use crate::config::{Level, Mode, OnTimeout, Settings};

pub use choose::NodeSet;
pub use demand::Demand;
use freshness::OnPrimary;
pub use freshness::{Required, had_applied};
pub use needs::{Needs, PrimaryBound, Seen};
pub use reason::Reason;

/// How long a session that only reads stays on one node before it may ask the primary in order to move. Questions are
/// shared, so that however many sessions move, one is under way at a time.
const ANCHORED_AT_MOST: Duration = Duration::from_millis(200);

/// What is to be routed, as far as the statement itself says.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Where it may run, by its text.
    pub target: sql::Target,
    /// Why.
    pub reason: sql::Reason,
    /// The node a hint names, when it is one of the cluster's.
    pub node: Option<NodeId>,
    /// Whether the client learns something of the data by it, wherever it runs: reads, and what begins a transaction.
    /// A plain write does not count; its place in the log is behind everything the session saw.
    pub sees: bool,
}

/// What the session is in the middle of.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// A read-only endpoint never uses the primary, unless `primary_fallback` says so.
    pub mode: Mode,
    /// The node on which a transaction is open.
    pub transaction: Option<NodeId>,
    /// The node that the session cannot leave, and why.
    pub pinned: Option<(NodeId, Reason)>,
    /// The node whose connection holds what no other one can have, such as user variables of unknown values.
    pub home: Option<NodeId>,
    /// Whether each statement is a transaction of its own.
    pub autocommit: bool,
    /// The node that ran the previous statement.
    pub previous: Option<NodeId>,
}

/// How fresh this statement's reads must be: the endpoint's settings, as the session and a hint changed them.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// The consistency level.
    pub level: Level,
    /// What to serve when the time is over.
    pub on_timeout: OnTimeout,
}

/// What was tried and learnt for this statement so far.
#[derive(Clone, Debug, Default)]
pub struct Attempt {
    /// Nodes that failed it; not to be chosen again.
    pub excluded: NodeSet,
    /// The primary's bound, when it was asked after the statement arrived.
    pub asked: Option<PrimaryBound>,
    /// What the primary said of how far any node can be, when it was asked for a session that may as well stay where it
    /// is; or that it did not say.
    pub sampled: Option<Sampled>,
    /// What is waited for; it does not move on while other writes go on.
    pub awaited: Option<Position>,
    /// The consistency timeout is over.
    pub expired: bool,
    /// The statement waited for a replica.
    pub waited: bool,
    /// Why it must go to the primary after all: a replica refused or failed it.
    pub fallback: Option<Reason>,
    /// It may run before it is known how fresh it must be, for it can be run again.
    pub may_speculate: bool,
}

impl Attempt {
    /// What the primary said, and what is waited for, does not count under another one.
    pub fn forget(&mut self) {
        self.asked = None;
        self.sampled = None;
        self.awaited = None;
    }
}

/// What came of a question that needed no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Sampled {
    /// No node can have shown more than this to anybody by the time of the statement.
    AtMost(Position),
    /// Nothing in time.
    Nothing,
}

/// The next step for a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Run it on this node.
    Go(Go),
    /// Ask the primary for its position first, then decide again.
    Ask,
    /// The same, but an answer is not needed: the session may stay where it is.
    MayAsk,
    /// Wait until a replica in rotation has applied `position`, then decide again.
    Wait {
        /// What must be applied.
        position: Position,
        /// By one of these.
        among: NodeSet,
    },
    /// It cannot be run.
    Refuse(Refusal),
}

/// A node, and what is known about it as the right one.
#[derive(Clone, Debug, PartialEq)]
pub struct Go {
    /// Where.
    pub node: NodeId,
    /// Why there.
    pub reason: Reason,
    /// What the primary must show before the statement may run on it; `None` when nothing needs to be checked.
    pub shows: Option<Position>,
    /// A speculative read: the primary is asked while it runs, and its reply counts only if this, which the node had
    /// applied before, covers the answer.
    pub proviso: Option<Arc<Position>>,
    /// How the promise was kept, for the metrics; `None` for what is not a read under a promise.
    pub outcome: Option<Outcome>,
}

impl Go {
    /// To this node, whatever it shows.
    fn new(node: NodeId, reason: Reason) -> Self {
        Self { node, reason, shows: None, proviso: None, outcome: None }
    }
}

/// How a read under a promise was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A replica was fresh enough at once.
    Fresh,
    /// A replica was fresh enough after a wait.
    Waited,
    /// No replica was; the primary served it.
    Primary,
    /// Served by a replica that was behind, because `on_timeout = "stale"` asks for it.
    Stale,
    /// The client got an error.
    Error,
}

impl Outcome {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 5] = [Self::Fresh, Self::Waited, Self::Primary, Self::Stale, Self::Error];

    /// The label used in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Waited => "waited",
            Self::Primary => "primary",
            Self::Stale => "stale",
            Self::Error => "error",
        }
    }
}

/// Why a statement cannot be run.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// It needs the primary and there is none.
    NoPrimary,
    /// A read-only endpoint without a replica.
    NoReplica,
    /// No read, on a read-only endpoint that has the primary alone.
    ReadOnly,
    /// The primary had not said in time what a replica must have applied, and `on_timeout = "error"`.
    NotTold,
    /// No replica had applied this in time, and the primary may not serve it: `on_timeout = "error"`, or a read-only
    /// endpoint.
    TimedOut {
        /// What was awaited.
        position: Position,
    },
}

/// Everything the decision is made from.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The statement.
    pub request: Request,
    /// The session.
    pub standing: Standing,
    /// The level and what happens in the end.
    pub promise: Promise,
    /// What the session wrote and saw.
    pub needs: &'a Needs,
    /// The endpoint's settings.
    pub settings: &'a Settings,
    /// The cluster.
    pub snapshot: &'a Snapshot,
    /// What was tried already.
    pub attempt: &'a Attempt,
    /// Everything this instance has acknowledged, as far as that is known; looked at with `global_scope = "proxy"` only.
    pub acknowledged: Option<&'a Position>,
    /// Any number; spreads reads over nodes by weight.
    pub dice: u32,
}

/// Decides the next step.
pub fn route(facts: Facts<'_>) -> Decision {
    match anywhere(&facts) {
        Decision::Go(go) if facts.snapshot.primary == Some(go.node) && !may_run_there(&facts) => {
            Decision::Refuse(Refusal::ReadOnly)
        }
        decision => decision,
    }
}

/// Whether the primary may run this for the endpoint: a read-only one has it read, where `primary_fallback` asks for that,
/// and whatever a client needs around its reads. No replica is there that would refuse the rest.
fn may_run_there(facts: &Facts<'_>) -> bool {
    facts.standing.mode == Mode::ReadWrite
        || matches!(facts.request.target, sql::Target::Replica | sql::Target::Previous)
        || matches!(facts.request.reason, sql::Reason::SessionState | sql::Reason::TransactionControl)
}

fn anywhere(facts: &Facts<'_>) -> Decision {
    if let Some(decision) = bound(facts) {
        return decision;
    }
    if let Some(reason) = facts.attempt.fallback {
        return to_primary(facts, reason);
    }
    match facts.request.target {
        sql::Target::Previous => match facts.standing.previous {
            Some(node) => there(facts, node, Reason::Statement(facts.request.reason)),
            None => to_primary(facts, Reason::Statement(facts.request.reason)),
        },
        sql::Target::Replica if facts.standing.autocommit => read(facts),
        sql::Target::Replica => to_primary(facts, Reason::AutocommitOff),
        sql::Target::Primary | sql::Target::Proxy => {
            to_primary(facts, Reason::Statement(facts.request.reason))
        }
    }
}

/// What a session cannot leave now: the node of a cursor for its rows, of a transaction, of what pins it.
fn bound(facts: &Facts<'_>) -> Option<Decision> {
    match (facts.standing.pinned, facts.standing.transaction) {
        (Some((node, reason @ Reason::PinnedStatement)), Some(_)) => Some(go(node, reason)),
        // AND CHAIN, or a BEGIN within it, begins the next one behind it on the same node.
        (_, Some(node)) if begins_another(facts) => Some(there(facts, node, Reason::Transaction)),
        (_, Some(node)) => Some(go(node, Reason::Transaction)),
        (Some((node, reason)), None) => Some(there(facts, node, reason)),
        (None, None) => None,
    }
}

fn begins_another(facts: &Facts<'_>) -> bool {
    let reasons = [sql::Reason::TransactionControl, sql::Reason::Transaction];
    facts.request.sees && reasons.contains(&facts.request.reason)
}

/// On this node and no other, outside of a transaction. What it shows is as fresh as a read all the same: on the primary
/// not before it shows what was seen elsewhere, on a replica when it has applied enough.
fn there(facts: &Facts<'_>, id: NodeId, reason: Reason) -> Decision {
    if facts.snapshot.primary == Some(id) && facts.standing.mode == Mode::ReadWrite {
        return to_primary(facts, reason);
    }
    let node = facts.snapshot.node(id).filter(|node| node.is_up() && node.role != Role::Primary);
    let Some(node) = node.filter(|_| facts.request.sees && facts.promise.level != Level::Eventual) else {
        return go(id, reason);
    };
    let only = NodeSet::only(id);
    let required = freshness::required(facts);
    if !choose::fresh(facts, only, &required).is_empty() {
        return Decision::Go(Go { outcome: Some(served(facts, id)), ..Go::new(id, reason) });
    }
    match required {
        Required::Fresh { anywhere: Some(demand), .. } => match facts.promise.on_timeout {
            _ if node.follows && !facts.attempt.expired => {
                Decision::Wait { position: demand.to_position(), among: only }
            }
            OnTimeout::Stale => stale(id),
            OnTimeout::Primary | OnTimeout::Error => {
                Decision::Refuse(Refusal::TimedOut { position: demand.to_position() })
            }
        },
        _ => ask(facts, only),
    }
}

fn stale(node: NodeId) -> Decision {
    Decision::Go(Go { outcome: Some(Outcome::Stale), ..Go::new(node, Reason::Stale) })
}

fn go(node: NodeId, reason: Reason) -> Decision {
    Decision::Go(Go::new(node, reason))
}

/// What is no read that may run anywhere: the primary, or on a read-only endpoint the replica the session is at home
/// on, which answers a write with its own error.
fn to_primary(facts: &Facts<'_>, reason: Reason) -> Decision {
    if facts.standing.mode == Mode::ReadOnly {
        return at_home(facts, reason);
    }
    let Some(primary) = facts.snapshot.primary() else {
        return Decision::Refuse(Refusal::NoPrimary);
    };
    match freshness::on_primary(facts, primary) {
        OnPrimary::Shows(shows) => Decision::Go(Go { shows, ..Go::new(primary.id, reason) }),
        OnPrimary::Ask => Decision::Ask,
    }
}

/// A replica for what else would go to the primary. State that only one connection has is asked and changed there;
/// whatever shows data must be as fresh as a read.
fn at_home(facts: &Facts<'_>, reason: Reason) -> Decision {
    if facts.request.sees && facts.promise.level != Level::Eventual {
        return match facts.standing.home {
            Some(home) => on_one(facts, home, reason),
            None => on_any(facts, reason),
        };
    }
    let rotation = choose::rotation(facts);
    let previous = facts.standing.previous.filter(|node| rotation.contains(*node));
    let home = facts.standing.home.or(previous);
    match home.or_else(|| choose::by_weight(facts, rotation)) {
        Some(node) => go(node, reason),
        None if facts.settings.primary_fallback => match facts.snapshot.primary() {
            Some(primary) => go(primary.id, reason),
            None => Decision::Refuse(Refusal::NoReplica),
        },
        None => Decision::Refuse(Refusal::NoReplica),
    }
}

/// A read that may run on any node fresh enough.
fn read(facts: &Facts<'_>) -> Decision {
    match facts.request.node {
        Some(node) => on_one(facts, node, Reason::Statement(sql::Reason::Hint)),
        None => on_any(facts, Reason::Statement(facts.request.reason)),
    }
}

/// One of those in rotation, fresh enough, by weight.
fn on_any(facts: &Facts<'_>, reason: Reason) -> Decision {
    let rotation = choose::rotation(facts);
    let required = match freshness::required(facts) {
        Required::Ask => return speculate(facts, rotation, reason).unwrap_or_else(|| ask(facts, rotation)),
        required => required,
    };
    if wants_to_move(facts, rotation, &required) {
        return Decision::MayAsk;
    }
    let fresh = choose::fresh(facts, rotation, &required);
    if let Some(node) = choose::steadily(facts, fresh) {
        return Decision::Go(Go { outcome: Some(served(facts, node)), ..Go::new(node, reason) });
    }
    if let Some(node) = choose::primary_at_once(facts, rotation) {
        return Decision::Go(Go { outcome: Some(Outcome::Primary), ..Go::new(node, reason) });
    }
    match required {
        Required::Fresh { anywhere: Some(demand), .. } => {
            let in_time = choose::in_time(facts, rotation);
            let nobody_else = !may_use_primary(facts) || facts.snapshot.primary().is_none();
            behind(facts, if in_time.is_empty() && nobody_else { rotation } else { in_time }, demand)
        }
        // The session could go on reading where it read last, but that node is gone: learn what it can have shown. To
        // wait would be in vain, for no position of another node tells it.
        Required::Fresh { anywhere: None, .. } => ask(facts, rotation),
        Required::Ask | Required::Nothing => last_resort(facts, Reason::NoReplica),
    }
}

/// Only the primary knows how fresh the read must be; but one of these has applied all that is known to be written, and its
/// reply will do unless somebody writes just now.
fn speculate(facts: &Facts<'_>, rotation: NodeSet, reason: Reason) -> Option<Decision> {
    // What is unknown of the session's past the primary is asked for in any case.
    if !facts.attempt.may_speculate || facts.needs.unknown || facts.attempt.expired {
        return None;
    }
    let written = &facts.snapshot.primary()?.high.as_ref()?.position;
    let required = Required::Fresh { anywhere: Some(facts.needs.demand()), stay: None };
    let fresh = choose::fresh(facts, rotation, &required);
    let node = facts.snapshot.node(choose::steadily(facts, fresh)?)?;
    if node.role == Role::Primary || !applied(node, written) {
        return None;
    }
    let outcome = Some(served(facts, node.id));
    Some(Decision::Go(Go { proviso: Some(Arc::clone(&node.low)), outcome, ..Go::new(node.id, reason) }))
}

/// Only the primary knows how fresh the read must be. When it has not said so in time, or there is none, the settings may
/// have one of these nodes serve the read all the same.
fn ask(facts: &Facts<'_>, among: NodeSet) -> Decision {
    match facts.promise.on_timeout {
        OnTimeout::Primary if facts.snapshot.primary().is_none() => Decision::Refuse(Refusal::NoPrimary),
        OnTimeout::Error if facts.attempt.expired => Decision::Refuse(Refusal::NotTold),
        OnTimeout::Stale if facts.attempt.expired => match choose::by_weight(facts, among) {
            Some(node) => stale(node),
            None => last_resort(facts, Reason::NoReplica),
        },
        OnTimeout::Primary | OnTimeout::Error | OnTimeout::Stale => Decision::Ask,
    }
}

/// Whether a session that only reads has stayed on one node long enough, and the weights would have it elsewhere now.
/// What it saw last is not known to be anywhere else; the primary knows.
fn wants_to_move(facts: &Facts<'_>, rotation: NodeSet, required: &Required<'_>) -> bool {
    let Required::Fresh { anywhere: None, stay: Some((node, _)) } = required else { return false };
    facts.attempt.sampled.is_none()
        && facts.needs.anchored_for() > ANCHORED_AT_MOST
        && facts.snapshot.primary().is_some()
        && choose::by_weight(facts, rotation).is_some_and(|chosen| chosen != *node)
}

/// Every replica in rotation is behind; `rotation`: those that it is worth waiting for.
fn behind(facts: &Facts<'_>, rotation: NodeSet, demand: Demand<'_>) -> Decision {
    if rotation.is_empty() {
        return last_resort(facts, Reason::NoReplica);
    }
    if !facts.attempt.expired {
        return Decision::Wait { position: demand.to_position(), among: rotation };
    }
    match facts.promise.on_timeout {
        OnTimeout::Primary if may_use_primary(facts) => last_resort(facts, Reason::Timeout),
        OnTimeout::Primary | OnTimeout::Error => {
            Decision::Refuse(Refusal::TimedOut { position: demand.to_position() })
        }
        OnTimeout::Stale => match choose::by_weight(facts, rotation) {
            Some(node) => stale(node),
            None => last_resort(facts, Reason::NoReplica),
        },
    }
}

fn may_use_primary(facts: &Facts<'_>) -> bool {
    facts.standing.mode == Mode::ReadWrite || (facts.settings.primary_fallback && may_run_there(facts))
}

/// The primary serves a read that no replica can, whatever its weight.
fn last_resort(facts: &Facts<'_>, reason: Reason) -> Decision {
    if !may_use_primary(facts) {
        return Decision::Refuse(Refusal::NoReplica);
    }
    let Some(primary) = facts.snapshot.primary() else {
        return Decision::Refuse(Refusal::NoPrimary);
    };
    if facts.attempt.excluded.contains(primary.id) {
        return Decision::Refuse(Refusal::NoPrimary);
    }
    match freshness::on_primary(facts, primary) {
        OnPrimary::Shows(shows) => {
            Decision::Go(Go { shows, outcome: Some(Outcome::Primary), ..Go::new(primary.id, reason) })
        }
        OnPrimary::Ask => Decision::Ask,
    }
}

/// This node, by a hint or because the session's state lives there: when it is up and fresh enough, or becomes so in
/// time.
fn on_one(facts: &Facts<'_>, id: NodeId, reason: Reason) -> Decision {
    // What its position says proves nothing about one that follows another history: to wait for it would be in vain.
    let can_serve = |node: &&Node| {
        node.is_up()
            && (node.follows || facts.promise.level == Level::Eventual)
            && !(node.drained && facts.request.node == Some(id))
            && !facts.attempt.excluded.contains(id)
    };
    let Some(node) = facts.snapshot.node(id).filter(can_serve) else {
        return last_resort(facts, Reason::NoReplica);
    };
    if node.role == Role::Primary {
        return last_resort(facts, reason);
    }
    let rotation = NodeSet::only(id);
    match freshness::required(facts) {
        required if !choose::fresh(facts, rotation, &required).is_empty() => {
            Decision::Go(Go { outcome: Some(served(facts, id)), ..Go::new(id, reason) })
        }
        Required::Fresh { anywhere: Some(demand), .. } => behind(facts, rotation, demand),
        Required::Ask | Required::Fresh { anywhere: None, .. } => ask(facts, rotation),
        Required::Nothing => last_resort(facts, Reason::NoReplica),
    }
}

fn served(facts: &Facts<'_>, node: NodeId) -> Outcome {
    if facts.snapshot.node(node).map(|node| node.role) == Some(Role::Primary) {
        Outcome::Primary
    } else if facts.attempt.waited {
        Outcome::Waited
    } else {
        Outcome::Fresh
    }
}

/// Whether a node shows everything that a position asks for, as far as is known of it.
fn applied(node: &Node, position: &Position) -> bool {
    node.low.covers(position)
}

#[cfg(test)]
mod tests;
