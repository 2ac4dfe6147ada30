//! Where clients arrive: one listening socket per endpoint, and a session on one of the worker threads for each.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use wire::capability::Capabilities;

use crate::config::Address;
use crate::endpoint::Endpoint;
use crate::error::ClientError;
use crate::frontend::{FrontendError, Peer, log_in};
use crate::instance::Instance;
use crate::runtime::Workers;
use crate::session::{Card, End, Session};
use crate::transport::packet::Exchange;
use crate::transport::{Channel, Plain, prepare_tcp};

/// Connections the kernel keeps for a listener that is busy: a storm of them should not be refused at once.
const BACKLOG: i32 = 4096;

/// How long to wait when no connection can be accepted: the process is out of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// A client's socket on its way to a worker.
#[derive(Debug)]
pub struct Newcomer {
    socket: Arrived,
    peer: Peer,
    endpoint: Arc<Endpoint>,
}

#[derive(Debug)]
enum Arrived {
    Tcp(std::net::TcpStream),
    Unix(std::os::unix::net::UnixStream),
}

/// A bound endpoint.
#[derive(Debug)]
pub struct Listener {
    endpoint: Arc<Endpoint>,
    socket: Bound,
}

/// A listening socket.
#[derive(Debug)]
pub(crate) enum Bound {
    /// Of a TCP address.
    Tcp(TcpListener),
    /// Of a socket file.
    Unix(UnixListener),
}

impl Listener {
    /// Binds an endpoint's address.
    ///
    /// # Errors
    /// When the address is in use or not this machine's.
    pub fn bind(endpoint: Arc<Endpoint>) -> io::Result<Self> {
        let socket = bind(&endpoint.listen)?;
        Ok(Self { endpoint, socket })
    }

    /// Accepts clients and hands them to the workers, for ever.
    pub async fn serve(self, workers: Workers) {
        loop {
            match self.accept().await {
                Ok((socket, peer)) => {
                    workers.give(Newcomer { socket, peer, endpoint: Arc::clone(&self.endpoint) });
                }
                Err(error) => {
                    tracing::error!(endpoint = self.endpoint.name, %error, "cannot accept a connection; waiting a moment");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    async fn accept(&self) -> io::Result<(Arrived, Peer)> {
        match &self.socket {
            Bound::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                Ok((Arrived::Tcp(stream.into_std()?), Peer::Ip(address.ip())))
            }
            Bound::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok((Arrived::Unix(stream.into_std()?), Peer::Local))
            }
        }
    }
}

/// Listens on an address.
pub(crate) fn bind(address: &Address) -> io::Result<Bound> {
    Ok(match address {
        Address::Tcp { host, port } => Bound::Tcp(bind_tcp((host.as_str(), *port))?),
        Address::Unix(path) => Bound::Unix(bind_unix(path)?),
    })
}

fn bind_tcp(address: (&str, u16)) -> io::Result<TcpListener> {
    let nowhere = || io::Error::new(io::ErrorKind::NotFound, "the host name has no address");
    let address: SocketAddr = address.to_socket_addrs()?.next().ok_or_else(nowhere)?;
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// A socket file that nobody listens on is left over from a crash, and replaced.
fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    let left_over = std::fs::metadata(path).is_ok_and(|found| found.file_type().is_socket())
        && std::os::unix::net::UnixStream::connect(path).is_err();
    if left_over {
        std::fs::remove_file(path)?;
    }
    UnixListener::bind(path)
}

/// Serves one client from its first byte to its last, on the worker's thread.
pub async fn serve_client(newcomer: Newcomer, instance: Arc<Instance>) {
    let Newcomer { socket, peer, endpoint } = newcomer;
    let Ok(mut channel) = open(socket) else { return };
    let admitted = match peer {
        Peer::Ip(address) => endpoint.config.admits(address.to_canonical()),
        Peer::Local => true,
    };
    if !admitted {
        let text = format!("Host '{peer}' is not allowed to connect to this MySQL server");
        turn_away(&mut channel, &endpoint, peer, &ClientError::new(1130, b"HY000", text)).await;
    } else if endpoint.counters.client_came(endpoint.config.max_connections) {
        let _counted = Counted(&endpoint);
        serve_admitted(channel, peer, &endpoint, instance).await;
    } else {
        turn_away(&mut channel, &endpoint, peer, &ClientError::too_many_connections()).await;
    }
}

fn open(socket: Arrived) -> io::Result<Channel> {
    Ok(Channel::new(match socket {
        Arrived::Tcp(stream) => {
            let stream = TcpStream::from_std(stream)?;
            prepare_tcp(&stream)?;
            Plain::Tcp(stream)
        }
        Arrived::Unix(stream) => Plain::Unix(UnixStream::from_std(stream)?),
    }))
}

/// Says why, in place of a greeting.
async fn turn_away(channel: &mut Channel, endpoint: &Endpoint, peer: Peer, error: &ClientError) {
    endpoint.counters.logins_refused.fetch_add(1, Ordering::Relaxed);
    tracing::warn!(endpoint = endpoint.name, client = %peer, code = error.code, "client turned away");
    // It may have gone already.
    let _ = Exchange::new(channel, 0).write(&error.payload(Capabilities::PROTOCOL_41)).await;
    let _ = channel.shutdown().await;
}

/// Counts the client out, whatever ends it.
struct Counted<'a>(&'a Endpoint);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.counters.client_went();
    }
}

