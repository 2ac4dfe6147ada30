//! Logging in to a node, as a client does: greeting, TLS, and whichever plugin the account uses.
//!
//! Facts: the manual's "Connection Phase"; `sql/auth/sha2_password.cc` for the codes of caching_sha2_password.

use std::time::Duration;

use aws_lc_rs::rsa::{OAEP_SHA1_MGF1SHA1, OaepPublicEncryptingKey, PublicEncryptingKey};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;
use wire::ChangeUser;
use wire::auth::{AuthPacket, Plugin, caching_sha2, ed25519, native, sha256};
use wire::capability::Capabilities;
use wire::greeting::{Greeting, GreetingError};
use wire::login::{Login, write_ssl_request};
use wire::status::Status;

use super::control::{answer, query, rows, within};
use super::error::{BackendError, ServerError};
use super::pool::{Idle, Place};
use super::secret::Secret;
use crate::config::{Address, TlsMode};
use crate::transport::compression::Algorithm;
use crate::transport::packet::{Exact, Exchange};
use crate::transport::tls::ServerTls;
use crate::transport::{Channel, connect};

/// The largest packet the proxy says it takes, in bytes: MySQL's own upper bound of `max_allowed_packet`.
const MAX_PACKET: u32 = 1 << 30;

/// What every connection to a node must speak: replies are walked in this form and translated for the client.
const ALWAYS: Capabilities = Capabilities(
    Capabilities::LONG_PASSWORD.0
        | Capabilities::LONG_FLAG.0
        | Capabilities::PROTOCOL_41.0
        | Capabilities::TRANSACTIONS.0
        | Capabilities::SECURE_CONNECTION.0
        | Capabilities::PLUGIN_AUTH.0
        | Capabilities::PLUGIN_AUTH_LENENC_DATA.0
        | Capabilities::SESSION_TRACK.0
        | Capabilities::DEPRECATE_EOF.0,
);

/// What is passed on from the client because it changes what statements mean or may do.
pub const PASSED_ON: Capabilities = Capabilities(
    Capabilities::FOUND_ROWS.0
        | Capabilities::NO_SCHEMA.0
        | Capabilities::LOCAL_FILES.0
        | Capabilities::IGNORE_SPACE.0
        | Capabilities::INTERACTIVE.0
        | Capabilities::MULTI_STATEMENTS.0
        | Capabilities::MULTI_RESULTS.0
        | Capabilities::PS_MULTI_RESULTS.0
        | Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS.0
        | Capabilities::QUERY_ATTRIBUTES.0,
);

/// Whom to log in as, and how.
#[derive(Clone, Copy)]
pub struct LoginRequest<'a> {
    /// The account's name.
    pub user: &'a [u8],
    /// What is known of its password.
    pub secret: &'a Secret,
    /// The schema to start in.
    pub schema: Option<&'a [u8]>,
    /// The client's collation id, so that the server gives the session the same character sets. A login has room for one
    /// byte of it; ids that take two are set by a statement behind it.
    pub collation: u16,
    /// The client's capabilities; those in [`PASSED_ON`] are passed on.
    pub capabilities: Capabilities,
    /// Likewise MariaDB's own ones; the server gets those that it offers.
    pub extended: u32,
    /// The client's connection attributes, raw.
    pub attributes: Option<&'a [u8]>,
    /// What is compressed with from the end of the login on, if the server offers it.
    pub compression: Option<Algorithm>,
}

/// A connection that is logged in.
#[derive(Debug)]
pub struct LoggedIn {
    /// The bytes.
    pub channel: Channel,
    /// What both sides speak.
    pub capabilities: Capabilities,
    /// What the server could speak, as its greeting says.
    pub offered: Capabilities,
    /// The same of MariaDB's own capabilities.
    pub offered_extended: u32,
    /// The server's version text without MariaDB's prefix.
    pub version: String,
    /// The server's id of this connection.
    pub thread: u32,
    /// The server's default collation (the greeting's byte).
    pub collation: u16,
    /// The status of the first OK.
    pub status: Status,
    /// What another login on the same connection must know.
    pub origin: Origin,
    /// The collation that the login named.
    pub asked_collation: u16,
    /// The connection's place, where there are only so many.
    pub place: Option<Place>,
}

/// What was agreed on at the beginning of a connection and cannot be changed, as it was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speech {
    capabilities: Capabilities,
    extended: u32,
    has_attributes: bool,
    compression: Option<Algorithm>,
}

impl Speech {
    /// What a login asks for.
    pub fn of(request: &LoginRequest<'_>) -> Self {
        Self {
            capabilities: request.capabilities & PASSED_ON,
            extended: request.extended,
            has_attributes: request.attributes.is_some(),
            compression: request.compression,
        }
    }
}

