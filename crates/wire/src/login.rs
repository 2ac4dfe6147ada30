//! The client's answer to the greeting (MySQL's manual: Protocol::HandshakeResponse41 and Protocol::SSLRequest).

use crate::put::Put;
use crate::reader::Reader;
use crate::{Capabilities, Malformed};

/// Bytes of an SSLRequest, and of the fixed beginning of a login.
const FIXED: usize = 32;

/// Who wants to log in, and what the client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Login<'a> {
    /// What the client speaks; servers use only what they announced themselves.
    pub capabilities: Capabilities,
    /// The longest packet the client takes, in bytes; servers do not rely on it.
    pub max_packet: u32,
    /// Collation id. Clients with ids above 255 write two bytes, the others leave the second 0. The servers read the low
    /// byte alone (seen on MySQL 9.7 and MariaDB 10.11: 278 becomes 22).
    pub collation: u16,
    /// MariaDB's extended capabilities (bits 32 and up); 0 from other clients.
    pub mariadb_extended: u32,
    /// Account name.
    pub user: &'a [u8],
    /// The plugin's first answer to the nonce.
    pub auth_response: &'a [u8],
    /// Schema to use; empty is `None`.
    pub schema: Option<&'a [u8]>,
    /// Plugin that made `auth_response`.
    pub auth_plugin: Option<&'a [u8]>,
    /// Connection attributes as sent: pairs of length-encoded strings. Their lengths as pairs are not checked, as the
    /// servers do not check them either.
    pub attributes: Option<&'a [u8]>,
    /// Level of compression, with ZSTD_COMPRESSION_ALGORITHM.
    pub zstd_level: Option<u8>,
}

/// Whether the payload asks for TLS: the fixed beginning of a login, with the flag SSL, and nothing behind it.
pub fn is_ssl_request(payload: &[u8]) -> bool {
    let capabilities = payload.first_chunk::<4>().map(|bytes| Capabilities(u32::from_le_bytes(*bytes)));
    payload.len() == FIXED && capabilities.is_some_and(|flags| flags.contains(Capabilities::SSL))
}

/// Appends the payload of an SSLRequest; the login follows inside TLS, with the next sequence number. MariaDB takes its own
/// capabilities, `mariadb_extended`, from here and not from the login.
pub fn write_ssl_request(
    out: &mut Vec<u8>,
    (capabilities, mariadb_extended): (Capabilities, u32),
    max_packet: u32,
    collation: u16,
) {
    write_fixed(out, capabilities | Capabilities::SSL, max_packet, collation, mariadb_extended);
}

fn write_fixed(
    out: &mut Vec<u8>,
    capabilities: Capabilities,
    max_packet: u32,
    collation: u16,
    extended: u32,
) {
    let is_mysql = capabilities.contains(Capabilities::LONG_PASSWORD);
    out.put_u32(capabilities.0);
    out.put_u32(max_packet);
    out.put_u16(collation);
    out.extend_from_slice(&[0; 18]);
    out.put_u32(if is_mysql { 0 } else { extended });
}

impl<'a> Login<'a> {
    /// Reads a login's payload.
    ///
    /// # Errors
    /// The packet is cut short, or is a login of the protocol before 4.1.
    pub fn parse(payload: &'a [u8]) -> Result<Login<'a>, Malformed> {
        let mut reader = Reader::new(payload);
        let low = reader.u16("login cut short")?;
        if !Capabilities(u32::from(low)).contains(Capabilities::PROTOCOL_41) {
            return Err(Malformed::new("login of a client older than 4.1 (no CLIENT_PROTOCOL_41)"));
        }
        let high = reader.u16("login cut short")?;
        let capabilities = Capabilities(u32::from(low) | u32::from(high) << 16);
        let max_packet = reader.u32("login cut short")?;
        let collation = reader.u16("login cut short")?;
        reader.bytes(18, "login cut short")?;
        let extended = reader.u32("login cut short")?;
        let is_mysql = capabilities.contains(Capabilities::LONG_PASSWORD);

        let user = reader.nul_terminated("user name without end")?;
        let auth_response = read_auth_response(&mut reader, capabilities)?;
        let schema = read_if(&mut reader, capabilities, Capabilities::CONNECT_WITH_DB);
        let auth_plugin = read_if(&mut reader, capabilities, Capabilities::PLUGIN_AUTH);
        let attributes = read_attributes(&mut reader, capabilities)?;
        let with_level =
            capabilities.contains(Capabilities::ZSTD_COMPRESSION_ALGORITHM) && !reader.is_empty();
        let zstd_level = if with_level { Some(reader.u8("zstd level")?) } else { None };
        Ok(Login {
            capabilities,
            max_packet,
            collation,
            mariadb_extended: if is_mysql { 0 } else { extended },
            user,
            auth_response,
            schema,
            auth_plugin,
            attributes,
            zstd_level,
        })
    }

    /// Appends the payload. Which fields are written follows from `capabilities`, whatever the fields hold.
    ///
    /// # Errors
    /// A field does not fit the form its capabilities give it: NUL in a NUL-terminated string, or more than 255 bytes of
    /// authentication data without PLUGIN_AUTH_LENENC_DATA.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let has = |flag| self.capabilities.contains(flag);
        write_fixed(out, self.capabilities, self.max_packet, self.collation, self.mariadb_extended);
        put_text(out, self.user, "NUL in the user name")?;
        if has(Capabilities::PLUGIN_AUTH_LENENC_DATA) {
            out.put_lenenc_bytes(self.auth_response);
        } else if has(Capabilities::SECURE_CONNECTION) {
            put_short(out, self.auth_response)?;
        } else {
            put_text(out, self.auth_response, "NUL in authentication data without a length")?;
        }
        if has(Capabilities::CONNECT_WITH_DB) {
            put_text(out, self.schema.unwrap_or_default(), "NUL in the schema's name")?;
        }
        if has(Capabilities::PLUGIN_AUTH) {
            put_text(out, self.auth_plugin.unwrap_or_default(), "NUL in the plugin's name")?;
        }
        if has(Capabilities::CONNECT_ATTRS) {
            out.put_lenenc_bytes(self.attributes.unwrap_or_default());
        }
        if has(Capabilities::ZSTD_COMPRESSION_ALGORITHM) {
            out.push(self.zstd_level.unwrap_or_default());
        }
        Ok(())
    }

