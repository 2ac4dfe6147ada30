//! How fresh a node must be for this read.
//!
//! The rules, and why they suffice:
//! - a node whose LOW covers a position shows everything in it;
//! - a session that stays on a node cannot go back in time, for what a node shows only grows within one life;
//! - to move from node A to node B, B must show whatever A can have shown: A's HIGH, sampled after the last result
//!   of A had come, or the primary's, which bounds every node's;
//! - at the level `global` the primary's HIGH, asked after the statement arrived, bounds everything that anyone was
//!   told of before; the read may run meanwhile, where all that was known before to be written is applied, and counts if the
//!   answer is covered by what was known of the node then. With `global_scope = "proxy"` it is what this instance has
//!   acknowledged, and what the session saw.

use std::time::Instant;

use gtid::Position;

use super::demand::Demand;
use super::needs::{PrimaryBound, Seen};
#[cfg(feature = "sabotage")]
use super::sabotage::{Rule, ignores};
use super::{Facts, Sampled};
use crate::cluster::snapshot::{Node, NodeId};
use crate::config::{GlobalScope, Level};

/// What a node must fulfil.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Required<'a> {
    /// Nothing: any node in rotation.
    Nothing,
    /// One of the two.
    Fresh {
        /// Any node that has applied this; `None` when it is not known what would suffice.
        anywhere: Option<Demand<'a>>,
        /// This very node, in the same life, when it has applied this: the session read there last.
        stay: Option<(NodeId, Demand<'a>)>,
    },
    /// Not known before the primary was asked.
    Ask,
}

/// What is required of a node for the read at hand.
pub(super) fn required<'a>(facts: &Facts<'a>) -> Required<'a> {
    let needs = facts.needs;
    if let Some(awaited) = &facts.attempt.awaited {
        return Required::Fresh { anywhere: Some(Demand::default().and(awaited)), stay: None };
    }
    match facts.promise.level {
        Level::Eventual => Required::Nothing,
        _ if facts.attempt.asked.is_some() => Required::Fresh { anywhere: Some(needs.demand()), stay: None },
        #[cfg(feature = "sabotage")]
        Level::Global if ignores(Rule::Probe) => {
            Required::Fresh { anywhere: Some(needs.demand()), stay: None }
        }
        _ if needs.unknown => Required::Ask,
        Level::Session => since_last(facts, needs.demand()),
        Level::Global => match acknowledged(facts) {
            Some(acknowledged) => since_last(facts, needs.demand().and(acknowledged)),
            None => Required::Ask,
        },
    }
}

/// Everything that anybody was told is written, when all of it passed this instance and is known here.
fn acknowledged<'a>(facts: &Facts<'a>) -> Option<&'a Position> {
    facts.acknowledged.filter(|_| facts.settings.global_scope == GlobalScope::Proxy)
}

/// This, and whatever the session saw last.
fn since_last<'a>(facts: &Facts<'a>, demand: Demand<'a>) -> Required<'a> {
    let Seen::On { node, incarnation, until } = facts.needs.seen else {
        return Required::Fresh { anywhere: Some(demand), stay: None };
    };
    #[cfg(feature = "sabotage")]
    if ignores(Rule::High) {
        return Required::Fresh { anywhere: Some(demand), stay: None };
    }
    let anywhere = match shown_by(facts, node, incarnation, until) {
        Shown::AtMost(high) => Some(demand.and(high)),
        Shown::NotSampled => match &facts.attempt.sampled {
            Some(Sampled::AtMost(high)) => Some(demand.and(high)),
            Some(Sampled::Nothing) | None => None,
        },
        Shown::Unknowable => return Required::Ask,
    };
    Required::Fresh { anywhere, stay: Some((node, demand)) }
}

/// What a node can have shown to a session whose last result of it had come by `until`.
enum Shown<'a> {
    /// At most this.
    AtMost(&'a Position),
    /// Its HIGH was not sampled since.
    NotSampled,
    /// That life of the node is over.
    Unknowable,
}

fn shown_by<'a>(facts: &Facts<'a>, node: NodeId, incarnation: u64, until: Instant) -> Shown<'a> {
    match facts.snapshot.node(node).filter(|node| node.incarnation == incarnation) {
        None => Shown::Unknowable,
        Some(node) => match node.high.as_ref().filter(|high| high.sent_at > until) {
            Some(high) => Shown::AtMost(&high.position),
            None => Shown::NotSampled,
        },
    }
}

/// What the primary must fulfil before the session may read there.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OnPrimary {
    /// It must show this first; `None` when it is known to show enough.
    Shows(Option<Position>),
    /// Not known before it was asked.
    Ask,
}

/// What is required of the primary. It shows this session's own writes; but a replica can have shown a transaction
/// before the primary does, and neither the session nor, at the level `global`, anybody may go back behind that.
pub(super) fn on_primary(facts: &Facts<'_>, primary: &Node) -> OnPrimary {
    let needs = facts.needs;
    let unless_shown = |demand: Demand<'_>| {
        let shown = demand.is_met_by(&primary.low);
        OnPrimary::Shows((!shown).then(|| demand.to_position()))
    };
    let bound = Demand::default().and(&needs.bound);
    if facts.promise.level == Level::Eventual {
        return OnPrimary::Shows(None);
    }
    if needs.unproven && facts.attempt.asked.is_none() {
        // Before it writes on top of what it takes for granted, the session is told what of that is lost.
        return OnPrimary::Ask;
    }
    if !facts.request.sees {
        return OnPrimary::Shows(None);
    }
    #[cfg(feature = "sabotage")]
    if ignores(Rule::Primary) {
        return OnPrimary::Shows(None);
    }
    if let Some(bound) = &facts.attempt.asked {
        return OnPrimary::Shows(bound.to_show(primary));
    }
    match needs.seen {
        _ if needs.unknown => OnPrimary::Ask,
        // What was acknowledged the primary shows: the OK came after that.
        _ if facts.promise.level == Level::Global && acknowledged(facts).is_none() => OnPrimary::Ask,
        Seen::On { node, incarnation, until } if node != primary.id => {
            match shown_by(facts, node, incarnation, until) {
                Shown::AtMost(high) => unless_shown(bound.and(high)),
                Shown::NotSampled | Shown::Unknowable => OnPrimary::Ask,
            }
        }
        Seen::Covered | Seen::On { .. } => unless_shown(bound),
    }
}

/// Whether the reply of a speculative read counts: before it ran, the node was known to have applied `low`, and the primary,
/// asked after it had arrived, told this.
pub fn had_applied(low: &Position, told: &PrimaryBound) -> bool {
    #[cfg(feature = "sabotage")]
    if ignores(Rule::Proviso) {
        return true;
    }
    low.covers(&told.high)
}

/// Whether this node fulfils it.
pub(super) fn fulfils(node: &Node, required: &Required<'_>) -> bool {
    match required {
        Required::Nothing => true,
        Required::Fresh { anywhere, stay } => {
            let meets = |demand: &Demand<'_>| demand.is_met_by(&node.low);
            let stays = stay.as_ref().is_some_and(|(stay, demand)| node.id == *stay && meets(demand));
            node.follows && (stays || anywhere.as_ref().is_some_and(meets))
        }
        Required::Ask => false,
    }
}
