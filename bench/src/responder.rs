//! A server that costs next to nothing: point reads are answered from memory, and everything else by a real server behind.
//!
//! Each connection is passed on to a connection of its own, login included, so that what watches the nodes hears the truth.
//! The first answer to a point read is kept, and given to every later one of the same connection: what both sides have
//! agreed on is right by itself.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use wire::frame::HEADER;
use wire::{CommandCode, Header};

use crate::error::{Error, Result};
use crate::load::runtime;
use crate::player::POINT;

/// What is read at a time, in bytes; more than a point read and its answer.
const CHUNK: usize = 16 * 1024;

/// The responder before one server, on a thread of its own. Dropping it closes it.
#[derive(Debug)]
pub(crate) struct Responder {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    thread: Option<thread::JoinHandle<()>>,
    end: Option<oneshot::Sender<()>>,
}

impl Responder {
    /// Opens one before the server at this address.
    pub(crate) fn open(server: SocketAddr) -> Result<Self> {
        let what = || Error::system("cannot open a responder");
        let runtime = runtime()?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).map_err(what())?;
        let address = listener.local_addr().map_err(what())?;
        let (end, ended) = oneshot::channel::<()>();
        let serve = move || {
            runtime.block_on(async {
                tokio::spawn(accept(listener, server));
                let _ = ended.await;
            });
        };
        let thread = thread::Builder::new().name("responder".to_owned()).spawn(serve).map_err(what())?;
        Ok(Self { address, thread: Some(thread), end: Some(end) })
    }
}

async fn accept(listener: TcpListener, server: SocketAddr) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(async move {
            // Whatever ends a connection ends it for both sides.
            let _ = converse(client, server).await;
        });
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

/// The answer to point reads on one connection.
#[derive(Debug)]
enum Kept {
    /// None was asked for yet.
    Nothing,
    /// It is on its way; complete when the client's next command comes.
    Part(Vec<u8>),
    /// All of it.
    Whole(Vec<u8>),
}

async fn converse(mut client: TcpStream, server: SocketAddr) -> std::io::Result<()> {
    let mut server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut asked, mut answered) = (vec![0; CHUNK], vec![0; CHUNK]);
    let mut kept = Kept::Nothing;
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let command = asked.get(..read?).unwrap_or_default();
                if command.is_empty() {
                    return Ok(());
                }
                kept = match kept {
                    Kept::Part(answer) if !answer.is_empty() => Kept::Whole(answer),
                    kept => kept,
                };
                match &mut kept {
                    Kept::Whole(answer) if is_point(command) => {
                        client.write_all(answer).await?;
                        continue;
                    }
                    Kept::Nothing if is_point(command) => kept = Kept::Part(Vec::new()),
                    _ => {}
                }
                server.write_all(command).await?;
            }
            read = server.read(&mut answered) => {
                let answer = answered.get(..read?).unwrap_or_default();
                if answer.is_empty() {
                    return Ok(());
                }
                if let Kept::Part(part) = &mut kept {
                    part.extend_from_slice(answer);
                }
                client.write_all(answer).await?;
            }
        }
    }
}

/// Whether these bytes are a point read as text, and nothing else. A proxy may say in front of it that there are no query
/// attributes.
fn is_point(bytes: &[u8]) -> bool {
    const QUERY: u8 = CommandCode::Query.to_u8();
    /// No attributes, one set of them.
    const NO_ATTRIBUTES: &[u8] = &[0, 1];
    let header = Header::parse(bytes).filter(|header| header.sequence == 0);
    let whole = header.is_some_and(|header| header.length + HEADER == bytes.len());
    let Some((&QUERY, text)) = bytes.get(HEADER..).and_then(<[u8]>::split_first) else { return false };
    whole && text.strip_prefix(NO_ATTRIBUTES).unwrap_or(text).starts_with(POINT.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Capabilities;
    use wire::command::write_query;

    #[test]
    fn point_reads_are_known_with_and_without_attributes() {
        for capabilities in [Capabilities::QUERY_ATTRIBUTES, Capabilities(0)] {
            let mut out = Vec::new();
            write_query(&mut out, b"SELECT c FROM points WHERE id=77", capabilities);
            assert!(is_point(&out));
            assert!(!is_point(&out[..out.len() - 1]));
            out.push(0);
            assert!(!is_point(&out));
            out.clear();
            write_query(&mut out, b"SELECT 1", capabilities);
            assert!(!is_point(&out));
        }
        assert!(!is_point(b""));
    }
}
