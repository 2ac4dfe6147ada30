//! Read buffers, lent by the thread to whoever has bytes unread.
//!
//! A thread keeps a few free buffers; a session that waits for its client holds none. A buffer grows only when a
//! packet must be whole and does not fit; a grown one is freed, not kept.

use std::cell::RefCell;

/// Bytes of an ordinary buffer: more than nearly every statement and small result, so that one read drains the socket.
const SIZE: usize = 32 * 1024;

/// Free buffers kept per thread; beyond that they are freed. At most this many times [`SIZE`] lie idle.
const KEPT: usize = 64;

thread_local! {
    static FREE: RefCell<Vec<Box<[u8]>>> = const { RefCell::new(Vec::new()) };
}

/// Bytes read and not yet used: `bytes[start..end]`.
#[derive(Debug)]
pub(super) struct Buffer {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

/// Takes a free buffer of this thread, or makes one.
pub(super) fn lease() -> Buffer {
    let bytes = FREE.with_borrow_mut(Vec::pop).unwrap_or_else(|| vec![0; SIZE].into_boxed_slice());
    Buffer { bytes, start: 0, end: 0 }
}

/// Gives a buffer back to this thread.
pub(super) fn give_back(buffer: Buffer) {
    if buffer.bytes.len() == SIZE {
        // At the end of a thread its buffers are gone already, and this one is simply freed.
        let _ = FREE.try_with(|free| {
            let mut free = free.borrow_mut();
            if free.len() < KEPT {
                free.push(buffer.bytes);
            }
        });
    }
}

impl Buffer {
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.start..self.end).unwrap_or_default()
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.start = self.end.min(self.start.saturating_add(count));
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
    }

    /// Room to read into, behind the unread bytes: made by moving them to the front, or by growing, when there is
    /// none. Who asks for more bytes while a buffer is full wants a packet whole; the callers bound its size.
    pub(super) fn spare(&mut self) -> &mut [u8] {
        if self.end == self.bytes.len() {
            if self.start > 0 {
                self.bytes.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            } else {
                let mut larger = vec![0; self.bytes.len() * 2].into_boxed_slice();
                if let Some(front) = larger.get_mut(..self.end) {
                    front.copy_from_slice(self.bytes());
                }
                self.bytes = larger;
            }
        }
        self.bytes.get_mut(self.end..).unwrap_or_default()
    }

    pub(super) fn filled(&mut self, count: usize) {
        self.end = self.bytes.len().min(self.end + count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(buffer: &mut Buffer, bytes: &[u8]) {
        buffer.spare()[..bytes.len()].copy_from_slice(bytes);
        buffer.filled(bytes.len());
    }

    #[test]
    fn keeps_what_is_unread_while_it_moves_and_grows() {
        let mut buffer = lease();
        put(&mut buffer, &[1; SIZE]);
        buffer.consume(SIZE - 2);
        put(&mut buffer, &[2; SIZE - 2]);
        put(&mut buffer, &[3; 10]);
        assert_eq!(buffer.bytes().len(), SIZE + 10);
        assert_eq!(buffer.bytes()[..3], [1, 1, 2]);
        assert_eq!(buffer.bytes()[SIZE..], [3; 10]);
        buffer.consume(usize::MAX);
        assert!(buffer.bytes().is_empty());
    }

    #[test]
    fn a_grown_buffer_is_not_kept() {
        let mut buffer = lease();
        put(&mut buffer, &[1; SIZE]);
        buffer.spare();
        give_back(buffer);
        assert_eq!(lease().bytes.len(), SIZE);
    }
}
