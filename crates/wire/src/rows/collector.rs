//! Reads the whole reply to one of the proxy's own queries, within a limit.

use super::outcome::{OkOutcome, QueryOutcome, TextResult, Told};
use crate::eof::EOF_HEADER;
use crate::err::ERR_HEADER;
use crate::frame::{HEADER, MAX_PAYLOAD};
use crate::ok::OK_HEADER;
use crate::reader::{NULL, Reader};
use crate::{Capabilities, ErrPacket, Header, Malformed, OkPacket, Status};
use std::fmt;

/// What the connections speak whose replies are read here.
const SPOKEN: Capabilities =
    Capabilities::PROTOCOL_41.union(Capabilities::SESSION_TRACK).union(Capabilities::DEPRECATE_EOF);

/// First byte of a request for a local file, which the proxy's own connections never allow.
const LOCAL_INFILE: u8 = 0xFB;

/// Each value kept counts as so many bytes more than its text, for what surrounds it in memory.
const VALUE_COST: usize = 32;

/// Collects the results of one COM_QUERY, on a connection with DEPRECATE_EOF and SESSION_TRACK.
#[derive(Debug)]
pub struct ResultCollector {
    /// Bytes that may still be kept.
    budget: usize,
    next: u8,
    any_numbers: bool,
    /// Bytes received and not read yet.
    pending: Vec<u8>,
    /// The payload so far of a packet in several frames.
    long: Vec<u8>,
    state: State,
    outcomes: Vec<QueryOutcome>,
}

#[derive(Debug)]
enum State {
    First,
    Columns { left: u64, result: TextResult },
    Rows(TextResult),
    Done,
}

/// What became of the bytes of a [`ResultCollector::feed`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fed {
    /// How many of them belong to this reply: all, until it is over.
    pub consumed: usize,
    /// How far the reply has come.
    pub collected: Collected,
}

/// How far the reply has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Collected {
    /// More is due.
    More,
    /// All results, in order; an error is the last.
    Done(Vec<QueryOutcome>),
}

/// Why a reply cannot be read. The connection is of no use any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectError {
    /// Bytes that make no sense here.
    Malformed(Malformed),
    /// The results take more memory than allowed.
    TooLong,
}

impl From<Malformed> for CollectError {
    fn from(error: Malformed) -> CollectError {
        CollectError::Malformed(error)
    }
}

impl fmt::Display for CollectError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CollectError::Malformed(error) => error.fmt(out),
            CollectError::TooLong => write!(out, "the result is longer than allowed"),
        }
    }
}

impl std::error::Error for CollectError {}

impl ResultCollector {
    /// A collector of results that take at most `max_bytes` of memory.
    pub fn new(max_bytes: usize) -> ResultCollector {
        ResultCollector {
            budget: max_bytes,
            next: 1,
            any_numbers: false,
            pending: Vec::new(),
            long: Vec::new(),
            state: State::First,
            outcomes: Vec::new(),
        }
    }

    /// The server's sequence numbers say nothing: see `ReplyWalker::with_any_numbers`.
    #[must_use]
    pub fn with_any_numbers(mut self) -> ResultCollector {
        self.any_numbers = true;
        self
    }