    /// The connection attributes, name and value, up to the first pair that is cut short.
    pub fn attribute_pairs(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let mut reader = Reader::new(self.attributes.unwrap_or_default());
        std::iter::from_fn(move || {
            let name = reader.lenenc_bytes("attribute's name").ok()?;
            Some((name, reader.lenenc_bytes("attribute's value").ok()?))
        })
    }
}

/// Appends a NUL-terminated string that must not hold a NUL itself.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &[u8], what: &'static str) -> Result<(), Malformed> {
    if text.contains(&0) {
        return Err(Malformed::new(what));
    }
    out.put_nul_terminated(text);
    Ok(())
}

/// Appends authentication data behind one byte of length.
pub(crate) fn put_short(out: &mut Vec<u8>, data: &[u8]) -> Result<(), Malformed> {
    let length =
        u8::try_from(data.len()).map_err(|_| Malformed::new("authentication data above 255 bytes"))?;
    out.push(length);
    out.extend_from_slice(data);
    Ok(())
}

fn read_auth_response<'a>(
    reader: &mut Reader<'a>,
    capabilities: Capabilities,
) -> Result<&'a [u8], Malformed> {
    // Old clients without a password end right behind the user name.
    if reader.is_empty() {
        Ok(b"")
    } else if capabilities.contains(Capabilities::PLUGIN_AUTH_LENENC_DATA) {
        reader.lenenc_bytes("authentication data cut short")
    } else if capabilities.contains(Capabilities::SECURE_CONNECTION) {
        reader.short_bytes("authentication data cut short")
    } else {
        Ok(reader.nul_or_end())
    }
}

/// Reads a string that is there with this flag; empty and missing are the same.
pub(crate) fn read_if<'a>(
    reader: &mut Reader<'a>,
    capabilities: Capabilities,
    flag: Capabilities,
) -> Option<&'a [u8]> {
    if !capabilities.contains(flag) {
        return None;
    }
    Some(reader.nul_or_end()).filter(|text| !text.is_empty())
}

