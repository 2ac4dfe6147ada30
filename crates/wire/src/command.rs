//! Commands: the first byte of what a client sends (the servers' COM_* constants), and the simple ones' payloads.

use crate::frame::{Header, MAX_PAYLOAD, write_packet};
use crate::reader::Reader;
use crate::{Capabilities, Malformed, value};
use std::ops::Range;

/// The most query attributes one COM_QUERY may carry; the servers' limit for parameters (a u16).
const MAX_ATTRIBUTES: u64 = 65_535;

macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident = $byte:literal,)*) => {
        /// What a client asks for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum CommandCode {
            $($(#[$doc])* $name = $byte,)*
        }

        impl CommandCode {
            /// The command of this byte, if there is one.
            pub const fn from_u8(byte: u8) -> Option<CommandCode> {
                match byte {
                    $($byte => Some(CommandCode::$name),)*
                    _ => None,
                }
            }
        }
    };
}

commands! {
    /// COM_SLEEP: internal to servers.
    Sleep = 0,
    /// COM_QUIT: the client goes; no answer.
    Quit = 1,
    /// COM_INIT_DB: USE.
    InitDb = 2,
    /// COM_QUERY: statements as text.
    Query = 3,
    /// COM_FIELD_LIST: the columns of a table.
    FieldList = 4,
    /// COM_CREATE_DB: gone from servers.
    CreateDb = 5,
    /// COM_DROP_DB: gone from servers.
    DropDb = 6,
    /// COM_REFRESH: FLUSH, by bits.
    Refresh = 7,
    /// COM_SHUTDOWN.
    Shutdown = 8,
    /// COM_STATISTICS: one line of text.
    Statistics = 9,
    /// COM_PROCESS_INFO: SHOW PROCESSLIST.
    ProcessInfo = 10,
    /// COM_CONNECT: internal to servers.
    Connect = 11,
    /// COM_PROCESS_KILL: KILL.
    ProcessKill = 12,
    /// COM_DEBUG: the server writes its state to its log.
    Debug = 13,
    /// COM_PING.
    Ping = 14,
    /// COM_TIME: internal to servers.
    Time = 15,
    /// COM_DELAYED_INSERT: internal to servers.
    DelayedInsert = 16,
    /// COM_CHANGE_USER: another login on the same connection.
    ChangeUser = 17,
    /// COM_BINLOG_DUMP: a replica asks for the binary log.
    BinlogDump = 18,
    /// COM_TABLE_DUMP: gone from servers.
    TableDump = 19,
    /// COM_CONNECT_OUT: internal to servers.
    ConnectOut = 20,
    /// COM_REGISTER_SLAVE.
    RegisterSlave = 21,
    /// COM_STMT_PREPARE.
    StmtPrepare = 22,
    /// COM_STMT_EXECUTE.
    StmtExecute = 23,
    /// COM_STMT_SEND_LONG_DATA: part of a parameter; no answer.
    StmtSendLongData = 24,
    /// COM_STMT_CLOSE: no answer.
    StmtClose = 25,
    /// COM_STMT_RESET.
    StmtReset = 26,
    /// COM_SET_OPTION: MULTI_STATEMENTS on or off.
    SetOption = 27,
    /// COM_STMT_FETCH: rows of a cursor.
    StmtFetch = 28,
    /// COM_DAEMON: internal to servers.
    Daemon = 29,
    /// COM_BINLOG_DUMP_GTID: a replica asks for the binary log by position.
    BinlogDumpGtid = 30,
    /// COM_RESET_CONNECTION: the session as it was after login.
    ResetConnection = 31,
    /// COM_CLONE (MySQL).
    Clone = 32,
    /// COM_SUBSCRIBE_GROUP_REPLICATION_STREAM (MySQL).
    SubscribeGroupReplicationStream = 33,
    /// COM_STMT_BULK_EXECUTE (MariaDB): one statement, many rows of parameters.
    StmtBulkExecute = 250,
}

impl CommandCode {
    /// The command's byte.
    pub const fn to_u8(self) -> u8 {
        self as u8
    }

    /// Whether the server answers at all.
    pub const fn has_reply(self) -> bool {
        !matches!(self, CommandCode::Quit | CommandCode::StmtSendLongData | CommandCode::StmtClose)
    }
}

