//! What LAST_INSERT_ID() gives: learnt from OK packets, and restored on a connection that takes the place of a lost one.
//!
//! Not everything that sets it stands in an OK packet. Where it cannot be known any more the client hears that it is lost, for
//! another row's id would be worse.
//!
//! Deliberately absent: telling a value that was generated for an AUTO_INCREMENT column from one that an INSERT named itself.
//! An OK packet holds either, and LAST_INSERT_ID() the former only.

use sql::Effects;

use super::remember::runs_unseen;
use super::understand::{Role, Statement};
use crate::relay::Heard;

/// The session's id, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum InsertId {
    /// None was made yet.
    #[default]
    Nothing,
    Known(u64),
    /// The connection to the primary knows it alone.
    Untold,
    /// That connection is gone.
    Lost,
}

impl InsertId {
    /// A statement has run.
    pub(super) fn note(&mut self, statement: &Statement, heard: &Heard) {
        if statement.role == Role::Prepare {
            return;
        }
        let untold = statement.effects.contains(Effects::SETS_LAST_INSERT_ID) || runs_unseen(statement);
        // Of several statements in a packet the last one counts, and which that was the packets do not tell.
        let single = statement.results == 1;
        match heard.last_insert_id {
            Some(id) if single || !untold => *self = Self::Known(id),
            _ if untold && heard.oks > 0 => *self = Self::Untold,
            _ => {}
        }
    }

    /// A connection to the primary is new. Returns what it must be told.
    pub(super) fn for_a_new_connection(&mut self) -> Option<u64> {
        if *self == Self::Untold {
            *self = Self::Lost;
        }
        match self {
            Self::Known(id) => Some(*id),
            _ => None,
        }
    }

    /// Whether the statement asks for what is lost.
    pub(super) fn is_missed_by(self, statement: &Statement) -> bool {
        self == Self::Lost
            && statement.role != Role::Prepare
            && statement.effects.contains(Effects::USES_LAST_INSERT_ID)
            && !statement.effects.contains(Effects::SETS_LAST_INSERT_ID)
    }
}