    /// Takes the next bytes of the reply, and none of what follows its end.
    ///
    /// # Errors
    /// The reply cannot be read or is too long.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Fed, CollectError> {
        // Twice the budget bounds what lies unread: a reply within it is read packet by packet.
        if bytes.len() > self.budget.saturating_mul(2).saturating_add(HEADER) {
            return Err(CollectError::TooLong);
        }
        self.pending.extend_from_slice(bytes);
        let pending = std::mem::take(&mut self.pending);
        let mut reader = Reader::new(&pending);
        while let Some(header) = Header::parse(reader.rest()).filter(|_| !self.is_over()) {
            if header.length > self.budget {
                return Err(CollectError::TooLong);
            }
            if reader.remaining() < HEADER + header.length {
                break;
            }
            reader.bytes(HEADER, "header")?;
            let payload = reader.bytes(header.length, "payload")?;
            self.frame(header, payload)?;
        }
        if self.is_over() {
            // A reply ends with the bytes that came last: of those before it nothing is left.
            let consumed = bytes.len().saturating_sub(reader.remaining());
            return Ok(Fed { consumed, collected: Collected::Done(std::mem::take(&mut self.outcomes)) });
        }
        self.pending = reader.rest().to_vec();
        Ok(Fed { consumed: bytes.len(), collected: Collected::More })
    }

    fn is_over(&self) -> bool {
        matches!(self.state, State::Done)
    }

    fn frame(&mut self, header: Header, payload: &[u8]) -> Result<(), CollectError> {
        if header.sequence != self.next && !self.any_numbers {
            return Err(Malformed::new("packet out of order").into());
        }
        self.next = self.next.wrapping_add(1);
        if header.length == MAX_PAYLOAD || !self.long.is_empty() {
            self.spend(payload.len())?;
            self.long.extend_from_slice(payload);
            if header.length == MAX_PAYLOAD {
                return Ok(());
            }
            let long = std::mem::take(&mut self.long);
            return self.packet(&long);
        }
        self.packet(payload)
    }

    fn spend(&mut self, bytes: usize) -> Result<(), CollectError> {
        self.budget = self.budget.checked_sub(bytes).ok_or(CollectError::TooLong)?;
        Ok(())
    }

    fn packet(&mut self, payload: &[u8]) -> Result<(), CollectError> {
        if payload.first() == Some(&ERR_HEADER) {
            let err = ErrPacket::parse(payload)?;
            self.spend(VALUE_COST + payload.len())?;
            self.outcomes.push(QueryOutcome::Err(err.into_owned()));
            self.state = State::Done;
            return Ok(());
        }
        self.state = match std::mem::replace(&mut self.state, State::Done) {
            State::First => self.first(payload)?,
            State::Columns { left, mut result } => {
                self.spend(VALUE_COST + payload.len())?;
                result.columns.push(String::from_utf8_lossy(column_name(payload)?).into_owned());
                match left {
                    0 | 1 => State::Rows(result),
                    _ => State::Columns { left: left - 1, result },
                }
            }
            State::Rows(result) if payload.first() == Some(&EOF_HEADER) && payload.len() < MAX_PAYLOAD => {
                self.end(payload, result)?
            }
            State::Rows(mut result) => {
                self.spend(payload.len() + VALUE_COST * (1 + result.columns.len()))?;
                result.rows.push(row(payload, result.columns.len())?);
                State::Rows(result)
            }
            State::Done => return Err(Malformed::new("packet behind the end of a reply").into()),
        };
        Ok(())
    }

    fn first(&mut self, payload: &[u8]) -> Result<State, CollectError> {
        self.spend(VALUE_COST + payload.len())?;
        match payload.first() {
            // With the second, the end of rows where there are none: COM_SET_OPTION is answered so (`my_eof` in the servers'
            // `sql_parse.cc`). No result has as many columns as it would begin the number of.
            Some(&OK_HEADER | &EOF_HEADER) => {
                let ok = OkPacket::parse(payload, SPOKEN)?;
                self.outcomes.push(QueryOutcome::Ok(OkOutcome::of(&ok)));
                Ok(after(ok.status))
            }
            Some(&LOCAL_INFILE) => Err(Malformed::new("request for a local file").into()),
            _ => {
                let mut reader = Reader::new(payload);
                let left = reader.lenenc("number of columns")?;
                if !reader.is_empty() {
                    return Err(Malformed::new("bytes behind the number of columns").into());
                }
                Ok(State::Columns { left, result: TextResult::default() })
            }
        }
    }

    fn end(&mut self, payload: &[u8], mut result: TextResult) -> Result<State, CollectError> {
        self.spend(payload.len())?;
        let ok = OkPacket::parse(payload, SPOKEN)?;
        result.status = ok.status;
        result.warnings = ok.warnings;
        result.told = Told::of(&ok);
        self.outcomes.push(QueryOutcome::Rows(result));
        Ok(after(ok.status))
    }
}

