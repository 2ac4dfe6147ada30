//! What was said in reply, taken apart so that it can be held beside what another one said.

use wire::Status;

use super::corpus::Free;
use crate::harness::client::{Failure, ServerError};
use crate::harness::prepared::Prepared;
use crate::harness::reply::{End, Part, Reply};

/// One thing that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    /// What kind of part of a reply begins here, and the number of its first packet.
    Begin(String),
    Affected(u64),
    InsertId(u64),
    Status(u16),
    Warnings(u16),
    Info(String),
    /// A column's definition.
    Column(Vec<u8>),
    Row(Vec<u8>),
    /// The number and SQLSTATE of an error.
    Error(u16, String),
    ErrorText(String),
}

impl Fact {
    /// The parts of a reply, one after the other.
    pub(super) fn of_reply(reply: &Reply) -> Vec<Self> {
        let mut facts = Vec::new();
        for part in &reply.parts {
            match part {
                Part::Ok(end) => {
                    facts.push(Self::Begin("OK".to_owned()));
                    Self::add_end(&mut facts, end);
                }
                Part::Rows { columns, rows, end } => {
                    facts.push(Self::Begin(format!("{} columns", columns.len())));
                    facts.extend(columns.iter().cloned().map(Self::Column));
                    facts.extend(rows.iter().cloned().map(Self::Row));
                    facts.push(Self::Begin("end of rows".to_owned()));
                    Self::add_end(&mut facts, end);
                }
                Part::Err(error) => facts.extend(Self::of_error(error)),
                Part::Infile(name) => facts.push(Self::Begin(format!("wants the file {name}"))),
            }
        }
        // Their order is right, or the client would not have read them; the last one tells whether one was lost or added.
        let last = reply.packets.last().map_or(0, |packet| packet.sequence);
        facts.push(Self::Begin(format!("done with packet {last}")));
        facts
    }

    fn add_end(facts: &mut Vec<Self>, end: &End) {
        facts.push(Self::Affected(end.affected_rows));
        facts.push(Self::InsertId(end.last_insert_id));
        facts.push(Self::Status(end.status.0));
        facts.push(Self::Warnings(end.warnings));
        facts.push(Self::Info(end.info.clone()));
    }

    pub(super) fn of_error(error: &ServerError) -> Vec<Self> {
        vec![
            Self::Begin("ERR".to_owned()),
            Self::Error(error.code, error.state.clone()),
            Self::ErrorText(error.message.clone()),
        ]
    }

    /// The reply to COM_STMT_PREPARE. The statement's number is the proxy's own.
    pub(super) fn of_prepared(prepared: &Prepared) -> Vec<Self> {
        let said = format!("prepared: {} parameters, {} columns", prepared.params, prepared.columns);
        let mut facts = vec![Self::Begin(said)];
        if let Some((first, rest)) = prepared.packets.split_first() {
            let warnings = first.payload.get(10..12).map_or(0, |two| u16::from_le_bytes([two[0], two[1]]));
            facts.push(Self::Warnings(warnings));
            // The EOFs between are the proxy's own where the client wants any.
            let columns = rest.iter().filter(|packet| packet.payload.first() != Some(&0xFE));
            facts.extend(columns.map(|packet| Self::Column(packet.payload.clone())));
        }
        facts
    }

    pub(super) fn of_failure(failure: &Failure) -> Vec<Self> {
        vec![Self::Begin(format!("the conversation ended: {failure:?}"))]
    }

    /// Whether there is something for SHOW WARNINGS to tell.
    pub(super) fn warns(&self) -> bool {
        matches!(self, Self::Warnings(1..) | Self::Error(..))
    }
}

/// What the status flags say of how rows were found: estimates decide about that.
const PLAN: u16 = Status::NO_INDEX_USED.0 | Status::NO_GOOD_INDEX_USED.0;