/// Where the statement's text stands in the payload of a COM_QUERY. With QUERY_ATTRIBUTES agreed on, attributes stand in
/// front of it.
///
/// # Errors
/// The attributes are cut short or of an unknown type; or the payload is another command.
pub fn query_text(payload: &[u8], capabilities: Capabilities) -> Result<Range<usize>, Malformed> {
    let mut reader = Reader::new(payload);
    if reader.u8("empty command")? != CommandCode::Query.to_u8() {
        return Err(Malformed::new("not a COM_QUERY"));
    }
    if capabilities.contains(Capabilities::QUERY_ATTRIBUTES) {
        skip_attributes(&mut reader)?;
    }
    Ok(payload.len() - reader.remaining()..payload.len())
}

fn skip_attributes(reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let count = reader.lenenc("number of query attributes cut short")?;
    let sets = reader.lenenc("number of sets of query attributes cut short")?;
    if count == 0 {
        return Ok(());
    }
    if count > MAX_ATTRIBUTES || sets != 1 {
        return Err(Malformed::new("too many query attributes"));
    }
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let nulls = reader.bytes(count.div_ceil(8), "nulls of query attributes cut short")?;
    if reader.u8("query attributes cut short")? != 1 {
        return Err(Malformed::new("query attributes without types"));
    }
    let mut types = *reader;
    value::skip_types(reader, count, true)?;
    for index in 0..count {
        let kind = value::read_type(&mut types, true)?;
        if !value::is_null(nulls, index) {
            value::skip(reader, kind)?;
        }
    }
    Ok(())
}

/// Appends a COM_QUERY, as whole frames from sequence number 0, for a connection of these capabilities.
pub fn write_query(out: &mut Vec<u8>, text: &[u8], capabilities: Capabilities) {
    // No attributes, one set of them.
    let attributes: &[u8] = if capabilities.contains(Capabilities::QUERY_ATTRIBUTES) { &[0, 1] } else { &[] };
    write_parts(out, CommandCode::Query, attributes, text);
}

/// Appends a command with its argument (a schema's name for InitDb, nothing for Ping and its like), as whole frames from
/// sequence number 0.
pub fn write_command(out: &mut Vec<u8>, code: CommandCode, argument: &[u8]) {
    write_parts(out, code, &[], argument);
}

fn write_parts(out: &mut Vec<u8>, code: CommandCode, prefix: &[u8], argument: &[u8]) {
    let length = 1 + prefix.len() + argument.len();
    if length < MAX_PAYLOAD {
        out.extend_from_slice(&Header { length, sequence: 0 }.to_bytes());
        out.push(code.to_u8());
        out.extend_from_slice(prefix);
        out.extend_from_slice(argument);
    } else {
        write_packet(out, &mut 0, &[&[code.to_u8()], prefix, argument].concat());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn codes_come_back() {
        for byte in 0..=255 {
            if let Some(code) = CommandCode::from_u8(byte) {
                assert_eq!(code.to_u8(), byte);
            }
        }
        assert_eq!(CommandCode::from_u8(250), Some(CommandCode::StmtBulkExecute));
        assert_eq!(CommandCode::from_u8(34), None);
    }

    #[test]
    fn the_text_stands_behind_the_attributes() {
        assert_eq!(query_text(b"\x03SELECT 1", Capabilities::default()), Ok(1..9));
        let with = Capabilities::QUERY_ATTRIBUTES;
        assert_eq!(query_text(b"\x03\x00\x01SELECT 1", with), Ok(3..11));
        // Two attributes: a string "x" named "a" and a NULL named "b".
        let payload = b"\x03\x02\x01\x02\x01\xFD\x00\x01a\x08\x00\x01b\x01xSELECT 1";
        let text = query_text(payload, with).unwrap();
        assert_eq!(&payload[text], b"SELECT 1");
        for cut in 1..payload.len() - 8 {
            assert!(query_text(&payload[..cut], with).is_err(), "{cut}");
        }
    }

    #[test]
    fn a_written_query_is_read() {
        for capabilities in [Capabilities::default(), Capabilities::QUERY_ATTRIBUTES] {
            let mut out = Vec::new();
            write_query(&mut out, b"DO 1", capabilities);
            assert_eq!(Header::parse(&out).unwrap().length, out.len() - 4);
            let range = query_text(&out[4..], capabilities).unwrap();
            assert_eq!(&out[4..][range], b"DO 1");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_no_harm(mut bytes: Vec<u8>) {
            bytes.insert(0, 3);
            let range = query_text(&bytes, Capabilities::QUERY_ATTRIBUTES);
            prop_assert!(range.is_err() || bytes.get(range.unwrap()).is_some());
        }
    }
}
