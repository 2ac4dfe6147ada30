//! A client's way in: the greeting, TLS, and the proof that a server accepts.
//!
//! There is no list of users. Whoever a server lets in as an account may come in: the session's first connection to
//! a node is made here, with what the client proved, before the client hears OK.
//!
//! Deliberately absent: statements. What comes out of [`log_in`] is a client that has been let in.

mod accounts;
mod greet;
mod hashes;
mod prove;
mod rsa;

use std::net::IpAddr;
use std::time::Duration;

use tokio::time::timeout;
use wire::Malformed;
use wire::capability::Capabilities;
use wire::greeting::SCRAMBLE;

use crate::backend::{Connection, Secret};
use crate::endpoint::Endpoint;
use crate::error::ClientError;
use crate::instance::Instance;
use crate::transport::Channel;
use crate::transport::compression::Algorithm;
use crate::transport::packet::{Exchange, PacketError};

pub use accounts::Accounts;
pub use greet::OFFERED;
pub use hashes::Hashes;
pub use prove::change_user;
pub use rsa::{RsaError, RsaKey};

/// How long a login may take, as a server's connect_timeout.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Where a client comes from, as the servers' error texts and the access list see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A TCP address.
    Ip(IpAddr),
    /// A UNIX socket.
    Local,
}

impl std::fmt::Display for Peer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ip(address) => write!(formatter, "{}", address.to_canonical()),
            Self::Local => formatter.write_str("localhost"),
        }
    }
}

/// Who a client is, after a server has let it in.
#[derive(Clone, Debug)]
pub struct Account {
    /// The account's user name.
    pub user: Box<[u8]>,
    /// What later logins to other nodes need.
    pub secret: Secret,
    /// The schema the client asked for at login.
    pub schema: Option<Box<[u8]>>,
    /// The client's collation id.
    pub collation: u16,
    /// The client's connection attributes, raw.
    pub attributes: Option<Box<[u8]>>,
    /// The nonce of the client's greeting, which COM_CHANGE_USER asks it about again.
    pub nonce: [u8; SCRAMBLE],
}

/// A client that has been let in.
#[derive(Debug)]
pub struct LoggedIn {
    /// Its socket.
    pub channel: Channel,
    /// What it speaks.
    pub capabilities: Capabilities,
    /// What it speaks of MariaDB's own capabilities.
    pub extended: u32,
    /// What it compresses with.
    compression: Option<Algorithm>,
    /// Who it is.
    pub account: Account,
    /// The connection that proved it.
    pub connection: Connection,
    /// The number of the packet by which it will hear so.
    sequence: u8,
}

impl LoggedIn {
    /// Tells the client that it is in, and compresses from then on if it asked for that. Whoever must know it by its connection id is told before.
    ///
    /// # Errors
    /// When the client has gone.
    pub async fn welcome(&mut self) -> Result<(), FrontendError> {
        let ok = wire::ok::OkPacket { status: self.connection.status, ..Default::default() };
        let mut payload = Vec::new();
        ok.write(&mut payload, wire::ok::OK_HEADER, self.capabilities, &wire::wanted::Wanted::default())?;
        Exchange::new(&mut self.channel, self.sequence).write(&payload).await?;
        if let Some(algorithm) = self.compression {
            self.channel.compress(algorithm);
        }
        Ok(())
    }
}

/// Why a client did not get in.
#[derive(Debug, thiserror::Error)]
pub enum FrontendError {
    /// It was told so.
    #[error("refused with error {}: {}", .0.code, String::from_utf8_lossy(&.0.message))]
    Refused(ClientError),
    /// It closed the connection, or it broke.
    #[error("the client's connection ended during login")]
    Closed,
    /// It did not speak the protocol.
    #[error("the client broke the protocol during login: {0}")]
    Protocol(String),
    /// It took too long.
    #[error("the login took longer than {} s", LOGIN_TIMEOUT.as_secs())]
    Slow,
}

impl From<PacketError> for FrontendError {
    fn from(error: PacketError) -> Self {
        match error {
            PacketError::Io(_) | PacketError::Closed => Self::Closed,
            other => Self::Protocol(other.to_string()),
        }
    }
}

