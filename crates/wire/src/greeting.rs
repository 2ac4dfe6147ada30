//! The server's first packet (MySQL's manual: Protocol::HandshakeV10).

use crate::put::Put;
use crate::reader::Reader;
use crate::{Capabilities, ErrPacket, Malformed, Status};
use std::fmt;

/// Bytes of the nonce every server sends (SCRAMBLE_LENGTH).
pub const SCRAMBLE: usize = 20;

/// Bytes of the nonce that stand in front of the capabilities; the others follow later.
const SCRAMBLE_HEAD: usize = 8;

/// MariaDB puts this in front of its version so that replicas of old MySQL accept it.
const MARIADB_PREFIX: &[u8] = b"5.5.5-";

/// What a server says of itself before the login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greeting<'a> {
    /// As sent, with MariaDB's prefix; see `version_text`.
    pub server_version: &'a [u8],
    /// What CONNECTION_ID() says and KILL takes.
    pub connection_id: u32,
    /// The nonce that authentication responses are computed with.
    pub scramble: [u8; SCRAMBLE],
    /// What the server can speak.
    pub capabilities: Capabilities,
    /// The low byte of the server's default collation.
    pub collation: u8,
    /// Status flags.
    pub status: Status,
    /// Name of the plugin the nonce is meant for; empty without PLUGIN_AUTH.
    pub auth_plugin: &'a [u8],
    /// MariaDB's extended capabilities (bits 32 and up); 0 for MySQL.
    pub mariadb_extended: u32,
}

/// Why there is no greeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GreetingError {
    /// The server sent an error instead: too many connections, host blocked, shutting down.
    Refused(ErrPacket<'static>),
    /// Not the greeting of a MySQL or MariaDB server of this century.
    Malformed(Malformed),
}

impl From<Malformed> for GreetingError {
    fn from(error: Malformed) -> GreetingError {
        GreetingError::Malformed(error)
    }
}

