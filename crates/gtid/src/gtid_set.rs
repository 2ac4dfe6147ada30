//! A MySQL position: a set of GTIDs, `source:numbers`.
//!
//! One source is stored inline with its one interval. Sources are kept sorted and found by binary search.

use std::fmt;

use smallvec::SmallVec;

use crate::error::ParseError;
use crate::intervals::{self, Interval, Intervals, MAX_GNO};
use crate::mysql_text;
use crate::source::Source;
use crate::uuid::Uuid;

/// The numbers of one source; never none.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SourceSet {
    pub(crate) source: Source,
    pub(crate) intervals: Intervals,
}

/// A set of MySQL GTIDs, as in `@@gtid_executed`.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct GtidSet(SmallVec<[SourceSet; 1]>);

impl GtidSet {
    /// Reads the text of a set: `@@gtid_executed`, with or without its line feeds, or the data of the GTIDs session
    /// tracker. Sources may repeat and intervals may overlap or be out of order, as the servers allow.
    ///
    /// # Errors
    /// When the text is not a set, or larger than this crate's bounds. Unlike the servers it refuses an interval that
    /// ends before it starts: no server writes one.
    pub fn parse(text: &[u8]) -> Result<Self, ParseError> {
        mysql_text::parse_set(text)
    }

    /// The set of these parts, whose sources may repeat and whose intervals may be in any order.
    pub(crate) fn from_parts(mut parts: SmallVec<[SourceSet; 1]>) -> Self {
        if parts.windows(2).any(|pair| matches!(pair, [a, b] if a.source >= b.source)) {
            parts.sort_by(|a, b| a.source.cmp(&b.source));
            parts.dedup_by(|next, kept| {
                let same = next.source == kept.source;
                if same {
                    kept.intervals.extend_unordered(&next.intervals);
                }
                same
            });
        }
        for part in &mut parts {
            part.intervals.normalise();
        }
        Self(parts)
    }

    /// Whether it holds no GTID.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every GTID of `need` is in this set.
    pub fn covers(&self, need: &Self) -> bool {
        need.missing(self).next().is_none()
    }

    /// Adds all GTIDs of `other`.
    pub fn merge(&mut self, other: &Self) {
        let mut fresh: SmallVec<[SourceSet; 1]> = SmallVec::new();
        for theirs in &other.0 {
            match self.find_mut(&theirs.source) {
                Some(mine) => mine.intervals.union(&theirs.intervals),
                None => fresh.push(theirs.clone()),
            }
        }
        if !fresh.is_empty() {
            self.0.extend(fresh);
            self.0.sort_by(|a, b| a.source.cmp(&b.source));
        }
    }

    /// The GTIDs of this set that are not in `applied`.
    #[must_use]
    pub fn missing_from(&self, applied: &Self) -> Self {
        let mut parts: SmallVec<[SourceSet; 1]> = SmallVec::new();
        for mine in &self.0 {
            let mut left = Intervals::default();
            for piece in intervals::missing(mine.intervals.as_slice(), applied.intervals_of(&mine.source)) {
                left.push_unordered(piece);
            }
            if !left.is_empty() {
                parts.push(SourceSet { source: mine.source.clone(), intervals: left });
            }
        }
        // Sources and pieces come in order, so the invariants hold already.
        Self(parts)
    }

    /// The GTIDs that are in both sets.
    #[must_use]
    pub fn common_with(&self, other: &Self) -> Self {
        self.missing_from(&self.missing_from(other))
    }

    /// The GTIDs that a server committed first, under any tag.
    #[must_use]
    pub fn of_server(&self, uuid: Uuid) -> Self {
        Self(self.0.iter().filter(|part| part.source.uuid == uuid).cloned().collect())
    }

    /// Whether any GTID is in both sets.
    pub fn intersects(&self, other: &Self) -> bool {
        let (few, many) = if self.0.len() <= other.0.len() { (self, other) } else { (other, self) };
        few.0
            .iter()
            .any(|part| intervals::intersects(part.intervals.as_slice(), many.intervals_of(&part.source)))
    }

    /// The text of the first GTID of this set that is not in `applied`, in the order of the sets' text.
    pub fn first_missing(&self, applied: &Self) -> Option<String> {
        let (source, piece) = self.missing(applied).next()?;
        Some(format!("{source}:{}", piece.first()))
    }

