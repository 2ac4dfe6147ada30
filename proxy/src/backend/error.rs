//! What can go wrong between the proxy and a node.

use std::io;

use wire::Malformed;

use crate::transport::ConnectError;
use crate::transport::packet::PacketError;

/// ER_CON_COUNT_ERROR.
const TOO_MANY_CONNECTIONS: u16 = 1040;

/// An ERR packet of a server, kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    /// The server's error number.
    pub code: u16,
    /// Five characters.
    pub sql_state: [u8; 5],
    /// The server's words.
    pub message: Vec<u8>,
}

impl ServerError {
    /// Keeps what a packet says.
    pub fn from_packet(packet: &wire::err::ErrPacket<'_>) -> Self {
        // Errors in place of a greeting carry no state.
        let sql_state = if packet.code == TOO_MANY_CONNECTIONS { *b"08004" } else { packet.sql_state };
        Self { code: packet.code, sql_state, message: packet.message.to_vec() }
    }
}

impl std::fmt::Display for ServerError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = String::from_utf8_lossy(&self.sql_state);
        write!(formatter, "error {} ({state}): {}", self.code, String::from_utf8_lossy(&self.message))
    }
}

/// Why a node could not be used.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// There is none to connect to.
    #[error("no node is up; the log says why, and `tidemark status` how each is")]
    NoneUp,
    /// No socket.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The socket broke.
    #[error("the connection broke: {0}")]
    Io(#[from] io::Error),
    /// The TLS handshake failed or is not offered.
    #[error("TLS with the server failed: {0}")]
    Tls(String),
    /// The server refused the login or the question, with its own error.
    #[error("the server said {0}")]
    Refused(ServerError),
    /// The server wants the password itself and the proxy no longer has it: its cache does not know the account yet.
    #[error("the server asks for the password of the account, which is kept only while a client logs in")]
    PasswordNeeded,
    /// The account's plugin cannot be answered with what is known.
    #[error(
        "the account uses the authentication plugin {0}, which cannot be answered with what the client sent"
    )]
    Plugin(String),
    /// The server did not speak the protocol.
    #[error("the server broke the protocol: {0}")]
    Protocol(String),
    /// A question of the proxy's own was not answered in time.
    #[error("no answer within {0} ms")]
    Silent(u64),
}

impl From<Malformed> for BackendError {
    fn from(malformed: Malformed) -> Self {
        Self::Protocol(malformed.to_string())
    }
}

impl From<PacketError> for BackendError {
    fn from(error: PacketError) -> Self {
        match error {
            PacketError::Io(source) => Self::Io(source),
            PacketError::Closed => Self::Io(io::ErrorKind::UnexpectedEof.into()),
            other => Self::Protocol(other.to_string()),
        }
    }
}
