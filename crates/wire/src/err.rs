//! The ERR packet.

use crate::put::Put;
use crate::reader::Reader;
use crate::{Capabilities, Malformed};
use std::borrow::Cow;
use std::fmt;

/// First byte of an ERR packet.
pub const ERR_HEADER: u8 = 0xFF;

/// The SQLSTATE of an error that came without one (the servers' unknown_sqlstate).
pub const UNKNOWN_SQL_STATE: [u8; 5] = *b"HY000";

/// An error a server sent, or one the proxy itself sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrPacket<'a> {
    /// The server's error number (ER_*).
    pub code: u16,
    /// Five characters; `HY000` where the server sent none.
    pub sql_state: [u8; 5],
    /// The text, in the session's character_set_results.
    pub message: Cow<'a, [u8]>,
}

impl<'a> ErrPacket<'a> {
    /// Reads an ERR payload, with or without `#` and SQLSTATE: errors before the greeting come without.
    ///
    /// # Errors
    /// The header is not 0xFF or the code is cut short.
    pub fn parse(payload: &'a [u8]) -> Result<ErrPacket<'a>, Malformed> {
        let mut reader = Reader::new(payload);
        if reader.u8("empty error packet")? != ERR_HEADER {
            return Err(Malformed::new("error packet without header 0xFF"));
        }
        let code = reader.u16("error code cut short")?;
        let mut sql_state = UNKNOWN_SQL_STATE;
        let mut with_state = reader;
        if let Ok([b'#', state @ ..]) = with_state.array::<6>("SQLSTATE") {
            sql_state = state;
            reader = with_state;
        }
        Ok(ErrPacket { code, sql_state, message: Cow::Borrowed(reader.rest()) })
    }

    /// Appends the payload. `receiver` without PROTOCOL_41 (nothing agreed on yet) gets no SQLSTATE.
    pub fn write(&self, out: &mut Vec<u8>, receiver: Capabilities) {
        out.push(ERR_HEADER);
        out.put_u16(self.code);
        if receiver.contains(Capabilities::PROTOCOL_41) {
            out.push(b'#');
            out.extend_from_slice(&self.sql_state);
        }
        out.extend_from_slice(&self.message);
    }

    /// The same error, independent of the packet it was read from.
    pub fn into_owned(self) -> ErrPacket<'static> {
        ErrPacket {
            code: self.code,
            sql_state: self.sql_state,
            message: Cow::Owned(self.message.into_owned()),
        }
    }
}

impl fmt::Display for ErrPacket<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = String::from_utf8_lossy(&self.sql_state);
        write!(out, "error {} ({state}): {}", self.code, String::from_utf8_lossy(&self.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_error_before_the_greeting_has_no_state() {
        let err = ErrPacket::parse(b"\xFF\x10\x04Too many connections").unwrap();
        assert_eq!((err.code, err.sql_state), (1040, *b"HY000"));
        assert_eq!(&*err.message, b"Too many connections");
        assert_eq!(err.to_string(), "error 1040 (HY000): Too many connections");
    }

    #[test]
    fn a_short_text_after_the_hash_is_text() {
        let err = ErrPacket::parse(b"\xFF\x10\x04#abc").unwrap();
        assert_eq!(&*err.message, b"#abc");
    }

    proptest! {
        #[test]
        fn errors_come_back(code: u16, sql_state in "[0-9A-Z]{5}", message: Vec<u8>) {
            let sent = ErrPacket {
                code,
                sql_state: sql_state.as_bytes().try_into().unwrap(),
                message: Cow::Owned(message),
            };
            let mut out = Vec::new();
            sent.write(&mut out, Capabilities::PROTOCOL_41);
            prop_assert_eq!(ErrPacket::parse(&out), Ok(sent));
        }

        #[test]
        fn arbitrary_bytes_do_no_harm(bytes: Vec<u8>) {
            let _ = ErrPacket::parse(&bytes);
        }
    }
}
