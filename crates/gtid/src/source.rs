//! Who numbered a MySQL transaction: a server's UUID, and since 8.3 perhaps a tag beside it.
//!
//! Each pair of UUID and tag counts its transactions by itself, so the pair is the key of a set.

use std::fmt;

use crate::uuid::Uuid;

/// Bytes a tag may have (MySQL manual, "GTID Format and Storage").
pub const MAX_TAG_BYTES: usize = 32;

/// A tag: a letter or underscore, then letters, digits and underscores; kept in lower case, as the server does.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(Box<str>);

impl Tag {
    /// The tag with this text, or `None` when it is not one.
    pub fn new(text: &[u8]) -> Option<Self> {
        let first = *text.first()?;
        let lawful = (first.is_ascii_alphabetic() || first == b'_')
            && text.len() <= MAX_TAG_BYTES
            && text.iter().all(|&b| b.is_ascii_alphanumeric() || b == b'_');
        if !lawful {
            return None;
        }
        let text = std::str::from_utf8(text).ok()?;
        Some(Self(text.to_ascii_lowercase().into_boxed_str()))
    }

    /// Its text, in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The key of a set: whose numbers these are. Untagged comes before tagged, as the server prints it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    /// The server that committed the transactions first.
    pub uuid: Uuid,
    /// The tag it committed them under.
    pub tag: Option<Tag>,
}

impl From<Uuid> for Source {
    fn from(uuid: Uuid) -> Self {
        Self { uuid, tag: None }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tag {
            None => write!(f, "{}", self.uuid),
            Some(tag) => write!(f, "{}:{tag}", self.uuid),
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
