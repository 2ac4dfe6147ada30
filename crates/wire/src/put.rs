//! Writing of the protocol's basic types at the end of a buffer.

/// The protocol's basic types, appended to a buffer.
pub(crate) trait Put {
    fn put_u16(&mut self, value: u16);
    fn put_u32(&mut self, value: u32);
    /// A length-encoded integer in its shortest form, the only one servers send.
    fn put_lenenc(&mut self, value: u64);
    fn put_lenenc_bytes(&mut self, text: &[u8]);
    fn put_nul_terminated(&mut self, text: &[u8]);
}

impl Put for Vec<u8> {
    fn put_u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_lenenc(&mut self, value: u64) {
        let [a, b, c, ..] = value.to_le_bytes();
        match value {
            0..=0xFA => self.push(a),
            0xFB..=0xFFFF => self.extend_from_slice(&[0xFC, a, b]),
            0x1_0000..=0xFF_FFFF => self.extend_from_slice(&[0xFD, a, b, c]),
            _ => {
                self.push(0xFE);
                self.extend_from_slice(&value.to_le_bytes());
            }
        }
    }

    fn put_lenenc_bytes(&mut self, text: &[u8]) {
        self.put_lenenc(text.len() as u64);
        self.extend_from_slice(text);
    }

    fn put_nul_terminated(&mut self, text: &[u8]) {
        self.extend_from_slice(text);
        self.push(0);
    }
}

/// How many bytes `Put::put_lenenc` appends.
pub(crate) const fn lenenc_width(value: u64) -> usize {
    match value {
        0..=0xFA => 1,
        0xFB..=0xFFFF => 3,
        0x1_0000..=0xFF_FFFF => 4,
        _ => 9,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_form_is_written() {
        for (value, width) in
            [(0, 1), (250, 1), (251, 3), (65_535, 3), (65_536, 4), (0xFF_FFFF, 4), (0x100_0000, 9)]
        {
            let mut out = Vec::new();
            out.put_lenenc(value);
            assert_eq!(out.len(), width, "{value}");
            assert_eq!(lenenc_width(value), width, "{value}");
        }
    }
}
