//! The EOF packet, for clients without DEPRECATE_EOF: header 0xFE, warnings, status.

use crate::{Capabilities, Status};

/// First byte of an EOF packet, and of the OK packet that ends a result set under DEPRECATE_EOF.
pub const EOF_HEADER: u8 = 0xFE;

/// Bytes of an EOF packet's payload.
pub const EOF_LENGTH: usize = 5;

/// The payload of an EOF packet.
pub fn eof_bytes(status: Status, warnings: u16) -> [u8; EOF_LENGTH] {
    let [w0, w1] = warnings.to_le_bytes();
    let [s0, s1] = status.without(Status::SESSION_STATE_CHANGED).0.to_le_bytes();
    [EOF_HEADER, w0, w1, s0, s1]
}

/// Appends what ends rows for a receiver of these capabilities: an EOF payload, or the OK payload with header 0xFE
/// where DEPRECATE_EOF was agreed on.
pub fn write_eof(out: &mut Vec<u8>, status: Status, warnings: u16, receiver: Capabilities) {
    let eof = eof_bytes(status, warnings);
    if receiver.contains(Capabilities::DEPRECATE_EOF) {
        let [header, w0, w1, s0, s1] = eof;
        out.extend_from_slice(&[header, 0, 0, s0, s1, w0, w1]);
    } else {
        out.extend_from_slice(&eof);
    }
}
