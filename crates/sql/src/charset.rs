//! Character sets as the server's lexer sees them: how many bytes make one character.
//!
//! In most sets no byte of a longer character can be mistaken for a quote or a backslash. In gbk, big5, sjis, cp932 and
//! gb18030 the second byte may be `\` or a backtick, and whoever reads such text byte by byte sees strings end where they
//! do not. The ranges are those of the servers' own tables (`ctype-gbk.c`, `ctype-big5.c`, `ctype-sjis.c`,
//! `ctype-gb18030.c`, `ctype-euc_kr.c`, `ctype-gb2312.c`, `ctype-ujis.c`).

/// The part of `character_set_client` that matters to a lexer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// utf8mb4, utf8mb3, latin1, binary and all other sets in which no second byte is special.
    #[default]
    Ascii,
    /// gbk
    Gbk,
    /// sjis
    Sjis,
    /// big5
    Big5,
    /// gb18030, with characters of two and of four bytes
    Gb18030,
    /// cp932, laid out as sjis
    Cp932,
    /// euckr: no second byte is a quote, but a lone first byte swallows one
    Euckr,
    /// gb2312: as euckr
    Gb2312,
    /// ujis and eucjpms: as euckr, with characters of two and of three bytes
    Ujis,
    /// A set in which ASCII bytes mean something else (swe7), or one that cannot be a client's (utf16, utf32, ucs2).
    /// No statement is known to be safe in it.
    Other,
}

impl Charset {
    /// The set of a collation id, as in the login packet and in SHOW COLLATION.
    ///
    /// Ids that are not known belong to collations of utf8mb4 or of single-byte sets and give [`Charset::Ascii`].
    pub fn from_collation_id(id: u16) -> Charset {
        // Both families' ids: MariaDB adds 1024 for a set's NO PAD collations.
        match id {
            1 | 84 | 1025 | 1108 => Charset::Big5,
            12 | 91 | 1036 | 1115 | 97 | 98 | 1121 | 1122 => Charset::Ujis,
            13 | 88 | 1037 | 1112 => Charset::Sjis,
            19 | 85 | 1043 | 1109 => Charset::Euckr,
            24 | 86 | 1048 | 1110 => Charset::Gb2312,
            28 | 87 | 1052 | 1111 => Charset::Gbk,
            95 | 96 | 1119 | 1120 => Charset::Cp932,
            248..=250 => Charset::Gb18030,
            10 | 82 | 1034 | 1106 => Charset::Other,
            35 | 90 | 128..=151 | 159 | 640..=642 | 1059 | 1114 | 1152 | 1174 => Charset::Other,
            54..=56 | 62 | 101..=124 | 672..=674 | 1078..=1080 | 1086 | 1125 | 1147 => Charset::Other,
            60 | 61 | 160..=183 | 736..=738 | 1084 | 1085 | 1184 | 1206 => Charset::Other,
            _ => Charset::Ascii,
        }
    }

    /// The set of this name, as in `character_set_client` or SET NAMES, in any case.
    pub fn from_name(name: &[u8]) -> Charset {
        let mut lower = [0u8; 8];
        let Some(slot) = lower.get_mut(..name.len()) else {
            return Charset::Ascii;
        };
        slot.copy_from_slice(name);
        slot.make_ascii_lowercase();
        match &*slot {
            b"gbk" => Charset::Gbk,
            b"sjis" => Charset::Sjis,
            b"big5" => Charset::Big5,
            b"gb18030" => Charset::Gb18030,
            b"cp932" => Charset::Cp932,
            b"euckr" => Charset::Euckr,
            b"gb2312" => Charset::Gb2312,
            b"ujis" | b"eucjpms" => Charset::Ujis,
            b"swe7" | b"ucs2" | b"utf16" | b"utf16le" | b"utf32" => Charset::Other,
            _ => Charset::Ascii,
        }
    }

