//! A plain parser of replies as a client reads them, written apart from the walker: whole streams, either protocol.

use wire::{Capabilities, ErrPacket, Expect, OkPacket, PrepareOk, Status};

/// One packet, as far as a client cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Packet {
    Ok {
        header: u8,
        affected_rows: u64,
        last_insert_id: u64,
        status: Status,
        info: Vec<u8>,
        tracked: Vec<u8>,
    },
    /// Behind definitions.
    MiddleEof(Status),
    /// Behind rows or definitions without a count, or as the only reply.
    LastEof(Status),
    Err(u16, Vec<u8>),
    Count(u64),
    Prepared(PrepareOk),
    /// Definitions, rows, texts, file names: their bytes.
    Data(Vec<u8>),
}

/// Takes the stream apart; panics with a reason where a client would give up.
pub(crate) fn parse(
    expect: Expect,
    first_sequence: u8,
    stream: &[u8],
    capabilities: Capabilities,
) -> Vec<Packet> {
    let mut parser = Parser {
        payloads: payloads(first_sequence, stream),
        capabilities,
        old: !capabilities.contains(Capabilities::DEPRECATE_EOF),
        packets: Vec::new(),
    };
    match expect {
        Expect::Query | Expect::Execute => while parser.result(expect) {},
        Expect::Prepare => parser.prepared(),
        Expect::Fetch | Expect::FieldList => drop(parser.rows()),
        Expect::Statistics => parser.data(),
        Expect::Single => parser.single(),
    }
    assert!(parser.payloads.is_empty(), "packets behind the end: {:?}", parser.payloads);
    parser.packets
}

/// The payloads of a stream, in order, after checking the sequence numbers.
pub(crate) fn payloads(first_sequence: u8, mut stream: &[u8]) -> Vec<Vec<u8>> {
    let mut sequence = first_sequence;
    let mut payloads = Vec::new();
    let mut payload = Vec::new();
    while !stream.is_empty() {
        let length = usize::from(stream[0]) | usize::from(stream[1]) << 8 | usize::from(stream[2]) << 16;
        assert_eq!(stream[3], sequence, "sequence number of packet {}", payloads.len());
        payload.extend_from_slice(&stream[4..4 + length]);
        if length < 0xFF_FFFF {
            payloads.push(std::mem::take(&mut payload));
        }
        sequence = sequence.wrapping_add(1);
        stream = &stream[4 + length..];
    }
    assert!(payload.is_empty(), "the last packet is not all there");
    payloads
}

struct Parser {
    payloads: Vec<Vec<u8>>,
    capabilities: Capabilities,
    old: bool,
    packets: Vec<Packet>,
}

impl Parser {
    fn next(&mut self) -> Vec<u8> {
        assert!(!self.payloads.is_empty(), "a packet is missing behind {:?}", self.packets);
        self.payloads.remove(0)
    }

    fn peek(&self) -> Option<u8> {
        self.payloads.first().and_then(|payload| payload.first().copied())
    }

    fn data(&mut self) {
        let payload = self.next();
        self.packets.push(Packet::Data(payload));
    }

    /// `true` if another result follows.
    fn result(&mut self, expect: Expect) -> bool {
        match self.peek() {
            Some(0x00) => self.ok().contains(Status::MORE_RESULTS_EXISTS),
            Some(0xFF) => self.err(),
            Some(0xFB) => {
                self.data();
                false
            }
            _ => {
                let count = self.next();
                let [columns @ 1..=250] = count[..] else { panic!("not a number of columns: {count:?}") };
                self.packets.push(Packet::Count(u64::from(columns)));
                for _ in 0..columns {
                    self.data();
                }
                if self.old {
                    let eof = self.next();
                    let status = eof_status(&eof);
                    if status.contains(Status::CURSOR_EXISTS) {
                        assert_eq!(expect, Expect::Execute);
                        self.packets.push(Packet::LastEof(status));
                        return status.contains(Status::MORE_RESULTS_EXISTS);
                    }
                    self.packets.push(Packet::MiddleEof(status));
                    if status.contains(Status::PS_OUT_PARAMS | Status::MORE_RESULTS_EXISTS) {
                        self.rows();
                        return true;
                    }
                }
                self.rows().contains(Status::MORE_RESULTS_EXISTS)
            }
        }
    }

    /// Rows up to what ends them; no status for an error.
    fn rows(&mut self) -> Status {
        loop {
            match self.peek() {
                Some(0xFF) => {
                    self.err();
                    return Status::default();
                }
                Some(0xFE) if self.payloads[0].len() < 0xFF_FFFF => return self.end(),
                _ => self.data(),
            }
        }
    }

    fn end(&mut self) -> Status {
        if !self.old {
            return self.ok();
        }
        let status = eof_status(&self.next());
        self.packets.push(Packet::LastEof(status));
        status
    }

    fn ok(&mut self) -> Status {
        let payload = self.next();
        let ok = OkPacket::parse(&payload, self.capabilities).unwrap();
        if !self.capabilities.contains(Capabilities::SESSION_TRACK) {
            assert!(ok.tracked.is_empty());
        }
        self.packets.push(Packet::Ok {
            header: payload[0],
            affected_rows: ok.affected_rows,
            last_insert_id: ok.last_insert_id,
            status: ok.status,
            info: ok.info.to_vec(),
            tracked: ok.tracked.as_bytes().to_vec(),
        });
        ok.status
    }

    fn err(&mut self) -> bool {
        let payload = self.next();
        let err = ErrPacket::parse(&payload).unwrap();
        self.packets.push(Packet::Err(err.code, err.message.to_vec()));
        false
    }

    fn single(&mut self) {
        match self.peek() {
            Some(0x00) => drop(self.ok()),
            Some(0xFF) => drop(self.err()),
            Some(0xFE) => drop(self.end()),
            other => panic!("not a single reply: {other:?}"),
        }
    }

    fn prepared(&mut self) {
        if self.peek() == Some(0xFF) {
            self.err();
            return;
        }
        let payload = self.next();
        let ok = PrepareOk::parse(&payload).unwrap();
        self.packets.push(Packet::Prepared(ok));
        for count in [ok.params, ok.columns] {
            for _ in 0..count {
                self.data();
            }
            if count > 0 && self.old {
                let status = eof_status(&self.next());
                self.packets.push(Packet::MiddleEof(status));
            }
        }
    }
}

fn eof_status(payload: &[u8]) -> Status {
    let [0xFE, _, _, low, high] = *payload else { panic!("an EOF is due, not {payload:?}") };
    Status(u16::from_le_bytes([low, high]))
}