/// How a connection began, and how the last login on it ended.
#[derive(Debug)]
pub struct Origin {
    /// What was asked for.
    pub speech: Speech,
    /// What both sides speak.
    pub capabilities: Capabilities,
    /// The plugin by which the last login was made.
    pub(super) plugin: Plugin,
    /// The nonce that it answered.
    pub(super) nonce: Box<[u8]>,
}

/// How long a login may take in all. A node that accepts connections and says nothing is as good as down.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(5);

/// Connects and logs in.
///
/// # Errors
/// See [`BackendError`]; `Refused` carries the server's own words.
pub async fn login(
    address: &Address,
    tls: &ServerTls,
    request: LoginRequest<'_>,
) -> Result<LoggedIn, BackendError> {
    within(LOGIN_TIMEOUT, greet_and_log_in(address, tls, request)).await
}

async fn greet_and_log_in(
    address: &Address,
    tls: &ServerTls,
    request: LoginRequest<'_>,
) -> Result<LoggedIn, BackendError> {
    let mut channel = connect(address).await?;
    let mut exchange = Exchange::new(&mut channel, 0);
    let first = exchange.read(Exact::No).await?;
    let greeting = Greeting::parse(&first).map_err(|error| match error {
        GreetingError::Refused(packet) => BackendError::Refused(ServerError::from_packet(&packet)),
        GreetingError::Malformed(malformed) => malformed.into(),
    })?;
    let offered = greeting.capabilities;
    let offered_extended = greeting.mariadb_extended;
    let missing = [
        (Capabilities::PROTOCOL_41, "PROTOCOL_41"),
        (Capabilities::PLUGIN_AUTH, "PLUGIN_AUTH"),
        (Capabilities::SESSION_TRACK, "SESSION_TRACK"),
        (Capabilities::DEPRECATE_EOF, "DEPRECATE_EOF"),
    ]
    .into_iter()
    .find(|(capability, _)| !offered.contains(*capability));
    if let Some((_, name)) = missing {
        return Err(BackendError::Protocol(format!(
            "it does not offer {name}; MySQL 8.0 or MariaDB 10.6 is needed"
        )));
    }

    let mut capabilities = (ALWAYS | (request.capabilities & PASSED_ON)) & offered;
    if request.schema.is_some() {
        capabilities = capabilities | Capabilities::CONNECT_WITH_DB;
    }
    let attributes = request.attributes.filter(|_| offered.contains(Capabilities::CONNECT_ATTRS));
    if attributes.is_some() {
        capabilities = capabilities | Capabilities::CONNECT_ATTRS;
    }
    let extended = request.extended & greeting.mariadb_extended;
    if extended != 0 {
        capabilities = capabilities.without(Capabilities::LONG_PASSWORD);
    }
    let compression = request.compression.filter(|algorithm| offered.contains(algorithm.capability()));
    if let Some(algorithm) = compression {
        capabilities = capabilities | algorithm.capability();
    }
    if wants_tls(address, tls.mode(), offered)? {
        capabilities = capabilities | Capabilities::SSL;
        let mut payload = Vec::new();
        write_ssl_request(&mut payload, (capabilities, extended), MAX_PACKET, request.collation);
        exchange.write(&payload).await?;
        exchange
            .channel()
            .connect_tls(tls.connector(), ServerTls::server_name(address))
            .await
            .map_err(|error| BackendError::Tls(error.to_string()))?;
    }

    let plugin = Plugin::from_name(greeting.auth_plugin);
    let response = first_response(plugin, request.secret, &greeting.scramble);
    let mut payload = Vec::new();
    Login {
        capabilities,
        max_packet: MAX_PACKET,
        collation: request.collation,
        mariadb_extended: extended,
        user: request.user,
        auth_response: &response.unwrap_or_default(),
        schema: request.schema,
        auth_plugin: Some(greeting.auth_plugin),
        attributes,
        zstd_level: compression.and_then(Algorithm::zstd_level),
    }
    .write(&mut payload)?;
    exchange.write(&payload).await?;

    let version = String::from_utf8_lossy(greeting.version_text()).into_owned();
    let (thread, collation) = (greeting.connection_id, u16::from(greeting.collation));
    let proof = (plugin, greeting.scramble.to_vec());
    let Authenticated { status, plugin, nonce } =
        authenticate(&mut exchange, capabilities, request.secret, proof).await?;
    let origin = Origin { speech: Speech::of(&request), capabilities, plugin, nonce: nonce.into() };
    if let Some(algorithm) = compression {
        channel.compress(algorithm);
    }
    if request.collation > 0xff {
        set_names(&mut channel, capabilities, request.collation).await?;
    }
    Ok(LoggedIn {
        channel,
        capabilities,
        offered,
        offered_extended,
        version,
        thread,
        collation,
        status,
        origin,
        asked_collation: request.collation,
        place: None,
    })
}

