//! Replies as streams: where one ends, what it says of the session, and its translation for the client that asked.
//!
//! The walker is given a server's bytes as they come, in pieces of any size, and names the ranges to pass on. Of rows and
//! definitions it looks at the header and the first byte and keeps nothing; only packets that steer the reply (OK, ERR,
//! EOF, a number of columns) are read, and copied only if they lie across two pieces.
//!
//! Servers always speak DEPRECATE_EOF and SESSION_TRACK to the proxy. For a client that does not, EOF packets are put in,
//! OK packets are cut down, and the sequence numbers behind them corrected in place. An EOF has no room for session state:
//! what the OK at the end of a result set tells of it stays with the proxy.
//!
//! Deliberately absent: OPTIONAL_RESULTSET_METADATA, MariaDB's cached metadata and progress reports, and compression. The
//! proxy agrees to none of them.

mod chunk;
mod classify;
mod control;
mod head;
mod packet;
mod rows;
mod walker;

pub use walker::ReplyWalker;

use crate::{Capabilities, ErrPacket, Malformed, OkPacket, PrepareOk, Status, Wanted};
use std::fmt;
use std::ops::Range;

/// The longest packet that is kept when it lies across two pieces, in bytes. OK and ERR packets hold some hundred bytes;
/// a GTID set of a long history, some ten thousand.
pub const MAX_CONTROL: usize = 1 << 20;

/// What kind of reply the command has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// COM_QUERY (and COM_PROCESS_INFO): OK, ERR, results with rows in text, or a request for a local file.
    Query,
    /// COM_STMT_EXECUTE and COM_STMT_BULK_EXECUTE: as a query, with binary rows, or a cursor.
    Execute,
    /// COM_STMT_PREPARE.
    Prepare,
    /// COM_STMT_FETCH: rows without definitions.
    Fetch,
    /// COM_FIELD_LIST: definitions without a count.
    FieldList,
    /// COM_STATISTICS: one packet of text.
    Statistics,
    /// One OK, EOF or ERR: COM_PING, INIT_DB, SET_OPTION, RESET_CONNECTION, STMT_RESET, DEBUG, PROCESS_KILL.
    Single,
}

/// For whom a reply is translated.
#[derive(Clone, Copy, Debug)]
pub struct ClientView<'a> {
    /// What the client speaks.
    pub capabilities: Capabilities,
    /// What the client wants to hear of its session.
    pub wanted: &'a Wanted,
    /// The statement id told to the client in COM_STMT_PREPARE_OK, instead of the server's.
    pub statement_id: u32,
    /// The session's status before this command: what the EOF packet behind column definitions carries (when it has to be
    /// sent, the reply has told none yet).
    pub status: Status,
}

/// How far a piece took the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fed {
    /// Bytes that belonged to this reply: all of the piece, unless the reply ended or stopped within it.
    pub consumed: usize,
    /// What comes next.
    pub progress: Progress,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More of the reply.
    More,
    /// The client's next command.
    Done,
    /// The client's file; then `ReplyWalker::resume_after_infile`.
    LocalInfile,
}

/// Receives a translated reply.
pub trait ReplySink {
    /// These bytes of the piece come next, with sequence numbers corrected. Adjacent ranges come as one.
    fn forward(&mut self, range: Range<usize>);
    /// These bytes come next: packets put in or rewritten, or the start of one whose header lay across two pieces.
    fn insert(&mut self, bytes: &[u8]);
    /// Each OK, also the one at the end of each result set, as the server sent it; before its bytes are forwarded.
    fn ok(&mut self, ok: &OkPacket<'_>);
    /// An error; before its bytes are forwarded. It ends the reply.
    fn err(&mut self, err: &ErrPacket<'_>);
    /// A statement was prepared, under the server's id.
    fn prepared(&mut self, prepared: PrepareOk);
    /// A result set with so many columns begins.
    fn result_set(&mut self, columns: u64) {
        let _ = columns;
    }
}

/// Why a reply cannot be followed further. The server's connection is of no use any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyError {
    /// A packet with the wrong sequence number.
    OutOfOrder {
        /// The number due.
        expected: u8,
        /// The number sent.
        got: u8,
        /// The error's code when the packet is an ERR: a server that closes an idle connection says so unasked.
        error: Option<u16>,
    },
    /// Bytes that make no sense here.
    Malformed(Malformed),
    /// An OK or ERR packet above `MAX_CONTROL`.
    ControlTooLong,
}

impl From<Malformed> for ReplyError {
    fn from(error: Malformed) -> ReplyError {
        ReplyError::Malformed(error)
    }
}

impl fmt::Display for ReplyError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplyError::OutOfOrder { got, error: Some(code), .. } => {
                write!(out, "unasked error {code} (sequence number {got})")
            }
            ReplyError::OutOfOrder { expected, got, error: None } => {
                write!(out, "packet out of order: sequence number {got}, not {expected}")
            }
            ReplyError::Malformed(error) => error.fmt(out),
            ReplyError::ControlTooLong => write!(out, "OK or ERR packet above {MAX_CONTROL} bytes"),
        }
    }
}

impl std::error::Error for ReplyError {}
