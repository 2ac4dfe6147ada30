//! COM_STMT_PREPARE and its answer, and the commands that name a statement.

use crate::command::{CommandCode, write_command};
use crate::reader::Reader;
use crate::{Malformed, ok};

/// The answer to COM_STMT_PREPARE (COM_STMT_PREPARE_OK); definitions of parameters and columns follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrepareOk {
    /// The server's id of the statement.
    pub statement_id: u32,
    /// Columns of its result; 0 if it has none or they are known only when it is executed.
    pub columns: u16,
    /// Its parameters.
    pub params: u16,
    /// Number of warnings.
    pub warnings: u16,
}

impl PrepareOk {
    /// Reads the payload.
    ///
    /// # Errors
    /// The header is not 0x00 or a field is cut short.
    pub fn parse(payload: &[u8]) -> Result<PrepareOk, Malformed> {
        let mut reader = Reader::new(payload);
        if reader.u8("empty answer to COM_STMT_PREPARE")? != ok::OK_HEADER {
            return Err(Malformed::new("answer to COM_STMT_PREPARE without header 0x00"));
        }
        let statement_id = reader.u32("statement id cut short")?;
        let columns = reader.u16("number of columns cut short")?;
        let params = reader.u16("number of parameters cut short")?;
        // Servers before 5.0 end here.
        let warnings = match reader.u8("reserved byte") {
            Ok(_) if reader.remaining() >= 2 => reader.u16("number of warnings cut short")?,
            _ => 0,
        };
        Ok(PrepareOk { statement_id, columns, params, warnings })
    }

    /// Appends the payload.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(ok::OK_HEADER);
        out.extend_from_slice(&self.statement_id.to_le_bytes());
        out.extend_from_slice(&self.columns.to_le_bytes());
        out.extend_from_slice(&self.params.to_le_bytes());
        out.push(0);
        out.extend_from_slice(&self.warnings.to_le_bytes());
    }
}

/// The statement id of a COM_STMT_EXECUTE, FETCH, RESET, CLOSE, SEND_LONG_DATA or BULK_EXECUTE (it stands behind the
/// command byte in all of them).
///
/// # Errors
/// The payload is too short.
pub fn statement_id(payload: &[u8]) -> Result<u32, Malformed> {
    let mut reader = Reader::new(payload);
    reader.u8("empty command")?;
    reader.u32("statement id cut short")
}

/// Replaces the statement id in such a command, or in the payload of a COM_STMT_PREPARE_OK.
///
/// # Errors
/// The payload is too short.
pub fn set_statement_id(payload: &mut [u8], id: u32) -> Result<(), Malformed> {
    let place = payload.get_mut(1..5).ok_or(Malformed::new("statement id cut short"))?;
    place.copy_from_slice(&id.to_le_bytes());
    Ok(())
}

/// Appends a COM_STMT_PREPARE as whole frames from sequence number 0. (It never carries query attributes.)
pub fn write_prepare(out: &mut Vec<u8>, text: &[u8]) {
    write_command(out, CommandCode::StmtPrepare, text);
}

/// Appends a COM_STMT_CLOSE as a whole frame; it has no answer.
pub fn write_close(out: &mut Vec<u8>, id: u32) {
    write_command(out, CommandCode::StmtClose, &id.to_le_bytes());
}

/// Appends a COM_STMT_RESET as a whole frame.
pub fn write_reset(out: &mut Vec<u8>, id: u32) {
    write_command(out, CommandCode::StmtReset, &id.to_le_bytes());
}

/// Appends a COM_STMT_FETCH of at most `rows` rows as a whole frame.
pub fn write_fetch(out: &mut Vec<u8>, id: u32, rows: u32) {
    let [a, b, c, d] = id.to_le_bytes();
    let [e, f, g, h] = rows.to_le_bytes();
    write_command(out, CommandCode::StmtFetch, &[a, b, c, d, e, f, g, h]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn answers_come_back(statement_id: u32, columns: u16, params: u16, warnings: u16, other: u32) {
            let sent = PrepareOk { statement_id, columns, params, warnings };
            let mut out = Vec::new();
            sent.write(&mut out);
            prop_assert_eq!(out.len(), 12);
            prop_assert_eq!(PrepareOk::parse(&out), Ok(sent));
            set_statement_id(&mut out, other).unwrap();
            prop_assert_eq!(PrepareOk::parse(&out), Ok(PrepareOk { statement_id: other, ..sent }));
        }

        #[test]
        fn arbitrary_bytes_do_no_harm(mut bytes: Vec<u8>) {
            let _ = PrepareOk::parse(&bytes);
            let _ = statement_id(&bytes);
            let _ = set_statement_id(&mut bytes, 1);
        }
    }

    #[test]
    fn commands_name_their_statement() {
        let mut out = Vec::new();
        write_fetch(&mut out, 7, 100);
        assert_eq!(out, [9, 0, 0, 0, 28, 7, 0, 0, 0, 100, 0, 0, 0]);
        assert_eq!(statement_id(&out[4..]), Ok(7));
        out.clear();
        write_close(&mut out, 8);
        assert_eq!(out, [5, 0, 0, 0, 25, 8, 0, 0, 0]);
        out.clear();
        write_reset(&mut out, 9);
        assert_eq!(out, [5, 0, 0, 0, 26, 9, 0, 0, 0]);
        out.clear();
        write_prepare(&mut out, b"DO ?");
        assert_eq!(out, *b"\x05\0\0\0\x16DO ?");
    }
}
