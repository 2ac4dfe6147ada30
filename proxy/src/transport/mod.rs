//! Everything that touches a socket: plain TCP, UNIX sockets and TLS behind one [`Channel`].
//!
//! Where both sides agreed on compression, a channel packs what is written and unpacks what is read ([`compression`]).
//!
//! A channel reads into a buffer that it borrows from its thread only while bytes are unread, so that an idle
//! session holds none, and asks the kernel once per small packet: a short read means that the socket is drained, so
//! nothing is ever read "to see".
//!
//! Deliberately absent: packets. A channel knows bytes; what they mean is `wire`'s business.

mod buffer;
pub mod compression;
mod connect;
pub mod packet;
pub mod tls;

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};

use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use wire::frame::{HEADER, Header};

use buffer::Buffer;
use compression::{Algorithm, Compression};
pub(crate) use connect::prepare_tcp;
pub use connect::{ConnectError, connect};

/// A socket before TLS.
#[derive(Debug)]
pub enum Plain {
    /// TCP, with `TCP_NODELAY` on: replies that need two writes must not wait for a delayed acknowledgement.
    Tcp(TcpStream),
    /// A UNIX socket. Counts as a safe way for a password, as it does for the servers.
    Unix(UnixStream),
}

impl Plain {
    /// Waits until there may be something to read.
    fn poll_read_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream) => stream.poll_read_ready(context),
            Self::Unix(stream) => stream.poll_read_ready(context),
        }
    }

    fn try_io<T>(&self, interest: Interest, io: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self {
            Self::Tcp(stream) => stream.try_io(interest, io),
            Self::Unix(stream) => stream.try_io(interest, io),
        }
    }

    /// Whether there may be something to read. Costs no system call.
    fn may_be_readable(&self) -> bool {
        self.try_io(Interest::READABLE, || Ok(())).is_ok()
    }

    /// Reads once what is there. `WouldBlock`: nothing is.
    fn read_now(&self, target: &mut [u8]) -> io::Result<usize> {
        let mut count = None;
        let tried = self.try_io(Interest::READABLE, || {
            let received = match self {
                Self::Tcp(stream) => recv(stream, &mut *target, RecvFlags::empty()),
                Self::Unix(stream) => recv(stream, &mut *target, RecvFlags::empty()),
            };
            let (received, _) = received?;
            count = Some(received);
            // A short read has drained the socket: the next one waits for the next event.
            let drained = received > 0 && received < target.len();
            if drained { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
        });
        count.map_or_else(|| tried.map(|()| 0), Ok)
    }

    /// Writes what the kernel takes at once.
    fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        self.send_now(|| match self {
            Self::Tcp(stream) => send(stream, bytes, SendFlags::NOSIGNAL),
            Self::Unix(stream) => send(stream, bytes, SendFlags::NOSIGNAL),
        })
    }

    /// The same for several pieces.
    fn write_pieces_now(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut nothing = SendAncillaryBuffer::default();
        self.send_now(|| match self {
            Self::Tcp(stream) => sendmsg(stream, pieces, &mut nothing, SendFlags::NOSIGNAL),
            Self::Unix(stream) => sendmsg(stream, pieces, &mut nothing, SendFlags::NOSIGNAL),
        })
    }

    fn send_now(&self, send: impl FnOnce() -> rustix::io::Result<usize>) -> io::Result<usize> {
        match self.try_io(Interest::WRITABLE, || Ok(send()?)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            written => written,
        }
    }
}

/// A socket as the packets see it.
#[derive(Debug)]
enum Socket {
    Plain(Plain),
    Accepted(Box<tokio_rustls::server::TlsStream<Plain>>),
    Connected(Box<tokio_rustls::client::TlsStream<Plain>>),
    /// Left behind when a socket was taken for a TLS handshake that failed.
    Gone,
}

