//! Reading replies: written anew from the protocol's description, for it judges the walker that the proxy uses.

use wire::{Capabilities, ErrPacket, OkPacket, Status};

use super::client::{Client, Failure, ServerError};

/// A packet, its frames joined.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Packet {
    /// The number of its first frame.
    pub(crate) sequence: u8,
    pub(crate) payload: Vec<u8>,
}

impl std::fmt::Debug for Packet {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = &self.payload[..self.payload.len().min(200)];
        write!(formatter, "#{} [{}] {}", self.sequence, self.payload.len(), shown.escape_ascii())
    }
}

/// An OK packet, or the EOF that stands for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) affected_rows: u64,
    pub(crate) last_insert_id: u64,
    pub(crate) status: Status,
    pub(crate) warnings: u16,
    pub(crate) info: String,
    /// The trackers, raw.
    pub(crate) tracked: Vec<u8>,
}

/// One result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Ok(End),
    Rows {
        /// The column definitions, raw.
        columns: Vec<Vec<u8>>,
        /// The rows, raw.
        rows: Vec<Vec<u8>>,
        end: End,
    },
    Err(ServerError),
    /// The server wants this file; the reply goes on after it was sent.
    Infile(String),
}

/// A whole reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    /// Every packet, in order.
    pub(crate) packets: Vec<Packet>,
    /// Which of them are the EOFs between columns and rows.
    pub(crate) middles: Vec<usize>,
    /// Which are the EOFs behind the values of OUT parameters.
    pub(crate) out_ends: Vec<usize>,
    /// What they mean.
    pub(crate) parts: Vec<Part>,
}

impl Reply {
    /// Reads until no more results follow, or a file is wanted.
    pub(crate) fn read(client: &mut Client) -> Result<Self, Failure> {
        let mut reply = Self::default();
        loop {
            let part = reply.part(client)?;
            let goes_on = match &part {
                Part::Ok(end) | Part::Rows { end, .. } => end.status.contains(Status::MORE_RESULTS_EXISTS),
                Part::Err(_) | Part::Infile(_) => false,
            };
            reply.parts.push(part);
            if !goes_on {
                return Ok(reply);
            }
        }
    }

    fn packet(&mut self, client: &mut Client) -> Result<Vec<u8>, Failure> {
        let packet = client.receive()?;
        let payload = packet.payload.clone();
        self.packets.push(packet);
        Ok(payload)
    }

    fn part(&mut self, client: &mut Client) -> Result<Part, Failure> {
        let first = self.packet(client)?;
        match first.first() {
            Some(0x00) => Ok(Part::Ok(ok(&first, client.capabilities)?)),
            // COM_SET_OPTION and COM_DEBUG are answered by an EOF.
            Some(0xFE) if first.len() < 9 => Ok(Part::Ok(ok(&first, client.capabilities)?)),
            Some(0xFF) => Ok(Part::Err(ServerError::of(&ErrPacket::parse(&first)?))),
            Some(0xFB) => Ok(Part::Infile(String::from_utf8_lossy(&first[1..]).into_owned())),
            _ => self.result_set(client, count(&first)?),
        }
    }

    fn result_set(&mut self, client: &mut Client, count: usize) -> Result<Part, Failure> {
        let mut columns = Vec::new();
        for _ in 0..count {
            columns.push(self.packet(client)?);
        }
        if !client.capabilities.contains(Capabilities::DEPRECATE_EOF) {
            let eof = ok(&self.packet(client)?, client.capabilities)?;
            self.middles.push(self.packets.len() - 1);
            if eof.status.contains(Status::CURSOR_EXISTS) {
                return Ok(Part::Rows { columns, rows: Vec::new(), end: eof });
            }
            // Whether more follows behind the values of OUT parameters is said here alone.
            if eof.status.contains(Status::PS_OUT_PARAMS) {
                let mut part = self.rows(client, columns)?;
                self.out_ends.push(self.packets.len() - 1);
                if let Part::Rows { end, .. } = &mut part
                    && eof.status.contains(Status::MORE_RESULTS_EXISTS)
                {
                    end.status = end.status | Status::MORE_RESULTS_EXISTS;
                }
                return Ok(part);
            }
        }
        self.rows(client, columns)
    }

    /// Rows until their end: of a result set, or of COM_STMT_FETCH, which has no columns in front.
    pub(crate) fn rows(&mut self, client: &mut Client, columns: Vec<Vec<u8>>) -> Result<Part, Failure> {
        let limit = if client.capabilities.contains(Capabilities::DEPRECATE_EOF) { 0xFF_FFFF } else { 9 };
        let mut rows = Vec::new();
        loop {
            let packet = self.packet(client)?;
            match packet.first() {
                Some(0xFE) if packet.len() < limit => {
                    return Ok(Part::Rows { columns, rows, end: ok(&packet, client.capabilities)? });
                }
                Some(0xFF) => return Ok(Part::Err(ServerError::of(&ErrPacket::parse(&packet)?))),
                _ => rows.push(packet),
            }
        }
    }

    /// The error, wherever it stands.
    pub(crate) fn error(&self) -> Option<ServerError> {
        self.parts.iter().find_map(|part| match part {
            Part::Err(error) => Some(error.clone()),
            _ => None,
        })
    }

    /// The first OK.
    pub(crate) fn ok(&self) -> &End {
        let found = self.parts.iter().find_map(|part| match part {
            Part::Ok(end) => Some(end),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("no OK in {self:?}"))
    }

    /// The rows of the first result set that has columns, in text form.
    pub(crate) fn text_rows(&self) -> Vec<Vec<Option<String>>> {
        let found = self.parts.iter().find_map(|part| match part {
            Part::Rows { rows, .. } => Some(rows.iter().map(|row| text_row(row)).collect()),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("no rows in {self:?}"))
    }
}

/// An OK packet, whichever header it has; also an EOF.
fn ok(payload: &[u8], capabilities: Capabilities) -> Result<End, Failure> {
    let ok = OkPacket::parse(payload, capabilities)?;
    Ok(End {
        affected_rows: ok.affected_rows,
        last_insert_id: ok.last_insert_id,
        status: ok.status,
        warnings: ok.warnings,
        info: String::from_utf8_lossy(ok.info).into_owned(),
        tracked: ok.tracked.as_bytes().to_vec(),
    })
}

/// A length-encoded number that is all of the packet.
fn count(payload: &[u8]) -> Result<usize, Failure> {
    match payload {
        [count @ 0..=0xFA] => Ok(usize::from(*count)),
        [0xFC, low, high] => Ok(usize::from(u16::from_le_bytes([*low, *high]))),
        _ => Err(Failure::Broken(format!("no column count: {payload:x?}"))),
    }
}

/// The values of a row in text form.
pub(crate) fn text_row(mut row: &[u8]) -> Vec<Option<String>> {
    let mut values = Vec::new();
    while let Some((first, rest)) = row.split_first() {
        row = rest;
        if *first == 0xFB {
            values.push(None);
            continue;
        }
        let width = match first {
            0xFC => 2,
            0xFD => 3,
            0xFE => 8,
            _ => 0,
        };
        let length = if width == 0 {
            usize::from(*first)
        } else {
            let (bytes, rest) = row.split_at(width);
            row = rest;
            bytes.iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte))
        };
        let (value, rest) = row.split_at(length);
        values.push(Some(String::from_utf8_lossy(value).into_owned()));
        row = rest;
    }
    values
}
