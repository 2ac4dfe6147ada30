//! Opening a socket to a node.

use std::io;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use super::{Channel, Plain};
use crate::config::Address;

/// How long a node may take to accept a connection. A node that needs longer is as good as down for the statement
/// that waits.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Idle seconds before the kernel asks whether the other side still lives, so that a half-open connection is found.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Why no socket to a node could be opened.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The node refused, or its name is not known.
    #[error("cannot connect to {address}: {source}")]
    Refused {
        /// Where to.
        address: Address,
        /// What the system said.
        source: io::Error,
    },
    /// No answer in time.
    #[error("no answer from {address} within {} s", CONNECT_TIMEOUT.as_secs())]
    Silent {
        /// Where to.
        address: Address,
    },
}

/// Connects to `address`.
///
/// # Errors
/// When the node refuses or does not answer within five seconds.
pub async fn connect(address: &Address) -> Result<Channel, ConnectError> {
    let attempt = async {
        match address {
            Address::Tcp { host, port } => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                prepare_tcp(&stream)?;
                Ok(Plain::Tcp(stream))
            }
            Address::Unix(path) => Ok(Plain::Unix(UnixStream::connect(path).await?)),
        }
    };
    match timeout(CONNECT_TIMEOUT, attempt).await {
        Ok(Ok(plain)) => Ok(Channel::new(plain)),
        Ok(Err(source)) => Err(ConnectError::Refused { address: address.clone(), source }),
        Err(_) => Err(ConnectError::Silent { address: address.clone() }),
    }
}

/// Options every TCP socket of the proxy gets, to clients and to nodes.
pub(crate) fn prepare_tcp(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    SockRef::from(stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE))
}