pub(crate) fn read_attributes<'a>(
    reader: &mut Reader<'a>,
    capabilities: Capabilities,
) -> Result<Option<&'a [u8]>, Malformed> {
    if !capabilities.contains(Capabilities::CONNECT_ATTRS) || reader.is_empty() {
        return Ok(None);
    }
    reader.lenenc_bytes("connection attributes cut short").map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: Capabilities = Capabilities(0x0FFF_FFFF);

    fn login() -> Login<'static> {
        Login {
            capabilities: ALL,
            max_packet: 1 << 24,
            collation: 255,
            mariadb_extended: 0,
            user: b"app",
            auth_response: b"0123456789abcdef0123456789abcdef",
            schema: Some(b"shop"),
            auth_plugin: Some(b"caching_sha2_password"),
            attributes: Some(b"\x03_os\x05Linux\x04_pid\x0212"),
            zstd_level: Some(3),
        }
    }

    fn written(login: &Login<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        login.write(&mut out).unwrap();
        out
    }

    #[test]
    fn attributes_are_pairs() {
        let pairs: Vec<_> = login().attribute_pairs().collect();
        assert_eq!(pairs, [(b"_os".as_slice(), b"Linux".as_slice()), (b"_pid", b"12")]);
        let broken = Login { attributes: Some(b"\x03_os\x05Linux\x04_pid\x09"), ..login() };
        assert_eq!(broken.attribute_pairs().count(), 1);
    }

    #[test]
    fn authentication_data_comes_in_three_forms() {
        for without in [
            Capabilities::default(),
            Capabilities::PLUGIN_AUTH_LENENC_DATA,
            Capabilities::PLUGIN_AUTH_LENENC_DATA | Capabilities::SECURE_CONNECTION,
        ] {
            let login = Login { capabilities: ALL.without(without), ..login() };
            assert_eq!(Login::parse(&written(&login)), Ok(login));
        }
        let long = [7; 300];
        let login = Login { auth_response: &long, ..login() };
        assert_eq!(Login::parse(&written(&login)), Ok(login));
        let short = Login { capabilities: ALL.without(Capabilities::PLUGIN_AUTH_LENENC_DATA), ..login };
        assert!(short.write(&mut Vec::new()).is_err());
    }

    #[test]
    fn what_a_client_leaves_away_at_the_end_is_missing() {
        let whole = written(&login());
        let parse = |length: usize| Login::parse(&whole[..length]);
        let user_end = FIXED + 4;
        let auth_end = user_end + 33;
        let schema_end = auth_end + 5;
        let plugin_end = schema_end + 22;
        let none = Login {
            auth_response: b"",
            schema: None,
            auth_plugin: None,
            attributes: None,
            zstd_level: None,
            ..login()
        };
        assert_eq!(parse(user_end), Ok(none));
        let with_auth = Login { auth_response: login().auth_response, ..none };
        assert_eq!(parse(auth_end), Ok(with_auth));
        // With and without the last NUL.
        for length in [schema_end - 1, schema_end] {
            assert_eq!(parse(length), Ok(Login { schema: login().schema, ..with_auth }));
        }
        let with_plugin = Login { schema: login().schema, auth_plugin: login().auth_plugin, ..with_auth };
        for length in [plugin_end - 1, plugin_end] {
            assert_eq!(parse(length), Ok(with_plugin));
        }
        assert!(parse(plugin_end + 5).is_err(), "attributes cut short");
        for length in 0..user_end {
            assert!(parse(length).is_err(), "{length}");
        }
    }

    #[test]
    fn mariadb_sends_more_capabilities() {
        let capabilities = ALL.without(Capabilities::LONG_PASSWORD);
        let login = Login { capabilities, mariadb_extended: 0x1C, ..login() };
        assert_eq!(Login::parse(&written(&login)), Ok(login));
    }

    #[test]
    fn a_login_before_4_1_is_told_apart() {
        let error = Login::parse(b"\x85\xA4\0\0\x01user\0").unwrap_err();
        assert!(error.what.contains("older than 4.1"), "{error}");
    }

    #[test]
    fn a_request_for_tls_has_no_user() {
        let mut out = Vec::new();
        write_ssl_request(&mut out, (Capabilities::PROTOCOL_41, 0), 1 << 24, 45);
        assert!(is_ssl_request(&out));
        assert_eq!(out.len(), FIXED);
        assert!(!is_ssl_request(&out[..31]));
        assert!(!is_ssl_request(&written(&login())));
        let mut without = out.clone();
        without[1] &= !0x08;
        assert!(!is_ssl_request(&without));
    }

    proptest! {
        #[test]
        fn logins_come_back(
            bits: u32,
            collation: u16,
            mariadb_extended: u32,
            user in "[^\0]{1,40}",
            auth in prop::collection::vec(1..=255_u8, 1..60),
            schema in "[^\0]{1,40}",
            plugin in "[a-z_]{1,40}",
            attributes in prop::collection::vec(any::<u8>(), 0..300),
            zstd_level: u8,
        ) {
            let capabilities = Capabilities(bits) | Capabilities::PROTOCOL_41;
            let has = |flag| capabilities.contains(flag);
            let login = Login {
                capabilities,
                max_packet: 1,
                collation,
                mariadb_extended: if has(Capabilities::LONG_PASSWORD) { 0 } else { mariadb_extended },
                user: user.as_bytes(),
                auth_response: &auth,
                schema: has(Capabilities::CONNECT_WITH_DB).then_some(schema.as_bytes()),
                auth_plugin: has(Capabilities::PLUGIN_AUTH).then_some(plugin.as_bytes()),
                attributes: has(Capabilities::CONNECT_ATTRS).then_some(&attributes),
                zstd_level: has(Capabilities::ZSTD_COMPRESSION_ALGORITHM).then_some(zstd_level),
            };
            let whole = written(&login);
            prop_assert_eq!(Login::parse(&whole), Ok(login));
            for cut in 0..whole.len() {
                let _ = Login::parse(&whole[..cut]);
            }
        }

        #[test]
        fn arbitrary_bytes_do_no_harm(mut bytes: Vec<u8>, fill: bool) {
            if fill {
                bytes.splice(0..0, [0xFF; 32]);
            }
            if let Ok(login) = Login::parse(&bytes) {
                login.attribute_pairs().for_each(drop);
            }
            let _ = is_ssl_request(&bytes);
        }
    }
}