impl fmt::Display for GreetingError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GreetingError::Refused(err) => write!(out, "the server refused the connection: {err}"),
            GreetingError::Malformed(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for GreetingError {}

impl<'a> Greeting<'a> {
    /// Reads the payload of a server's first packet.
    ///
    /// # Errors
    /// The server sent an error, or bytes that are no greeting of protocol version 10.
    pub fn parse(payload: &'a [u8]) -> Result<Greeting<'a>, GreetingError> {
        if payload.first() == Some(&crate::err::ERR_HEADER) {
            return Err(GreetingError::Refused(ErrPacket::parse(payload)?.into_owned()));
        }
        Ok(Greeting::parse_version_10(payload)?)
    }

    fn parse_version_10(payload: &'a [u8]) -> Result<Greeting<'a>, Malformed> {
        let mut reader = Reader::new(payload);
        if reader.u8("empty greeting")? != 10 {
            return Err(Malformed::new("greeting of another protocol version than 10"));
        }
        let server_version = reader.nul_terminated("server version without end")?;
        let connection_id = reader.u32("connection id cut short")?;
        let head: [u8; SCRAMBLE_HEAD] = reader.array("nonce cut short")?;
        reader.u8("greeting cut short behind the nonce")?;
        let low = reader.u16("capabilities cut short")?;
        let collation = reader.u8("collation missing: a server older than 4.1")?;
        let status = Status(reader.u16("status cut short")?);
        let high = reader.u16("capabilities cut short")?;
        let capabilities = Capabilities(u32::from(low) | u32::from(high) << 16);
        let auth_length = usize::from(reader.u8("length of authentication data missing")?);
        reader.bytes(6, "reserved bytes missing")?;
        let extended = reader.u32("reserved bytes missing")?;
        let tail: [u8; SCRAMBLE - SCRAMBLE_HEAD] = reader.array("second half of the nonce cut short")?;
        let mut auth_plugin: &[u8] = b"";
        if capabilities.contains(Capabilities::PLUGIN_AUTH) {
            // The data takes at least 13 bytes here whatever the length says: 12 of the nonce and a NUL.
            let announced = auth_length.saturating_sub(SCRAMBLE_HEAD).max(tail.len() + 1);
            reader.bytes(announced - tail.len(), "authentication data cut short")?;
            auth_plugin = reader.nul_or_end();
        }
        let mut scramble = [0; SCRAMBLE];
        let (first, second) = scramble.split_at_mut(SCRAMBLE_HEAD);
        first.copy_from_slice(&head);
        second.copy_from_slice(&tail);
        let is_mysql = capabilities.contains(Capabilities::LONG_PASSWORD);
        let mariadb_extended = if is_mysql { 0 } else { extended };
        Ok(Greeting {
            server_version,
            connection_id,
            scramble,
            capabilities,
            collation,
            status,
            auth_plugin,
            mariadb_extended,
        })
    }

    /// Appends the payload. `server_version` and `auth_plugin` must not contain NUL, nor the nonce (clients take it for
    /// a string).
    pub fn write(&self, out: &mut Vec<u8>) {
        let [c0, c1, c2, c3] = self.capabilities.0.to_le_bytes();
        let (head, tail) = self.scramble.split_at(SCRAMBLE_HEAD);
        out.push(10);
        out.put_nul_terminated(self.server_version);
        out.put_u32(self.connection_id);
        out.extend_from_slice(head);
        out.push(0);
        out.extend_from_slice(&[c0, c1, self.collation]);
        out.put_u16(self.status.0);
        out.extend_from_slice(&[c2, c3]);
        let names_plugin = self.capabilities.contains(Capabilities::PLUGIN_AUTH);
        out.push(if names_plugin { 21 } else { 0 });
        out.extend_from_slice(&[0; 6]);
        let is_mysql = self.capabilities.contains(Capabilities::LONG_PASSWORD);
        out.put_u32(if is_mysql { 0 } else { self.mariadb_extended });
        out.put_nul_terminated(tail);
        if names_plugin {
            out.put_nul_terminated(self.auth_plugin);
        }
    }

    /// Whether a MariaDB server sent this.
    pub fn is_mariadb(&self) -> bool {
        !self.capabilities.contains(Capabilities::LONG_PASSWORD)
            || self.server_version.starts_with(MARIADB_PREFIX)
    }

    /// The version as VERSION() says it: without the prefix MariaDB sends for old replicas.
    pub fn version_text(&self) -> &'a [u8] {
        self.server_version.strip_prefix(MARIADB_PREFIX).unwrap_or(self.server_version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn greeting() -> Greeting<'static> {
        Greeting {
            server_version: b"5.5.5-10.11.6-MariaDB",
            connection_id: 77,
            scramble: *b"0123456789abcdefghij",
            capabilities: Capabilities(0x81FF_F7FE),
            collation: 45,
            status: Status::AUTOCOMMIT,
            auth_plugin: b"mysql_native_password",
            mariadb_extended: 0x1D,
        }
    }

    #[test]
    fn a_greeting_comes_back() {
        let mut out = Vec::new();
        greeting().write(&mut out);
        assert_eq!(Greeting::parse(&out), Ok(greeting()));
        assert_eq!(greeting().version_text(), b"10.11.6-MariaDB");
        assert!(greeting().is_mariadb());
    }

    #[test]
    fn a_server_without_plugins_is_understood() {
        let old = Greeting {
            capabilities: Capabilities(0xF7FF),
            auth_plugin: b"",
            mariadb_extended: 0,
            ..greeting()
        };
        let mut out = Vec::new();
        old.write(&mut out);
        assert_eq!(Greeting::parse(&out), Ok(old));
    }

    #[test]
    fn longer_authentication_data_is_skipped() {
        let mut out = Vec::new();
        greeting().write(&mut out);
        let name = out.len() - b"mysql_native_password\0".len();
        out.splice(name..name, [1; 200]);
        let length_at = 1 + greeting().server_version.len() + 1 + 4 + 8 + 1 + 2 + 1 + 2 + 2;
        assert_eq!(out[length_at], 21);
        out[length_at] = 221;
        assert_eq!(Greeting::parse(&out), Ok(greeting()));
    }

    #[test]
    fn a_refusal_is_told_apart() {
        let Err(GreetingError::Refused(err)) = Greeting::parse(b"\xFF\x10\x04Too many connections") else {
            panic!("not refused");
        };
        assert_eq!(err.code, 1040);
    }

    #[test]
    fn every_truncation_is_an_error_or_a_shorter_name() {
        let mut out = Vec::new();
        greeting().write(&mut out);
        let name = out.len() - b"mysql_native_password\0".len();
        for cut in 0..out.len() {
            assert_eq!(Greeting::parse(&out[..cut]).is_ok(), cut >= name, "{cut}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_no_harm(bytes: Vec<u8>) {
            let _ = Greeting::parse(&bytes);
            let _ = Greeting::parse(&[&[10], bytes.as_slice()].concat());
        }
    }
}
