//! A client's command: read as far as it must be understood, then sent on, in one write when it is small.

use std::io;
use std::time::Duration;

use tokio::time::timeout;
use wire::err::ErrPacket;
use wire::frame::{HEADER, Header, MAX_PAYLOAD, write_packet};
use wire::reply::{Expect, ReplyWalker};

use super::RelayError;
use crate::backend::{Connection, ServerError};
use crate::transport::Channel;

/// Commands up to this many bytes are read whole before anything is done: to be classified, and to be sent again when
/// a replica fails. A larger one is sent on as it comes, to the primary, and only its beginning is looked at.
pub const WHOLE_LIMIT: usize = 1024 * 1024;

/// Of a larger command this much is looked at: an EXECUTE's parameter types lie within it, even 65,535 of them.
const PREFIX: usize = 256 * 1024;

/// How long it is waited for what a node said before it closed a connection.
const LAST_WORDS_LIMIT: Duration = Duration::from_secs(1);

/// A command at the beginning of the client's unread bytes.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Bytes of it that are there, with the header of the first frame.
    pub available: usize,
    /// Whether that is all of it.
    pub whole: bool,
    consumed: bool,
}

/// Why no command could be read.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The client closed the connection, or it broke.
    #[error("the client's connection ended: {0}")]
    Ended(io::Error),
    /// A frame that does not begin a command.
    #[error("packet number {0} where a command must begin with 0")]
    OutOfOrder(u8),
    /// A command without a command byte.
    #[error("an empty packet where a command was due")]
    Empty,
}

impl Command {
    /// Waits for the client's next command and reads what is needed of it. `None`: the client has closed in peace.
    ///
    /// # Errors
    /// See [`CommandError`]; each ends the session.
    pub async fn read(client: &mut Channel) -> Result<Option<Self>, CommandError> {
        while client.unread().len() < HEADER {
            match client.fill().await {
                Ok(0) if client.unread().is_empty() => return Ok(None),
                Ok(0) => return Err(CommandError::Ended(io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(error) => return Err(CommandError::Ended(error)),
            }
        }
        let header = Header::parse(client.unread()).ok_or(CommandError::Empty)?;
        if header.sequence != 0 {
            return Err(CommandError::OutOfOrder(header.sequence));
        }
        if header.length == 0 {
            return Err(CommandError::Empty);
        }
        client.command_in();
        let whole = header.length <= WHOLE_LIMIT;
        let available = HEADER + if whole { header.length } else { header.length.min(PREFIX) };
        client.fill_to(available).await.map_err(CommandError::Ended)?;
        Ok(Some(Self { available, whole, consumed: false }))
    }

    /// Reads the rest of a command that must be whole although it is large.
    ///
    /// # Errors
    /// When the connection ends. `Ok(false)`: it has several frames and is still not whole.
    pub async fn complete(&mut self, client: &mut Channel) -> Result<bool, CommandError> {
        let header = Header::parse(client.unread()).ok_or(CommandError::Empty)?;
        if header.length == MAX_PAYLOAD {
            return Ok(false);
        }
        self.available = HEADER + header.length;
        self.whole = true;
        client.fill_to(self.available).await.map_err(CommandError::Ended)?;
        Ok(true)
    }

    /// The command is not needed any more: the client's next bytes are the next command, or a file.
    pub fn consume(&mut self, client: &mut Channel) {
        if !self.consumed {
            self.consumed = true;
            client.consume(self.available);
        }
    }

    /// Reads what has not come yet of a command that is not sent anywhere, and forgets it. Returns the number of the
    /// packet that answers it.
    ///
    /// # Errors
    /// When the connection ends or the frames are out of order.
    pub async fn discard(&mut self, client: &mut Channel) -> Result<u8, CommandError> {
        if self.consumed {
            return Ok(1);
        }
        let header = Header::parse(client.unread()).ok_or(CommandError::Empty)?;
        let mut frames = Frames { header, rest: header.length + HEADER - self.available };
        self.consume(client);
        frames.discard(client).await
    }

    /// The bytes that are there: the frame's header, the command byte, and what follows. Nothing once it is consumed:
    /// what stands at its place then is the client's next command.
    pub fn bytes<'a>(&self, client: &'a Channel) -> &'a [u8] {
        if self.consumed {
            return &[];
        }
        client.unread().get(..self.available).unwrap_or_default()
    }

