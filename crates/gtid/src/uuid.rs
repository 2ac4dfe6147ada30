//! A server's UUID: the 16 bytes that name a MySQL source (`@@server_uuid`).

use std::fmt;

use crate::error::ParseError;
use crate::scan::Scanner;

/// A server's UUID. Ordered as its text is, which is the order MySQL prints the sources of a set in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid([u8; 16]);

/// Bytes of a UUID's text, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`.
pub(crate) const UUID_TEXT_BYTES: usize = 36;

/// Hexadecimal digits before the first hyphen.
pub(crate) const UUID_FIRST_GROUP: usize = 8;

impl Uuid {
    /// The UUID with these bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Reads a UUID, in either case, with nothing around it but spaces.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &[u8]) -> Result<Self, ParseError> {
        let mut scanner = Scanner::new(text)?;
        scanner.skip_spaces();
        let uuid = scanner.uuid()?;
        scanner.skip_spaces();
        scanner.expect_end()?;
        Ok(uuid)
    }

    /// Decodes exactly [`UUID_TEXT_BYTES`] of text; `None` when it is not a UUID.
    pub(crate) fn decode(text: &[u8]) -> Option<Self> {
        if text.len() != UUID_TEXT_BYTES {
            return None;
        }
        let mut bytes = [0u8; 16];
        let mut nibble = 0usize;
        for (at, &byte) in text.iter().enumerate() {
            if matches!(at, 8 | 13 | 18 | 23) {
                if byte != b'-' {
                    return None;
                }
                continue;
            }
            let digit = u8::try_from(char::from(byte).to_digit(16)?).ok()?;
            let slot = bytes.get_mut(nibble / 2)?;
            *slot = (*slot << 4) | digit;
            nibble += 1;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