fn after(status: Status) -> State {
    if status.contains(Status::MORE_RESULTS_EXISTS) { State::First } else { State::Done }
}

/// The alias in a Protocol::ColumnDefinition41: behind catalog, schema, table and original table.
fn column_name(payload: &[u8]) -> Result<&[u8], Malformed> {
    let mut reader = Reader::new(payload);
    for _ in 0..4 {
        reader.lenenc_bytes("column definition cut short")?;
    }
    reader.lenenc_bytes("column definition cut short")
}

fn row(payload: &[u8], columns: usize) -> Result<Vec<Option<Vec<u8>>>, Malformed> {
    let mut reader = Reader::new(payload);
    let mut values = Vec::with_capacity(columns);
    for _ in 0..columns {
        if reader.peek() == Some(NULL) {
            reader.u8("NULL")?;
            values.push(None);
        } else {
            values.push(Some(reader.lenenc_bytes("row cut short")?.to_vec()));
        }
    }
    if !reader.is_empty() {
        return Err(Malformed::new("bytes behind a row's last column"));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::write_packet;
    use crate::rows::{ColumnType, write_text_result};
    use proptest::prelude::*;

    const LIMIT: usize = 1 << 20;

    type Rows = Vec<Vec<Option<Vec<u8>>>>;

    fn stream(columns: &[&str], rows: &Rows) -> Vec<u8> {
        let mut out = Vec::new();
        let columns: Vec<_> = columns.iter().map(|name| (*name, ColumnType::Text)).collect();
        write_text_result(&mut out, &mut 1, &columns, rows, Status::AUTOCOMMIT, (SPOKEN, 0)).unwrap();
        out
    }

    fn collect(bytes: &[u8], piece: usize, limit: usize) -> Result<Collected, CollectError> {
        let mut collector = ResultCollector::new(limit);
        let mut collected = Collected::More;
        for piece in bytes.chunks(piece) {
            let fed = collector.feed(piece)?;
            collected = fed.collected;
            if collected != Collected::More {
                break;
            }
            assert_eq!(fed.consumed, piece.len());
        }
        Ok(collected)
    }

    #[test]
    fn rows_are_found_by_their_columns_names() {
        let rows = vec![vec![Some(b"db1".to_vec()), None], vec![Some(b"db2".to_vec()), Some(b"7".to_vec())]];
        let Ok(Collected::Done(outcomes)) = collect(&stream(&["Host", "Lag"], &rows), 3, LIMIT) else {
            panic!("not done");
        };
        let [QueryOutcome::Rows(result)] = &outcomes[..] else { panic!("not one result") };
        assert_eq!(result.value(1, "LAG"), Some(b"7".as_slice()));
        assert_eq!(result.value(0, "Lag"), None);
        assert_eq!(result.value(0, "other"), None);
        assert_eq!(result.rows, rows);
        assert_eq!(result.status, Status::AUTOCOMMIT);
    }

    #[test]
    fn an_end_of_rows_alone_is_an_ok() {
        let end = b"\x07\0\0\x01\xFE\0\0\x02\0\x01\0";
        let Ok(Collected::Done(outcomes)) = collect(end, 2, LIMIT) else {
            panic!("not done");
        };
        let ok = OkOutcome { status: Status::AUTOCOMMIT, warnings: 1, ..OkOutcome::default() };
        assert_eq!(outcomes, [QueryOutcome::Ok(ok)]);
    }

    #[test]
    fn several_results_end_with_an_error() {
        let mut out = Vec::new();
        let mut sequence = 1;
        let gtids = b"\x00\x05\x00\x08\x40\x00\x00\x00\x07\x03\x05\x00\x03u:1";
        write_packet(&mut out, &mut sequence, gtids);
        write_packet(&mut out, &mut sequence, b"\xFF\x7a\x04#42S02no such table");
        for piece in 1..out.len() {
            let Ok(Collected::Done(outcomes)) = collect(&out, piece, LIMIT) else { panic!("not done") };
            let [QueryOutcome::Ok(ok), QueryOutcome::Err(err)] = &outcomes[..] else {
                panic!("not two results")
            };
            assert_eq!(ok.affected_rows, 5);
            assert_eq!(ok.told.gtids.as_deref(), Some(b"u:1".as_slice()));
            assert_eq!((err.code, err.sql_state), (1146, *b"42S02"));
        }
    }

    #[test]
    fn the_limit_holds() {
        let rows = vec![vec![Some(vec![b'x'; 100])]; 100];
        let whole = stream(&["x"], &rows);
        assert!(collect(&whole, 64, LIMIT).is_ok());
        for piece in [1, 64, whole.len()] {
            assert_eq!(collect(&whole, piece, 5_000), Err(CollectError::TooLong));
        }
        // A header alone says enough.
        assert_eq!(collect(&[0xFF, 0xFF, 0xFE, 1], 4, 5_000), Err(CollectError::TooLong));
    }

    #[test]
    fn what_follows_is_left() {
        let whole = stream(&["x"], &vec![]);
        let followed = [whole.as_slice(), &whole].concat();
        for beginning in 0..whole.len() {
            let mut collector = ResultCollector::new(LIMIT);
            let (first, rest) = followed.split_at(beginning);
            assert_eq!(collector.feed(first).unwrap().collected, Collected::More);
            let fed = collector.feed(rest).unwrap();
            assert_eq!(beginning + fed.consumed, whole.len());
            assert!(matches!(fed.collected, Collected::Done(_)));
        }
    }

    #[test]
    fn what_does_not_belong_is_refused() {
        let whole = stream(&["x"], &vec![]);
        let mut skipped = whole;
        skipped[3] = 2;
        assert!(matches!(collect(&skipped, 9, LIMIT), Err(CollectError::Malformed(_))));
        assert!(matches!(collect(b"\x02\0\0\x01\xFBx", 9, LIMIT), Err(CollectError::Malformed(_))));
    }

    #[test]
    fn a_long_row_comes_in_frames() {
        let rows = vec![vec![Some(vec![b'x'; MAX_PAYLOAD + 5])]];
        let whole = stream(&["x"], &rows);
        let Ok(Collected::Done(outcomes)) = collect(&whole, 1 << 20, 1 << 26) else { panic!("not done") };
        let [QueryOutcome::Rows(result)] = &outcomes[..] else { panic!("not one result") };
        assert!(result.rows == rows);
    }

    proptest! {
        #[test]
        fn rows_come_back(
            rows in prop::collection::vec(prop::collection::vec(prop::option::of(prop::collection::vec(any::<u8>(), 0..300)), 3), 0..6),
            piece in 1..400_usize,
        ) {
            let whole = stream(&["a", "b", "c"], &rows);
            let Ok(Collected::Done(outcomes)) = collect(&whole, piece, LIMIT) else { panic!("not done") };
            let [QueryOutcome::Rows(result)] = &outcomes[..] else { panic!("not one result") };
            prop_assert_eq!(&result.rows, &rows);
            prop_assert_eq!(&result.columns, &["a", "b", "c"]);
        }

        #[test]
        fn arbitrary_payloads_do_no_harm(payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..8), piece in 1..60_usize) {
            let mut out = Vec::new();
            let mut sequence = 1;
            payloads.iter().for_each(|payload| write_packet(&mut out, &mut sequence, payload));
            let _ = collect(&out, piece, LIMIT);
        }
    }
}