/// Takes the session out of the registry, whatever ends it.
struct Registered<'a> {
    instance: &'a Instance,
    id: u32,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.instance.registry.remove(self.id);
    }
}

async fn serve_admitted(channel: Channel, peer: Peer, endpoint: &Arc<Endpoint>, instance: Arc<Instance>) {
    let id = instance.new_id();
    let mut logged_in = match log_in(channel, id, peer, endpoint, &instance).await {
        Ok(logged_in) => logged_in,
        Err(error) => return login_failed(&error, id, peer, endpoint),
    };
    let card = Arc::new(Card::new(id, &logged_in.account.user, peer, &endpoint.name));
    instance.registry.add(Arc::clone(&card));
    let _registered = Registered { instance: &instance, id };
    if let Err(error) = logged_in.welcome().await {
        return login_failed(&error, id, peer, endpoint);
    }
    let end = Session::new(logged_in, card, peer, Arc::clone(endpoint), Arc::clone(&instance)).run().await;
    session_ended(&end, id, peer, endpoint);
}

fn login_failed(error: &FrontendError, id: u32, peer: Peer, endpoint: &Endpoint) {
    endpoint.counters.logins_refused.fetch_add(1, Ordering::Relaxed);
    if let FrontendError::Protocol(_) = error {
        endpoint.counters.protocol_errors.fetch_add(1, Ordering::Relaxed);
    }
    tracing::info!(endpoint = endpoint.name, session = id, client = %peer, %error, "login failed, connection closed");
}

fn session_ended(end: &End, id: u32, peer: Peer, endpoint: &Endpoint) {
    match end {
        End::Told(error) | End::ToldAt(error, _) => {
            if matches!(error.code, 1835 | 1156) {
                endpoint.counters.protocol_errors.fetch_add(1, Ordering::Relaxed);
            }
            let text = String::from_utf8_lossy(&error.message);
            tracing::warn!(endpoint = endpoint.name, session = id, client = %peer, code = error.code, %text, "session closed with an error");
        }
        End::Truncated => {
            endpoint.counters.protocol_errors.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(endpoint = endpoint.name, session = id, client = %peer, "the client closed its connection inside a packet");
        }
        other => {
            tracing::debug!(endpoint = endpoint.name, session = id, client = %peer, end = ?other, "session ended")
        }
    }
}