impl Socket {
    /// Reads once into `target`. `Ok(0)`: the other side has closed.
    fn poll_read(&mut self, context: &mut Context<'_>, target: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut target = ReadBuf::new(target);
        let polled = match self {
            Self::Plain(plain) => Pin::new(plain).poll_read(context, &mut target),
            Self::Accepted(stream) => Pin::new(stream).poll_read(context, &mut target),
            Self::Connected(stream) => Pin::new(stream).poll_read(context, &mut target),
            Self::Gone => Poll::Ready(Ok(())),
        };
        let polled = match polled {
            // TLS's word for a peer that closed without saying goodbye in TLS, as the servers do. Whether something is
            // missing is known from the packets.
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
            polled => polled,
        };
        polled.map_ok(|()| target.filled().len())
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(plain) => plain.write_all(bytes).await,
            Self::Accepted(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
            Self::Connected(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
            Self::Gone => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

/// Unpacks into `target` what has come of the next frames, reading from the socket what is missing.
fn poll_unpack(
    compression: &mut Compression,
    socket: &mut Socket,
    context: &mut Context<'_>,
    target: &mut [u8],
) -> Poll<io::Result<usize>> {
    let unpacked = loop {
        match compression.unpack(target) {
            Ok(0) => {}
            unpacked => break Poll::Ready(unpacked),
        }
        let raw = compression.raw();
        match socket.poll_read(context, raw.spare()) {
            Poll::Ready(Ok(count)) if count > 0 => raw.filled(count),
            nothing => break nothing,
        }
    };
    compression.rest();
    unpacked
}

/// One side of a conversation: a socket and the bytes read from it but not yet used.
#[derive(Debug)]
pub struct Channel {
    socket: Socket,
    unread: Option<Buffer>,
    compression: Option<Box<Compression>>,
}

impl Channel {
    /// A channel over a connected plain socket.
    pub fn new(plain: Plain) -> Self {
        Self { socket: Socket::Plain(plain), unread: None, compression: None }
    }

    /// Whether bytes on this channel cannot be read on the way: TLS, or a UNIX socket of this host.
    pub fn is_private(&self) -> bool {
        !matches!(self.socket, Socket::Plain(Plain::Tcp(_)))
    }

    /// Whether TLS is spoken on this channel.
    pub fn is_tls(&self) -> bool {
        matches!(self.socket, Socket::Accepted(_) | Socket::Connected(_))
    }

    /// The version and the cipher suite of TLS, if it is spoken, as OpenSSL names them.
    pub fn tls_session(&self) -> Option<(&'static str, String)> {
        let connection: &rustls::CommonState = match &self.socket {
            Socket::Accepted(stream) => stream.get_ref().1,
            Socket::Connected(stream) => stream.get_ref().1,
            Socket::Plain(_) | Socket::Gone => return None,
        };
        let (version, suite) = (connection.protocol_version()?, connection.negotiated_cipher_suite()?);
        Some(tls::openssl_names(version, suite.suite()))
    }

    /// From the next byte on, in both directions, the compressed protocol is spoken.
    pub fn compress(&mut self, algorithm: Algorithm) {
        self.compression = Some(Box::new(Compression::new(algorithm)));
    }

    /// How this channel is compressed, if it is.
    pub fn compression(&self) -> Option<Algorithm> {
        self.compression.as_deref().map(Compression::algorithm)
    }

    /// The number of the frame that is written next, if this channel is compressed.
    pub fn next_frame(&self) -> Option<u8> {
        self.compression.as_deref().map(Compression::next)
    }

    /// What was read last begins the command that is to be answered next.
    pub fn command_in(&mut self) {
        if let Some(compression) = &mut self.compression {
            compression.command_in();
        }
    }

    /// The bytes that were read and not yet consumed.
    pub fn unread(&self) -> &[u8] {
        self.unread.as_ref().map_or(&[], Buffer::bytes)
    }

    /// The same, to be changed in place before they are forwarded.
    pub fn unread_mut(&mut self) -> &mut [u8] {
        self.unread.as_mut().map_or(&mut [], Buffer::bytes_mut)
    }

    /// Drops the first `count` unread bytes, and gives the buffer back when none is left.
    pub fn consume(&mut self, count: usize) {
        if let Some(buffer) = &mut self.unread {
            buffer.consume(count);
            if buffer.bytes().is_empty() {
                self.give_back();
            }
        }
    }

    /// Reads once, whatever is there, behind the unread bytes. `Ok(0)`: the other side has closed.
    ///
    /// Cancel safe: bytes that were read are in the buffer.
    pub fn fill(&mut self) -> impl Future<Output = io::Result<usize>> {
        self.fill_at_most(usize::MAX)
    }

    /// Reads once, at most `limit` bytes: for what must not be read beyond, such as the request for TLS.
    pub fn fill_at_most(&mut self, limit: usize) -> impl Future<Output = io::Result<usize>> {
        poll_fn(move |context| self.poll_fill(context, limit))
    }

    /// Reads until at least `count` bytes are unread. An end of the stream before that is `UnexpectedEof`.
    pub async fn fill_to(&mut self, count: usize) -> io::Result<()> {
        while self.unread().len() < count {
            if self.fill().await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    fn poll_fill(&mut self, context: &mut Context<'_>, limit: usize) -> Poll<io::Result<usize>> {
        let (Socket::Plain(plain), None) = (&self.socket, &self.compression) else {
            return self.poll_fill_through(context, limit);
        };
        loop {
            // Before a buffer is borrowed: mostly nothing has come yet.
            ready!(plain.poll_read_ready(context))?;
            let buffer = self.unread.get_or_insert_with(buffer::lease);
            let read = plain.read_now(at_most(buffer.spare(), limit));
            if let Ok(count) = read {
                buffer.filled(count);
            }
            if buffer.bytes().is_empty()
                && let Some(buffer) = self.unread.take()
            {
                buffer::give_back(buffer);
            }
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read),
            }
        }
    }

    /// The same through TLS or compression.
    fn poll_fill_through(&mut self, context: &mut Context<'_>, limit: usize) -> Poll<io::Result<usize>> {
        let buffer = self.unread.get_or_insert_with(buffer::lease);
        let target = at_most(buffer.spare(), limit);
        let read = match &mut self.compression {
            None => self.socket.poll_read(context, target),
            Some(compression) => poll_unpack(compression, &mut self.socket, context, target),
        };
        if let Poll::Ready(Ok(count)) = read {
            buffer.filled(count);
        }
        if buffer.bytes().is_empty() {
            self.give_back();
        }
        read
    }

    fn give_back(&mut self) {
        if let Some(buffer) = self.unread.take() {
            buffer::give_back(buffer);
        }
    }

    /// Writes all of `bytes`. On a plain socket with room this is one system call.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match bytes.get(self.write_now(bytes)?..) {
            None | Some([]) => Ok(()),
            Some(rest) => Box::pin(self.write_later(rest)).await,
        }
    }

    /// Writes what a plain socket takes without waiting. Returns how much that was.
    pub fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match (&self.socket, &self.compression) {
            (Socket::Plain(plain), None) => plain.write_now(bytes),
            _ => Ok(0),
        }
    }

    /// The same for several pieces.
    pub fn write_pieces_now(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match (&self.socket, &self.compression) {
            (Socket::Plain(plain), None) => plain.write_pieces_now(pieces),
            _ => Ok(0),
        }
    }

    async fn write_later(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.compression {
            None => self.socket.write(bytes).await,
            Some(compression) => self.socket.write(&compression.pack(bytes)?).await,
        }
    }

    /// Writes several commands, whole ones or at last the beginning of one. On a compressed connection each begins frames of
    /// its own: servers count those from 0 for each command, and MariaDB forgets what follows a command in its last one.
    pub async fn write_commands(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.compression.is_none() {
            return self.write(bytes).await;
        }
        let mut left = bytes;
        while !left.is_empty() {
            let (command, rest) = left.split_at(command_length(left));
            self.write_command(command).await?;
            left = rest;
        }
        Ok(())
    }

    /// Writes the beginning of a command, or all of it.
    pub fn write_command(&mut self, bytes: &[u8]) -> impl Future<Output = io::Result<()>> {
        if let Some(compression) = &mut self.compression {
            compression.command_out();
        }
        self.write(bytes)
    }

    /// Writes the first `count` unread bytes of this channel to `other` and consumes them.
    pub async fn forward(&mut self, count: usize, other: &mut Self) -> io::Result<()> {
        other.write(self.unread().get(..count).unwrap_or_default()).await?;
        self.consume(count);
        Ok(())
    }

    /// Whether something has arrived on a connection that owes nothing: a server that closes an idle connection
    /// or says why it will. Costs no system call while nothing has come.
    pub fn has_news(&mut self) -> bool {
        if !self.unread().is_empty() {
            return true;
        }
        if let (Socket::Plain(plain), None) = (&self.socket, &self.compression)
            && !plain.may_be_readable()
        {
            return false;
        }
        let mut context = Context::from_waker(Waker::noop());
        self.poll_fill(&mut context, usize::MAX).is_ready()
    }

    /// Whether the other side has closed its connection, whatever of what it sent is still unread. Costs no system call.
    pub fn has_left(&self) -> bool {
        let plain = match &self.socket {
            Socket::Plain(plain) => plain,
            Socket::Accepted(stream) => stream.get_ref().0,
            Socket::Connected(stream) => stream.get_ref().0,
            Socket::Gone => return true,
        };
        let mut context = Context::from_waker(Waker::noop());
        let ready = match plain {
            Plain::Tcp(stream) => pin!(stream.ready(Interest::READABLE)).poll(&mut context),
            Plain::Unix(stream) => pin!(stream.ready(Interest::READABLE)).poll(&mut context),
        };
        matches!(ready, Poll::Ready(Ok(ready)) if ready.is_read_closed())
    }

    /// Says goodbye to the other side as far as the socket has a way to.
    pub async fn shutdown(&mut self) -> io::Result<()> {
        match &mut self.socket {
            Socket::Plain(plain) => plain.shutdown().await,
            Socket::Accepted(stream) => stream.shutdown().await,
            Socket::Connected(stream) => stream.shutdown().await,
            Socket::Gone => Ok(()),
        }
    }

    /// Turns the server side of a plain channel into TLS.
    ///
    /// # Errors
    /// When bytes are still unread (a client that speaks on before the handshake), or the handshake fails.
    pub async fn accept_tls(&mut self, acceptor: &tokio_rustls::TlsAcceptor) -> io::Result<()> {
        let plain = self.take_plain()?;
        self.socket = Socket::Accepted(Box::new(acceptor.accept(plain).await?));
        Ok(())
    }

    /// Turns the client side of a plain channel into TLS.
    ///
    /// # Errors
    /// As [`Self::accept_tls`]; also when the server's certificate is refused.
    pub async fn connect_tls(
        &mut self,
        connector: &tokio_rustls::TlsConnector,
        name: rustls::pki_types::ServerName<'static>,
    ) -> io::Result<()> {
        let plain = self.take_plain()?;
        self.socket = Socket::Connected(Box::new(connector.connect(name, plain).await?));
        Ok(())
    }

    fn take_plain(&mut self) -> io::Result<Plain> {
        if !self.unread().is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "bytes sent in the clear behind the request for TLS",
            ));
        }
        match std::mem::replace(&mut self.socket, Socket::Gone) {
            Socket::Plain(plain) => Ok(plain),
            other => {
                self.socket = other;
                Err(io::Error::new(io::ErrorKind::InvalidInput, "TLS asked for twice"))
            }
        }
    }
}

fn at_most(target: &mut [u8], limit: usize) -> &mut [u8] {
    let room = target.len().min(limit);
    target.get_mut(..room).unwrap_or_default()
}

/// How many of the bytes are those of the first command: its frames, until one is numbered 0 again.
fn command_length(bytes: &[u8]) -> usize {
    let mut length = 0;
    while let Some(header) = bytes.get(length..).and_then(Header::parse)
        && (length == 0 || header.sequence != 0)
    {
        length = bytes.len().min(length + HEADER + header.length);
    }
    // What is no whole header belongs to what precedes it.
    if bytes.len() - length < HEADER { bytes.len() } else { length }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl AsyncRead for Plain {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Unix(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Plain {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
