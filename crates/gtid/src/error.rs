//! Why a position's text was refused, and at which byte.

use std::fmt;

use crate::intervals::MAX_GNO;
use crate::scan::{MAX_INTERVALS, MAX_TEXT_BYTES};
use crate::source::MAX_TAG_BYTES;

/// The text of a position that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Where in the text, in bytes from its start.
    pub offset: usize,
    /// What is wrong there.
    pub kind: ParseErrorKind,
}

/// What is wrong with the text of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// Longer than [`MAX_TEXT_BYTES`].
    TextTooLong,
    /// More than [`MAX_INTERVALS`] intervals or domains.
    TooManyIntervals,
    /// Not a UUID of the form 8-4-4-4-12 hexadecimal digits.
    BadUuid,
    /// A tag of more than [`MAX_TAG_BYTES`] bytes.
    TagTooLong,
    /// A source, or a tag of it, without any transaction number.
    NoInterval,
    /// A decimal number had to follow.
    ExpectedNumber,
    /// A number too large for its place: MySQL transaction numbers go to [`MAX_GNO`], MariaDB domain and server ids
    /// are 32 bits, sequence numbers 64.
    NumberTooLarge,
    /// MySQL numbers transactions from 1.
    GnoZero,
    /// An interval that ends before it starts.
    Backwards {
        /// Its first number.
        first: u64,
        /// Its last number.
        last: u64,
    },
    /// This byte had to follow, and did not.
    Expected(u8),
    /// A `#` of `gtid_owned` without the number of the owning thread.
    BadThread,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.kind)
    }
}

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TextTooLong => write!(f, "the text is longer than {MAX_TEXT_BYTES} bytes"),
            Self::TooManyIntervals => write!(f, "more than {MAX_INTERVALS} intervals"),
            Self::BadUuid => f.write_str("expected a UUID such as 3e11fa47-71ca-11e1-9e33-c80aa9429562"),
            Self::TagTooLong => write!(f, "the tag is longer than {MAX_TAG_BYTES} bytes"),
            Self::NoInterval => f.write_str("the source has no transaction number"),
            Self::ExpectedNumber => f.write_str("expected a number"),
            Self::NumberTooLarge => {
                write!(f, "the number is too large (transaction numbers end at {MAX_GNO})")
            }
            Self::GnoZero => f.write_str("transaction numbers start at 1"),
            Self::Backwards { first, last } => write!(f, "the interval {first}-{last} ends before it starts"),
            Self::Expected(byte) => write!(f, "expected '{}'", byte.escape_ascii()),
            Self::BadThread => f.write_str("expected the number of the owning thread after '#'"),
        }
    }
}

impl std::error::Error for ParseError {}
