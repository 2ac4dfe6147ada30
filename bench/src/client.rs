//! One connection of the load: the login, a command, its reply to the end.
//!
//! It agrees on what the servers' own client library does (session tracking, no EOF packets), without TLS and compression.

use std::net::SocketAddr;

use sandbox::{APP_PASSWORD, APP_USER};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use wire::auth::{caching_sha2, native};
use wire::command::write_command;
use wire::frame::{HEADER, write_packet};
use wire::rows::{Collected, ResultCollector};
use wire::{
    AuthPacket, Capabilities, ClientView, CommandCode, ErrPacket, Expect, Greeting, Header, Login, OkPacket,
    Plugin, PrepareOk, Progress, QueryOutcome, ReplySink, ReplyWalker, Status, Wanted,
};

use crate::error::{Error, Result};

/// What this client speaks.
const SPOKEN: Capabilities = Capabilities::LONG_PASSWORD
    .union(Capabilities::LONG_FLAG)
    .union(Capabilities::CONNECT_WITH_DB)
    .union(Capabilities::PROTOCOL_41)
    .union(Capabilities::TRANSACTIONS)
    .union(Capabilities::SECURE_CONNECTION)
    .union(Capabilities::MULTI_RESULTS)
    .union(Capabilities::PS_MULTI_RESULTS)
    .union(Capabilities::PLUGIN_AUTH)
    .union(Capabilities::PLUGIN_AUTH_LENENC_DATA)
    .union(Capabilities::SESSION_TRACK)
    .union(Capabilities::DEPRECATE_EOF);

/// utf8mb4_general_ci, known to every server.
const COLLATION: u16 = 45;

/// The schema of the load's tables.
const SCHEMA: &[u8] = b"sbtest";

/// What is read at a time, in bytes.
const CHUNK: usize = 16 * 1024;

/// The same for results that are longer than this.
const LONG_CHUNK: usize = 256 * 1024;

/// More than any answer that the program itself reads.
const ANSWER_LIMIT: usize = 64 * 1024;

/// How much of a statement an error quotes.
const QUOTED: usize = 80;

/// A connection that has logged in.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    chunk: Vec<u8>,
    out: Vec<u8>,
    wanted: Wanted,
}

/// What a reply said.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    /// How long it was.
    pub(crate) bytes: u64,
    error: Option<ErrPacket<'static>>,
    prepared: Option<u32>,
}

