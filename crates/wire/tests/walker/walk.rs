//! Runs a walker over a stream cut into pieces, and keeps what it passes on and tells.

use std::ops::Range;
use wire::{
    Capabilities, ClientView, ErrPacket, Expect, OkPacket, PrepareOk, Progress, ReplyError, ReplySink,
    ReplyWalker, Status, Wanted,
};

/// What a sink heard, apart from bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Ok {
        affected_rows: u64,
        last_insert_id: u64,
        status: Status,
        warnings: u16,
        info: Vec<u8>,
        tracked: Vec<u8>,
    },
    Err {
        code: u16,
        sql_state: [u8; 5],
        message: Vec<u8>,
    },
    Prepared(PrepareOk),
    ResultSet(u64),
}

/// All that came of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Walked {
    pub(crate) out: Vec<u8>,
    pub(crate) events: Vec<Event>,
    pub(crate) progress: Progress,
    pub(crate) consumed: usize,
}

#[derive(Default)]
struct Sink {
    /// Of the piece at hand.
    segments: Vec<Segment>,
    events: Vec<Event>,
}

enum Segment {
    Forward(Range<usize>),
    Insert(Vec<u8>),
}

impl ReplySink for Sink {
    fn forward(&mut self, range: Range<usize>) {
        if let Some(Segment::Forward(before)) = self.segments.last() {
            assert_ne!(before.end, range.start, "adjacent ranges are to come as one");
        }
        self.segments.push(Segment::Forward(range));
    }

    fn insert(&mut self, bytes: &[u8]) {
        self.segments.push(Segment::Insert(bytes.to_vec()));
    }

    fn ok(&mut self, ok: &OkPacket<'_>) {
        self.events.push(Event::Ok {
            affected_rows: ok.affected_rows,
            last_insert_id: ok.last_insert_id,
            status: ok.status,
            warnings: ok.warnings,
            info: ok.info.to_vec(),
            tracked: ok.tracked.as_bytes().to_vec(),
        });
    }

    fn err(&mut self, err: &ErrPacket<'_>) {
        let (code, sql_state) = (err.code, err.sql_state);
        self.events.push(Event::Err { code, sql_state, message: err.message.to_vec() });
    }

    fn prepared(&mut self, prepared: PrepareOk) {
        self.events.push(Event::Prepared(prepared));
    }

    fn result_set(&mut self, columns: u64) {
        self.events.push(Event::ResultSet(columns));
    }
}

/// A client of these capabilities that wants to hear everything, with 77 as its statement's id.
pub(crate) fn view(capabilities: Capabilities, wanted: &Wanted) -> ClientView<'_> {
    ClientView { capabilities, wanted, statement_id: 77, status: Status::AUTOCOMMIT }
}

/// DEPRECATE_EOF and SESSION_TRACK in all combinations.
pub(crate) const COMBINATIONS: [(&str, Capabilities); 4] = [
    ("11", Capabilities::PROTOCOL_41.union(Capabilities::DEPRECATE_EOF).union(Capabilities::SESSION_TRACK)),
    ("10", Capabilities::PROTOCOL_41.union(Capabilities::DEPRECATE_EOF)),
    ("01", Capabilities::PROTOCOL_41.union(Capabilities::SESSION_TRACK)),
    ("00", Capabilities::PROTOCOL_41),
];

/// Feeds the stream in the pieces that end at `cuts` and at its end.
pub(crate) fn walk(
    walker: &mut ReplyWalker,
    stream: &[u8],
    cuts: &[usize],
    view: &ClientView<'_>,
) -> Result<Walked, ReplyError> {
    let mut walked = Walked { out: Vec::new(), events: Vec::new(), progress: Progress::More, consumed: 0 };
    let mut start = 0;
    for end in cuts.iter().copied().chain([stream.len()]) {
        let mut piece = stream[start..end].to_vec();
        let mut sink = Sink::default();
        let fed = walker.feed(&mut piece, view, &mut sink);
        for segment in sink.segments {
            match segment {
                Segment::Forward(range) => walked.out.extend_from_slice(&piece[range]),
                Segment::Insert(bytes) => walked.out.extend_from_slice(&bytes),
            }
        }
        walked.events.extend(sink.events);
        let fed = fed?;
        walked.consumed += fed.consumed;
        walked.progress = fed.progress;
        if fed.progress == Progress::More {
            assert_eq!(fed.consumed, piece.len());
        }
        start = end;
    }
    Ok(walked)
}

/// The whole stream in one piece, for a new walker.
pub(crate) fn walk_whole(
    expect: Expect,
    first_sequence: u8,
    stream: &[u8],
    view: &ClientView<'_>,
) -> Result<Walked, ReplyError> {
    walk(&mut ReplyWalker::new(expect, first_sequence), stream, &[], view)
}
