//! The texts MySQL writes sets in: `@@gtid_executed` and the session tracker, and `@@gtid_owned`, which differs.
//!
//! ```text
//! set   = [ element { "," element } ]
//! owned = { element }                          nothing between the elements
//! element = uuid { ":" tag | ":" member }      a tag holds until the next one
//! member  = first [ "-" last ]                 in a set
//!         | number "#" thread                  in gtid_owned
//! ```

use smallvec::SmallVec;

use crate::error::{ParseError, ParseErrorKind};
use crate::gtid_set::{GtidSet, SourceSet};
use crate::intervals::{Interval, Intervals, MAX_GNO};
use crate::scan::Scanner;
use crate::source::{Source, Tag};
use crate::uuid::Uuid;

type Parts = SmallVec<[SourceSet; 1]>;
type Member = fn(&mut Scanner<'_>) -> Result<Interval, ParseError>;

pub(crate) fn parse_set(text: &[u8]) -> Result<GtidSet, ParseError> {
    let mut scanner = Scanner::new(text)?;
    let mut parts = Parts::new();
    scanner.skip_spaces_and_commas();
    while scanner.peek().is_some() {
        element(&mut scanner, &mut parts, set_member)?;
        scanner.expect_end_of_element()?;
        scanner.skip_spaces_and_commas();
    }
    Ok(GtidSet::from_parts(parts))
}

/// Reads `@@global.gtid_owned`: the GTIDs of transactions that are being committed, or that a session has reserved
/// with an explicit `gtid_next`. The threads that own them are read over.
///
/// # Errors
/// As [`GtidSet::parse`].
pub fn parse_owned(text: &[u8]) -> Result<GtidSet, ParseError> {
    let mut scanner = Scanner::new(text)?;
    let mut parts = Parts::new();
    scanner.skip_spaces_and_commas();
    while scanner.peek().is_some() {
        element(&mut scanner, &mut parts, owned_member)?;
        scanner.skip_spaces_and_commas();
    }
    Ok(GtidSet::from_parts(parts))
}

fn element(scanner: &mut Scanner<'_>, parts: &mut Parts, member: Member) -> Result<(), ParseError> {
    let uuid = scanner.uuid()?;
    let mut tag: Option<Tag> = None;
    let mut intervals = Intervals::default();
    scanner.skip_spaces();
    if scanner.peek() != Some(b':') {
        return Err(scanner.error(ParseErrorKind::Expected(b':')));
    }
    let mut first_of_element = true;
    while scanner.eat(b':') {
        scanner.skip_spaces();
        if let Some(next) = scanner.tag()? {
            // Only the untagged run before the first tag may be without numbers.
            if !first_of_element {
                finish(scanner, parts, uuid, tag.take(), std::mem::take(&mut intervals))?;
            }
            tag = Some(next);
        } else {
            scanner.count_interval()?;
            intervals.push_unordered(member(scanner)?);
        }
        first_of_element = false;
        scanner.skip_spaces();
    }
    finish(scanner, parts, uuid, tag, intervals)
}

fn finish(
    scanner: &Scanner<'_>,
    parts: &mut Parts,
    uuid: Uuid,
    tag: Option<Tag>,
    intervals: Intervals,
) -> Result<(), ParseError> {
    if intervals.is_empty() {
        return Err(scanner.error(ParseErrorKind::NoInterval));
    }
    parts.push(SourceSet { source: Source { uuid, tag }, intervals });
    Ok(())
}

fn set_member(scanner: &mut Scanner<'_>) -> Result<Interval, ParseError> {
    let start = scanner.offset();
    let first = scanner.number(MAX_GNO)?;
    scanner.skip_spaces();
    let last = if scanner.eat(b'-') {
        scanner.skip_spaces();
        scanner.number(MAX_GNO)?
    } else {
        first
    };
    Interval::new(first, last).map_err(|kind| ParseError { offset: start, kind })
}

fn owned_member(scanner: &mut Scanner<'_>) -> Result<Interval, ParseError> {
    let start = scanner.offset();
    let number = scanner.number(MAX_GNO)?;
    scanner.expect(b'#')?;
    scanner.thread()?;
    Interval::new(number, number).map_err(|kind| ParseError { offset: start, kind })
}
