//! A node that stands before a real server and answers some statements itself, in ways no server would.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use wire::frame::{HEADER, Header};

/// What a node sends in place of a reply.
#[derive(Clone, Debug)]
pub(super) struct Script {
    /// The statement's text contains this.
    pub(super) marker: String,
    /// The bytes sent, frames and all.
    pub(super) bytes: Vec<u8>,
    /// Whether it closes the connection behind them.
    pub(super) closes: bool,
}

/// A node on a port of its own, until it is dropped.
pub(super) struct FakeNode {
    address: SocketAddr,
    over: Arc<AtomicBool>,
}

impl FakeNode {
    /// Passes everything on to `server`, except statements that a script answers.
    pub(super) fn before(server: SocketAddr, scripts: Vec<Script>) -> Self {
        let scripts = Arc::new(scripts);
        Self::listen(move |client| {
            if let Ok(server) = TcpStream::connect(server) {
                pass(client, server, &scripts);
            }
        })
    }

    /// Says `bytes` to whoever connects, whatever they say; then closes, or holds the connection.
    pub(super) fn says(bytes: Vec<u8>, closes: bool) -> Self {
        Self::listen(move |mut client| {
            let _ = client.write_all(&bytes);
            if !closes {
                let _ = client.set_read_timeout(Some(Duration::from_secs(60)));
                while client.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {}
            }
        })
    }

    fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let (stop, serve) = (Arc::clone(&over), Arc::new(serve));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let serve = Arc::clone(&serve);
                thread::spawn(move || serve(client));
            }
        });
        Self { address, over }
    }

    pub(super) fn address(&self) -> String {
        self.address.to_string()
    }
}

impl Drop for FakeNode {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // Wakes the listener so that it sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

/// Both directions; the one from the proxy frame by frame, to find the markers.
fn pass(proxy: TcpStream, server: TcpStream, scripts: &[Script]) {
    let (Ok(mut to_proxy), Ok(mut from_server)) = (proxy.try_clone(), server.try_clone()) else { return };
    let backward = thread::spawn(move || {
        let _ = std::io::copy(&mut from_server, &mut to_proxy);
        let _ = to_proxy.shutdown(Shutdown::Both);
    });
    let _ = forward(&proxy, &server, scripts);
    let _ = proxy.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
    let _ = backward.join();
}

fn forward(mut proxy: &TcpStream, mut server: &TcpStream, scripts: &[Script]) -> std::io::Result<()> {
    loop {
        let mut frame = vec![0; HEADER];
        proxy.read_exact(&mut frame)?;
        let header = Header::parse(&frame).ok_or(std::io::ErrorKind::InvalidData)?;
        frame.resize(HEADER + header.length, 0);
        proxy.read_exact(&mut frame[HEADER..])?;
        let text = String::from_utf8_lossy(&frame[HEADER..]);
        match scripts.iter().find(|script| header.sequence == 0 && text.contains(&script.marker)) {
            Some(script) => {
                proxy.write_all(&script.bytes)?;
                if script.closes {
                    return Ok(());
                }
            }
            None => server.write_all(&frame)?,
        }
    }
}
