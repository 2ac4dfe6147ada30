//! A client's command: read as far as it must be understood, then sent on, in one write when it is small.

use std::io;

use wire::frame::{HEADER, Header, MAX_PAYLOAD};

use super::RelayError;
use crate::backend::Connection;
use crate::transport::Channel;

/// Commands up to this many bytes are read whole before anything is done: to be classified, and to be sent again when
/// a replica fails. A larger one is sent on as it comes, to the primary, and only its beginning is looked at.
pub const WHOLE_LIMIT: usize = 1024 * 1024;

/// Of a larger command this much is looked at: an EXECUTE's parameter types lie within it, even 65,535 of them.
const PREFIX: usize = 256 * 1024;

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
        let mut header = Header::parse(client.unread()).ok_or(CommandError::Empty)?;
        let mut rest = header.length + HEADER - self.available;
        self.consume(client);
        loop {
            while rest > 0 {
                if client.unread().is_empty() {
                    client.fill_to(1).await.map_err(CommandError::Ended)?;
                }
                let count = client.unread().len().min(rest);
                client.consume(count);
                rest -= count;
            }
            if header.length < MAX_PAYLOAD {
                return Ok(header.sequence.wrapping_add(1));
            }
            client.fill_to(HEADER).await.map_err(CommandError::Ended)?;
            let next = Header::parse(client.unread()).ok_or(CommandError::Empty)?;
            if next.sequence != header.sequence.wrapping_add(1) {
                return Err(CommandError::OutOfOrder(next.sequence));
            }
            client.consume(HEADER);
            header = next;
            rest = next.length;
        }
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

/// Sends a command to a node, all of it. Returns the sequence number the reply begins with.
///
/// # Errors
/// `Server` when the node does not take it; what of it arrived there is not known then.
pub async fn send(
    command: &mut Command,
    client: &mut Channel,
    connection: &mut Connection,
) -> Result<u8, RelayError> {
    let lost = |source| RelayError::Server { source, answered: false };
    if command.whole {
        connection.send(command.bytes(client)).await.map_err(lost)?;
        return Ok(1);
    }
    let mut header =
        Header::parse(client.unread()).ok_or(RelayError::ClientProtocol("a frame without a header"))?;
    let mut rest = header.length + HEADER - command.available;
    connection.send(command.bytes(client)).await.map_err(lost)?;
    command.consume(client);
    loop {
        while rest > 0 {
            if client.unread().is_empty() {
                let read = client.fill().await.and_then(super::end_is_an_error);
                read.map_err(RelayError::Client)?;
            }
            let count = client.unread().len().min(rest);
            client.forward(count, &mut connection.channel).await.map_err(lost)?;
            rest -= count;
        }
        if header.length < MAX_PAYLOAD {
            return Ok(header.sequence.wrapping_add(1));
        }
        client.fill_to(HEADER).await.map_err(RelayError::Client)?;
        let next =
            Header::parse(client.unread()).ok_or(RelayError::ClientProtocol("a frame without a header"))?;
        if next.sequence != header.sequence.wrapping_add(1) {
            return Err(RelayError::ClientProtocol("the frames of a packet are not in order"));
        }
        client.forward(HEADER, &mut connection.channel).await.map_err(lost)?;
        header = next;
        rest = next.length;
    }
}
