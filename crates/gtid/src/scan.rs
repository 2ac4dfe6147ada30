//! A bounded cursor over the text of a position.

use crate::error::{ParseError, ParseErrorKind};
use crate::source::{MAX_TAG_BYTES, Tag};
use crate::uuid::{UUID_FIRST_GROUP, UUID_TEXT_BYTES, Uuid};

/// The longest text that is read, in bytes. A set of forty sources with 25 intervals each is 10 KB.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// The most intervals (MariaDB: domains) a text may have, counted as written, before any are joined.
pub const MAX_INTERVALS: usize = 100_000;

/// Reads a text from left to right. Every method leaves the cursor where an error should point.
pub(crate) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    intervals: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Result<Self, ParseError> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(ParseError { offset: MAX_TEXT_BYTES, kind: ParseErrorKind::TextTooLong });
        }
        Ok(Self { text, at: 0, intervals: 0 })
    }

    pub(crate) fn error(&self, kind: ParseErrorKind) -> ParseError {
        ParseError { offset: self.at, kind }
    }

    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    /// Counts one more interval against [`MAX_INTERVALS`].
    pub(crate) fn count_interval(&mut self) -> Result<(), ParseError> {
        self.intervals += 1;
        if self.intervals > MAX_INTERVALS {
            return Err(self.error(ParseErrorKind::TooManyIntervals));
        }
        Ok(())
    }

    fn skip_while(&mut self, skip: impl Fn(u8) -> bool) {
        self.at += self.rest().iter().take_while(|&&byte| skip(byte)).count();
    }

    pub(crate) fn skip_spaces(&mut self) {
        self.skip_while(|byte| byte.is_ascii_whitespace());
    }

    /// Skips to the next element of a list. The servers allow empty elements.
    pub(crate) fn skip_spaces_and_commas(&mut self) {
        self.skip_while(|byte| byte.is_ascii_whitespace() || byte == b',');
    }

    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at += 1;
        }
        found
    }

    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), ParseError> {
        if self.eat(byte) { Ok(()) } else { Err(self.error(ParseErrorKind::Expected(byte))) }
    }

    /// The end of the text, or a comma.
    pub(crate) fn expect_end_of_element(&mut self) -> Result<(), ParseError> {
        match self.peek() {
            None | Some(b',') => Ok(()),
            Some(_) => Err(self.error(ParseErrorKind::Expected(b','))),
        }
    }

    /// The end of the text, for something that is not a list.
    pub(crate) fn expect_end(&mut self) -> Result<(), ParseError> {
        if self.rest().is_empty() { Ok(()) } else { Err(self.error(ParseErrorKind::BadUuid)) }
    }

    /// A decimal number of at most `max`.
    pub(crate) fn number(&mut self, max: u64) -> Result<u64, ParseError> {
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Err(self.error(ParseErrorKind::ExpectedNumber));
        }
        let mut value = 0u64;
        for &byte in self.rest().iter().take(digits) {
            value = value
                .checked_mul(10)
                .and_then(|tens| tens.checked_add(u64::from(byte - b'0')))
                .filter(|&value| value <= max)
                .ok_or(self.error(ParseErrorKind::NumberTooLarge))?;
        }
        self.at += digits;
        Ok(value)
    }

    pub(crate) fn uuid(&mut self) -> Result<Uuid, ParseError> {
        let uuid = self.rest().get(..UUID_TEXT_BYTES).and_then(Uuid::decode);
        let uuid = uuid.ok_or(self.error(ParseErrorKind::BadUuid))?;
        self.at += UUID_TEXT_BYTES;
        Ok(uuid)
    }

    /// A tag, if one starts here: a number never starts with a letter.
    pub(crate) fn tag(&mut self) -> Result<Option<Tag>, ParseError> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_') {
            return Ok(None);
        }
        let length =
            self.rest().iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
        if length > MAX_TAG_BYTES {
            return Err(self.error(ParseErrorKind::TagTooLong));
        }
        let tag = self.rest().get(..length).and_then(Tag::new);
        self.at += length;
        Ok(tag)
    }

    /// The thread number behind a `#` of `gtid_owned`. The UUID of the next source may follow without a separator and
    /// may start with a digit, so the number ends eight digits before the next hyphen.
    pub(crate) fn thread(&mut self) -> Result<(), ParseError> {
        let run = self.rest().iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let hyphen_follows = self.rest().get(run) == Some(&b'-');
        let digits = if hyphen_follows { run.saturating_sub(UUID_FIRST_GROUP) } else { run };
        let thread = self.rest().get(..digits).unwrap_or_default();
        if thread.is_empty() || !thread.iter().all(u8::is_ascii_digit) {
            return Err(self.error(ParseErrorKind::BadThread));
        }
        self.at += digits;
        Ok(())
    }
}