    /// The payload that is there: the command byte and what follows.
    pub fn payload<'a>(&self, client: &'a Channel) -> &'a [u8] {
        self.bytes(client).get(HEADER..).unwrap_or_default()
    }

    /// The same, to be changed in place.
    pub fn payload_mut<'a>(&self, client: &'a mut Channel) -> &'a mut [u8] {
        if self.consumed {
            return &mut [];
        }
        client.unread_mut().get_mut(HEADER..self.available).unwrap_or_default()
    }
}

/// Where a client stands in the frames of a command.
struct Frames {
    /// The header of the frame at hand.
    header: Header,
    /// Bytes of it that were not taken.
    rest: usize,
}

impl Frames {
    /// Takes the header of the next frame.
    async fn next(&mut self, client: &mut Channel) -> Result<(), CommandError> {
        client.fill_to(HEADER).await.map_err(CommandError::Ended)?;
        let next = Header::parse(client.unread()).ok_or(CommandError::Empty)?;
        if next.sequence != self.header.sequence.wrapping_add(1) {
            return Err(CommandError::OutOfOrder(next.sequence));
        }
        client.consume(HEADER);
        self.header = next;
        self.rest = next.length;
        Ok(())
    }

    /// Reads away what is left. Returns the number of the packet that answers the command.
    async fn discard(&mut self, client: &mut Channel) -> Result<u8, CommandError> {
        loop {
            while self.rest > 0 {
                if client.unread().is_empty() {
                    client.fill_to(1).await.map_err(CommandError::Ended)?;
                }
                let count = client.unread().len().min(self.rest);
                client.consume(count);
                self.rest -= count;
            }
            if self.header.length < MAX_PAYLOAD {
                return Ok(self.header.sequence.wrapping_add(1));
            }
            self.next(client).await?;
        }
    }
}

/// What ends a relay when a client breaks off within a command.
fn broken_off(error: CommandError) -> RelayError {
    match error {
        CommandError::Ended(error) => RelayError::Client(error),
        CommandError::OutOfOrder(_) => RelayError::ClientProtocol("the frames of a packet are not in order"),
        CommandError::Empty => RelayError::ClientProtocol("a frame without a header"),
    }
}

/// A command that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The number with which the node's reply begins.
    pub first: u8,
    /// The number with which the reply begins for the client.
    pub client_first: u8,
    /// Whether it was not seen whole: a node may have refused it before its end, with any number.
    pub in_pieces: bool,
}

impl Sent {
    /// In one frame, as nearly all are.
    pub const WHOLE: Self = Self { first: 1, client_first: 1, in_pieces: false };

    /// A walker for the reply on the connection on which it was sent.
    pub fn walker(self, expect: Expect, connection: &Connection) -> ReplyWalker {
        let walker = ReplyWalker::new(expect, self.first).with_client_sequence(self.client_first);
        let any = self.in_pieces || connection.channel.compression().is_some();
        if any { walker.with_any_numbers() } else { walker }
    }
}

/// Sends a command to a node, all of it. `instead` is what goes in place of the payload that is there, and is not shorter.
///
/// # Errors
/// `Server` when the node does not take it; what of it arrived there is not known then. `Refused` when the node has said why
/// not before all of it was sent; the client has sent all of it then.
pub async fn send(
    command: &mut Command,
    client: &mut Channel,
    connection: &mut Connection,
    instead: Option<Vec<u8>>,
) -> Result<Sent, RelayError> {
    match send_now(command, client, connection, instead.as_deref())? {
        Some(sent) => Ok(sent),
        None => send_rest(command, client, connection, instead).await,
    }
}

/// Sends a command that is whole, as far as the node takes it at once. `None`: there is a rest, for [`send_rest`].
///
/// # Errors
/// As [`send`].
pub fn send_now(
    command: &Command,
    client: &Channel,
    connection: &mut Connection,
    instead: Option<&[u8]>,
) -> Result<Option<Sent>, RelayError> {
    if !command.whole {
        return Ok(None);
    }
    let sent = match instead {
        None => connection.send_now(command.bytes(client)),
        Some(payload) => {
            let mut out = Vec::with_capacity(payload.len() + HEADER);
            write_packet(&mut out, &mut 0, payload);
            connection.send_now(&out)
        }
    };
    sent.map(|all| all.then_some(Sent::WHOLE)).map_err(lost)
}

/// Sends what [`send_now`] has left of a command, with the same `instead`.
///
/// # Errors
/// As [`send`].
pub async fn send_rest(
    command: &mut Command,
    client: &mut Channel,
    connection: &mut Connection,
    instead: Option<Vec<u8>>,
) -> Result<Sent, RelayError> {
    if !command.whole {
        return Box::pin(stream(command, client, connection, instead)).await;
    }
    connection.flush().await.map_err(lost)?;
    Ok(Sent::WHOLE)
}

