//! Replies made up: how a server would send them to a client of any capabilities.

use proptest::prelude::*;
use wire::frame::write_packet;
use wire::{Capabilities, ErrPacket, OkPacket, SessionTrack, Status, Wanted};

/// A reply to COM_QUERY or COM_STMT_EXECUTE.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) results: Vec<Outcome>,
    pub(crate) error: Option<ErrPacket<'static>>,
    /// To COM_STMT_EXECUTE.
    pub(crate) execute: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Ok(Ok),
    Rows {
        columns: u8,
        rows: Vec<Vec<u8>>,
        end: Ok,
    },
    /// Rows that an error ends; only as the last result.
    Broken {
        columns: u8,
        rows: Vec<Vec<u8>>,
    },
    /// Only for executions.
    Cursor {
        columns: u8,
        end: Ok,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Ok {
    affected_rows: u64,
    last_insert_id: u64,
    status: Status,
    warnings: u16,
    info: Vec<u8>,
    tracked: Vec<u8>,
}

impl Reply {
    /// The stream for a client of these capabilities that wants to hear this, from this sequence number on.
    pub(crate) fn stream_for(&self, sequence: u8, capabilities: Capabilities, wanted: &Wanted) -> Vec<u8> {
        self.stream(sequence, capabilities, |ok, status, header| {
            let mut payload = Vec::new();
            ok.packet(status).write(&mut payload, header, capabilities, wanted).unwrap();
            payload
        })
    }

    /// The stream for the proxy, which hears all.
    pub(crate) fn stream_of_server(&self, sequence: u8) -> Vec<u8> {
        self.stream(sequence, Capabilities::PROTOCOL_41 | Capabilities::DEPRECATE_EOF, Ok::raw)
    }

    fn stream(
        &self,
        mut sequence: u8,
        capabilities: Capabilities,
        ok_payload: impl Fn(&Ok, Status, u8) -> Vec<u8>,
    ) -> Vec<u8> {
        let mut out = Vec::new();
        let mut write = |payload: &[u8]| write_packet(&mut out, &mut sequence, payload);
        let old = !capabilities.contains(Capabilities::DEPRECATE_EOF);
        let mut lasting = Status::AUTOCOMMIT;
        for (index, result) in self.results.iter().enumerate() {
            let more = index + 1 < self.results.len() || self.error.is_some();
            // The EOF behind an execution's definitions is put in only when the next packet is known. When that ends the
            // rows, its status is the latest.
            if let Outcome::Rows { rows, end, .. } = result
                && self.execute
                && rows.is_empty()
            {
                lasting = Status(end.status.0 & 0xA203);
            }
            let mut definitions = |columns: u8, eof: bool| {
                write(&[columns]);
                (0..columns).for_each(|column| write(&[3, b'd', b'e', b'f', column]));
                if eof && old {
                    write(&eof_payload(lasting, 0));
                }
            };
            match result {
                Outcome::Ok(_) => {}
                Outcome::Rows { columns, rows, .. } | Outcome::Broken { columns, rows } => {
                    definitions(*columns, true);
                    rows.iter().for_each(|row| write(row));
                }
                Outcome::Cursor { columns, .. } => definitions(*columns, false),
            }
            let (header, end) = match result {
                Outcome::Ok(end) => (0, end),
                Outcome::Rows { end, .. } | Outcome::Cursor { end, .. } => (0xFE, end),
                Outcome::Broken { .. } => continue,
            };
            let mut status = end.status;
            if more {
                status = status | Status::MORE_RESULTS_EXISTS;
            }
            if matches!(result, Outcome::Cursor { .. }) {
                status = status | Status::CURSOR_EXISTS;
            }
            if header == 0xFE && old {
                write(&eof_payload(status.without(Status::SESSION_STATE_CHANGED), end.warnings));
            } else {
                write(&ok_payload(end, status, header));
            }
            lasting = Status(status.0 & 0xA203);
        }
        if let Some(error) = &self.error {
            let mut payload = Vec::new();
            error.write(&mut payload, capabilities);
            write(&payload);
        }
        out
    }
}

impl Ok {
    /// As the servers write it, everything told.
    fn raw(&self, status: Status, header: u8) -> Vec<u8> {
        let mut payload = vec![header, 0xFE];
        payload.extend_from_slice(&self.affected_rows.to_le_bytes());
        match u8::try_from(self.last_insert_id) {
            Result::Ok(small @ 0..=250) => payload.push(small),
            _ => payload.extend_from_slice(&[
                0xFC,
                self.last_insert_id as u8,
                (self.last_insert_id >> 8) as u8,
            ]),
        }
        payload.extend_from_slice(&status.0.to_le_bytes());
        payload.extend_from_slice(&self.warnings.to_le_bytes());
        if !self.info.is_empty() || !self.tracked.is_empty() {
            payload.extend_from_slice(&lenenc(&self.info));
        }
        if !self.tracked.is_empty() {
            payload.extend_from_slice(&lenenc(&self.tracked));
        }
        payload
    }

    fn packet(&self, status: Status) -> OkPacket<'_> {
        OkPacket {
            affected_rows: self.affected_rows,
            last_insert_id: self.last_insert_id,
            status,
            warnings: self.warnings,
            info: &self.info,
            tracked: SessionTrack::parse(&self.tracked).unwrap(),
        }
    }
}

