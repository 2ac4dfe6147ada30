//! The words in which a finding is told: who read what, when and where, and what proves that it is wrong.

use std::fmt;

use super::floor::Fact;
use crate::history::{Nanos, Read};

/// Seconds with six places, as all times are told.
pub(super) struct Seconds(pub(super) Nanos);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06} s", self.0 / 1_000_000_000, self.0 / 1000 % 1_000_000)
    }
}

/// Who, where and when.
pub(super) fn place(read: &Read) -> String {
    let Read { who, begin, end, node, .. } = read;
    format!("{who}, on server {node}, from {} to {}", Seconds(*begin), Seconds(*end))
}

/// A read that lacks what was known. `what`: what the numbers stand for, `register` or `list`.
pub(super) fn missing(read: &Read, what: &str, index: usize, fact: &Fact) -> String {
    let Fact { value, who, at, node } = fact;
    let found = read.values.get(index).copied().unwrap_or_default();
    let knower = if who.number == read.who.number { "the same session".to_owned() } else { who.to_string() };
    let known = match node {
        Some(node) => format!("read {value} on server {node}, answered at {}", Seconds(*at)),
        None => format!("wrote {value}, acknowledged at {}", Seconds(*at)),
    };
    format!(
        "{}, read {what} {index} as {found} and should have read {value} or more: {knower} {known}, {} us before",
        place(read),
        read.begin.saturating_sub(*at) / 1000
    )
}

/// Two snapshots that cannot both have been.
pub(super) fn torn(read: &Read, other: &Read) -> String {
    format!(
        "{}, read {:?}; {}, read {:?}: each lacks something that the other has",
        place(read),
        read.values,
        place(other),
        other.values
    )
}
