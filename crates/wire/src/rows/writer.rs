//! A result set the proxy answers itself.

use crate::eof::write_eof;
use crate::frame::write_packet;
use crate::put::Put;
use crate::reader::NULL;
use crate::{Capabilities, Malformed, Status};

/// Collation of the columns: utf8mb4_general_ci, known to every server and client.
const UTF8MB4_GENERAL_CI: u16 = 45;

/// MYSQL_TYPE_VAR_STRING.
const VAR_STRING: u8 = 0xFD;

/// The width told for every column, in bytes: clients take it as a hint for display.
const WIDTH: u32 = 1024;

/// The most columns of a result set (MAX_FIELDS of the servers).
const MAX_COLUMNS: usize = 4096;

/// Appends a result set of strings in text, as whole frames, for a receiver of these capabilities; advances `sequence`
/// (usually from 1). Rows shorter than `columns` are filled with NULL, longer ones cut.
///
/// # Errors
/// No column, or more than servers allow.
pub fn write_text_result(
    out: &mut Vec<u8>,
    sequence: &mut u8,
    columns: &[&str],
    rows: &[Vec<Option<Vec<u8>>>],
    status: Status,
    receiver: Capabilities,
) -> Result<(), Malformed> {
    if columns.is_empty() || columns.len() > MAX_COLUMNS {
        return Err(Malformed::new("number of columns out of range"));
    }
    let mut payload = Vec::new();
    payload.put_lenenc(columns.len() as u64);
    write_packet(out, sequence, &payload);
    for name in columns {
        payload.clear();
        put_column(&mut payload, name.as_bytes());
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

/// Protocol::ColumnDefinition41 of a string that belongs to no table.
fn put_column(payload: &mut Vec<u8>, name: &[u8]) {
    payload.put_lenenc_bytes(b"def");
    for text in [b"".as_slice(), b"", b"", name, b""] {
        payload.put_lenenc_bytes(text);
    }
    // Bytes of the fields that follow.
    payload.put_lenenc(12);
    payload.put_u16(UTF8MB4_GENERAL_CI);
    payload.put_u32(WIDTH);
    payload.push(VAR_STRING);
    // No flags, no decimals, two reserved bytes.
    payload.extend_from_slice(&[0; 5]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_clients_get_eof_packets() {
        let rows = [vec![Some(b"x".to_vec())], vec![]];
        let mut new = Vec::new();
        let mut sequence = 1;
        let write = |out: &mut Vec<u8>, sequence: &mut u8, receiver| {
            write_text_result(out, sequence, &["a", "b"], &rows, Status::AUTOCOMMIT, receiver)
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
            write_text_result(&mut old, &mut sequence, &[], &[], Status::default(), Capabilities::default())
                .is_err()
        );
    }
}