    /// How many GTIDs of this set are not in `applied`; saturating.
    pub fn count_missing_from(&self, applied: &Self) -> u64 {
        self.missing(applied).fold(0, |sum, (_, piece)| sum.saturating_add(intervals::count(&[piece])))
    }

    /// How many GTIDs; saturating.
    pub fn count(&self) -> u64 {
        self.0.iter().fold(0, |sum, part| sum.saturating_add(intervals::count(part.intervals.as_slice())))
    }

    /// How many intervals over all sources: the size of the value. An ordinary set has one to three; thousands mean
    /// that something commits out of order or under numbers of its own.
    pub fn intervals(&self) -> usize {
        self.0.iter().fold(0, |sum, part| sum.saturating_add(part.intervals.as_slice().len()))
    }

    /// The sources of the set, in order.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.0.iter().map(|part| &part.source)
    }

    /// The intervals of a source: sorted, disjoint, not adjacent; none when the source is not in the set.
    pub fn intervals_of(&self, source: &Source) -> &[Interval] {
        let found = match self.0.as_slice() {
            // The ordinary case, without the search.
            [only] => (only.source == *source).then_some(only),
            many => many.binary_search_by(|part| part.source.cmp(source)).ok().and_then(|at| many.get(at)),
        };
        found.map_or(&[], |part| part.intervals.as_slice())
    }

    /// The highest number of a source.
    pub fn last_of(&self, source: &Source) -> Option<u64> {
        self.intervals_of(source).last().map(|interval| interval.last())
    }

    /// The text of the GTID after a source's highest: what to wait for to learn that the set has grown. Holes below it
    /// are passed over, because a hole may be for ever. `None` when the source has used up its numbers.
    pub fn next_gtid(&self, source: &Source) -> Option<String> {
        let next = self.last_of(source).map_or(1, |last| last + 1);
        (next <= MAX_GNO).then(|| format!("{source}:{next}"))
    }

    fn missing<'a>(&'a self, applied: &'a Self) -> impl Iterator<Item = (&'a Source, Interval)> {
        self.0.iter().flat_map(|mine| {
            let theirs = applied.intervals_of(&mine.source);
            intervals::missing(mine.intervals.as_slice(), theirs).map(|piece| (&mine.source, piece))
        })
    }

    fn find_mut(&mut self, source: &Source) -> Option<&mut SourceSet> {
        let at = match self.0.as_slice() {
            [only] => (only.source == *source).then_some(0)?,
            many => many.binary_search_by(|part| part.source.cmp(source)).ok()?,
        };
        self.0.get_mut(at)
    }
}

/// The text the servers accept and, but for line feeds, print: lower case, sorted, the tags of a UUID behind it.
impl fmt::Display for GtidSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut previous = None;
        for SourceSet { source, intervals } in &self.0 {
            if previous != Some(source.uuid) {
                let comma = if previous.is_some() { "," } else { "" };
                write!(f, "{comma}{}", source.uuid)?;
                previous = Some(source.uuid);
            }
            if let Some(tag) = &source.tag {
                write!(f, ":{tag}")?;
            }
            for interval in intervals.as_slice() {
                write!(f, ":{interval}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for GtidSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ordinary position must not touch the allocator: not when read, cloned, merged or subtracted.
    #[test]
    fn one_source_with_one_interval_stays_inline() {
        let read = |text: &str| GtidSet::parse(text.as_bytes()).unwrap();
        let mut set = read("11c1c8a9-ec6a-11f1-a9f6-02fc00000001:1-100");
        set.merge(&read("11c1c8a9-ec6a-11f1-a9f6-02fc00000001:101"));
        let rest = set.missing_from(&read("11c1c8a9-ec6a-11f1-a9f6-02fc00000001:1-50"));
        assert_eq!(rest.to_string(), "11c1c8a9-ec6a-11f1-a9f6-02fc00000001:51-101");
        for set in [set.clone(), set, rest] {
            assert!(!set.0.spilled() && !set.0[0].intervals.spilled());
        }
        assert!(size_of::<GtidSet>() <= 72, "a session holds several: {}", size_of::<GtidSet>());
    }
}
