//! COM_CHANGE_USER: another login on the same connection.

use crate::command::CommandCode;
use crate::login::{put_short, put_text, read_attributes, read_if};
use crate::put::Put;
use crate::reader::Reader;
use crate::{Capabilities, Malformed};

/// Who the session is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ChangeUser<'a> {
    /// Account name.
    pub user: &'a [u8],
    /// The plugin's answer to the nonce of the connection's greeting (or of the last switch request).
    pub auth_response: &'a [u8],
    /// Schema to use; empty is `None`, and then no schema is selected afterwards.
    pub schema: Option<&'a [u8]>,
    /// Collation id; the server's default when missing.
    pub collation: Option<u16>,
    /// Plugin that made `auth_response`.
    pub auth_plugin: Option<&'a [u8]>,
    /// Connection attributes as sent.
    pub attributes: Option<&'a [u8]>,
}

impl<'a> ChangeUser<'a> {
    /// Reads the payload of a COM_CHANGE_USER, its command byte included, on a connection of these capabilities.
    ///
    /// # Errors
    /// The packet is cut short or is another command.
    pub fn parse(payload: &'a [u8], capabilities: Capabilities) -> Result<ChangeUser<'a>, Malformed> {
        let mut reader = Reader::new(payload);
        if reader.u8("empty command")? != CommandCode::ChangeUser.to_u8() {
            return Err(Malformed::new("not a COM_CHANGE_USER"));
        }
        let user = reader.nul_terminated("user name without end")?;
        let auth_response = if capabilities.contains(Capabilities::SECURE_CONNECTION) {
            reader.short_bytes("authentication data cut short")?
        } else {
            reader.nul_terminated("authentication data without end")?
        };
        let schema = Some(reader.nul_or_end()).filter(|text| !text.is_empty());
        let change = ChangeUser { user, auth_response, schema, ..ChangeUser::default() };
        // Everything behind the schema may be missing: clients of 4.1 send nothing there.
        let Ok(collation) = reader.u16("collation") else {
            return Ok(change);
        };
        let auth_plugin = read_if(&mut reader, capabilities, Capabilities::PLUGIN_AUTH);
        let attributes = read_attributes(&mut reader, capabilities)?;
        Ok(ChangeUser { collation: Some(collation), auth_plugin, attributes, ..change })
    }

    /// Appends the payload, its command byte included, for a connection of these capabilities.
    ///
    /// # Errors
    /// NUL in a NUL-terminated string, or more than 255 bytes of authentication data.
    pub fn write(&self, out: &mut Vec<u8>, capabilities: Capabilities) -> Result<(), Malformed> {
        out.push(CommandCode::ChangeUser.to_u8());
        put_text(out, self.user, "NUL in the user name")?;
        if capabilities.contains(Capabilities::SECURE_CONNECTION) {
            put_short(out, self.auth_response)?;
        } else {
            put_text(out, self.auth_response, "NUL in authentication data without a length")?;
        }
        put_text(out, self.schema.unwrap_or_default(), "NUL in the schema's name")?;
        let Some(collation) = self.collation else {
            return Ok(());
        };
        out.put_u16(collation);
        if capabilities.contains(Capabilities::PLUGIN_AUTH) {
            put_text(out, self.auth_plugin.unwrap_or_default(), "NUL in the plugin's name")?;
        }
        if capabilities.contains(Capabilities::CONNECT_ATTRS) {
            out.put_lenenc_bytes(self.attributes.unwrap_or_default());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn changes_come_back(
            bits: u32,
            user in "[^\0]{0,40}",
            auth in prop::collection::vec(1..=255_u8, 0..60),
            schema in "[^\0]{1,40}",
            collation: Option<u16>,
            plugin in "[a-z_]{1,40}",
            attributes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let capabilities = Capabilities(bits);
            let has = |flag| collation.is_some() && capabilities.contains(flag);
            let change = ChangeUser {
                user: user.as_bytes(),
                auth_response: &auth,
                schema: Some(schema.as_bytes()),
                collation,
                auth_plugin: has(Capabilities::PLUGIN_AUTH).then_some(plugin.as_bytes()),
                attributes: has(Capabilities::CONNECT_ATTRS).then_some(&attributes),
            };
            let mut whole = Vec::new();
            change.write(&mut whole, capabilities).unwrap();
            prop_assert_eq!(ChangeUser::parse(&whole, capabilities), Ok(change));
            for cut in 0..whole.len() {
                let _ = ChangeUser::parse(&whole[..cut], capabilities);
            }
        }

        #[test]
        fn arbitrary_bytes_do_no_harm(mut bytes: Vec<u8>, bits: u32) {
            bytes.insert(0, 17);
            let _ = ChangeUser::parse(&bytes, Capabilities(bits));
        }
    }

    #[test]
    fn the_schema_may_be_empty_and_the_rest_missing() {
        let payload = b"\x11app\0\x02ab\0";
        let change = ChangeUser { user: b"app", auth_response: b"ab", ..ChangeUser::default() };
        assert_eq!(ChangeUser::parse(payload, Capabilities::SECURE_CONNECTION), Ok(change));
        // Half a collation is none, and nothing follows it.
        let half = [payload.as_slice(), b"x"].concat();
        let capabilities = Capabilities::SECURE_CONNECTION | Capabilities::PLUGIN_AUTH;
        assert_eq!(ChangeUser::parse(&half, capabilities), Ok(change));
        assert!(ChangeUser::parse(b"\x03SELECT 1", Capabilities::SECURE_CONNECTION).is_err());
    }
}
