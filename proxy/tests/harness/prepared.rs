//! Prepared statements, as a client sends them.

use wire::{Capabilities, CommandCode, ErrPacket, PrepareOk};

use super::client::{Client, Failure, ServerError};
use super::reply::{Packet, Part, Reply};

/// A parameter as it is sent: its type (`enum_field_types`), and its value encoded; NULL without one.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) kind: u8,
    pub(crate) unsigned: bool,
    pub(crate) value: Option<Vec<u8>>,
    /// The value was sent ahead.
    pub(crate) ahead: bool,
}

impl Param {
    /// A value that is already encoded for its type.
    pub(crate) fn raw(kind: u8, value: &[u8]) -> Self {
        Self { kind, unsigned: false, value: Some(value.to_vec()), ahead: false }
    }

    /// MYSQL_TYPE_LONGLONG.
    pub(crate) fn number(value: i64) -> Self {
        Self::raw(8, &value.to_le_bytes())
    }

    /// MYSQL_TYPE_VAR_STRING.
    pub(crate) fn text(value: &str) -> Self {
        Self::bytes(0xFD, value.as_bytes())
    }

    /// Any type whose values are length-encoded bytes.
    pub(crate) fn bytes(kind: u8, value: &[u8]) -> Self {
        let mut encoded = Vec::new();
        match u64::try_from(value.len()).unwrap() {
            length @ 0..=250 => encoded.push(u8::try_from(length).unwrap()),
            length @ 251..=0xFFFF => {
                encoded.push(0xFC);
                encoded.extend_from_slice(&length.to_le_bytes()[..2]);
            }
            length @ 0x1_0000..=0xFF_FFFF => {
                encoded.push(0xFD);
                encoded.extend_from_slice(&length.to_le_bytes()[..3]);
            }
            length => {
                encoded.push(0xFE);
                encoded.extend_from_slice(&length.to_le_bytes());
            }
        }
        encoded.extend_from_slice(value);
        Self::raw(kind, &encoded)
    }

    /// NULL, with a type.
    pub(crate) fn null(kind: u8) -> Self {
        Self { kind, unsigned: false, value: None, ahead: false }
    }

    /// A value that COM_STMT_SEND_LONG_DATA brought.
    pub(crate) fn sent_ahead(kind: u8) -> Self {
        Self { kind, unsigned: false, value: Some(Vec::new()), ahead: true }
    }

    pub(crate) fn unsigned(mut self) -> Self {
        self.unsigned = true;
        self
    }
}

/// How a statement is executed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Execution {
    /// With the parameters' types, as the first time.
    WithTypes,
    /// Without them, as drivers do from the second time on.
    WithoutTypes,
    /// With types, into a read-only cursor.
    IntoCursor,
}

/// What COM_STMT_PREPARE was answered.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) id: u32,
    pub(crate) params: u16,
    pub(crate) columns: u16,
    pub(crate) packets: Vec<Packet>,
}

impl Client {
    /// COM_STMT_PREPARE and all of its reply.
    pub(crate) fn prepare(&mut self, text: impl AsRef<[u8]>) -> Result<Prepared, ServerError> {
        self.command(&[&[CommandCode::StmtPrepare.to_u8()], text.as_ref()].concat());
        self.read_prepared().unwrap_or_else(|failure| panic!("the reply broke off: {failure:?}"))
    }

    pub(crate) fn read_prepared(&mut self) -> Result<Result<Prepared, ServerError>, Failure> {
        let first = self.receive()?;
        if first.payload.first() == Some(&0xFF) {
            return Ok(Err(ServerError::of(&ErrPacket::parse(&first.payload)?)));
        }
        let ok = PrepareOk::parse(&first.payload)?;
        let mut packets = vec![first];
        let eof = usize::from(!self.capabilities.contains(Capabilities::DEPRECATE_EOF));
        for count in [ok.params, ok.columns] {
            let more = if count == 0 { 0 } else { usize::from(count) + eof };
            for _ in 0..more {
                packets.push(self.receive()?);
            }
        }
        Ok(Ok(Prepared { id: ok.statement_id, params: ok.params, columns: ok.columns, packets }))
    }

    /// Sends COM_STMT_EXECUTE.
    pub(crate) fn send_execute(&mut self, id: u32, params: &[Param], how: Execution) {
        let payload = execute(self.capabilities, id, params, how);
        self.command(&payload);
    }

    /// COM_STMT_EXECUTE and all of its reply.
    pub(crate) fn execute(&mut self, id: u32, params: &[Param], how: Execution) -> Reply {
        self.send_execute(id, params, how);
        self.read_reply()
    }

    /// COM_STMT_FETCH and its rows.
    pub(crate) fn fetch(&mut self, id: u32, count: u32) -> Reply {
        let argument = [id.to_le_bytes(), count.to_le_bytes()].concat();
        self.command(&[&[CommandCode::StmtFetch.to_u8()], argument.as_slice()].concat());
        let mut reply = Reply::default();
        let part: Part = reply.rows(self, Vec::new()).unwrap_or_else(|failure| panic!("{failure:?}"));
        reply.parts.push(part);
        reply
    }

    /// COM_STMT_SEND_LONG_DATA.
    pub(crate) fn long_data(&mut self, id: u32, param: u16, data: &[u8]) {
        let head = [&[CommandCode::StmtSendLongData.to_u8()], &id.to_le_bytes()[..], &param.to_le_bytes()];
        self.command(&[&head.concat(), data].concat());
    }

    /// COM_STMT_CLOSE.
    pub(crate) fn close(&mut self, id: u32) {
        self.command(&[&[CommandCode::StmtClose.to_u8()], &id.to_le_bytes()[..]].concat());
    }
}

fn execute(capabilities: Capabilities, id: u32, params: &[Param], how: Execution) -> Vec<u8> {
    let cursor = u8::from(how == Execution::IntoCursor);
    let mut payload =
        [&[CommandCode::StmtExecute.to_u8()], &id.to_le_bytes()[..], &[cursor, 1, 0, 0, 0]].concat();
    if params.is_empty() {
        return payload;
    }
    let named = capabilities.contains(Capabilities::QUERY_ATTRIBUTES);
    if named {
        payload.push(u8::try_from(params.len()).unwrap());
    }
    let mut nulls = vec![0_u8; params.len().div_ceil(8)];
    for (index, _) in params.iter().enumerate().filter(|(_, param)| param.value.is_none()) {
        nulls[index / 8] |= 1 << (index % 8);
    }
    payload.extend_from_slice(&nulls);
    payload.push(u8::from(how != Execution::WithoutTypes));
    if how != Execution::WithoutTypes {
        for param in params {
            payload.extend_from_slice(&[param.kind, if param.unsigned { 0x80 } else { 0 }]);
            if named {
                // The name of a parameter of the statement itself is empty.
                payload.push(0);
            }
        }
    }
    for value in params.iter().filter(|param| !param.ahead).filter_map(|param| param.value.as_ref()) {
        payload.extend_from_slice(value);
    }
    payload
}
