//! The inner loop: whole packets that are passed on as they are.

use super::control::SERVER;
use crate::eof::EOF_HEADER;
use crate::err::ERR_HEADER;
use crate::frame::{HEADER, MAX_PAYLOAD};
use crate::{Header, OkPacket, Status};

/// What the OK behind rows says.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) status: Status,
    pub(super) warnings: u16,
}

/// The end of the result whose next packet starts here, if all packets up to it are there.
pub(super) fn end(bytes: &[u8]) -> Option<End> {
    let mut rest = bytes;
    loop {
        let header = Header::parse(rest)?;
        let payload = rest.get(HEADER..HEADER + header.length)?;
        match payload.first() {
            Some(&EOF_HEADER) if header.length < MAX_PAYLOAD => {
                let ok = OkPacket::parse(payload, SERVER).ok()?;
                return Some(End { status: ok.status, warnings: ok.warnings });
            }
            None | Some(&ERR_HEADER) => return None,
            // A row of several frames is never all there.
            Some(_) if header.length == MAX_PAYLOAD => return None,
            Some(_) => rest = rest.get(HEADER + header.length..)?,
        }
    }
}

/// Packets passed, and the bytes they take.
pub(super) struct Passed {
    pub(super) packets: u64,
    pub(super) bytes: usize,
}

/// Goes over the whole packets at the start of `bytes`, at most `limit` of them, up to the first that needs a closer look:
/// one that is not all there, is continued, is empty, is out of order, or may be OK or ERR. Adds `shift` to their sequence
/// numbers and advances `next`, the number due.
pub(super) fn pass(bytes: &mut [u8], next: &mut u8, shift: u8, limit: u64) -> Passed {
    let mut at = 0;
    let mut packets = 0;
    while packets < limit {
        let Some(&mut [a, b, c, ref mut sequence, first]) =
            bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<{ HEADER + 1 }>)
        else {
            break;
        };
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        if *sequence != *next || length == 0 || length == MAX_PAYLOAD || first >= EOF_HEADER {
            break;
        }
        let shifted = sequence.wrapping_add(shift);
        let end = at + HEADER + length;
        if end > bytes.len() {
            break;
        }
        if shift != 0
            && let Some(place) = bytes.get_mut(at + HEADER - 1)
        {
            *place = shifted;
        }
        *next = next.wrapping_add(1);
        packets += 1;
        at = end;
    }
    Passed { packets, bytes: at }
}
