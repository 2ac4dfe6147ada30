//! One turn of a reply: which bytes of the chunk go on, and what is put between them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io;
use std::ops::Range;

use gtid::Flavor;
use smallvec::SmallVec;
use wire::err::ErrPacket;
use wire::ok::OkPacket;
use wire::prepared::PrepareOk;
use wire::reply::ReplySink;

use super::heard::Heard;
use crate::transport::Channel;

/// A stretch of the outgoing stream.
enum Piece {
    /// Bytes of the chunk.
    Forward(Range<usize>),
    /// Bytes of `inserted`.
    Insert(Range<usize>),
}

/// Collects what the walker says about a chunk. The ordinary reply is one piece, forwarded as it came.
pub(super) struct Outgoing<'a> {
    heard: &'a mut Heard,
    flavor: Flavor,
    turn: Turn,
}

/// What goes to the client in this turn.
#[derive(Default)]
pub(super) struct Turn {
    pieces: SmallVec<[Piece; 4]>,
    /// Room for the two EOF packets of a small result.
    inserted: SmallVec<[u8; 32]>,
}

/// Bytes of a turn in pieces for which a thread keeps room.
const KEPT: usize = 64 * 1024;

thread_local! {
    /// The pieces of a turn, put together for one write.
    static TOGETHER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl<'a> Outgoing<'a> {
    pub(super) fn new(heard: &'a mut Heard, flavor: Flavor) -> Self {
        Self { heard, flavor, turn: Turn::default() }
    }

    pub(super) fn finish(self) -> Turn {
        self.turn
    }
}

impl Turn {
    /// Whether nothing goes to the client.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Writes what the client takes without waiting. Returns what is left.
    pub(super) fn send_now<'a>(
        &'a self,
        chunk: &'a [u8],
        client: &mut Channel,
    ) -> io::Result<Option<Cow<'a, [u8]>>> {
        match self.pieces.as_slice() {
            [] => Ok(None),
            [Piece::Forward(range)] => {
                let bytes = chunk.get(range.clone()).unwrap_or_default();
                Ok(rest(bytes, client.write_now(bytes)?).map(Cow::Borrowed))
            }
            [Piece::Insert(_)] => {
                let written = client.write_now(&self.inserted)?;
                Ok(rest(&self.inserted, written).map(Cow::Borrowed))
            }
            pieces => TOGETHER.with_borrow_mut(|all| {
                all.clear();
                for piece in pieces {
                    all.extend_from_slice(match piece {
                        Piece::Forward(range) => chunk.get(range.clone()).unwrap_or_default(),
                        Piece::Insert(range) => self.inserted.get(range.clone()).unwrap_or_default(),
                    });
                }
                let left = rest(all, client.write_now(all)?).map(|rest| Cow::Owned(rest.to_vec()));
                all.shrink_to(KEPT);
                Ok(left)
            }),
        }
    }
}

fn rest(bytes: &[u8], written: usize) -> Option<&[u8]> {
    bytes.get(written..).filter(|rest| !rest.is_empty())
}

impl ReplySink for Outgoing<'_> {
    fn forward(&mut self, range: Range<usize>) {
        match self.turn.pieces.last_mut() {
            Some(Piece::Forward(last)) if last.end == range.start => last.end = range.end,
            _ => self.turn.pieces.push(Piece::Forward(range)),
        }
    }

    fn insert(&mut self, bytes: &[u8]) {
        let start = self.turn.inserted.len();
        self.turn.inserted.extend_from_slice(bytes);
        let end = self.turn.inserted.len();
        match self.turn.pieces.last_mut() {
            Some(Piece::Insert(last)) if last.end == start => last.end = end,
            _ => self.turn.pieces.push(Piece::Insert(start..end)),
        }
    }

    fn ok(&mut self, ok: &OkPacket<'_>) {
        self.heard.ok(ok, self.flavor);
    }

    fn err(&mut self, err: &ErrPacket<'_>) {
        self.heard.err(err);
    }

    fn prepared(&mut self, prepared: PrepareOk) {
        self.heard.prepared = Some(prepared);
    }

    fn result_set(&mut self, _columns: u64) {
        self.heard.result_sets += 1;
    }
}
