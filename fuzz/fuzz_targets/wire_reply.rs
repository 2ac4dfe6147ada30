//! The reply walker: any kind of reply, any client, any pieces. In pieces and in one, the same must come of it.
//!
//! The first bytes choose: kind of reply, capabilities, what is wanted, and the size of the pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::ops::Range;
use wire::{
    Capabilities, ClientView, ErrPacket, Expect, OkPacket, PrepareOk, Progress, ReplyError, ReplySink, ReplyWalker,
    Status, Wanted,
};

#[derive(Default)]
struct Sink {
    segments: Vec<Segment>,
    events: usize,
}

enum Segment {
    Forward(Range<usize>),
    Insert(Vec<u8>),
}

impl ReplySink for Sink {
    fn forward(&mut self, range: Range<usize>) {
        self.segments.push(Segment::Forward(range));
    }
    fn insert(&mut self, bytes: &[u8]) {
        self.segments.push(Segment::Insert(bytes.to_vec()));
    }
    fn ok(&mut self, ok: &OkPacket<'_>) {
        self.events += 1 + ok.tracked.iter().count();
    }
    fn err(&mut self, _: &ErrPacket<'_>) {
        self.events += 1;
    }
    fn prepared(&mut self, _: PrepareOk) {
        self.events += 1;
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Walked {
    out: Vec<u8>,
    events: usize,
    end: Result<Progress, ReplyError>,
}

fn walk(expect: Expect, view: &ClientView<'_>, stream: &[u8], piece: usize) -> Walked {
    let mut walker = ReplyWalker::new(expect, 1);
    let mut walked = Walked { out: Vec::new(), events: 0, end: Ok(Progress::More) };
    for piece in stream.chunks(piece) {
        let mut piece = piece.to_vec();
        let mut sink = Sink::default();
        let fed = walker.feed(&mut piece, view, &mut sink);
        for segment in sink.segments {
            match segment {
                Segment::Forward(range) => walked.out.extend_from_slice(&piece[range]),
                Segment::Insert(bytes) => walked.out.extend_from_slice(&bytes),
            }
        }
        walked.events += sink.events;
        walked.end = fed.map(|fed| fed.progress);
        if walked.end != Ok(Progress::More) {
            break;
        }
    }
    walked
}

fuzz_target!(|bytes: &[u8]| {
    let Some(([kind, speaks, wants, piece], stream)) = bytes.split_first_chunk::<4>() else { return };
    let expect = match kind % 7 {
        0 => Expect::Query,
        1 => Expect::Execute,
        2 => Expect::Prepare,
        3 => Expect::Fetch,
        4 => Expect::FieldList,
        5 => Expect::Statistics,
        _ => Expect::Single,
    };
    let mut capabilities = Capabilities::PROTOCOL_41;
    if speaks & 1 == 1 {
        capabilities = capabilities | Capabilities::DEPRECATE_EOF;
    }
    if speaks & 2 == 2 {
        capabilities = capabilities | Capabilities::SESSION_TRACK;
    }
    let wanted = if wants & 1 == 1 { Wanted::everything() } else { Wanted::default() };
    let view = ClientView { capabilities, wanted: &wanted, statement_id: 9, status: Status::AUTOCOMMIT };
    let whole = walk(expect, &view, stream, stream.len().max(1));
    assert_eq!(walk(expect, &view, stream, usize::from(*piece).max(1)), whole);
    assert_eq!(walk(expect, &view, stream, 1), whole);
    // What is put in is bounded by what came: an EOF for each result, that is for each packet at the most.
    assert!(whole.out.len() <= 4 * stream.len());
});