/// The node does not take a command, and nothing of its reply has come.
fn lost(source: io::Error) -> RelayError {
    RelayError::Server { source, answered: false }
}

/// Sends a command that is not whole.
async fn stream(
    command: &mut Command,
    client: &mut Channel,
    connection: &mut Connection,
    instead: Option<Vec<u8>>,
) -> Result<Sent, RelayError> {
    let mut stream = Stream::begin(command, client, instead)?;
    match stream.pass(client, connection).await {
        Err(RelayError::Server { source, answered }) => {
            let Some(error) = last_words(&mut connection.channel).await else {
                return Err(RelayError::Server { source, answered });
            };
            let client_first = stream.frames.discard(client).await.map_err(broken_off)?;
            Err(RelayError::Refused { error, client_first })
        }
        sent => sent,
    }
}

/// A command that goes to a node as it comes, frame by frame: the same frames, unless the beginning has grown.
struct Stream {
    /// Payload that is to go before what comes from the client.
    held: Vec<u8>,
    /// What the client has still to send.
    frames: Frames,
    /// The number of the next frame that is sent.
    next: u8,
}

impl Stream {
    fn begin(
        command: &mut Command,
        client: &mut Channel,
        instead: Option<Vec<u8>>,
    ) -> Result<Self, RelayError> {
        let header =
            Header::parse(client.unread()).ok_or(RelayError::ClientProtocol("a frame without a header"))?;
        let rest = header.length + HEADER - command.available;
        let held = instead.unwrap_or_else(|| command.payload(client).to_vec());
        command.consume(client);
        Ok(Self { held, frames: Frames { header, rest }, next: 0 })
    }

    async fn pass(&mut self, client: &mut Channel, connection: &mut Connection) -> Result<Sent, RelayError> {
        loop {
            let over = self.frames.header.length < MAX_PAYLOAD;
            loop {
                let known = self.held.len() + self.frames.rest;
                if known < MAX_PAYLOAD && !over {
                    break;
                }
                let length = known.min(MAX_PAYLOAD);
                self.pass_frame(length, client, connection).await?;
                if length < MAX_PAYLOAD {
                    let client_first = self.frames.header.sequence.wrapping_add(1);
                    return Ok(Sent { first: self.next, client_first, in_pieces: true });
                }
            }
            // What a grown beginning has pushed out of the frames so far. It is no longer than what was put in.
            client.fill_to(self.frames.rest).await.map_err(RelayError::Client)?;
            self.held.extend_from_slice(client.unread().get(..self.frames.rest).unwrap_or_default());
            client.consume(self.frames.rest);
            self.frames.next(client).await.map_err(broken_off)?;
        }
    }

    /// Sends one frame: what is held, then what comes.
    async fn pass_frame(
        &mut self,
        length: usize,
        client: &mut Channel,
        connection: &mut Connection,
    ) -> Result<(), RelayError> {
        let header = Header { length, sequence: self.next }.to_bytes();
        let from_held = length.min(self.held.len());
        let later = self.held.split_off(from_held);
        let out = [header.as_slice(), &std::mem::replace(&mut self.held, later)].concat();
        if self.next == 0 {
            connection.send(&out).await.map_err(lost)?;
        } else {
            connection.channel.write(&out).await.map_err(lost)?;
        }
        self.next = self.next.wrapping_add(1);
        let mut left = length - from_held;
        while left > 0 {
            if client.unread().is_empty() {
                let read = client.fill().await.and_then(super::end_is_an_error);
                read.map_err(RelayError::Client)?;
            }
            // A server that speaks before it has heard all refuses the rest.
            if connection.channel.has_news() {
                return Err(lost(io::ErrorKind::ConnectionAborted.into()));
            }
            let count = client.unread().len().min(left);
            // They are the client's from here on, also if the node does not take them.
            self.frames.rest -= count;
            left -= count;
            let bytes = client.unread().get(..count).unwrap_or_default();
            let written = connection.channel.write(bytes).await;
            client.consume(count);
            written.map_err(lost)?;
        }
        Ok(())
    }
}

/// The error with which a node has closed a connection, if it said one.
async fn last_words(server: &mut Channel) -> Option<ServerError> {
    let read = async {
        server.fill_to(HEADER).await.ok()?;
        let length = Header::parse(server.unread())?.length;
        server.fill_to(HEADER + length).await.ok()?;
        let payload = server.unread().get(HEADER..HEADER + length)?;
        ErrPacket::parse(payload).ok().map(|error| ServerError::from_packet(&error))
    };
    timeout(LAST_WORDS_LIMIT, read).await.ok().flatten()
}
