//! A piece of network that can be broken: a TCP port that passes bytes on to a server, until told otherwise.
//!
//! Stalled, it neither passes anything on nor closes anything, as a network does whose packets get lost: what was sent
//! arrives when the stall is over. Cut, connections are reset, and new ones refused as long as it lasts.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::error::{Error, Result};

/// Bytes taken from one side before they go to the other.
const BUFFER: usize = 16 * 1024;

/// What becomes of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Passage {
    Open,
    Stalled,
    /// With the number of the cut: connections of before it are reset.
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    passage: Passage,
    /// How often all connections were cut so far.
    cuts: u64,
}

/// One such port. It is gone with the runtime it was opened on.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    target: Arc<Mutex<SocketAddr>>,
    state: watch::Sender<State>,
}

impl Relay {
    /// Opens a port that leads to `target`, on a runtime.
    ///
    /// # Errors
    /// When no port can be had.
    pub fn open(network: &Handle, target: SocketAddr) -> Result<Self> {
        let listener = network
            .block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
            .map_err(Error::system("cannot open a port"))?;
        let address = listener.local_addr().map_err(Error::system("cannot open a port"))?;
        let target = Arc::new(Mutex::new(target));
        let (state, watched) = watch::channel(State { passage: Passage::Open, cuts: 0 });
        network.spawn(serve(listener, Arc::clone(&target), watched));
        Ok(Self { address, target, state })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Leads new connections elsewhere.
    pub fn lead_to(&self, target: SocketAddr) {
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = target;
    }

    /// Resets all connections; new ones are let through.
    pub fn cut(&self) {
        self.state.send_modify(|state| state.cuts += 1);
    }

    /// Resets all connections and refuses new ones.
    pub fn close(&self) {
        self.state.send_modify(|state| *state = State { passage: Passage::Closed, cuts: state.cuts + 1 });
    }

    /// Holds back everything.
    pub fn stall(&self) {
        self.state.send_modify(|state| state.passage = Passage::Stalled);
    }

    /// Lets everything through.
    pub fn heal(&self) {
        self.state.send_modify(|state| state.passage = Passage::Open);
    }
}

/// Ends when the relay is dropped: nobody can change its state any more.
async fn serve(listener: TcpListener, target: Arc<Mutex<SocketAddr>>, mut state: watch::Receiver<State>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            over = over(state.clone()) => return over,
        };
        let Ok((client, _)) = accepted else { continue };
        let State { passage, cuts } = *state.borrow_and_update();
        if passage == Passage::Closed {
            reset(&client);
            continue;
        }
        let target = *target.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut state, mut cut) = (state.clone(), state.clone());
        tokio::spawn(async move {
            tokio::select! {
                _ = cut.wait_for(|state| state.cuts > cuts) => reset(&client),
                // Whichever side ended it, the other hears of it when both sockets are closed.
                ended = connect(&client, target, &mut state) => if ended.is_err() { reset(&client) },
            }
        });
    }
}

async fn over(mut state: watch::Receiver<State>) {
    while state.changed().await.is_ok() {}
}

/// Has the socket send a reset instead of an orderly end when it is dropped.
fn reset(client: &TcpStream) {
    // Without it the connection ends in order, which is a lesser fault, but one.
    let _ = client.set_zero_linger();
}

async fn connect(
    client: &TcpStream,
    target: SocketAddr,
    state: &mut watch::Receiver<State>,
) -> io::Result<()> {
    passable(state).await;
    let server = TcpStream::connect(target).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let mut back = state.clone();
    tokio::select! {
        ended = pass(client, &server, state) => ended,
        ended = pass(&server, client, &mut back) => ended,
    }
}

/// Passes bytes on in one direction until its end.
async fn pass(from: &TcpStream, to: &TcpStream, state: &mut watch::Receiver<State>) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        from.readable().await?;
        // What comes while it is stalled stays in the socket.
        passable(state).await;
        let count = match from.try_read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error),
        };
        let mut rest = &buffer[..count];
        while !rest.is_empty() {
            to.writable().await?;
            match to.try_write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

async fn passable(state: &mut watch::Receiver<State>) {
    // The relay is gone: so is whoever could stall it.
    let _ = state.wait_for(|state| state.passage != Passage::Stalled).await;
}