/// Everything in which two replies differ, in words: "WHAT: SERVER / PROXY".
pub(super) fn differences(server: &[Fact], proxy: &[Fact], free: Free) -> Vec<String> {
    let counts = |fact: &&Fact| free != Free::Rows || !matches!(fact, Fact::Row(_));
    let (mut server, mut proxy) = (server.iter().filter(counts), proxy.iter().filter(counts));
    let mut found = Vec::new();
    loop {
        match (server.next(), proxy.next()) {
            (None, None) => return found,
            (Some(one), Some(other)) if one == other => {}
            (Some(Fact::Row(_)), Some(Fact::Row(_))) if free == Free::Values => {}
            (Some(Fact::Status(one)), Some(Fact::Status(other)))
                if matches!(free, Free::Values | Free::Rows) && (one ^ other) & !PLAN == 0 => {}
            // The number of the last packet follows from the number of rows.
            (Some(Fact::Begin(one)), Some(Fact::Begin(other)))
                if free == Free::Rows && one.starts_with("done") && other.starts_with("done") => {}
            (Some(Fact::Info(_)), Some(Fact::Info(_)))
            | (Some(Fact::ErrorText(_)), Some(Fact::ErrorText(_)))
                if free == Free::Words => {}
            (Some(one), Some(other)) if one.name() == other.name() => found.extend(one.differs_from(other)),
            // From here on nothing stands beside its like.
            (one, other) => {
                let show = |fact: Option<&Fact>| {
                    fact.map_or("nothing".to_owned(), |fact| format!("{} {}", fact.name(), fact.shown()))
                };
                found.push(format!("reply: {} / {}", show(one), show(other)));
                return found;
            }
        }
    }
}

impl Fact {
    fn name(&self) -> &'static str {
        match self {
            Self::Begin(_) => "part",
            Self::Affected(_) => "affected rows",
            Self::InsertId(_) => "last insert id",
            Self::Status(_) => "status",
            Self::Warnings(_) => "warnings",
            Self::Info(_) => "info",
            Self::Column(_) => "column",
            Self::Row(_) => "row",
            Self::Error(..) => "error",
            Self::ErrorText(_) => "text",
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Begin(text) | Self::Info(text) | Self::ErrorText(text) => text.clone(),
            Self::Affected(number) | Self::InsertId(number) => number.to_string(),
            Self::Status(bits) => format!("{bits:x}"),
            Self::Warnings(number) => number.to_string(),
            Self::Column(bytes) => {
                let fields = fields(bytes).into_iter().map(|(name, value)| format!("{name} {value}"));
                fields.collect::<Vec<_>>().join(", ")
            }
            Self::Row(bytes) => format!("{:.300}", bytes.escape_ascii().to_string()),
            Self::Error(code, state) => format!("{code} {state}"),
        }
    }

    fn differs_from(&self, other: &Self) -> Vec<String> {
        if let (Self::Column(one), Self::Column(other)) = (self, other) {
            let (one, other) = (fields(one), fields(other));
            let pairs = one.iter().zip(&other).filter(|(one, other)| one != other);
            let found = pairs.map(|((name, one), (_, other))| format!("column {}: {one} / {other}", name));
            return found.collect();
        }
        vec![format!("{}: {} / {}", self.name(), self.shown(), other.shown())]
    }
}

