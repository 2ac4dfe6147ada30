//! Checked reading of the protocol's basic types from a payload.
//!
//! Every method names what it reads, so that the error says which field was cut short. Nothing here indexes.

use crate::Malformed;

/// First byte of a length-encoded integer that stands for SQL NULL in a text row.
pub(crate) const NULL: u8 = 0xFB;

/// What is still unread of a payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    pub(crate) fn bytes(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Malformed::new(what))?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Malformed::new(what))?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, Malformed> {
        Ok(u8::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, Malformed> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    /// A length-encoded integer. The marks 0xFB (NULL) and 0xFF (error packet) are not integers.
    pub(crate) fn lenenc(&mut self, what: &'static str) -> Result<u64, Malformed> {
        match self.u8(what)? {
            0xFC => Ok(u64::from(self.u16(what)?)),
            0xFD => {
                let [a, b, c] = self.array(what)?;
                Ok(u64::from(u32::from_le_bytes([a, b, c, 0])))
            }
            0xFE => Ok(u64::from_le_bytes(self.array(what)?)),
            NULL | 0xFF => Err(Malformed::new(what)),
            small => Ok(u64::from(small)),
        }
    }

    /// A string preceded by its length-encoded length.
    pub(crate) fn lenenc_bytes(&mut self, what: &'static str) -> Result<&'a [u8], Malformed> {
        let length = self.lenenc(what)?;
        let length = usize::try_from(length).map_err(|_| Malformed::new(what))?;
        self.bytes(length, what)
    }

    /// A string preceded by one byte of length.
    pub(crate) fn short_bytes(&mut self, what: &'static str) -> Result<&'a [u8], Malformed> {
        let length = self.u8(what)?;
        self.bytes(usize::from(length), what)
    }

    /// A string that ends with NUL, which is taken off.
    pub(crate) fn nul_terminated(&mut self, what: &'static str) -> Result<&'a [u8], Malformed> {
        let end = self.rest.iter().position(|&byte| byte == 0).ok_or(Malformed::new(what))?;
        let text = self.bytes(end, what)?;
        self.u8(what)?;
        Ok(text)
    }

    /// A string that ends with NUL or with the payload: several clients leave the last NUL away.
    pub(crate) fn nul_or_end(&mut self) -> &'a [u8] {
        let mut parts = self.rest.splitn(2, |&byte| byte == 0);
        let text = parts.next().unwrap_or_default();
        self.rest = parts.next().unwrap_or_default();
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::put::Put;
    use proptest::prelude::*;

    #[test]
    fn a_last_string_may_lack_its_nul() {
        let mut reader = Reader::new(b"one\0two");
        assert_eq!(reader.nul_or_end(), b"one");
        assert_eq!(reader.nul_or_end(), b"two");
        assert_eq!(reader.nul_or_end(), b"");
        assert!(Reader::new(b"two").nul_terminated("text").is_err());
    }

    #[test]
    fn marks_are_not_integers() {
        assert!(Reader::new(&[0xFB]).lenenc("count").is_err());
        assert!(Reader::new(&[0xFF, 0, 0, 0, 0, 0, 0, 0, 0]).lenenc("count").is_err());
        assert!(Reader::new(&[0xFE, 0, 0, 0, 0, 0, 0, 0]).lenenc("count").is_err());
    }

    #[test]
    fn a_length_beyond_the_payload_is_an_error() {
        let huge = [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3];
        assert_eq!(Reader::new(&huge).lenenc_bytes("name"), Err(Malformed::new("name")));
    }

    proptest! {
        #[test]
        fn integers_come_back(value in prop_oneof![0..300_u64, 65_000..66_000_u64, 0xFF_FF00..0x100_0100_u64, any::<u64>()]) {
            let mut bytes = Vec::new();
            bytes.put_lenenc(value);
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(reader.lenenc("value"), Ok(value));
            prop_assert!(reader.is_empty());
            for cut in 0..bytes.len() {
                prop_assert!(Reader::new(&bytes[..cut]).lenenc("value").is_err());
            }
        }
    }
}
