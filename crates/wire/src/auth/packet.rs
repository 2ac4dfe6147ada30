//! The server's packets between a login (or COM_CHANGE_USER) and its end.

use crate::auth::ed25519;
use crate::err::ERR_HEADER;
use crate::ok::OK_HEADER;
use crate::put::Put;
use crate::reader::Reader;
use crate::{Capabilities, ErrPacket, Malformed, OkPacket};

/// First byte of Protocol::AuthSwitchRequest.
const SWITCH: u8 = 0xFE;
/// First byte of Protocol::AuthMoreData.
const MORE: u8 = 0x01;
/// First byte of Protocol::AuthNextFactorRequest.
const NEXT_FACTOR: u8 = 0x02;

/// What a server answers during authentication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthPacket<'a> {
    /// Logged in.
    Ok(OkPacket<'a>),
    /// Refused.
    Err(ErrPacket<'a>),
    /// The account uses another plugin: answer anew, with this nonce.
    Switch {
        /// The plugin's name.
        plugin: &'a [u8],
        /// The new nonce, without the NUL that most plugins put behind it.
        data: &'a [u8],
    },
    /// Data of the plugin in use.
    More(&'a [u8]),
}

impl<'a> AuthPacket<'a> {
    /// Reads the payload of a server's packet during authentication.
    ///
    /// # Errors
    /// None of the packets allowed here, or one that the proxy cannot answer (the switch to mysql_old_password, a
    /// second factor).
    pub fn parse(payload: &'a [u8], capabilities: Capabilities) -> Result<AuthPacket<'a>, Malformed> {
        let mut reader = Reader::new(payload);
        match reader.u8("empty packet during authentication")? {
            OK_HEADER => Ok(AuthPacket::Ok(OkPacket::parse(payload, capabilities)?)),
            ERR_HEADER => Ok(AuthPacket::Err(ErrPacket::parse(payload)?)),
            MORE => Ok(AuthPacket::More(reader.rest())),
            NEXT_FACTOR => Err(Malformed::new("the account needs a second factor of authentication")),
            SWITCH if reader.is_empty() => Err(Malformed::new("the account uses mysql_old_password")),
            SWITCH => {
                let plugin = reader.nul_or_end();
                let data = reader.rest();
                // client_ed25519's nonce is random bytes of a fixed length with no NUL behind it, and may end with one.
                let plain = data.len() == ed25519::NONCE;
                let nonce = if plain { data } else { data.strip_suffix(b"\0").unwrap_or(data) };
                Ok(AuthPacket::Switch { plugin, data: nonce })
            }
            _ => Err(Malformed::new("packet not allowed during authentication")),
        }
    }
}

/// Appends the payload of a request to answer `nonce` with another plugin.
pub fn write_switch(out: &mut Vec<u8>, plugin: &[u8], nonce: &[u8]) {
    out.push(SWITCH);
    out.put_nul_terminated(plugin);
    out.put_nul_terminated(nonce);
}

/// Appends the payload of a packet with the plugin's data.
pub fn write_more(out: &mut Vec<u8>, data: &[u8]) {
    out.push(MORE);
    out.extend_from_slice(data);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NONE: Capabilities = Capabilities(0);

    #[test]
    fn requests_come_back() {
        let mut out = Vec::new();
        write_switch(&mut out, b"mysql_native_password", b"01234567890123456789");
        let switch = AuthPacket::Switch { plugin: b"mysql_native_password", data: b"01234567890123456789" };
        assert_eq!(AuthPacket::parse(&out, NONE), Ok(switch));
        out.clear();
        write_more(&mut out, &[4]);
        assert_eq!(AuthPacket::parse(&out, NONE), Ok(AuthPacket::More(&[4])));
    }

    #[test]
    fn a_nonce_of_random_bytes_may_end_with_nul() {
        let nonce = [&[7; ed25519::NONCE - 1][..], &[0]].concat();
        let payload = [&[SWITCH], b"client_ed25519\0".as_slice(), nonce.as_slice()].concat();
        let switch = AuthPacket::Switch { plugin: b"client_ed25519", data: &nonce };
        assert_eq!(AuthPacket::parse(&payload, NONE), Ok(switch));
    }

    #[test]
    fn the_end_is_ok_or_err() {
        assert!(matches!(AuthPacket::parse(&[0, 0, 0, 2, 0, 0, 0], NONE), Ok(AuthPacket::Ok(_))));
        assert!(matches!(
            AuthPacket::parse(b"\xFF\x15\x04#28000Access denied", NONE),
            Ok(AuthPacket::Err(_))
        ));
    }

    #[test]
    fn what_the_proxy_cannot_answer_is_named() {
        let what = |payload| AuthPacket::parse(payload, NONE).unwrap_err().what;
        assert!(what(&[SWITCH]).contains("mysql_old_password"));
        assert!(what(&[NEXT_FACTOR, b'x', 0]).contains("second factor"));
        assert!(what(&[]).contains("empty"));
        assert!(what(&[0x42]).contains("not allowed"));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_no_harm(bytes: Vec<u8>, bits: u32) {
            let _ = AuthPacket::parse(&bytes, Capabilities(bits));
        }
    }
}