/// The fields of a column's definition by name. What cannot be read stands under "rest".
fn fields(mut bytes: &[u8]) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    for name in ["catalog", "schema", "table", "org_table", "name", "org_name"] {
        // Names are shorter than 251 bytes, or in error messages alone.
        let Some((length, rest)) = bytes.split_first().filter(|(length, _)| **length < 0xFB) else { break };
        let Some((text, rest)) = rest.split_at_checked(usize::from(*length)) else { break };
        fields.push((name, text.escape_ascii().to_string()));
        bytes = rest;
    }
    if let [12, charset @ .., kind, f0, f1, decimals, z0, z1] = bytes
        && let [c0, c1, l0, l1, l2, l3] = charset
    {
        fields.push(("charset", u16::from_le_bytes([*c0, *c1]).to_string()));
        fields.push(("length", u32::from_le_bytes([*l0, *l1, *l2, *l3]).to_string()));
        fields.push(("type", kind.to_string()));
        fields.push(("flags", format!("{:x}", u16::from_le_bytes([*f0, *f1]))));
        fields.push(("decimals", decimals.to_string()));
        fields.push(("rest", [*z0, *z1].escape_ascii().to_string()));
    } else {
        fields.push(("rest", bytes.escape_ascii().to_string()));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::reply::Packet;

    /// A change, and what is noticed of it.
    type Case<T> = (fn(&mut T), &'static str);

    fn column(flags: u8) -> Vec<u8> {
        let names = b"\x03def\x01s\x01t\x01t\x01n\x01o";
        [&names[..], &[12, 45, 0, 20, 0, 0, 0, 3, flags, 0, 0, 0, 0]].concat()
    }

    fn end() -> End {
        End { warnings: 2, status: Status(0x22), ..End::default() }
    }

    fn rows() -> Vec<Part> {
        let rows = vec![b"\x01a".to_vec(), b"\x01b".to_vec()];
        vec![Part::Rows { columns: vec![column(1)], rows, end: end() }]
    }

    fn error() -> ServerError {
        ServerError { code: 1054, state: "42S22".to_owned(), message: "Unknown".to_owned() }
    }

    fn facts(parts: Vec<Part>) -> Vec<Fact> {
        let packets = vec![Packet { sequence: 5, payload: Vec::new() }];
        Fact::of_reply(&Reply { parts, packets, middles: Vec::new(), out_ends: Vec::new() })
    }

    /// What is noticed when a reply is changed so.
    fn noticed(parts: &[Part], change: impl Fn(&mut Part), free: Free) -> Vec<String> {
        let mut changed = parts.to_vec();
        change(&mut changed[0]);
        differences(&facts(parts.to_vec()), &facts(changed), free)
    }

    #[test]
    fn a_reply_is_like_itself() {
        for parts in [rows(), vec![Part::Ok(end())], vec![Part::Err(error())]] {
            assert!(noticed(&parts, |_| {}, Free::Nothing).is_empty());
        }
    }

    #[test]
    fn every_change_of_a_result_set_is_noticed() {
        let cases: [Case<Part>; 8] = [
            (|part| set_rows(part, |rows| rows[1][1] = b'c'), "row: \\x01b / \\x01c"),
            (|part| set_rows(part, |rows| drop(rows.pop())), "reply: row \\x01b / part end of rows"),
            (|part| set_end(part, |end| end.warnings = 1), "warnings: 2 / 1"),
            (|part| set_end(part, |end| end.status = Status(2)), "status: 22 / 2"),
            (|part| set_end(part, |end| end.info = "x".to_owned()), "info:  / x"),
            (|part| set_end(part, |end| end.affected_rows = 7), "affected rows: 0 / 7"),
            (|part| set_end(part, |end| end.last_insert_id = 7), "last insert id: 0 / 7"),
            (
                |part| {
                    if let Part::Rows { columns, .. } = part {
                        columns[0] = column(3);
                    }
                },
                "column flags: 1 / 3",
            ),
        ];
        for (change, expected) in cases {
            let found = noticed(&rows(), change, Free::Nothing).join("; ");
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn every_byte_of_a_column_counts() {
        for index in 0..column(1).len() {
            let change = |part: &mut Part| {
                if let Part::Rows { columns, .. } = part {
                    columns[0][index] ^= 0x40;
                }
            };
            assert!(!noticed(&rows(), change, Free::Values).is_empty(), "byte {index}");
        }
    }

    #[test]
    fn every_change_of_an_error_is_noticed() {
        let parts = [Part::Err(error())];
        let cases: [Case<ServerError>; 3] = [
            (|error| error.message = "unknown".to_owned(), "text: Unknown / unknown"),
            (|error| error.code = 1, "error: 1054 42S22 / 1 42S22"),
            (|error| error.state = "HY000".to_owned(), "error: 1054 42S22 / 1054 HY000"),
        ];
        for (change, expected) in cases {
            let change = |part: &mut Part| {
                if let Part::Err(error) = part {
                    change(error);
                }
            };
            assert_eq!(noticed(&parts, change, Free::Nothing), [expected]);
        }
    }

    #[test]
    fn what_is_free_is_not_looked_at_and_nothing_else() {
        let value = |part: &mut Part| set_rows(part, |rows| rows[1][1] = b'c');
        let fewer = |part: &mut Part| set_rows(part, |rows| drop(rows.pop()));
        let warnings = |part: &mut Part| set_end(part, |end| end.warnings = 1);
        let plan = |part: &mut Part| set_end(part, |end| end.status = Status(2));
        let inside = |part: &mut Part| set_end(part, |end| end.status = Status(0x23));
        assert!(noticed(&rows(), value, Free::Values).is_empty());
        assert!(noticed(&rows(), plan, Free::Values).is_empty());
        assert_eq!(noticed(&rows(), inside, Free::Values), ["status: 22 / 23"]);
        assert!(!noticed(&rows(), fewer, Free::Values).is_empty());
        assert!(noticed(&rows(), fewer, Free::Rows).is_empty());
        for free in [Free::Values, Free::Rows, Free::Words] {
            assert_eq!(noticed(&rows(), warnings, free), ["warnings: 2 / 1"]);
        }
    }

    fn set_rows(part: &mut Part, change: impl Fn(&mut Vec<Vec<u8>>)) {
        if let Part::Rows { rows, .. } = part {
            change(rows);
        }
    }

    fn set_end(part: &mut Part, change: impl Fn(&mut End)) {
        if let Part::Rows { end, .. } | Part::Ok(end) = part {
            change(end);
        }
    }
}
