//! One turn of a reply: which bytes of the chunk go on, and what is put between them.

use std::borrow::Cow;
use std::io::{self, IoSlice};
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

/// A turn of so many bytes is put together before it is written; a larger one is written from where its pieces are.
const SMALL: usize = 1024;

/// A turn of more pieces is put together as well: a result has three, and POSIX lets a system call take no more than this.
const MOST_PIECES: usize = 16;

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
            pieces => {
                let pieces: SmallVec<[&[u8]; 8]> =
                    pieces.iter().map(|piece| self.bytes(piece, chunk)).collect();
                send_pieces(&pieces, client)
            }
        }
    }

    fn bytes<'a>(&'a self, piece: &Piece, chunk: &'a [u8]) -> &'a [u8] {
        let bytes = match piece {
            Piece::Forward(range) => chunk.get(range.clone()),
            Piece::Insert(range) => self.inserted.get(range.clone()),
        };
        bytes.unwrap_or_default()
    }
}

fn send_pieces<'a>(pieces: &[&[u8]], client: &mut Channel) -> io::Result<Option<Cow<'a, [u8]>>> {
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    if length <= SMALL || pieces.len() > MOST_PIECES {
        let mut all: SmallVec<[u8; SMALL]> = SmallVec::with_capacity(length);
        pieces.iter().for_each(|piece| all.extend_from_slice(piece));
        return Ok(rest(&all, client.write_now(&all)?).map(|rest| Cow::Owned(rest.to_vec())));
    }
    let slices: SmallVec<[IoSlice<'_>; MOST_PIECES]> =
        pieces.iter().map(|piece| IoSlice::new(piece)).collect();
    let written = client.write_pieces_now(&slices)?;
    if written == length {
        return Ok(None);
    }
    let all = pieces.concat();
    Ok(rest(&all, written).map(|rest| Cow::Owned(rest.to_vec())))
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

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;
    use tokio::net::UnixStream;

    use super::*;
    use crate::transport::Plain;

    /// Sends a turn whose pieces are the chunk, cut in two, with something put in between and behind.
    async fn sent(chunk: &[u8], inserted: usize) -> Vec<u8> {
        let (near, mut far) = UnixStream::pair().unwrap();
        let mut client = Channel::new(Plain::Unix(near));
        let mut heard = Heard::default();
        let mut outgoing = Outgoing::new(&mut heard, Flavor::Mysql);
        let half = chunk.len() / 2;
        outgoing.forward(0..half);
        outgoing.insert(&vec![1; inserted]);
        outgoing.forward(half..chunk.len());
        outgoing.insert(&vec![2; inserted]);
        let rest = outgoing.finish().send_now(chunk, &mut client).unwrap().unwrap_or_default().into_owned();
        drop(client);
        let mut all = Vec::new();
        far.read_to_end(&mut all).await.unwrap();
        all.extend_from_slice(&rest);
        all
    }

    #[tokio::test]
    async fn pieces_come_in_their_order_whatever_the_socket_takes() {
        for (length, inserted) in [(10, 5), (4000, 9), (100_000, 9), (3_000_000, 100_000)] {
            let chunk: Vec<u8> = (0..length).map(|at: u32| (at % 251) as u8).collect();
            let half = chunk.len() / 2;
            let expected = [&chunk[..half], &vec![1; inserted], &chunk[half..], &vec![2; inserted]].concat();
            assert!(sent(&chunk, inserted).await == expected, "{length}");
        }
    }
}
