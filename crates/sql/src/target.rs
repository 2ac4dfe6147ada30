//! Where a statement can go, and all that is known of it.

use crate::effects::Effects;
use crate::hint::Hints;
use crate::kind::Kind;
use crate::reason::Reason;

/// Where a read-write endpoint sends a statement outside a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// Any node fresh enough: known to be right on a replica.
    Replica,
    /// The primary connection of the session.
    Primary,
    /// The connection that ran the session's previous statement.
    Previous,
    /// The proxy answers: TIDEMARK statements, KILL with a plain id, SELECT CONNECTION_ID().
    Proxy,
}

impl Target {
    /// The name in output and labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Target::Replica => "replica",
            Target::Primary => "primary",
            Target::Previous => "previous",
            Target::Proxy => "proxy",
        }
    }
}

/// What [`crate::classify`] says of the text of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classified {
    /// Where it goes, hints taken into account.
    pub target: Target,
    /// Why.
    pub reason: Reason,
    /// What sort of statement it is.
    pub kind: Kind,
    /// What it may leave behind.
    pub effects: Effects,
    /// What its comments ask for.
    pub hints: Hints,
    /// How many statements that are not empty the text holds.
    pub statements: u32,
}