    /// How many bytes the character at the start of `bytes` has; `None` where a first byte stands alone, a thing the two
    /// families' lexers do not agree on.
    pub(crate) fn char_len(self, bytes: &[u8]) -> Option<usize> {
        let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
        let (first, second) = (at(0), at(1));
        if first < 0x80 {
            return Some(1);
        }
        let in_gb_trail = matches!(second, 0x40..=0x7E | 0x80..=0xFE);
        let (leads, ok) = match self {
            Charset::Ascii | Charset::Other => (false, true),
            Charset::Gbk => (matches!(first, 0x81..=0xFE), in_gb_trail),
            Charset::Gb18030 => {
                let four = matches!((second, at(2), at(3)), (0x30..=0x39, 0x81..=0xFE, 0x30..=0x39));
                if matches!(first, 0x81..=0xFE) && four {
                    return Some(4);
                }
                (matches!(first, 0x81..=0xFE), in_gb_trail)
            }
            Charset::Big5 => (matches!(first, 0xA1..=0xF9), matches!(second, 0x40..=0x7E | 0xA1..=0xFE)),
            Charset::Sjis | Charset::Cp932 => {
                (matches!(first, 0x81..=0x9F | 0xE0..=0xFC), matches!(second, 0x40..=0x7E | 0x80..=0xFC))
            }
            Charset::Euckr => {
                (matches!(first, 0x81..=0xFE), matches!(second, 0x41..=0x5A | 0x61..=0x7A | 0x81..=0xFE))
            }
            Charset::Gb2312 => (matches!(first, 0xA1..=0xF7), matches!(second, 0xA1..=0xFE)),
            Charset::Ujis => {
                if first == 0x8F {
                    let three = matches!((second, at(2)), (0xA1..=0xFE, 0xA1..=0xFE));
                    return if three { Some(3) } else { None };
                }
                if first == 0x8E {
                    return if matches!(second, 0xA1..=0xDF) { Some(2) } else { None };
                }
                (matches!(first, 0xA1..=0xFE), matches!(second, 0xA1..=0xFE))
            }
        };
        match (leads, ok) {
            (false, _) => Some(1),
            (true, true) => Some(2),
            (true, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_bytes_that_look_like_quotes_belong_to_their_character() {
        assert_eq!(Charset::Gbk.char_len(b"\xbf\x5c"), Some(2));
        assert_eq!(Charset::Big5.char_len(b"\xa4\x60"), Some(2));
        assert_eq!(Charset::Sjis.char_len(b"\x83\x5c"), Some(2));
        assert_eq!(Charset::Gb18030.char_len(b"\x81\x30\x81\x30"), Some(4));
        assert_eq!(Charset::Ujis.char_len(b"\x8f\xa1\xa1"), Some(3));
        assert_eq!(Charset::Ascii.char_len(b"\xbf\x5c"), Some(1));
    }

    #[test]
    fn a_first_byte_alone_is_reported() {
        assert_eq!(Charset::Gbk.char_len(b"\xbf'"), None);
        assert_eq!(Charset::Gbk.char_len(b"\xbf"), None);
        assert_eq!(Charset::Euckr.char_len(b"\xb0`"), None);
        assert_eq!(Charset::Sjis.char_len(b"\xb1'"), Some(1), "half-width katakana is one byte");
    }

    #[test]
    fn names_and_ids_agree() {
        for (name, id) in [
            (&b"gbk"[..], 28),
            (b"SJIS", 13),
            (b"big5", 1),
            (b"gb18030", 248),
            (b"cp932", 95),
            (b"euckr", 19),
            (b"gb2312", 24),
            (b"ujis", 12),
            (b"eucjpms", 97),
            (b"swe7", 10),
            (b"utf8mb4", 255),
            (b"latin1", 8),
            (b"utf16", 54),
        ] {
            assert_eq!(Charset::from_name(name), Charset::from_collation_id(id), "{name:?}");
        }
    }
}