fn eof_payload(status: Status, warnings: u16) -> [u8; 5] {
    let [s0, s1] = status.0.to_le_bytes();
    let [w0, w1] = warnings.to_le_bytes();
    [0xFE, w0, w1, s0, s1]
}

pub(crate) fn reply(with_cursors: bool) -> impl Strategy<Value = Reply> {
    let last = prop_oneof![
        3 => Just((None, None)),
        1 => error().prop_map(|error| (None, Some(error))),
        1 => (columns(), rows(), error())
            .prop_map(|(columns, rows, error)| (Some(Outcome::Broken { columns, rows }), Some(error))),
    ];
    (prop::collection::vec(outcome(with_cursors), 1..4), last).prop_map(
        move |(mut results, (broken, error))| {
            results.extend(broken);
            Reply { results, error, execute: with_cursors }
        },
    )
}

fn outcome(with_cursors: bool) -> impl Strategy<Value = Outcome> {
    let cursor = if with_cursors { 1 } else { 0 };
    prop_oneof![
        2 => ok().prop_map(Outcome::Ok),
        3 => (columns(), rows(), ok()).prop_map(|(columns, rows, end)| Outcome::Rows { columns, rows, end }),
        cursor => (columns(), ok()).prop_map(|(columns, end)| Outcome::Cursor { columns, end }),
    ]
}

fn columns() -> impl Strategy<Value = u8> {
    prop_oneof![1..5_u8, Just(250)]
}

fn rows() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let row = (0..0xFE_u8, prop::collection::vec(any::<u8>(), 0..40));
    let row = row.prop_map(|(first, rest)| [&[first], rest.as_slice()].concat());
    prop_oneof![4 => prop::collection::vec(row.clone(), 0..5), 1 => prop::collection::vec(row, 250..300)]
}

fn error() -> impl Strategy<Value = ErrPacket<'static>> {
    (any::<u16>(), "[0-9A-Z]{5}", ".{0,30}").prop_map(|(code, state, message)| ErrPacket {
        code,
        sql_state: state.as_bytes().try_into().unwrap(),
        message: message.into_bytes().into(),
    })
}

fn ok() -> impl Strategy<Value = Ok> {
    let tracked = prop::collection::vec(tracked(), 0..4).prop_map(|entries| entries.concat());
    let status = any::<u16>().prop_map(|bits| Status(bits & 0xB333));
    (0x100_0000..u64::MAX, 0..300_u64, status, any::<u16>(), "[a-z ]{0,20}", tracked).prop_map(
        |(affected_rows, last_insert_id, status, warnings, info, tracked)| Ok {
            affected_rows,
            last_insert_id,
            status: if tracked.is_empty() { status } else { status | Status::SESSION_STATE_CHANGED },
            warnings,
            info: info.into_bytes(),
            tracked,
        },
    )
}

/// One entry of session state, of every kind and of one unknown.
fn tracked() -> impl Strategy<Value = Vec<u8>> {
    let text = || prop::collection::vec(any::<u8>(), 0..20).prop_map(|text| lenenc(&text));
    let name = prop::sample::select(vec![
        "autocommit",
        "time_zone",
        "sql_mode",
        "Character_Set_Client",
        "last_gtid",
    ]);
    let pair = (name, text()).prop_map(|(name, value)| [lenenc(name.as_bytes()), value].concat());
    let long =
        prop::collection::vec(b'a'..=b'z', 200..400).prop_map(|gtids| [vec![0], lenenc(&gtids)].concat());
    prop_oneof![
        prop::collection::vec(pair, 1..4).prop_map(|pairs| entry(0, &pairs.concat())),
        text().prop_map(|text| entry(1, &text)),
        prop_oneof![Just(entry(2, b"1")), Just(entry(2, b"0"))],
        long.prop_map(|gtids| entry(3, &gtids)),
        text().prop_map(|text| entry(4, &text)),
        text().prop_map(|text| entry(5, &text)),
        text().prop_map(|text| entry(99, &text)),
    ]
}

fn entry(kind: u8, block: &[u8]) -> Vec<u8> {
    [vec![kind], lenenc(block)].concat()
}

fn lenenc(text: &[u8]) -> Vec<u8> {
    let length = text.len();
    let head = if length < 251 { vec![length as u8] } else { vec![0xFC, length as u8, (length >> 8) as u8] };
    [head, text.to_vec()].concat()
}