impl From<Malformed> for FrontendError {
    fn from(malformed: Malformed) -> Self {
        Self::Protocol(malformed.to_string())
    }
}

impl From<ClientError> for FrontendError {
    fn from(error: ClientError) -> Self {
        Self::Refused(error)
    }
}

/// Takes a client from its first byte to the moment before it hears OK.
///
/// # Errors
/// See [`FrontendError`]; the client has been told what it can be told.
pub async fn log_in(
    mut channel: Channel,
    id: u32,
    peer: Peer,
    endpoint: &Endpoint,
    instance: &Instance,
) -> Result<LoggedIn, FrontendError> {
    let mut exchange = Exchange::new(&mut channel, 0);
    let entered = timeout(LOGIN_TIMEOUT, enter(&mut exchange, id, peer, endpoint, instance)).await;
    match entered.unwrap_or(Err(FrontendError::Slow)) {
        Ok(Entered { capabilities, extended, compression, account, connection }) => {
            let sequence = exchange.sequence();
            Ok(LoggedIn { channel, capabilities, extended, compression, account, connection, sequence })
        }
        Err(error) => {
            if let Some(told) = told(&error) {
                // Whether it still listens or not, it is gone.
                let _ = exchange.write(&told.payload(Capabilities::PROTOCOL_41)).await;
            }
            Err(error)
        }
    }
}

/// What a client is told about its failed login, if there is anybody to tell it to.
fn told(error: &FrontendError) -> Option<ClientError> {
    match error {
        FrontendError::Refused(error) => Some(error.clone()),
        FrontendError::Protocol(what) => {
            Some(ClientError::new(1043, b"08S01", format!("Bad handshake: {what}")))
        }
        FrontendError::Closed | FrontendError::Slow => None,
    }
}

/// Who was let in, and what it speaks.
struct Entered {
    capabilities: Capabilities,
    extended: u32,
    compression: Option<Algorithm>,
    account: Account,
    connection: Connection,
}

async fn enter(
    exchange: &mut Exchange<'_>,
    id: u32,
    peer: Peer,
    endpoint: &Endpoint,
    instance: &Instance,
) -> Result<Entered, FrontendError> {
    let (offer, nonce) = greet::greet(exchange, id, instance).await?;
    let payload = greet::read_login(exchange, offer.capabilities, instance).await?;
    let login = wire::login::Login::parse(&payload)?;
    if instance.require_tls && !exchange.channel().is_private() {
        let text = "Connections using insecure transport are prohibited while require = true in [tls]";
        return Err(ClientError::new(3159, b"HY000", text).into());
    }
    let capabilities = login.capabilities & offer.capabilities;
    // Some drivers compress without looking whether that was offered.
    let compresses = Algorithm::agreed(login.capabilities, login.zstd_level).is_some();
    if compresses && Algorithm::agreed(capabilities, login.zstd_level).is_none() {
        let text = "the client compresses, and not all servers behind Tidemark offer that; connect without compression";
        return Err(ClientError::own(text).into());
    }
    let extended = login.mariadb_extended & offer.extended;
    let compression = Algorithm::agreed(capabilities, login.zstd_level);
    // The servers read one byte of it in a login (two in COM_CHANGE_USER), and so must whoever logs in for the client.
    let collation = login.collation & 0xff;
    let applicant = prove::Applicant {
        user: login.user,
        peer,
        schema: login.schema,
        collation,
        capabilities,
        extended,
        attributes: login.attributes,
        compression,
        plugin: login.auth_plugin,
        response: login.auth_response,
        nonce,
        offered: offer.plugin,
    };
    let (secret, connection) = prove::prove(exchange, &applicant, endpoint, instance).await?;
    let account = Account {
        user: login.user.into(),
        secret,
        schema: login.schema.map(Into::into),
        collation,
        attributes: login.attributes.map(Into::into),
        nonce,
    };
    Ok(Entered { capabilities, extended, compression, account, connection })
}