impl ReplySink for Reply {
    fn forward(&mut self, _: std::ops::Range<usize>) {}
    fn insert(&mut self, _: &[u8]) {}
    fn ok(&mut self, _: &OkPacket<'_>) {}
    fn err(&mut self, err: &ErrPacket<'_>) {
        self.error = Some(err.clone().into_owned());
    }
    fn prepared(&mut self, prepared: PrepareOk) {
        self.prepared = Some(prepared.statement_id);
    }
}

impl Connection {
    /// Connects and logs in as the application's account.
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)
            .await
            .map_err(Error::system(format!("cannot connect to {address}")))?;
        stream.set_nodelay(true).map_err(Error::system("cannot set TCP_NODELAY"))?;
        let mut connection =
            Self { stream, chunk: vec![0; CHUNK], out: Vec::new(), wanted: Wanted::everything() };
        connection.log_in().await?;
        Ok(connection)
    }

    /// Reads more at a time: for results of many megabytes.
    pub(crate) fn expect_long_results(&mut self) {
        self.chunk.resize(LONG_CHUNK, 0);
    }

    /// Runs a statement as text.
    pub(crate) async fn query(&mut self, statement: &str) -> Result<Reply> {
        self.out.clear();
        write_command(&mut self.out, CommandCode::Query, statement.as_bytes());
        self.exchange(Expect::Query, statement).await
    }

    /// Prepares a statement; returns the server's id of it.
    pub(crate) async fn prepare(&mut self, statement: &str) -> Result<u32> {
        self.out.clear();
        write_command(&mut self.out, CommandCode::StmtPrepare, statement.as_bytes());
        let reply = self.exchange(Expect::Prepare, statement).await?;
        reply.prepared.ok_or_else(|| Error::Conversation(format!("no id of the prepared {statement}")))
    }

    /// Executes a prepared statement with one parameter, a whole number. Its type is told at the first execution, as the
    /// servers' client library does.
    pub(crate) async fn execute(&mut self, statement: u32, first: bool, parameter: u64) -> Result<Reply> {
        self.out.clear();
        let mut payload = [0; 24];
        let length = write_execute(&mut payload, statement, first, parameter);
        let payload = payload.get(..length).unwrap_or_default();
        write_command(&mut self.out, CommandCode::StmtExecute, payload);
        self.exchange(Expect::Execute, "a prepared statement").await
    }

    /// Says goodbye.
    pub(crate) async fn quit(mut self) -> Result<()> {
        self.out.clear();
        write_command(&mut self.out, CommandCode::Quit, b"");
        self.stream.write_all(&self.out).await.map_err(Error::system("cannot send"))
    }

    /// The first value of a statement's only row.
    pub(crate) async fn value(&mut self, statement: &str) -> Result<String> {
        self.out.clear();
        write_command(&mut self.out, CommandCode::Query, statement.as_bytes());
        self.stream.write_all(&self.out).await.map_err(Error::system("cannot send"))?;
        let mut collector = ResultCollector::new(ANSWER_LIMIT);
        loop {
            let read = self.read().await?;
            let bytes = self.chunk.get(..read).unwrap_or_default();
            match collector.feed(bytes).map_err(Error::conversation)?.collected {
                Collected::More => {}
                Collected::Done(outcomes) => return first_value(outcomes, statement),
            }
        }
    }

    async fn exchange(&mut self, expect: Expect, statement: &str) -> Result<Reply> {
        self.stream.write_all(&self.out).await.map_err(Error::system("cannot send"))?;
        let mut walker = ReplyWalker::new(expect, 1);
        let mut reply = Reply::default();
        loop {
            let read = self.read().await?;
            reply.bytes += read as u64;
            let view = ClientView {
                capabilities: SPOKEN,
                wanted: &self.wanted,
                statement_id: 0,
                status: Status::AUTOCOMMIT,
            };
            let chunk = self.chunk.get_mut(..read).unwrap_or_default();
            let fed = walker.feed(chunk, &view, &mut reply).map_err(Error::conversation)?;
            match fed.progress {
                Progress::More => {}
                Progress::Done => break,
                Progress::LocalInfile => {
                    return Err(Error::Conversation("the server asks for a file".to_owned()));
                }
            }
        }
        match reply.error.take() {
            None => Ok(reply),
            Some(error) => Err(refused(&error, statement)),
        }
    }

    async fn read(&mut self) -> Result<usize> {
        match self.stream.read(&mut self.chunk).await {
            Ok(0) => Err(Error::Conversation("the connection was closed within a reply".to_owned())),
            read => read.map_err(Error::system("cannot read a reply")),
        }
    }

    async fn log_in(&mut self) -> Result<()> {
        let (mut sequence, payload) = self.packet().await?;
        let greeting = Greeting::parse(&payload).map_err(Error::conversation)?;
        let capabilities = SPOKEN & (greeting.capabilities | Capabilities::LONG_PASSWORD);
        if !capabilities.contains(Capabilities::DEPRECATE_EOF) {
            return Err(Error::Conversation(
                "the server does not offer CLIENT_DEPRECATE_EOF, without which nothing is measured"
                    .to_owned(),
            ));
        }
        let mut out = Vec::new();
        let login = Login {
            capabilities,
            max_packet: 1 << 30,
            collation: COLLATION,
            user: APP_USER.as_bytes(),
            auth_response: &response(Plugin::from_name(greeting.auth_plugin), &greeting.scramble),
            schema: Some(SCHEMA),
            auth_plugin: Some(greeting.auth_plugin),
            ..Login::default()
        };
        login.write(&mut out).map_err(Error::conversation)?;
        loop {
            self.send(sequence, &out).await?;
            out.clear();
            // Until the server asks for something, or is content.
            while out.is_empty() {
                let (number, payload) = self.packet().await?;
                sequence = number;
                match AuthPacket::parse(&payload, capabilities).map_err(Error::conversation)? {
                    AuthPacket::Ok(_) => return Ok(()),
                    AuthPacket::Err(error) => return Err(refused(&error, "the login")),
                    AuthPacket::Switch { plugin, data } => {
                        out.extend_from_slice(&response(Plugin::from_name(plugin), data));
                        if out.is_empty() {
                            let plugin = String::from_utf8_lossy(plugin);
                            return Err(Error::Conversation(format!("the account uses {plugin}")));
                        }
                    }
                    AuthPacket::More([caching_sha2::FAST_AUTH_OK]) => {}
                    AuthPacket::More(_) => {
                        return Err(Error::Conversation("the server wants the password itself".to_owned()));
                    }
                }
            }
        }
    }

    /// Sends a payload behind the packet of this sequence number.
    async fn send(&mut self, sequence: u8, payload: &[u8]) -> Result<()> {
        let mut out = Vec::new();
        write_packet(&mut out, &mut sequence.wrapping_add(1), payload);
        self.stream.write_all(&out).await.map_err(Error::system("cannot send the login"))
    }

    /// Reads one packet of the login: its sequence number and payload.
    async fn packet(&mut self) -> Result<(u8, Vec<u8>)> {
        let mut head = [0; HEADER];
        let lost = || Error::system("the connection was lost during the login");
        self.stream.read_exact(&mut head).await.map_err(lost())?;
        let header = Header::parse(&head).ok_or_else(|| Error::Conversation("no header".to_owned()))?;
        let mut payload = vec![0; header.length];
        self.stream.read_exact(&mut payload).await.map_err(lost())?;
        Ok((header.sequence, payload))
    }
}

