//! The road of a reply that is passed on as it is takes no memory.

use allocation_counter::measure;
use std::ops::Range;
use wire::frame::write_packet;
use wire::{
    Capabilities, ClientView, ErrPacket, Expect, OkPacket, PrepareOk, Progress, ReplySink, ReplyWalker,
    Status, Wanted,
};

/// Counts what it hears and keeps nothing.
#[derive(Default)]
struct Count {
    bytes: usize,
    tracked: usize,
}

impl ReplySink for Count {
    fn forward(&mut self, range: Range<usize>) {
        self.bytes += range.len();
    }
    fn insert(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
    }
    fn ok(&mut self, ok: &OkPacket<'_>) {
        self.tracked += ok.tracked.iter().count();
    }
    fn err(&mut self, _: &ErrPacket<'_>) {}
    fn prepared(&mut self, _: PrepareOk) {}
}

fn assert_takes_no_memory(expect: Expect, capabilities: Capabilities, payloads: &[&[u8]]) {
    let mut stream = Vec::new();
    let mut sequence = 1;
    payloads.iter().for_each(|payload| write_packet(&mut stream, &mut sequence, payload));
    let wanted = Wanted::everything();
    let view = ClientView { capabilities, wanted: &wanted, statement_id: 1, status: Status::AUTOCOMMIT };
    let mut count = Count::default();
    let mut progress = None;
    let used = measure(|| {
        let mut walker = ReplyWalker::new(expect, 1);
        progress = walker.feed(&mut stream, &view, &mut count).ok().map(|fed| fed.progress);
    });
    assert_eq!(progress, Some(Progress::Done));
    assert_eq!(used.count_total, 0, "allocations");
    assert!(count.bytes >= stream.len());
}

const OK: &[u8] = b"\x00\x01\x00\x02\x40\x00\x00\x00\x07\x03\x05\x00\x03u:1";
const END: &[u8] = b"\xFE\x00\x00\x02\x00\x00\x00";
const SELECT: &[&[u8]] = &[&[1], b"\x03def", b"\x01x", END];

#[test]
fn nor_does_an_ok_whose_state_the_client_wants() {
    let both = Capabilities::DEPRECATE_EOF | Capabilities::SESSION_TRACK;
    assert_takes_no_memory(Expect::Query, both, &[OK]);
}

#[test]
fn a_select_takes_none_whatever_the_client_speaks() {
    for expect in [Expect::Query, Expect::Execute] {
        assert_takes_no_memory(expect, Capabilities::DEPRECATE_EOF, SELECT);
        assert_takes_no_memory(expect, Capabilities::PROTOCOL_41, SELECT);
    }
}

#[test]
fn nor_does_a_prepared_statement() {
    let payloads: &[&[u8]] = &[b"\0\x07\0\0\0\x01\0\x01\0\0\0\0", b"\x03def", b"\x03def"];
    assert_takes_no_memory(Expect::Prepare, Capabilities::PROTOCOL_41, payloads);
}