/// Logs in once more, as anybody, on a connection whose session has ended.
///
/// # Errors
/// As [`login`]; the connection is of no use then.
pub(super) async fn log_in_again(idle: Idle, request: LoginRequest<'_>) -> Result<LoggedIn, BackendError> {
    let Idle { mut channel, origin, thread, place, .. } = idle;
    let capabilities = origin.capabilities;
    let conversation = async {
        answer(&mut channel).await?;
        let mut exchange = Exchange::new(&mut channel, 0);
        let response = first_response(origin.plugin, request.secret, &origin.nonce);
        let mut payload = Vec::new();
        ChangeUser {
            user: request.user,
            auth_response: &response.unwrap_or_default(),
            schema: request.schema,
            collation: Some(request.collation),
            auth_plugin: Some(origin.plugin.name().as_bytes()),
            attributes: request.attributes,
        }
        .write(&mut payload, capabilities)?;
        exchange.write(&payload).await?;
        let proof = (origin.plugin, origin.nonce.to_vec());
        authenticate(&mut exchange, capabilities, request.secret, proof).await
    };
    let Authenticated { status, plugin, nonce } = within(LOGIN_TIMEOUT, conversation).await?;
    let origin = Origin { plugin, nonce: nonce.into(), ..origin };
    Ok(LoggedIn {
        channel,
        capabilities,
        offered: capabilities,
        offered_extended: origin.speech.extended,
        version: String::new(),
        thread,
        collation: request.collation,
        status,
        origin,
        asked_collation: request.collation,
        place,
    })
}

/// The character set and collation of an id, as SET NAMES sets them. An id that the server does not know changes nothing.
async fn set_names(
    channel: &mut Channel,
    capabilities: Capabilities,
    collation: u16,
) -> Result<(), BackendError> {
    if let Some(statement) = names_of(channel, capabilities, collation).await? {
        query(channel, capabilities, &statement, LOGIN_TIMEOUT).await?;
    }
    Ok(())
}

/// The statement that sets them; `None` for an id that the server does not know.
pub(super) async fn names_of(
    channel: &mut Channel,
    capabilities: Capabilities,
    collation: u16,
) -> Result<Option<Vec<u8>>, BackendError> {
    // MariaDB's collations of several character sets have an id for each in another table, since 10.10.
    let places =
        [("COLLATION_NAME", "COLLATIONS"), ("FULL_COLLATION_NAME", "COLLATION_CHARACTER_SET_APPLICABILITY")];
    for (name, table) in places {
        let ask = format!(
            "SELECT CONCAT('SET NAMES ', CHARACTER_SET_NAME, ' COLLATE ', {name}) FROM information_schema.{table} \
             WHERE ID = {collation}"
        );
        let found = match query(channel, capabilities, ask.as_bytes(), LOGIN_TIMEOUT).await {
            Ok(outcomes) => rows(outcomes),
            Err(BackendError::Refused(_)) => continue,
            Err(error) => return Err(error),
        };
        if let Some(statement) = found.into_iter().flatten().flatten().next() {
            return Ok(Some(statement));
        }
    }
    Ok(None)
}

fn wants_tls(address: &Address, mode: TlsMode, offered: Capabilities) -> Result<bool, BackendError> {
    let possible = offered.contains(Capabilities::SSL);
    match mode {
        TlsMode::Disabled => Ok(false),
        // A UNIX socket is private already, and "preferred" asks for no more than privacy.
        TlsMode::Preferred => Ok(possible && !matches!(address, Address::Unix(_))),
        TlsMode::Required | TlsMode::VerifyCa | TlsMode::VerifyIdentity if possible => Ok(true),
        _ => Err(BackendError::Tls(format!("the server offers none, and tls = \"{}\"", mode.as_str()))),
    }
}

/// How a login ended.
struct Authenticated {
    status: Status,
    plugin: Plugin,
    nonce: Vec<u8>,
}

