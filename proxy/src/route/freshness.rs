//! How fresh a node must be for this read.
//!
//! The rules, and why they suffice:
//! - a node whose LOW covers a position shows everything in it;
//! - a session that stays on a node cannot go back in time, for what a node shows only grows within one life;
//! - to move from node A to node B, B must show whatever A can have shown: A's HIGH, sampled after the last result
//!   of A had come, or the primary's, which bounds every node's;
//! - at the level `global` the primary's HIGH, asked after the statement arrived, bounds everything that anyone was
//!   told of before.

use gtid::Position;

use super::needs::Seen;
use super::{Facts, applied};
use crate::cluster::snapshot::{Node, NodeId};
use crate::config::Level;

/// What a node must fulfil.
#[derive(Clone, Debug, PartialEq)]
pub enum Required {
    /// Nothing: any node in rotation.
    Nothing,
    /// To have applied this.
    Applied(Position),
    /// To be this very node, in the same life, and to have applied this.
    Stay {
        /// The node.
        node: NodeId,
        /// What it must have applied.
        position: Position,
    },
    /// Not known before the primary was asked.
    Ask,
}

/// What is required of a node for the read at hand.
pub(super) fn required(facts: &Facts<'_>) -> Required {
    let needs = facts.needs;
    match facts.promise.level {
        Level::Eventual => Required::Nothing,
        _ if facts.attempt.asked.is_some() => Required::Applied(needs.position()),
        Level::Global => Required::Ask,
        Level::Session if needs.unknown => Required::Ask,
        Level::Session => match needs.seen {
            Seen::Covered => Required::Applied(needs.position()),
            Seen::On { node, incarnation, until } => {
                let last = facts.snapshot.node(node).filter(|node| node.incarnation == incarnation);
                let Some(last) = last else { return Required::Ask };
                match last.high.as_ref().filter(|high| high.sent_at > until) {
                    Some(high) => Required::Applied(with(needs.position(), &high.position)),
                    None => Required::Stay { node, position: needs.position() },
                }
            }
        },
    }
}

/// Whether this node fulfils it.
pub(super) fn fulfils(node: &Node, required: &Required) -> bool {
    match required {
        Required::Nothing => true,
        Required::Applied(position) => node.follows && applied(node, position),
        Required::Stay { node: stay, position } => {
            node.id == *stay && node.follows && applied(node, position)
        }
        Required::Ask => false,
    }
}

fn with(mut position: Position, more: &Position) -> Position {
    if position.is_empty() || position.merge(more).is_err() {
        return more.clone();
    }
    position
}
