//! Sets of writes: what a server has, what somebody needs, was told or has seen.
//!
//! A write is a bit. The first primary's writes come before those of its successor, so that the order of the bits is the
//! order of every log.

use std::fmt;

/// How many writes each of the two primaries can make.
pub(crate) const EACH: u8 = 3;

/// A write, by its bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Write(pub(crate) u8);

/// A set of writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Set(pub(crate) u8);

impl Write {
    /// The `count`th write, from 0, of the first primary or of its successor.
    pub(crate) fn of(successor: bool, count: u8) -> Self {
        assert!(count < EACH, "the model has room for {EACH} writes of each primary");
        Self(if successor { EACH + count } else { count })
    }

    /// Its place among its primary's writes, from 0.
    pub(crate) fn count(self) -> u8 {
        self.0 % EACH
    }

    /// Whether the first primary's successor wrote it.
    pub(crate) fn is_successors(self) -> bool {
        self.0 >= EACH
    }
}

impl Set {
    pub(crate) const EMPTY: Self = Self(0);

    pub(crate) const ALL: Self = Self((1 << (2 * EACH)) - 1);

    /// Everything that the first primary can have written.
    pub(crate) const FIRST: Self = Self((1 << EACH) - 1);

    pub(crate) fn only(write: Write) -> Self {
        Self(1 << write.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

    pub(crate) fn len(self) -> u8 {
        bits(self.0.count_ones())
    }

    pub(crate) fn covers(self, need: Self) -> bool {
        need.0 & !self.0 == 0
    }

    pub(crate) fn with(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }

    pub(crate) fn without(self, less: Self) -> Self {
        Self(self.0 & !less.0)
    }

    pub(crate) fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The writes in the order of the log.
    pub(crate) fn iter(self) -> impl Iterator<Item = Write> {
        (0..2 * EACH).map(Write).filter(move |write| self.0 & (1 << write.0) != 0)
    }

    pub(crate) fn first(self) -> Option<Write> {
        (self.0 != 0).then(|| Write(bits(self.0.trailing_zeros())))
    }

    pub(crate) fn last(self) -> Option<Write> {
        (self.0 != 0).then(|| Write(bits(self.0.ilog2())))
    }

    /// What stands before and at this write.
    pub(crate) fn up_to(self, write: Write) -> Self {
        Self(self.0 & (u8::MAX >> (7 - write.0)))
    }
}

fn bits(count: u32) -> u8 {
    u8::try_from(count).unwrap()
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.is_successors() { 'X' } else { 'W' };
        write!(f, "{name}{}", self.count() + 1)
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.iter().map(|write| write.to_string()).collect();
        write!(f, "{{{}}}", names.join(" "))
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
