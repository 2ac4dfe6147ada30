//! What a reply said besides its rows.

use gtid::{Flavor, Position};
use wire::err::ErrPacket;
use wire::ok::OkPacket;
use wire::prepared::PrepareOk;
use wire::session_track::Tracked;
use wire::status::Status;

use crate::backend::ServerError;
use crate::backend::state::Variable;

/// The variable in which MariaDB reports the position of the last write.
const LAST_GTID: &[u8] = b"last_gtid";

/// A variable that MySQL reports with every statement when all variables are tracked. It says nothing.
const STATEMENT_ID: &[u8] = b"statement_id";

/// ER_SERVER_SHUTDOWN, and MariaDB's ER_CONNECTION_KILLED: the server ends the connection, and the statement has not run.
const GOING_AWAY_ERRORS: [u16; 2] = [1053, 1927];

/// ER_QUERY_INTERRUPTED, ER_QUERY_TIMEOUT, and MariaDB's ER_STATEMENT_TIMEOUT: somebody wants the statement to end.
const INTERRUPTED_ERRORS: [u16; 3] = [1317, 3024, 1969];

/// Errors by which a server says that it takes no writes: ER_OPTION_PREVENTS_STATEMENT, ER_READ_ONLY_MODE,
/// ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION.
const READ_ONLY_ERRORS: [u16; 3] = [1290, 1836, 1792];

/// Everything a session must know of a reply.
#[derive(Debug, Default)]
pub struct Heard {
    /// The flags of the last OK; `None` when there was none. An error behind it says nothing of its own.
    pub status: Option<Status>,
    /// Where the writes of the statement stand in the log.
    pub position: Option<Position>,
    /// The new current schema.
    pub schema: Option<Box<[u8]>>,
    /// Session variables that changed, with their new values.
    pub variables: Vec<Variable>,
    /// The last value generated for an AUTO_INCREMENT column.
    pub last_insert_id: Option<u64>,
    /// Something in the session changed, of whatever kind.
    pub state_changed: bool,
    /// The number of the error that ended the reply.
    pub error: Option<u16>,
    /// The same error, whole, for replies that the client does not see.
    pub refused: Option<ServerError>,
    /// Result sets.
    pub result_sets: u32,
    /// OK packets, those at the end of result sets included.
    pub oks: u32,
    /// Warnings that the last statement left.
    pub warnings: u16,
    /// The reply to COM_STMT_PREPARE.
    pub prepared: Option<PrepareOk>,
    /// A tracker that could not be read: the session no longer knows what it must.
    pub unreadable: bool,
}

impl Heard {
    /// Whether the server told of a change in the session's state.
    pub fn tells_of_state(&self) -> bool {
        self.state_changed || self.schema.is_some() || !self.variables.is_empty()
    }

    /// Whether the whole reply was the node's refusal to write.
    pub fn only_read_only_refusal(&self) -> bool {
        self.oks == 0
            && self.result_sets == 0
            && self.error.is_some_and(|code| READ_ONLY_ERRORS.contains(&code))
    }

    /// Whether the whole reply was that the node is about to close the connection.
    pub fn only_going_away(&self) -> bool {
        self.oks == 0
            && self.result_sets == 0
            && self.error.is_some_and(|code| GOING_AWAY_ERRORS.contains(&code))
    }

    /// Whether the statement was ended from outside. To run it again would be against somebody's will.
    pub(super) fn was_interrupted(&self) -> bool {
        self.error.is_some_and(|code| INTERRUPTED_ERRORS.contains(&code))
    }

    pub(super) fn ok(&mut self, ok: &OkPacket<'_>, flavor: Flavor) {
        self.oks += 1;
        self.status = Some(ok.status);
        self.warnings = ok.warnings;
        if ok.last_insert_id != 0 {
            self.last_insert_id = Some(ok.last_insert_id);
        }
        for tracked in ok.tracked.iter() {
            match tracked {
                Ok(tracked) => self.tracked(tracked, flavor),
                Err(_) => self.unreadable = true,
            }
        }
    }

    fn tracked(&mut self, tracked: Tracked<'_>, flavor: Flavor) {
        match tracked {
            Tracked::Gtids(text) => self.wrote(flavor, text),
            Tracked::Variable { name: LAST_GTID, value } => self.wrote(flavor, value),
            Tracked::Variable { name: STATEMENT_ID, .. } => {}
            Tracked::Variable { name, value } => self.variables.push((name.into(), value.into())),
            Tracked::Schema(schema) => self.schema = Some(schema.into()),
            Tracked::StateChanged(changed) => self.state_changed |= changed,
            Tracked::TransactionCharacteristics(_)
            | Tracked::TransactionState(_)
            | Tracked::Unknown { .. } => {}
        }
    }

    fn wrote(&mut self, flavor: Flavor, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        match Position::parse(flavor, text) {
            Ok(position) => match &mut self.position {
                Some(known) => self.unreadable |= known.merge(&position).is_err(),
                None => self.position = Some(position),
            },
            Err(_) => self.unreadable = true,
        }
    }

    pub(super) fn err(&mut self, err: &ErrPacket<'_>) {
        self.error = Some(err.code);
        self.refused = Some(ServerError::from_packet(err));
    }
}
