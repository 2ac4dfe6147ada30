//! The sockets of a test's client: TCP, UNIX, and TLS over both.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore, StreamOwned};
use socket2::SockRef;

use super::packed::{Algorithm, Packed};

/// Longer than anything here takes; a test that waits longer has found a hang.
const SILENCE: Duration = Duration::from_secs(30);

/// Where to connect.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// A connected socket.
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<StreamOwned<ClientConnection, Self>>),
    /// Compressed, over any of the others.
    Packed(Box<Packed>),
    /// While something is being put over it.
    Gone,
}

impl Stream {
    pub(crate) fn connect(target: &Target) -> io::Result<Self> {
        Ok(match target {
            Target::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(SILENCE))?;
                stream.set_write_timeout(Some(SILENCE))?;
                Self::Tcp(stream)
            }
            Target::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(SILENCE))?;
                stream.set_write_timeout(Some(SILENCE))?;
                Self::Unix(stream)
            }
        })
    }

    /// Puts TLS over the socket. `authority` is a PEM file to check the certificate against; without it any will do.
    pub(crate) fn start_tls(&mut self, authority: Option<&Path>) -> Result<(), Error> {
        self.start_tls_as(Arc::new(config(authority)))
    }

    /// The same with any certificate, and with what this process has kept of earlier sessions.
    pub(crate) fn resume_tls(&mut self) -> Result<(), Error> {
        static KEPT: OnceLock<Arc<ClientConfig>> = OnceLock::new();
        self.start_tls_as(Arc::clone(KEPT.get_or_init(|| Arc::new(config(None)))))
    }

    fn start_tls_as(&mut self, config: Arc<ClientConfig>) -> Result<(), Error> {
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(config, name)?;
        let plain = std::mem::replace(self, Self::Gone);
        *self = Self::Tls(Box::new(StreamOwned::new(connection, plain)));
        Ok(())
    }

    /// Speaks the compressed protocol from here on.
    pub(crate) fn compress(&mut self, algorithm: Algorithm) {
        let socket = std::mem::replace(self, Self::Gone);
        *self = Self::Packed(Box::new(Packed::new(socket, algorithm)));
    }

    /// What is written next begins a command.
    pub(crate) fn begin_command(&mut self) {
        if let Self::Packed(packed) = self {
            packed.begin_command();
        }
    }

    /// What is read next answers a command that was sent ahead in one frame.
    pub(crate) fn begin_reply(&mut self) {
        if let Self::Packed(packed) = self {
            packed.begin_reply();
        }
    }

    pub(crate) fn is_private(&self) -> bool {
        match self {
            Self::Tcp(_) => false,
            Self::Packed(packed) => packed.socket().is_private(),
            Self::Unix(_) | Self::Tls(_) | Self::Gone => true,
        }
    }

    /// No more will be written; the other side sees the end.
    pub(crate) fn finish(&mut self) {
        let _ = match self {
            Self::Packed(packed) => return packed.socket_mut().finish(),
            Self::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Self::Unix(stream) => stream.shutdown(Shutdown::Write),
            Self::Tls(stream) => {
                stream.conn.send_close_notify();
                stream.flush()
            }
            Self::Gone => Ok(()),
        };
    }

    /// The other side sees the end of the socket. TLS says no goodbye before.
    pub(crate) fn finish_socket(&mut self) {
        match self {
            Self::Tls(stream) => stream.sock.finish_socket(),
            Self::Packed(packed) => packed.socket_mut().finish_socket(),
            Self::Tcp(_) | Self::Unix(_) | Self::Gone => self.finish(),
        }
    }

    /// The socket ends with a reset when it is dropped.
    pub(crate) fn reset_when_dropped(&self) {
        match self {
            Self::Tcp(stream) => SockRef::from(stream).set_linger(Some(Duration::ZERO)).unwrap(),
            Self::Tls(stream) => stream.sock.reset_when_dropped(),
            Self::Packed(packed) => packed.socket().reset_when_dropped(),
            Self::Unix(_) | Self::Gone => {}
        }
    }

    /// For how long a read may hear nothing.
    pub(crate) fn set_patience(&self, patience: Duration) {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(Some(patience)).unwrap(),
            Self::Unix(stream) => stream.set_read_timeout(Some(patience)).unwrap(),
            Self::Tls(stream) => stream.sock.set_patience(patience),
            Self::Packed(packed) => packed.socket().set_patience(patience),
            Self::Gone => {}
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
            Self::Packed(packed) => packed.read(buffer),
            Self::Gone => Ok(0),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
            Self::Packed(packed) => packed.write(bytes),
            Self::Gone => Ok(0),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.flush(),
            Self::Unix(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
            Self::Packed(packed) => packed.flush(),
            Self::Gone => Ok(()),
        }
    }
}

fn config(authority: Option<&Path>) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    match authority {
        Some(path) => {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_file(path).unwrap()).unwrap();
            builder.with_root_certificates(roots).with_no_client_auth()
        }
        None => {
            let any = Arc::new(AnyCertificate);
            builder.dangerous().with_custom_certificate_verifier(any).with_no_client_auth()
        }
    }
}

/// A client that does not ask who is there, as most do.
#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        rustls::crypto::aws_lc_rs::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