/// The proof of the password; empty for a plugin that this client does not know, which the server then replaces.
fn response(plugin: Plugin, nonce: &[u8]) -> Vec<u8> {
    let password = APP_PASSWORD.as_bytes();
    match plugin {
        Plugin::NativePassword => native::scramble(&native::stage1(password), nonce).to_vec(),
        Plugin::CachingSha2Password => {
            caching_sha2::scramble(&caching_sha2::stage1(password), nonce).to_vec()
        }
        _ => Vec::new(),
    }
}

/// Writes what follows the command byte of a COM_STMT_EXECUTE with one BIGINT; returns how long it is.
fn write_execute(payload: &mut [u8; 24], statement: u32, first: bool, parameter: u64) -> usize {
    /// MYSQL_TYPE_LONGLONG.
    const BIGINT: u8 = 8;
    let [s0, s1, s2, s3] = statement.to_le_bytes();
    // No cursor, one iteration, no NULL, types or none.
    let head = [s0, s1, s2, s3, 0, 1, 0, 0, 0, 0, u8::from(first)];
    let types: &[u8] = if first { &[BIGINT, 0] } else { &[] };
    let parts = [head.as_slice(), types, &parameter.to_le_bytes()];
    let mut length = 0;
    for (place, byte) in payload.iter_mut().zip(parts.into_iter().flatten()) {
        *place = *byte;
        length += 1;
    }
    length
}

fn refused(error: &ErrPacket<'_>, statement: &str) -> Error {
    Error::Refused {
        code: error.code,
        message: String::from_utf8_lossy(&error.message).into_owned(),
        statement: statement.chars().take(QUOTED).collect(),
    }
}

fn first_value(outcomes: Vec<QueryOutcome>, statement: &str) -> Result<String> {
    match outcomes.into_iter().next() {
        Some(QueryOutcome::Rows(rows)) => {
            let value = rows.rows.into_iter().next().and_then(|row| row.into_iter().next().flatten());
            value
                .map(|value| String::from_utf8_lossy(&value).into_owned())
                .ok_or_else(|| Error::Conversation(format!("no value of {statement}")))
        }
        Some(QueryOutcome::Err(error)) => Err(refused(&error, statement)),
        _ => Err(Error::Conversation(format!("no rows of {statement}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_is_what_the_servers_read() {
        for first in [true, false] {
            let mut buffer = [0; 24];
            let length = write_execute(&mut buffer, 0x0102_0304, first, 77);
            let payload = [&[CommandCode::StmtExecute.to_u8()], &buffer[..length]].concat();
            let read = wire::Execute::parse(&payload, 1, SPOKEN).unwrap();
            assert_eq!(read.statement_id, 0x0102_0304);
            assert_eq!(read.types.is_some(), first);
            assert_eq!(read.first_number(&payload, &[8, 0]), Some(77));
            assert_eq!(payload.len(), read.values_at + 8);
        }
    }
}
