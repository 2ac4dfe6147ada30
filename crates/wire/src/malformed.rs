//! The one error of parsing: the bytes are not what the protocol allows at this place.

use std::fmt;

/// Bytes that do not follow the protocol; the connection they came from cannot be used further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// What was wrong, as the rest of the sentence "malformed packet: ...".
    pub what: &'static str,
}

impl Malformed {
    /// An error with this text.
    pub const fn new(what: &'static str) -> Malformed {
        Malformed { what }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "malformed packet: {}", self.what)
    }
}

impl std::error::Error for Malformed {}