/// The turns after the login packet, until the server says OK or ERR.
async fn authenticate(
    exchange: &mut Exchange<'_>,
    capabilities: Capabilities,
    secret: &Secret,
    (mut plugin, mut nonce): (Plugin, Vec<u8>),
) -> Result<Authenticated, BackendError> {
    let mut unanswerable = None;
    loop {
        let packet = exchange.read(Exact::No).await?;
        match AuthPacket::parse(&packet, capabilities)? {
            AuthPacket::Ok(ok) => return Ok(Authenticated { status: ok.status, plugin, nonce }),
            AuthPacket::Err(error) => {
                let refused = BackendError::Refused(ServerError::from_packet(&error));
                return Err(unanswerable.unwrap_or(refused));
            }
            AuthPacket::Switch { plugin: name, data } => {
                plugin = Plugin::from_name(name);
                nonce = data.to_vec();
                let response = match plugin {
                    Plugin::ClearPassword => clear_password(exchange, secret)?,
                    Plugin::Sha256Password if secret.is_empty() => vec![0],
                    Plugin::Sha256Password if exchange.channel().is_private() => {
                        clear_password(exchange, secret)?
                    }
                    Plugin::Sha256Password => vec![sha256::REQUEST_PUBLIC_KEY],
                    // The conversation is ended as the server expects: one that breaks off counts against this host
                    // (max_connect_errors), and a server invents plugins for names that it does not know.
                    _ => first_response(plugin, secret, &nonce).unwrap_or_else(|| {
                        unanswerable = Some(BackendError::Plugin(String::from_utf8_lossy(name).into_owned()));
                        Vec::new()
                    }),
                };
                exchange.write(&response).await?;
            }
            AuthPacket::More([caching_sha2::FAST_AUTH_OK]) => {}
            AuthPacket::More([caching_sha2::FULL_AUTH]) if plugin == Plugin::CachingSha2Password => {
                send_password(exchange, secret, &nonce).await?;
            }
            AuthPacket::More(pem) if plugin == Plugin::Sha256Password => {
                send_encrypted(exchange, secret, pem, &nonce).await?;
            }
            AuthPacket::More(_) => {
                return Err(BackendError::Protocol(
                    "an authentication packet that no plugin here knows".to_owned(),
                ));
            }
        }
    }
}

/// The answer to a nonce; `None` when what is known of the password does not serve this plugin.
fn first_response(plugin: Plugin, secret: &Secret, nonce: &[u8]) -> Option<Vec<u8>> {
    if secret.is_empty() && plugin != Plugin::Ed25519 {
        return Some(Vec::new());
    }
    match plugin {
        Plugin::NativePassword => {
            secret.native_stage1().map(|stage1| native::scramble(stage1, nonce).to_vec())
        }
        Plugin::CachingSha2Password => {
            secret.caching_sha2_stage1().map(|stage1| caching_sha2::scramble(stage1, nonce).to_vec())
        }
        Plugin::Ed25519 => secret.ed25519_secret().map(|secret| ed25519::sign(secret, nonce).to_vec()),
        _ => None,
    }
}

fn clear_password(exchange: &mut Exchange<'_>, secret: &Secret) -> Result<Vec<u8>, BackendError> {
    if !exchange.channel().is_private() {
        return Err(BackendError::Tls(
            "the account's plugin wants the password in the clear; use TLS".to_owned(),
        ));
    }
    let password = secret.password().ok_or(BackendError::PasswordNeeded)?;
    Ok([password, &[0]].concat())
}

/// caching_sha2_password's full exchange: the password over a private channel, else encrypted with the server's key.
async fn send_password(
    exchange: &mut Exchange<'_>,
    secret: &Secret,
    nonce: &[u8],
) -> Result<(), BackendError> {
    if exchange.channel().is_private() {
        let payload = clear_password(exchange, secret)?;
        return Ok(exchange.write(&payload).await?);
    }
    if secret.password().is_none() {
        return Err(BackendError::PasswordNeeded);
    }
    exchange.write(&[caching_sha2::REQUEST_PUBLIC_KEY]).await?;
    let answer = exchange.read(Exact::No).await?;
    let Some((1, pem)) = answer.split_first().map(|(first, rest)| (*first, rest)) else {
        return Err(BackendError::Protocol("no public key where one was asked for".to_owned()));
    };
    send_encrypted(exchange, secret, pem, nonce).await
}

/// The password, encrypted with the server's public key.
async fn send_encrypted(
    exchange: &mut Exchange<'_>,
    secret: &Secret,
    pem: &[u8],
    nonce: &[u8],
) -> Result<(), BackendError> {
    let password = secret.password().ok_or(BackendError::PasswordNeeded)?;
    let hidden = caching_sha2::xor_password(password, nonce);
    let encrypted = encrypt(pem, &hidden)
        .map_err(|what| BackendError::Protocol(format!("its public key cannot be used: {what}")))?;
    Ok(exchange.write(&encrypted).await?)
}

fn encrypt(pem: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, &'static str> {
    let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).map_err(|_| "it is not PEM")?;
    let key = PublicEncryptingKey::from_der(der.as_ref()).map_err(|_| "it is no RSA key")?;
    let key = OaepPublicEncryptingKey::new(key).map_err(|_| "it is too small")?;
    let mut out = vec![0; key.ciphertext_size()];
    let length = key
        .encrypt(&OAEP_SHA1_MGF1SHA1, plaintext, &mut out, None)
        .map_err(|_| "the password is too long for it")?
        .len();
    out.truncate(length);
    Ok(out)
}
