//! Rows in several frames.

use crate::parser::payloads;
use crate::walk::{COMBINATIONS, view, walk};
use wire::frame::{MAX_PAYLOAD, write_packet};
use wire::{Expect, Progress, ReplyWalker, Wanted};

/// A result set of one column and these rows, as a server sends it to the proxy.
fn result(rows: &[Vec<u8>]) -> Vec<u8> {
    let mut stream = Vec::new();
    let mut sequence = 1;
    write_packet(&mut stream, &mut sequence, &[1]);
    write_packet(&mut stream, &mut sequence, b"\x03def");
    for row in rows {
        write_packet(&mut stream, &mut sequence, row);
    }
    write_packet(&mut stream, &mut sequence, &[0xFE, 0, 0, 2, 0, 0, 0]);
    stream
}

/// A row whose first byte is 0xFE, as that of every value of 2^24 bytes or more is.
fn row(length: usize) -> Vec<u8> {
    let mut row = vec![b'x'; length];
    row[..9].copy_from_slice(&[0xFE, 0xF6, 0xFF, 0xFF, 0, 0, 0, 0, 0]);
    row
}

#[test]
fn long_rows_pass_whatever_they_start_with() {
    let wanted = Wanted::default();
    for length in [MAX_PAYLOAD - 1, MAX_PAYLOAD, MAX_PAYLOAD + 1, 2 * MAX_PAYLOAD] {
        // Below the limit, 0xFE would be the end: only longer rows start so.
        let mut long = row(length);
        if length < MAX_PAYLOAD {
            long[0] = 0xFD;
        }
        let rows = [b"\x01a".to_vec(), long, b"\x01b".to_vec()];
        let stream = result(&rows);
        for (tag, capabilities) in COMBINATIONS {
            let cuts: Vec<usize> = (1..stream.len()).step_by(65_537).collect();
            let mut walker = ReplyWalker::new(Expect::Query, 1);
            let walked = walk(&mut walker, &stream, &cuts, &view(capabilities, &wanted)).unwrap();
            assert_eq!(walked.progress, Progress::Done, "{length} {tag}");
            let payloads = payloads(1, &walked.out);
            let first = if tag.starts_with('0') { 3 } else { 2 };
            assert!(payloads[first..first + 3] == rows, "{length} {tag}: the rows differ");
            assert_eq!(payloads.len(), first + 4);
        }
    }
}

#[test]
fn a_continuation_may_start_with_anything() {
    let wanted = Wanted::default();
    let mut long = vec![0; MAX_PAYLOAD + 9];
    long[MAX_PAYLOAD..].copy_from_slice(&[0xFF, 0, 0, 0, 0, 0, 0, 0, 0]);
    let stream = result(&[long]);
    // The cuts fall before, into and behind the header of the second frame and its first bytes.
    let second = stream.len() - 11 - 13;
    for cut in second - 2..second + 8 {
        let mut walker = ReplyWalker::new(Expect::Execute, 1);
        let walked = walk(&mut walker, &stream, &[cut], &view(COMBINATIONS[0].1, &wanted)).unwrap();
        assert!(walked.out == stream, "cut at {cut}");
        assert_eq!(walked.progress, Progress::Done);
    }
}

#[test]
fn a_long_control_packet_is_refused_before_it_is_kept() {
    let wanted = Wanted::default();
    let view = view(COMBINATIONS[0].1, &wanted);
    let mut walker = ReplyWalker::new(Expect::Query, 1);
    let error = walk(&mut walker, &[0, 0, 0x20, 1, 0xFF], &[], &view).unwrap_err();
    assert_eq!(error, wire::ReplyError::ControlTooLong);
}
