//! The transaction numbers of one source, as intervals: sorted, disjoint, never adjacent, so that equal sets are equal
//! values. One interval, the ordinary case, is stored inline.

use std::fmt;

use smallvec::SmallVec;

use crate::error::ParseErrorKind;

/// The largest transaction number: MySQL's `GNO_END`, 2^63 - 1, is never given out.
pub const MAX_GNO: u64 = i64::MAX.unsigned_abs() - 1;

/// Transaction numbers `first..=last`, within `1..=MAX_GNO`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interval {
    first: u64,
    last: u64,
}

impl Interval {
    /// The numbers `first..=last`.
    ///
    /// # Errors
    /// When it starts before 1, ends after [`MAX_GNO`], or ends before it starts.
    pub fn new(first: u64, last: u64) -> Result<Self, ParseErrorKind> {
        if first == 0 {
            Err(ParseErrorKind::GnoZero)
        } else if last < first {
            Err(ParseErrorKind::Backwards { first, last })
        } else if last > MAX_GNO {
            Err(ParseErrorKind::NumberTooLarge)
        } else {
            Ok(Self { first, last })
        }
    }

    /// The first number.
    pub fn first(self) -> u64 {
        self.first
    }

    /// The last number.
    pub fn last(self) -> u64 {
        self.last
    }

    fn count(self) -> u64 {
        self.last - self.first + 1
    }

    /// Whether the two overlap or lie side by side, so that their union is one interval.
    fn touches(self, other: Self) -> bool {
        self.first <= other.last + 1 && other.first <= self.last + 1
    }

    fn join(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}-{}", self.first, self.last)
        }
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Sorted, disjoint, non-adjacent intervals.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct Intervals(SmallVec<[Interval; 1]>);

impl Intervals {
    /// Adds intervals in any order, leaving the invariant to [`Intervals::normalise`].
    pub(crate) fn push_unordered(&mut self, interval: Interval) {
        self.0.push(interval);
    }

    /// As [`Intervals::push_unordered`], for all of another.
    pub(crate) fn extend_unordered(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    /// Restores the invariant. The stable sort takes two concatenated sorted runs in linear time.
    pub(crate) fn normalise(&mut self) {
        if self.0.windows(2).all(|pair| matches!(pair, [a, b] if a.last + 1 < b.first)) {
            return;
        }
        self.0.sort_by_key(|interval| interval.first);
        self.0.dedup_by(|next, kept| {
            let joined = kept.touches(*next);
            if joined {
                *kept = kept.join(*next);
            }
            joined
        });
    }

    pub(crate) fn as_slice(&self) -> &[Interval] {
        &self.0
    }

    #[cfg(test)]
    pub(crate) fn spilled(&self) -> bool {
        self.0.spilled()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds all of `other`.
    pub(crate) fn union(&mut self, other: &Self) {
        if let ([mine], [new]) = (self.0.as_mut_slice(), other.as_slice())
            && mine.touches(*new)
        {
            *mine = mine.join(*new);
            return;
        }
        match other.as_slice() {
            [] => {}
            [new] => self.insert(*new),
            _ => {
                self.extend_unordered(other);
                self.normalise();
            }
        }
    }

    fn insert(&mut self, new: Interval) {
        let start = self.0.partition_point(|old| old.last + 1 < new.first);
        let end = self.0.partition_point(|old| old.first <= new.last + 1);
        let joined = self.0.iter().take(end).skip(start).fold(new, |all, old| all.join(*old));
        match self.0.get_mut(start) {
            Some(slot) if start < end => {
                *slot = joined;
                self.0.drain(start + 1..end);
            }
            _ => self.0.insert(start, joined),
        }
    }
}

/// How many numbers; saturating.
pub(crate) fn count(intervals: &[Interval]) -> u64 {
    intervals.iter().fold(0, |sum, interval| sum.saturating_add(interval.count()))
}

/// Whether any number is in both.
pub(crate) fn intersects(a: &[Interval], b: &[Interval]) -> bool {
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    few.iter().any(|interval| {
        let at = many.partition_point(|other| other.last < interval.first);
        many.get(at).is_some_and(|other| other.first <= interval.last)
    })
}

/// The pieces of `mine` that are not in `applied`, in order. Both keep the invariant of [`Intervals`].
pub(crate) fn missing<'a>(
    mine: &'a [Interval],
    applied: &'a [Interval],
) -> impl Iterator<Item = Interval> + use<'a> {
    let mut mine = mine.iter().copied();
    let mut applied = applied;
    let mut remainder: Option<Interval> = None;
    std::iter::from_fn(move || {
        loop {
            let piece = remainder.take().or_else(|| mine.next())?;
            let passed = applied.partition_point(|old| old.last < piece.first);
            applied = applied.get(passed..).unwrap_or_default();
            match applied.first() {
                // The head of the piece is applied; its tail, if any, goes round again.
                Some(old) if old.first <= piece.first => {
                    if old.last < piece.last {
                        remainder = Some(Interval { first: old.last + 1, last: piece.last });
                    }
                }
                // The head is missing, up to where the applied one starts.
                Some(old) if old.first <= piece.last => {
                    remainder = Some(Interval { first: old.first, last: piece.last });
                    return Some(Interval { first: piece.first, last: old.first - 1 });
                }
                _ => return Some(piece),
            }
        }
    })
}
