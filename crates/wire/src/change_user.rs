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
        // Everything behind the schema may be missing: clients of 4.1 send nothing there.
        let collation = if reader.remaining() >= 2 { Some(reader.u16("collation")?) } else { None };
        let auth_plugin = read_if(&mut reader, capabilities, Capabilities::PLUGIN_AUTH);
        let attributes = read_attributes(&mut reader, capabilities)?;
        Ok(ChangeUser { user, auth_response, schema, collation, auth_plugin, attributes })
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
