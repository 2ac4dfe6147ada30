//! Whole small packets, for the conversations before a session runs: greeting and login on both sides, and the
//! proxy's own questions. A session's statements and replies do not pass here; they stream.

use std::io;

use wire::frame::{HEADER, Header, write_packet};

use super::Channel;

/// Largest packet of a login. The biggest honest one holds 64 KiB of connection attributes.
pub const LOGIN_PACKET_LIMIT: usize = 128 * 1024;

/// Why no whole packet could be read.
#[derive(Debug, thiserror::Error)]
pub enum PacketError {
    /// The socket failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The other side closed between two packets.
    #[error("the connection was closed")]
    Closed,
    /// Larger than a packet may be here.
    #[error("a packet of {length} bytes, at most {limit} are taken here")]
    TooLarge {
        /// As its header says.
        length: usize,
        /// What is taken.
        limit: usize,
    },
    /// Not the next sequence number.
    #[error("packet number {got} where {expected} was due")]
    OutOfOrder {
        /// What was due.
        expected: u8,
        /// What came.
        got: u8,
    },
}

/// A conversation of whole packets in turn, with its sequence numbers.
pub struct Exchange<'a> {
    channel: &'a mut Channel,
    sequence: u8,
}

impl<'a> Exchange<'a> {
    /// Starts at `sequence`, the number of the next packet in either direction.
    pub fn new(channel: &'a mut Channel, sequence: u8) -> Self {
        Self { channel, sequence }
    }

    /// The number of the next packet.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// The channel under the conversation.
    pub fn channel(&mut self) -> &mut Channel {
        self.channel
    }

    /// Reads the next packet. With `exact`, not a byte beyond it is taken from the socket: what follows may be TLS.
    ///
    /// # Errors
    /// See [`PacketError`].
    pub async fn read(&mut self, exact: Exact) -> Result<Vec<u8>, PacketError> {
        self.fill_to(HEADER, exact).await?;
        let header = Header::parse(self.channel.unread()).ok_or(PacketError::Closed)?;
        if header.length > LOGIN_PACKET_LIMIT {
            return Err(PacketError::TooLarge { length: header.length, limit: LOGIN_PACKET_LIMIT });
        }
        if header.sequence != self.sequence {
            return Err(PacketError::OutOfOrder { expected: self.sequence, got: header.sequence });
        }
        self.sequence = self.sequence.wrapping_add(1);
        let end = HEADER + header.length;
        self.fill_to(end, exact).await?;
        let payload = self.channel.unread().get(HEADER..end).unwrap_or_default().to_vec();
        self.channel.consume(end);
        Ok(payload)
    }

    async fn fill_to(&mut self, count: usize, exact: Exact) -> Result<(), PacketError> {
        loop {
            let missing = count.saturating_sub(self.channel.unread().len());
            if missing == 0 {
                return Ok(());
            }
            let limit = if exact == Exact::Yes { missing } else { usize::MAX };
            if self.channel.fill_at_most(limit).await? == 0 {
                return Err(PacketError::Closed);
            }
        }
    }

    /// Sends `payload` as the next packet.
    ///
    /// # Errors
    /// When the socket fails.
    pub async fn write(&mut self, payload: &[u8]) -> Result<(), PacketError> {
        let mut out = Vec::with_capacity(payload.len() + HEADER);
        write_packet(&mut out, &mut self.sequence, payload);
        Ok(self.channel.write(&out).await?)
    }
}

/// Whether bytes behind the packet may be read along with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Exact {
    /// Not one: two reads.
    Yes,
    /// Whatever has arrived: one read.
    No,
}
