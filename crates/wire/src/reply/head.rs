//! The start of a frame: its header, and the first byte of its payload where that decides what it is.

use super::chunk::Chunk;
use super::{ReplySink, ReplyWalker};
use crate::Header;
use crate::frame::HEADER;

/// Of a packet out of order so much is read: the first bytes of an ERR, with its code.
const ERR_HEAD: usize = 3;

/// The start of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Head {
    bytes: [u8; HEADER + ERR_HEAD],
    length: usize,
}

impl Head {
    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    pub(super) fn payload(&self) -> &[u8] {
        self.as_slice().get(HEADER..).unwrap_or_default()
    }

    pub(super) fn set_sequence(&mut self, sequence: u8) {
        if let Some(place) = self.bytes.get_mut(HEADER - 1) {
            *place = sequence;
        }
    }

    pub(super) fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }
}

/// Where the frame at hand stands: all of its head in the piece, or in `ReplyWalker::head`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Chunk,
    Stashed,
}

impl ReplyWalker {
    /// As much of the frame's start as is needed to tell what it is. `None`: the piece ended before, and what there was
    /// of it is in `self.head`.
    pub(super) fn gather_head(
        &mut self,
        chunk: &mut Chunk<'_>,
        sink: &mut impl ReplySink,
    ) -> Option<(Place, Head)> {
        if self.head.length == 0 {
            let mut head = Head::default();
            for &byte in chunk.rest().iter().take(HEADER + ERR_HEAD) {
                head.push(byte);
            }
            let needed = self.needed_head(head.as_slice());
            if head.length >= needed {
                head.length = needed;
                return Some((Place::Chunk, head));
            }
        }
        chunk.flush(sink);
        while self.head.length < self.needed_head(self.head.as_slice()) {
            let byte = *chunk.take(1).first()?;
            self.head.push(byte);
        }
        Some((Place::Stashed, std::mem::take(&mut self.head)))
    }

    fn needed_head(&self, bytes: &[u8]) -> usize {
        let Some(header) = Header::parse(bytes) else {
            return HEADER;
        };
        let payload = if self.is_out_of_order(header) {
            ERR_HEAD
        } else if self.continued {
            0
        } else {
            1
        };
        HEADER + payload.min(header.length)
    }
}
