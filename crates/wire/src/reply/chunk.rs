//! One piece of a reply, and how much of it has been passed on.

use super::ReplySink;
use crate::frame::HEADER;

/// A piece of a server's bytes: passed on, kept to be passed on as one range, or not looked at yet.
pub(super) struct Chunk<'c> {
    bytes: &'c mut [u8],
    /// Start of what is kept.
    kept: usize,
    /// Start of what was not looked at yet.
    at: usize,
}

impl<'c> Chunk<'c> {
    pub(super) fn new(bytes: &'c mut [u8]) -> Chunk<'c> {
        Chunk { bytes, kept: 0, at: 0 }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn rest(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.at..).unwrap_or_default()
    }

    pub(super) fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    /// Adds `count` bytes, or what is left, to what is passed on; returns how many.
    pub(super) fn keep(&mut self, count: usize) -> usize {
        let count = count.min(self.remaining());
        self.at += count;
        count
    }

    /// Corrects the sequence number of the frame that starts here.
    pub(super) fn set_sequence(&mut self, sequence: u8) {
        if let Some(place) = self.rest().get_mut(HEADER - 1) {
            *place = sequence;
        }
    }

    /// Passes on what is kept.
    pub(super) fn flush(&mut self, sink: &mut impl ReplySink) {
        if self.kept < self.at {
            sink.forward(self.kept..self.at);
            self.kept = self.at;
        }
    }

    /// Takes `count` bytes, or what is left, out of the stream. What was kept must have been flushed.
    pub(super) fn take(&mut self, count: usize) -> &[u8] {
        let start = self.at;
        self.at += count.min(self.remaining());
        self.kept = self.at;
        self.bytes.get(start..self.at).unwrap_or_default()
    }
}
