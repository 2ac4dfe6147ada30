//! Packets in frames: three bytes of length, one byte of sequence number, payload.
//!
//! A payload of 2^24-1 bytes or more takes several frames; the last one is shorter than that, if need be empty
//! (MySQL's manual, "MySQL Packets"; MAX_PACKET_LENGTH in the servers' sources).

use crate::Malformed;

/// Bytes of a frame's header (NET_HEADER_SIZE).
pub const HEADER: usize = 4;

/// The most bytes of payload in one frame (MAX_PACKET_LENGTH); a frame of this length is continued by the next one.
pub const MAX_PAYLOAD: usize = 0xFF_FFFF;

/// The four bytes in front of each frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of payload in this frame: at most `MAX_PAYLOAD`.
    pub length: usize,
    /// Counts up from 0 within one command and its reply, wrapping at 255.
    pub sequence: u8,
}

impl Header {
    /// Reads the header at the start of `bytes`; `None` if there are fewer than four bytes.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Option<Header> {
        let [a, b, c, sequence] = *bytes.first_chunk::<HEADER>()?;
        Some(Header { length: u32::from_le_bytes([a, b, c, 0]) as usize, sequence })
    }

    /// The header as bytes. A length above `MAX_PAYLOAD` does not fit and is cut to it.
    #[inline]
    pub fn to_bytes(self) -> [u8; HEADER] {
        let [a, b, c, ..] = self.length.min(MAX_PAYLOAD).to_le_bytes();
        [a, b, c, self.sequence]
    }

    /// Whether the next frame continues this one's payload.
    #[inline]
    pub fn is_continued(self) -> bool {
        self.length == MAX_PAYLOAD
    }
}

/// Appends `payload` as one or more frames and advances `sequence` past them.
pub fn write_packet(out: &mut Vec<u8>, sequence: &mut u8, payload: &[u8]) {
    let mut rest = payload;
    loop {
        let (now, later) = rest.split_at(rest.len().min(MAX_PAYLOAD));
        out.extend_from_slice(&Header { length: now.len(), sequence: *sequence }.to_bytes());
        out.extend_from_slice(now);
        *sequence = sequence.wrapping_add(1);
        if now.len() < MAX_PAYLOAD {
            return;
        }
        rest = later;
    }
}

/// Begins a packet in place: append its payload to `out`, then call `end_packet` with the mark returned.
#[must_use]
pub fn begin_packet(out: &mut Vec<u8>) -> usize {
    let mark = out.len();
    out.extend_from_slice(&[0; HEADER]);
    mark
}

/// Fills in the header of the packet begun at `mark` and advances `sequence`.
///
/// # Errors
/// The payload must stay below `MAX_PAYLOAD` (write longer ones with `write_packet`) and `mark` must be one that
/// `begin_packet` returned for `out`.
pub fn end_packet(out: &mut [u8], mark: usize, sequence: &mut u8) -> Result<(), Malformed> {
    let packet = out.get_mut(mark..).and_then(<[u8]>::split_first_chunk_mut::<HEADER>);
    let (header, payload) = packet.ok_or(Malformed::new("no packet was begun at this mark"))?;
    if payload.len() >= MAX_PAYLOAD {
        return Err(Malformed::new("payload too long for one frame"));
    }
    *header = Header { length: payload.len(), sequence: *sequence }.to_bytes();
    *sequence = sequence.wrapping_add(1);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back() {
        let header = Header { length: 0x03_0201, sequence: 7 };
        assert_eq!(header.to_bytes(), [1, 2, 3, 7]);
        assert_eq!(Header::parse(&[1, 2, 3, 7, 9]), Some(header));
        assert_eq!(Header::parse(&[1, 2, 3]), None);
    }

    #[test]
    fn an_exact_multiple_ends_with_an_empty_frame() {
        let mut out = Vec::new();
        let mut sequence = 255;
        write_packet(&mut out, &mut sequence, &vec![1; MAX_PAYLOAD]);
        assert_eq!(sequence, 1);
        assert_eq!(out.len(), MAX_PAYLOAD + 2 * HEADER);
        assert_eq!(&out[out.len() - HEADER..], [0, 0, 0, 0]);
        let first = Header::parse(&out).unwrap();
        assert!(first.is_continued());
        assert_eq!(first.sequence, 255);
    }

    #[test]
    fn a_packet_begun_in_place_gets_its_header() {
        let mut out = vec![0xAA];
        let mut sequence = 3;
        let mark = begin_packet(&mut out);
        out.extend_from_slice(b"abc");
        end_packet(&mut out, mark, &mut sequence).unwrap();
        assert_eq!(out, [0xAA, 3, 0, 0, 3, b'a', b'b', b'c']);
        assert_eq!(sequence, 4);
        assert!(end_packet(&mut out, 99, &mut sequence).is_err());
    }

    #[test]
    fn a_payload_too_long_to_end_in_place_is_refused() {
        let mut out = Vec::new();
        let mut sequence = 0;
        let mark = begin_packet(&mut out);
        out.resize(HEADER + MAX_PAYLOAD, 0);
        assert!(end_packet(&mut out, mark, &mut sequence).is_err());
        assert_eq!(sequence, 0);
    }
}
