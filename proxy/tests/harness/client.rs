//! A client that speaks the protocol packet by packet, and shows what it received byte by byte.

use std::io::{self, Read, Write};

use wire::frame::{HEADER, Header, MAX_PAYLOAD, write_packet};
use wire::{Capabilities, CommandCode, ErrPacket, Greeting, GreetingError, Malformed, Status};

use super::reply::{Packet, Part, Reply};
use super::stream::{Stream, Target};

/// An ERR packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerError {
    pub(crate) code: u16,
    pub(crate) state: String,
    pub(crate) message: String,
}

impl ServerError {
    pub(crate) fn of(packet: &ErrPacket<'_>) -> Self {
        Self {
            code: packet.code,
            state: String::from_utf8_lossy(&packet.sql_state).into_owned(),
            message: String::from_utf8_lossy(&packet.message).into_owned(),
        }
    }
}

/// Why a conversation ended.
#[derive(Debug)]
pub(crate) enum Failure {
    /// By an ERR packet.
    Refused(ServerError),
    /// By anything else.
    Broken(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

impl From<Malformed> for Failure {
    fn from(error: Malformed) -> Self {
        Self::Broken(error.to_string())
    }
}

impl From<rustls::Error> for Failure {
    fn from(error: rustls::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

/// What the server said first.
#[derive(Clone, Debug)]
pub(crate) struct Greeted {
    pub(crate) version: String,
    pub(crate) id: u32,
    pub(crate) nonce: Vec<u8>,
    pub(crate) capabilities: Capabilities,
    /// MariaDB's own.
    pub(crate) extended: u32,
    pub(crate) collation: u8,
    pub(crate) plugin: Vec<u8>,
}

/// A connection to the proxy, or to a server.
pub(crate) struct Client {
    pub(crate) stream: Stream,
    received: Vec<u8>,
    /// How much of `received` was used.
    used: usize,
    sequence: u8,
    pub(crate) greeting: Greeted,
    pub(crate) capabilities: Capabilities,
    /// The status flags of the last OK.
    pub(crate) status: Status,
    /// The payload of the login's OK.
    pub(crate) first_ok: Vec<u8>,
    /// The turns that the login took: "fast", "clear", "rsa", "switch PLUGIN".
    pub(crate) path: Vec<String>,
}

impl Client {
    /// Connects and reads the greeting.
    pub(crate) fn greeted(target: &Target) -> Result<Self, Failure> {
        let mut client = Self {
            stream: Stream::connect(target)?,
            received: Vec::new(),
            used: 0,
            sequence: 0,
            greeting: Greeted {
                version: String::new(),
                id: 0,
                nonce: Vec::new(),
                capabilities: Capabilities::default(),
                extended: 0,
                collation: 0,
                plugin: Vec::new(),
            },
            capabilities: Capabilities::default(),
            status: Status::default(),
            first_ok: Vec::new(),
            path: Vec::new(),
        };
        let packet = client.receive()?;
        let greeting = Greeting::parse(&packet.payload).map_err(|error| match error {
            GreetingError::Refused(packet) => Failure::Refused(ServerError::of(&packet)),
            GreetingError::Malformed(malformed) => malformed.into(),
        })?;
        client.greeting = Greeted {
            version: String::from_utf8_lossy(greeting.server_version).into_owned(),
            id: greeting.connection_id,
            nonce: greeting.scramble.to_vec(),
            capabilities: greeting.capabilities,
            extended: greeting.mariadb_extended,
            collation: greeting.collation,
            plugin: greeting.auth_plugin.to_vec(),
        };
        Ok(client)
    }

    /// Sends the next packet of the conversation.
    pub(crate) fn send(&mut self, payload: &[u8]) -> Result<(), Failure> {
        let mut out = Vec::with_capacity(payload.len() + HEADER);
        write_packet(&mut out, &mut self.sequence, payload);
        Ok(self.stream.write_all(&out)?)
    }

    /// Begins a new conversation with this command. Commands may be sent before the replies to earlier ones are read.
    pub(crate) fn command(&mut self, payload: &[u8]) {
        self.sequence = 0;
        self.stream.begin_command();
        self.send(payload).unwrap_or_else(|failure| panic!("a command cannot be sent: {failure:?}"));
    }

    /// Sends bytes as they are.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Reads the next packet, of however many frames.
    pub(crate) fn receive(&mut self) -> Result<Packet, Failure> {
        let mut payload = Vec::new();
        let mut first = None;
        loop {
            let bytes = self.take(HEADER)?;
            let header = Header::parse(&bytes).ok_or_else(|| Failure::Broken("no header".to_owned()))?;
            let expected = first.map_or(header.sequence, |_| self.sequence);
            if header.sequence != expected {
                return Err(Failure::Broken(format!("frame {} where {expected} was due", header.sequence)));
            }
            first.get_or_insert(header.sequence);
            self.sequence = header.sequence.wrapping_add(1);
            payload.extend(self.take(header.length)?);
            if header.length < MAX_PAYLOAD {
                return Ok(Packet { sequence: first.unwrap_or_default(), payload });
            }
        }
    }

    fn take(&mut self, count: usize) -> Result<Vec<u8>, Failure> {
        while self.received.len() - self.used < count {
            self.received.drain(..self.used);
            self.used = 0;
            let filled = self.received.len();
            self.received.resize(filled + 256 * 1024, 0);
            let read = self.stream.read(&mut self.received[filled..]);
            self.received.truncate(filled + *read.as_ref().unwrap_or(&0));
            if read? == 0 {
                return Err(Failure::Broken("the connection was closed".to_owned()));
            }
        }
        let taken = self.received[self.used..self.used + count].to_vec();
        self.used += count;
        Ok(taken)
    }

    /// Waits for the other side to close. Returns what it said before.
    pub(crate) fn wait_for_end(&mut self) -> Vec<Packet> {
        let mut last = Vec::new();
        loop {
            match self.receive() {
                Ok(packet) => last.push(packet),
                Err(Failure::Broken(what)) if what.contains("temporarily unavailable") => {
                    panic!("the connection was not closed");
                }
                Err(_) => return last,
            }
        }
    }

    /// COM_QUERY, with an empty list of query attributes where they were negotiated.
    pub(crate) fn send_query(&mut self, text: impl AsRef<[u8]>) {
        let mut payload = vec![CommandCode::Query.to_u8()];
        if self.capabilities.contains(Capabilities::QUERY_ATTRIBUTES) {
            payload.extend_from_slice(&[0, 1]);
        }
        payload.extend_from_slice(text.as_ref());
        self.command(&payload);
    }

    /// Runs a statement and reads all of its reply.
    pub(crate) fn query(&mut self, text: impl AsRef<[u8]>) -> Reply {
        self.send_query(text);
        self.read_reply()
    }

    /// The reply's first result must be OK or rows.
    pub(crate) fn run(&mut self, text: impl AsRef<[u8]>) -> Reply {
        let text = text.as_ref();
        let reply = self.query(text);
        if let Some(error) = reply.error() {
            panic!("{} failed: {error:?}", String::from_utf8_lossy(text));
        }
        reply
    }

    /// The rows of a statement's first result set, as text.
    pub(crate) fn rows(&mut self, text: &str) -> Vec<Vec<Option<String>>> {
        self.run(text).text_rows()
    }

    /// The first value of a statement's first row; "NULL" for NULL.
    pub(crate) fn value(&mut self, text: &str) -> String {
        let first = self.rows(text).into_iter().next().and_then(|row| row.into_iter().next());
        first.unwrap_or_else(|| panic!("{text} has no rows")).unwrap_or_else(|| "NULL".to_owned())
    }

    /// A statement that must fail.
    pub(crate) fn error(&mut self, text: &str) -> ServerError {
        self.query(text).error().unwrap_or_else(|| panic!("{text} did not fail"))
    }

    /// Reads a reply to COM_QUERY, COM_STMT_EXECUTE or any command that is answered by OK or ERR.
    pub(crate) fn read_reply(&mut self) -> Reply {
        self.try_reply().unwrap_or_else(|failure| panic!("the reply broke off: {failure:?}"))
    }

    /// The same, for connections that are expected to break.
    pub(crate) fn try_reply(&mut self) -> Result<Reply, Failure> {
        let reply = Reply::read(self)?;
        if let Some(Part::Ok(end) | Part::Rows { end, .. }) = reply.parts.last() {
            self.status = end.status;
        }
        Ok(reply)
    }

    /// A command whose reply is OK, EOF or ERR.
    pub(crate) fn plain(&mut self, code: CommandCode, argument: &[u8]) -> Reply {
        self.command(&[&[code.to_u8()], argument].concat());
        self.read_reply()
    }

    /// COM_QUIT, and the end of the connection.
    pub(crate) fn quit(mut self) {
        self.command(&[CommandCode::Quit.to_u8()]);
        assert!(self.wait_for_end().is_empty(), "a reply to COM_QUIT");
    }
}
