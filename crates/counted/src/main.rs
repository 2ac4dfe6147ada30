//! `counted WORK TIMES`: does one piece of what every statement costs so many times over. `scripts/instructions.sh` runs it
//! under valgrind with two numbers, and what the second run takes more is the price of the difference: exact, whatever else
//! the machine does.

use std::hint::black_box;
use std::ops::Range;
use std::process::ExitCode;

use wire::prepared::PrepareOk;
use wire::reply::{ClientView, Expect, Progress, ReplySink, ReplyWalker};
use wire::rows::{ColumnType, write_text_result};
use wire::wanted::Wanted;
use wire::{Capabilities, ErrPacket, OkPacket, Status};

/// Statements as applications send them.
const STATEMENTS: [(&str, &str); 5] = [
    ("classify-point", "SELECT c FROM sbtest1 WHERE id=5023"),
    (
        "classify-join",
        "SELECT o.id, o.total, c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.state = 'open' AND \
         o.created > '2026-01-01' ORDER BY o.created DESC LIMIT 20",
    ),
    (
        "classify-insert",
        "INSERT INTO sbtest1 (id, k, c, pad) VALUES (5012, 5017, '68487932199-96439406143', '67847967377')",
    ),
    ("classify-update", "UPDATE sbtest1 SET k=k+1 WHERE id=5014"),
    ("classify-begin", "BEGIN"),
];

/// Replies: how many rows of how many bytes, and whether the client speaks DEPRECATE_EOF as the server does.
const REPLIES: [(&str, usize, usize, bool); 3] =
    [("walk-row", 1, 120, true), ("walk-row-eof", 1, 120, false), ("walk-100-rows", 100, 120, true)];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [work, times] = arguments.as_slice() else { return usage() };
    let Ok(times) = times.parse::<u32>() else { return usage() };
    if let Some((_, text)) = STATEMENTS.iter().find(|(name, _)| name == work) {
        classify(text.as_bytes(), times);
    } else if let Some((_, rows, length, deprecates)) = REPLIES.iter().find(|(name, ..)| name == work) {
        walk(*rows, *length, *deprecates, times);
    } else {
        return usage();
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    let names = STATEMENTS.iter().map(|(name, _)| *name).chain(REPLIES.iter().map(|(name, ..)| *name));
    eprintln!("counted WORK TIMES; WORK is one of {}", names.collect::<Vec<_>>().join(", "));
    ExitCode::from(2)
}

fn classify(text: &[u8], times: u32) {
    let dialect = sql::Dialect::default();
    for _ in 0..times {
        black_box(sql::classify(black_box(text), dialect));
    }
}

fn walk(rows: usize, length: usize, deprecates: bool, times: u32) {
    let spoken = Capabilities::PROTOCOL_41 | Capabilities::SESSION_TRACK | Capabilities::DEPRECATE_EOF;
    let rows = vec![vec![Some(vec![b'x'; length])]; rows];
    let mut reply = Vec::new();
    let columns = [("c", ColumnType::Text)];
    if write_text_result(&mut reply, &mut 1, &columns, &rows, Status::AUTOCOMMIT, (spoken, 0)).is_err() {
        return;
    }
    let wanted = Wanted::default();
    let capabilities = if deprecates { spoken } else { spoken.without(Capabilities::DEPRECATE_EOF) };
    let view = ClientView { capabilities, wanted: &wanted, statement_id: 0, status: Status::AUTOCOMMIT };
    let mut chunk = reply.clone();
    for _ in 0..times {
        if !deprecates {
            // The numbers of its packets were corrected in place.
            chunk.copy_from_slice(&reply);
        }
        let mut walker = ReplyWalker::new(Expect::Query, 1);
        let fed = walker.feed(black_box(&mut chunk), &view, &mut Sent::default());
        assert!(fed.is_ok_and(|fed| fed.progress == Progress::Done), "the reply was not walked to its end");
    }
}

/// How many bytes would go to the client.
#[derive(Default)]
struct Sent(usize);

impl ReplySink for Sent {
    fn forward(&mut self, range: Range<usize>) {
        self.0 += black_box(range).len();
    }

    fn insert(&mut self, bytes: &[u8]) {
        self.0 += black_box(bytes).len();
    }

    fn ok(&mut self, ok: &OkPacket<'_>) {
        black_box(ok.status);
    }

    fn err(&mut self, err: &ErrPacket<'_>) {
        black_box(err.code);
    }

    fn prepared(&mut self, prepared: PrepareOk) {
        black_box(prepared);
    }
}
