//! TLS on both sides: the endpoints' certificate, and how far a server's certificate is believed.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, CipherSuite, ClientConfig, DigitallySignedStruct, Error, ProtocolVersion,
    RootCertStore, ServerConfig, SignatureScheme,
};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::config::{Address, TlsMode};

/// Why TLS could not be set up. Always a matter of the configuration or its files.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file with a certificate or key is missing or not PEM.
    #[error("cannot read {what} from {path}: {why}")]
    File {
        /// Certificate, key or authorities.
        what: &'static str,
        /// Which file.
        path: String,
        /// What was wrong with it.
        why: String,
    },
    /// The parts do not fit each other.
    #[error("cannot use the TLS settings: {0}")]
    Unusable(String),
}

/// What OpenSSL, and so the servers, call a version and a cipher suite. Rustls calls suites as the standards do:
/// `TLS13_AES_128_GCM_SHA256`, `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`.
pub(super) fn openssl_names(version: ProtocolVersion, suite: CipherSuite) -> (&'static str, String) {
    let version = if version == ProtocolVersion::TLSv1_3 { "TLSv1.3" } else { "TLSv1.2" };
    let standard = suite.as_str().unwrap_or_default();
    let name = match standard.strip_prefix("TLS13_") {
        Some(rest) => format!("TLS_{rest}"),
        None => standard
            .trim_start_matches("TLS_")
            .replace("_WITH_", "-")
            .replace("AES_", "AES")
            .replace("_POLY1305_SHA256", "-POLY1305")
            .replace('_', "-"),
    };
    (version, name)
}

/// The TLS side of all endpoints: from files, or a certificate made at start as mysqld makes one.
///
/// # Errors
/// When a file cannot be read, or key and certificate do not belong together.
pub fn acceptor(files: Option<(&Path, &Path)>) -> Result<TlsAcceptor, TlsError> {
    let (chain, key) = match files {
        Some((cert, key)) => (certificates("the certificate", cert)?, private_key(key)?),
        None => self_made()?,
    };
    let config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(unusable)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// What is needed to speak TLS to the servers; none when it is disabled.
#[derive(Clone)]
pub struct ServerTls {
    mode: TlsMode,
    connector: TlsConnector,
}

impl ServerTls {
    /// Prepares the mode; `authorities` is the PEM file that `verify_ca` and `verify_identity` need.
    ///
    /// # Errors
    /// When the file is missing or holds no certificate.
    pub fn new(mode: TlsMode, authorities: Option<&Path>) -> Result<Self, TlsError> {
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .dangerous();
        let verifier: Arc<dyn ServerCertVerifier> = match mode {
            TlsMode::Disabled | TlsMode::Preferred | TlsMode::Required => Arc::new(AnyCertificate),
            TlsMode::VerifyCa => Arc::new(AnyName(trusted(authorities)?)),
            TlsMode::VerifyIdentity => trusted(authorities)?,
        };
        let config = builder.with_custom_certificate_verifier(verifier).with_no_client_auth();
        Ok(Self { mode, connector: TlsConnector::from(Arc::new(config)) })
    }

    /// The mode this was made for.
    pub fn mode(&self) -> TlsMode {
        self.mode
    }

    /// How to connect: the same connector for every node.
    pub fn connector(&self) -> &TlsConnector {
        &self.connector
    }

    /// The name a certificate of `address` must carry (checked by `verify_identity` only).
    pub fn server_name(address: &Address) -> ServerName<'static> {
        let host = match address {
            Address::Tcp { host, .. } => host.as_str(),
            Address::Unix(_) => "localhost",
        };
        ServerName::try_from(host.to_owned())
            .unwrap_or(ServerName::IpAddress(std::net::Ipv4Addr::LOCALHOST.into()))
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

fn unusable(error: impl std::fmt::Display) -> TlsError {
    TlsError::Unusable(error.to_string())
}

fn self_made() -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
    let made = rcgen::generate_simple_self_signed(["tidemark".to_owned(), "localhost".to_owned()])
        .map_err(unusable)?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    Ok((vec![made.cert.der().clone()], PrivateKeyDer::Pkcs8(key)))
}

fn certificates(what: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let failed = |why: String| TlsError::File { what, path: path.display().to_string(), why };
    let text = fs::read(path).map_err(|error| failed(error.to_string()))?;
    let found: Vec<_> = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<_, _>>()
        .map_err(|error| failed(error.to_string()))?;
    if found.is_empty() { Err(failed("no certificate in PEM form".to_owned())) } else { Ok(found) }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let failed =
        |why: String| TlsError::File { what: "the private key", path: path.display().to_string(), why };
    let text = fs::read(path).map_err(|error| failed(error.to_string()))?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| failed(error.to_string()))
}

fn trusted(authorities: Option<&Path>) -> Result<Arc<WebPkiServerVerifier>, TlsError> {
    let path = authorities.ok_or_else(|| unusable("tls_ca is needed to verify the servers' certificates"))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates("the authorities", path)? {
        roots.add(certificate).map_err(unusable)?;
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider()).build().map_err(unusable)
}

/// `preferred` and `required` encrypt without asking who is there, as MySQL's modes of these names do. What the
/// handshake is signed with proves nothing then, and is not checked either: servers make themselves certificates
/// of forms that a strict verifier does not even read.
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

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        aws_lc_rs::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

/// `verify_ca`: a certificate of a trusted authority, whatever name it carries.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.0.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The chain is checked before the name is.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_are_named_as_the_servers_name_them() {
        let named = |version, suite| openssl_names(version, suite);
        assert_eq!(
            named(ProtocolVersion::TLSv1_3, CipherSuite::TLS13_AES_256_GCM_SHA384),
            ("TLSv1.3", "TLS_AES_256_GCM_SHA384".to_owned())
        );
        assert_eq!(
            named(ProtocolVersion::TLSv1_2, CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256),
            ("TLSv1.2", "ECDHE-RSA-AES128-GCM-SHA256".to_owned())
        );
        assert_eq!(
            named(ProtocolVersion::TLSv1_2, CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256),
            ("TLSv1.2", "ECDHE-ECDSA-CHACHA20-POLY1305".to_owned())
        );
    }
}
