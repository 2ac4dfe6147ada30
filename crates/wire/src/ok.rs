//! The OK packet, also in its form with header 0xFE at the end of a result set (DEPRECATE_EOF).

use crate::eof::{EOF_HEADER, EOF_LENGTH};
use crate::put::Put;
use crate::reader::Reader;
use crate::{Capabilities, Malformed, SessionTrack, Status, Wanted};

/// First byte of an OK packet that is not the end of rows.
pub const OK_HEADER: u8 = 0x00;

/// How a statement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OkPacket<'a> {
    /// Rows changed (or matched, with FOUND_ROWS).
    pub affected_rows: u64,
    /// First value generated for an AUTO_INCREMENT column; 0 if none.
    pub last_insert_id: u64,
    /// Status flags.
    pub status: Status,
    /// Number of warnings, what SHOW COUNT(*) WARNINGS says.
    pub warnings: u16,
    /// Text such as "Rows matched: 1  Changed: 1  Warnings: 0".
    pub info: &'a [u8],
    /// What changed in the session; empty without SESSION_STATE_CHANGED.
    pub tracked: SessionTrack<'a>,
}

impl<'a> OkPacket<'a> {
    /// Reads the payload of an OK packet sent on a connection of these capabilities. A plain EOF packet (0xFE and four
    /// bytes; no OK packet is that short) is read as well.
    ///
    /// # Errors
    /// The header is neither 0x00 nor 0xFE, or a field is cut short.
    pub fn parse(payload: &'a [u8], capabilities: Capabilities) -> Result<OkPacket<'a>, Malformed> {
        let mut reader = Reader::new(payload);
        let header = reader.u8("empty OK packet")?;
        if header != OK_HEADER && header != EOF_HEADER {
            return Err(Malformed::new("OK packet with neither 0x00 nor 0xFE as header"));
        }
        if header == EOF_HEADER && payload.len() == EOF_LENGTH {
            let warnings = reader.u16("warnings cut short")?;
            let status = Status(reader.u16("status cut short")?);
            return Ok(OkPacket { status, warnings, ..OkPacket::default() });
        }
        let affected_rows = reader.lenenc("affected rows cut short")?;
        let last_insert_id = reader.lenenc("last insert id cut short")?;
        let status = Status(reader.u16("status cut short")?);
        let warnings = reader.u16("warnings cut short")?;
        let mut ok = OkPacket { affected_rows, last_insert_id, status, warnings, ..OkPacket::default() };
        if reader.is_empty() {
            return Ok(ok);
        }
        if capabilities.contains(Capabilities::SESSION_TRACK) {
            ok.info = reader.lenenc_bytes("info cut short")?;
            if status.contains(Status::SESSION_STATE_CHANGED) {
                ok.tracked =
                    SessionTrack::parse(reader.lenenc_bytes("session state information cut short")?)?;
            }
        } else {
            ok.info = untracked_info(reader);
        }
        Ok(ok)
    }

    /// Appends the payload for a receiver of these capabilities: with SESSION_TRACK what is `wanted` of `tracked`,
    /// without it nothing of it.
    ///
    /// # Errors
    /// `tracked` cannot be read.
    pub fn write(
        &self,
        out: &mut Vec<u8>,
        header: u8,
        receiver: Capabilities,
        wanted: &Wanted,
    ) -> Result<(), Malformed> {
        let told = if receiver.contains(Capabilities::SESSION_TRACK) {
            self.tracked
        } else {
            SessionTrack::default()
        };
        let kept = wanted.kept_length(told)?;
        let plain = self.status.without(Status::SESSION_STATE_CHANGED);
        let status = if kept > 0 { plain | Status::SESSION_STATE_CHANGED } else { plain };
        out.push(header);
        out.put_lenenc(self.affected_rows);
        out.put_lenenc(self.last_insert_id);
        out.put_u16(status.0);
        out.put_u16(self.warnings);
        if kept > 0 || !self.info.is_empty() {
            out.put_lenenc_bytes(self.info);
        }
        if kept > 0 {
            out.put_lenenc(kept as u64);
            wanted.write_kept(out, told)?;
        }
        Ok(())
    }
}

/// The manual says that without SESSION_TRACK the info is the rest of the packet; the servers (net_send_ok) write a
/// length in front of it all the same, and their client library skips it. Both forms are read.
fn untracked_info(mut reader: Reader<'_>) -> &[u8] {
    let rest = reader.rest();
    match reader.lenenc_bytes("info") {
        Ok(info) if reader.is_empty() => info,
        _ => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BOTH: Capabilities = Capabilities::SESSION_TRACK;
    const NONE: Capabilities = Capabilities(0);

    fn written(ok: &OkPacket<'_>, receiver: Capabilities) -> Vec<u8> {
        let mut out = Vec::new();
        ok.write(&mut out, OK_HEADER, receiver, &Wanted::everything()).unwrap();
        out
    }

    #[test]
    fn the_info_has_a_length_with_and_without_session_state() {
        // Both families answer an UPDATE so to a client without SESSION_TRACK.
        let payload = b"\x00\x02\x00\x02\x00\x00\x00\x03abc";
        assert_eq!(OkPacket::parse(payload, NONE).unwrap().info, b"abc");
        assert_eq!(OkPacket::parse(payload, BOTH).unwrap().info, b"abc");
        // As the manual has it.
        let payload = b"\x00\x02\x00\x02\x00\x00\x00Rows";
        assert_eq!(OkPacket::parse(payload, NONE).unwrap().info, b"Rows");
    }

    #[test]
    fn session_state_goes_to_those_who_read_it() {
        let tracked = SessionTrack::parse(b"\x01\x04\x03app").unwrap();
        let ok = OkPacket { status: Status::SESSION_STATE_CHANGED, tracked, ..OkPacket::default() };
        assert_eq!(written(&ok, BOTH), b"\x00\x00\x00\x00\x40\x00\x00\x00\x06\x01\x04\x03app");
        assert_eq!(written(&ok, NONE), b"\x00\x00\x00\x00\x00\x00\x00");
        assert_eq!(OkPacket::parse(&written(&ok, BOTH), BOTH), Ok(ok));
    }

    #[test]
    fn a_plain_eof_is_read() {
        let ok = OkPacket::parse(b"\xFE\x01\x00\x42\x00", BOTH).unwrap();
        assert_eq!((ok.warnings, ok.status), (1, Status::CURSOR_EXISTS | Status::AUTOCOMMIT));
        assert!(OkPacket::parse(b"\x00\x01\x00\x42\x00", BOTH).is_err());
    }

    proptest! {
        #[test]
        fn packets_come_back(affected_rows: u64, last_insert_id: u64, bits: u16, warnings: u16, info: Vec<u8>, track: bool) {
            let status = Status(bits).without(Status::SESSION_STATE_CHANGED);
            let ok = OkPacket { affected_rows, last_insert_id, status, warnings, info: &info, ..OkPacket::default() };
            let receiver = if track { BOTH } else { NONE };
            let whole = written(&ok, receiver);
            prop_assert_eq!(OkPacket::parse(&whole, receiver), Ok(ok));
            for cut in 0..whole.len() {
                let _ = OkPacket::parse(&whole[..cut], receiver);
            }
        }

        #[test]
        fn arbitrary_bytes_do_no_harm(mut bytes: Vec<u8>, end: bool) {
            bytes.insert(0, if end { EOF_HEADER } else { OK_HEADER });
            for capabilities in [BOTH, NONE] {
                if let Ok(ok) = OkPacket::parse(&bytes, capabilities) {
                    written(&ok, BOTH);
                }
            }
        }
    }
}
