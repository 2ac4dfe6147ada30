//! A result set the proxy answers itself.

use crate::capability::extended;
use crate::eof::write_eof;
use crate::frame::write_packet;
use crate::put::Put;
use crate::reader::NULL;
use crate::{Capabilities, Malformed, Status};

/// Collation of the columns: utf8mb4_general_ci, known to every server and client.
const UTF8MB4_GENERAL_CI: u16 = 45;

/// Collation of the columns that are no text.
const BINARY: u16 = 63;

// Types of columns (`enum_field_types`).
const MYSQL_TYPE_LONG: u8 = 3;
const MYSQL_TYPE_LONGLONG: u8 = 8;
const MYSQL_TYPE_VAR_STRING: u8 = 0xFD;

/// NOT_NULL_FLAG, UNSIGNED_FLAG and BINARY_FLAG of a column.
const NUMBER_FLAGS: u16 = 0xA1;

/// The width told for every column of texts, in bytes: clients take it as a hint for display.
const WIDTH: u32 = 1024;

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Texts.
    Text,
    /// Whole numbers of 32 bits, without a sign and never NULL.
    UnsignedInt,
    /// Whole numbers of 64 bits, without a sign and never NULL.
    UnsignedBigInt,
}

impl ColumnType {
    /// Collation, width in bytes, type and flags.
    fn described(self) -> (u16, u32, u8, u16) {
        match self {
            Self::Text => (UTF8MB4_GENERAL_CI, WIDTH, MYSQL_TYPE_VAR_STRING, 0),
            Self::UnsignedInt => (BINARY, 10, MYSQL_TYPE_LONG, NUMBER_FLAGS),
            Self::UnsignedBigInt => (BINARY, 21, MYSQL_TYPE_LONGLONG, NUMBER_FLAGS),
        }
    }
}

/// A column of a result set: its name, and what stands in it.
pub type Column<'a> = (&'a str, ColumnType);

/// The most columns of a result set (MAX_FIELDS of the servers).
const MAX_COLUMNS: usize = 4096;

/// Appends a result set, its values as texts, as whole frames, for a receiver of these capabilities (and MariaDB's own); advances `sequence`
/// (usually from 1). Rows shorter than `columns` are filled with NULL, longer ones cut.
///
/// # Errors
/// No column, or more than servers allow.
pub fn write_text_result(
    out: &mut Vec<u8>,
    sequence: &mut u8,
    columns: &[Column<'_>],
    rows: &[Vec<Option<Vec<u8>>>],
    status: Status,
    (receiver, own): (Capabilities, u32),
) -> Result<(), Malformed> {
    if columns.is_empty() || columns.len() > MAX_COLUMNS {
        return Err(Malformed::new("number of columns out of range"));
    }
    let mut payload = Vec::new();
    payload.put_lenenc(columns.len() as u64);
    write_packet(out, sequence, &payload);
    for (name, kind) in columns {
        payload.clear();
        put_column(&mut payload, name.as_bytes(), *kind, own & extended::EXTENDED_METADATA != 0);
        write_packet(out, sequence, &payload);
    }
    if !receiver.contains(Capabilities::DEPRECATE_EOF) {
        payload.clear();
        write_eof(&mut payload, status, 0, receiver);
        write_packet(out, sequence, &payload);
    }
    for row in rows {
        payload.clear();
        for index in 0..columns.len() {
            match row.get(index) {
                Some(Some(value)) => payload.put_lenenc_bytes(value),
                _ => payload.push(NULL),
            }
        }
        write_packet(out, sequence, &payload);
    }
    payload.clear();
    write_eof(&mut payload, status, 0, receiver);
    write_packet(out, sequence, &payload);
    Ok(())
}

/// Protocol::ColumnDefinition41 of a column that belongs to no table.
fn put_column(payload: &mut Vec<u8>, name: &[u8], kind: ColumnType, with_more: bool) {
    let (collation, width, code, flags) = kind.described();
    payload.put_lenenc_bytes(b"def");
    for text in [b"".as_slice(), b"", b"", name, b""] {
        payload.put_lenenc_bytes(text);
    }
    if with_more {
        // Nothing more to tell of the type.
        payload.put_lenenc(0);
    }
    // Bytes of the fields that follow.
    payload.put_lenenc(12);
    payload.put_u16(collation);
    payload.put_u32(width);
    payload.push(code);
    payload.put_u16(flags);
    // No decimals, two reserved bytes.
    payload.extend_from_slice(&[0; 3]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_numbers_is_described_as_such() {
        let mut out = Vec::new();
        let rows = [vec![Some(b"7".to_vec())]];
        let columns = [("n", ColumnType::UnsignedBigInt)];
        write_text_result(&mut out, &mut 1, &columns, &rows, Status::default(), (Capabilities::default(), 0))
            .unwrap();
        let definition = b"\x03def\0\0\0\x01n\0\x0c\x3f\0\x15\0\0\0\x08\xa1\0\0\0\0";
        assert_eq!(out[9..9 + definition.len()], *definition);
    }

    #[test]
    fn old_clients_get_eof_packets() {
        let rows = [vec![Some(b"x".to_vec())], vec![]];
        let mut new = Vec::new();
        let mut sequence = 1;
        let write = |out: &mut Vec<u8>, sequence: &mut u8, receiver| {
            write_text_result(
                out,
                sequence,
                &[("a", ColumnType::Text), ("b", ColumnType::Text)],
                &rows,
                Status::AUTOCOMMIT,
                (receiver, 0),
            )
        };
        write(&mut new, &mut sequence, Capabilities::DEPRECATE_EOF).unwrap();
        assert_eq!(sequence, 7);
        assert!(new.ends_with(b"\x03\0\0\x04\x01x\xFB\x02\0\0\x05\xFB\xFB\x07\0\0\x06\xFE\0\0\x02\0\0\0"));
        let mut old = Vec::new();
        sequence = 1;
        write(&mut old, &mut sequence, Capabilities::default()).unwrap();
        assert_eq!(sequence, 8);
        assert!(old.ends_with(b"\x05\0\0\x07\xFE\0\0\x02\0"));
        assert!(
            write_text_result(
                &mut old,
                &mut sequence,
                &[],
                &[],
                Status::default(),
                (Capabilities::default(), 0)
            )
            .is_err()
        );
    }
}
