//! How a client proves who it is, and how that proof becomes a login on a node.
//!
//! 1. An empty password needs no proof; the server says whether the account has one.
//! 2. A client that is recognised (its answer fits what is remembered, or a hash that the servers keep) has thereby
//!    given away what a login needs.
//! 3. Any other client is asked for the password itself, by caching_sha2_password's full exchange: over TLS or a UNIX
//!    socket, else encrypted with the proxy's RSA key. This serves accounts of every plugin of the servers.
//!
//! In each case a node has the last word.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;
use wire::ChangeUser;
use wire::auth::{Plugin, caching_sha2, write_more, write_switch};
use wire::capability::Capabilities;
use wire::greeting::SCRAMBLE;
use zeroize::Zeroizing;

use super::accounts::{Shown, recognise_native};
use super::{Account, FrontendError, Peer};
use crate::backend::login::{LoginRequest, login};
use crate::backend::{BackendError, Connection, Secret, pool};
use crate::cluster::snapshot::{Node, Snapshot};
use crate::config::{Mode, Pool};
use crate::endpoint::Endpoint;
use crate::error::{ACCESS_DENIED, ClientError};
use crate::instance::Instance;
use crate::transport::Channel;
use crate::transport::compression::Algorithm;
use crate::transport::packet::{Exact, Exchange};

/// How long the other nodes may take to learn a password while its client waits.
const WARM_LIMIT: Duration = Duration::from_millis(1500);

/// ER_ACCESS_DENIED_NO_PASSWORD_ERROR: what MariaDB and MySQL say when another plugin than a password is due.
const ACCESS_DENIED_NO_PASSWORD: u16 = 1698;

/// What a client said of itself.
pub(super) struct Applicant<'a> {
    pub(super) user: &'a [u8],
    pub(super) peer: Peer,
    pub(super) schema: Option<&'a [u8]>,
    pub(super) collation: u16,
    pub(super) capabilities: Capabilities,
    pub(super) extended: u32,
    pub(super) attributes: Option<&'a [u8]>,
    pub(super) compression: Option<Algorithm>,
    pub(super) plugin: Option<&'a [u8]>,
    pub(super) response: &'a [u8],
    pub(super) nonce: [u8; SCRAMBLE],
    pub(super) offered: Plugin,
}

/// An answer to a nonce, by a plugin that is understood.
struct Answer {
    plugin: Plugin,
    response: Vec<u8>,
    nonce: [u8; SCRAMBLE],
}

impl Answer {
    /// An empty password is told by no answer at all, or by a single NUL.
    fn is_empty(&self) -> bool {
        matches!(self.response.as_slice(), [] | [0])
    }
}

/// Lets the client prove itself until a node takes it, or refuses it.
pub(super) async fn prove(
    exchange: &mut Exchange<'_>,
    applicant: &Applicant<'_>,
    endpoint: &Endpoint,
    instance: &Instance,
) -> Result<(Secret, Connection), FrontendError> {
    let mut answer = first_answer(exchange, applicant).await?;
    if answer.is_empty() {
        let secret = Secret::empty();
        let connection = enter(applicant, &secret, endpoint, instance)
            .await
            .map_err(|error| error.tell(applicant, false))?;
        return Ok((secret, connection));
    }
    loop {
        if let Some(secret) = recognise(exchange, &answer, applicant, instance).await? {
            match enter(applicant, &secret, endpoint, instance).await {
                Ok(connection) => {
                    if answer.plugin == Plugin::CachingSha2Password {
                        more(exchange, &[caching_sha2::FAST_AUTH_OK]).await?;
                    }
                    return Ok((secret, connection));
                }
                // The password was changed, or the node's cache does not know it: ask for it.
                Err(error) if error.password_may_help() => instance.accounts.forget(applicant.user),
                Err(error) => return Err(error.tell(applicant, true)),
            }
        }
        if answer.plugin == Plugin::CachingSha2Password {
            break;
        }
        // It answered as its own default has it, and the account is of the other kind. What it answers now may be known.
        answer = switch(exchange, Plugin::CachingSha2Password, answer.nonce).await?;
        if answer.is_empty() {
            break;
        }
    }
    let password = ask_password(exchange, &answer, instance).await?;
    let secret = Secret::from_password(&password);
    let connection =
        enter(applicant, &secret, endpoint, instance).await.map_err(|error| error.tell(applicant, true))?;
    let shown = show(applicant, &secret, &connection, instance).await;
    let by_key = !exchange.channel().is_private();
    instance.accounts.remember(applicant.user, &secret, shown, by_key);
    Ok((secret.without_password(), connection))
}

/// The client's answer, by a plugin that is understood: its own choice, or after a switch.
async fn first_answer(
    exchange: &mut Exchange<'_>,
    applicant: &Applicant<'_>,
) -> Result<Answer, FrontendError> {
    let chosen = applicant.plugin.map_or(Plugin::NativePassword, Plugin::from_name);
    let understood = match chosen {
        Plugin::NativePassword => matches!(applicant.response.len(), 0 | 20),
        Plugin::CachingSha2Password => matches!(applicant.response.len(), 0 | 1 | 32),
        _ => false,
    };
    if understood {
        return Ok(Answer { plugin: chosen, response: applicant.response.to_vec(), nonce: applicant.nonce });
    }
    switch(exchange, applicant.offered, applicant.nonce).await
}

/// Asks the client to answer by another plugin. The nonce is the greeting's again, as with a server's first switch.
async fn switch(
    exchange: &mut Exchange<'_>,
    plugin: Plugin,
    nonce: [u8; SCRAMBLE],
) -> Result<Answer, FrontendError> {
    let mut payload = Vec::new();
    write_switch(&mut payload, plugin.name().as_bytes(), &nonce);
    exchange.write(&payload).await?;
    Ok(Answer { plugin, response: exchange.read(Exact::No).await?, nonce })
}

/// What a login needs, if the client's answer gives it away.
async fn recognise(
    exchange: &mut Exchange<'_>,
    answer: &Answer,
    applicant: &Applicant<'_>,
    instance: &Instance,
) -> Result<Option<Secret>, FrontendError> {
    if answer.plugin == Plugin::CachingSha2Password {
        let known = instance.accounts.recognise(applicant.user, &answer.response, &answer.nonce);
        // A node that restarted has forgotten the password. A client that can tell it is asked again.
        let lives: Vec<_> =
            lives(&instance.cluster.snapshot()).map(|node| (node.id, node.incarnation)).collect();
        let can_tell = exchange.channel().is_private() || instance.accounts.was_told_by_key(applicant.user);
        let ask_again = can_tell && instance.accounts.is_cold(applicant.user, &lives);
        return Ok(known.filter(|_| !ask_again));
    }
    let address = {
        let snapshot = instance.cluster.snapshot();
        snapshot.primary().or_else(|| lives(&snapshot).next()).map(|node| node.address.clone())
    };
    let Some(address) = address else { return Ok(None) };
    let mut hashes = instance.hashes.of(applicant.user, &address, &instance.server_tls).await?;
    let mut known = recognise_native(&answer.response, &answer.nonce, &hashes.stage2);
    if known.is_none() && hashes.may_be_outdated() {
        instance.hashes.forget(applicant.user);
        hashes = instance.hashes.of(applicant.user, &address, &instance.server_tls).await?;
        known = recognise_native(&answer.response, &answer.nonce, &hashes.stage2);
    }
    if known.is_none() && !hashes.others {
        let host = applicant.peer.to_string();
        return Err(ClientError::access_denied(applicant.user, &host, true).into());
    }
    Ok(known)
}

fn lives(snapshot: &Snapshot) -> impl Iterator<Item = &Node> {
    snapshot.nodes.iter().filter(|node| node.is_up())
}

/// caching_sha2_password's full exchange.
async fn ask_password(
    exchange: &mut Exchange<'_>,
    answer: &Answer,
    instance: &Instance,
) -> Result<Zeroizing<Vec<u8>>, FrontendError> {
    if answer.is_empty() {
        return Ok(Zeroizing::default());
    }
    more(exchange, &[caching_sha2::FULL_AUTH]).await?;
    let mut packet = Zeroizing::new(exchange.read(Exact::No).await?);
    if exchange.channel().is_private() {
        return match packet.pop() {
            Some(0) => Ok(packet),
            _ => Err(FrontendError::Protocol("a password that does not end with NUL".to_owned())),
        };
    }
    if packet.as_slice() == [caching_sha2::REQUEST_PUBLIC_KEY] {
        more(exchange, instance.rsa.public_pem()).await?;
        packet = Zeroizing::new(exchange.read(Exact::No).await?);
    }
    instance.rsa.password(&packet, &answer.nonce).ok_or_else(|| {
        FrontendError::Protocol("a password that is not encrypted with this proxy's key".to_owned())
    })
}

async fn more(exchange: &mut Exchange<'_>, data: &[u8]) -> Result<(), FrontendError> {
    let mut payload = Vec::new();
    write_more(&mut payload, data);
    Ok(exchange.write(&payload).await?)
}

/// Why no node let the client in.
struct NotEntered {
    node: String,
    error: BackendError,
}

impl NotEntered {
    fn password_may_help(&self) -> bool {
        match &self.error {
            BackendError::PasswordNeeded | BackendError::Plugin(_) => true,
            BackendError::Refused(error) => error.code == ACCESS_DENIED,
            _ => false,
        }
    }

    /// The server's error, except that an access denied names the client's host and not the proxy's.
    fn tell(self, applicant: &Applicant<'_>, password_given: bool) -> FrontendError {
        match &self.error {
            BackendError::Refused(error)
                if matches!(error.code, ACCESS_DENIED | ACCESS_DENIED_NO_PASSWORD) =>
            {
                ClientError::access_denied(applicant.user, &applicant.peer.to_string(), password_given).into()
            }
            BackendError::PasswordNeeded | BackendError::Plugin(_) => {
                tracing::warn!(node = self.node, error = %self.error, "a client could not be logged in");
                ClientError::access_denied(applicant.user, &applicant.peer.to_string(), password_given).into()
            }
            error => ClientError::from_backend(&self.node, error).into(),
        }
    }
}

/// Logs in to the node where the session is at home: the primary, or a replica on a read-only endpoint or while there
/// is no primary.
async fn enter(
    applicant: &Applicant<'_>,
    secret: &Secret,
    endpoint: &Endpoint,
    instance: &Instance,
) -> Result<Connection, NotEntered> {
    let home = {
        let snapshot = instance.cluster.snapshot();
        let primary = snapshot.primary().cloned();
        let replica = || snapshot.nodes.iter().find(|node| node.takes_reads()).cloned();
        match endpoint.mode {
            Mode::ReadWrite => primary.or_else(replica),
            Mode::ReadOnly => replica().or(primary),
        }
    };
    let nowhere = || NotEntered { node: "(none)".to_owned(), error: BackendError::NoneUp };
    let node = home.ok_or_else(nowhere)?;
    let request = LoginRequest {
        user: applicant.user,
        secret,
        schema: applicant.schema,
        collation: applicant.collation,
        capabilities: applicant.capabilities,
        extended: applicant.extended,
        attributes: applicant.attributes,
        compression: instance.compression_to_servers(applicant.compression),
    };
    let name = node.name.to_string();
    let tls = &instance.server_tls;
    let logged_in = match endpoint.config.pool {
        Pool::Transaction => {
            pool::log_in_shared(&node, (endpoint.places(&node), &instance.connections), tls, request).await
        }
        kind => pool::log_in(&node, kind == Pool::Session, tls, request).await,
    };
    match logged_in {
        Ok(logged_in) => {
            let flavor = node.facts.as_ref().map_or(gtid::Flavor::Mysql, |facts| facts.flavor);
            let counted = instance.connections.opened(node.id);
            let login = (applicant.user, applicant.schema);
            Ok(Connection::new(logged_in, node.id, node.incarnation, flavor, login, counted))
        }
        Err(error) => {
            if matches!(error, BackendError::Connect(_)) {
                instance.cluster.report_failure(node.id, &error.to_string());
            }
            Err(NotEntered { node: name, error })
        }
    }
}

/// Shows the password to every other node once, so that their own caches know it and later logins, which have only
/// its hash, take the fast path.
async fn show(
    applicant: &Applicant<'_>,
    secret: &Secret,
    at_home: &Connection,
    instance: &Instance,
) -> Shown {
    let mut warm = vec![(at_home.node, at_home.incarnation)];
    let mut tried = warm.clone();
    let mut attempts = JoinSet::new();
    for node in lives(&instance.cluster.snapshot()).filter(|node| node.id != at_home.node) {
        let (node, secret, tls) = (node.clone(), secret.clone(), instance.server_tls.clone());
        let (user, collation) = (Box::<[u8]>::from(applicant.user), applicant.collation);
        tried.push((node.id, node.incarnation));
        attempts.spawn(async move {
            let request = LoginRequest {
                user: &user,
                secret: &secret,
                schema: None,
                collation,
                capabilities: Capabilities::default(),
                extended: 0,
                attributes: None,
                compression: None,
            };
            let taken = login(&node.address, &tls, request).await;
            let answered = matches!(taken, Ok(_) | Err(BackendError::Refused(_)));
            answered.then_some((node.id, node.incarnation))
        });
    }
    // A node that hangs must not keep the client from its login; it is shown the password at the next one.
    let _ = timeout(WARM_LIMIT, async {
        while let Some(attempt) = attempts.join_next().await {
            warm.extend(attempt.ok().flatten());
        }
    })
    .await;
    Shown { warm, tried }
}

/// COM_CHANGE_USER: the same proof once more, in the middle of a session. The client is always asked to answer anew, with
/// the nonce of its greeting: some drivers answer a switch with the one it carries, libmariadb with the one it had first.
///
/// Returns also the number of the packet that tells the client how it ended.
///
/// # Errors
/// As `log_in`; the session ends then.
pub async fn change_user(
    client: &mut Channel,
    request: &ChangeUser<'_>,
    nonce: [u8; SCRAMBLE],
    (capabilities, extended): (Capabilities, u32),
    peer: Peer,
    endpoint: &Endpoint,
    instance: &Instance,
) -> (Result<(Account, Connection), FrontendError>, u8) {
    let compression = client.compression();
    let mut exchange = Exchange::new(client, 1);
    let collation = request.collation.unwrap_or(45);
    let named = request.auth_plugin.map(Plugin::from_name);
    // A client that names no plugin knows but one, and cannot be asked to switch.
    let old = named.is_none() && !capabilities.contains(Capabilities::PLUGIN_AUTH);
    let applicant = Applicant {
        user: request.user,
        peer,
        schema: request.schema,
        collation,
        capabilities,
        extended,
        attributes: request.attributes,
        compression,
        plugin: Some(if old { Plugin::NativePassword.name().as_bytes() } else { b"" }),
        response: if old { request.auth_response } else { b"" },
        nonce,
        offered: match named {
            Some(Plugin::NativePassword) | None => Plugin::NativePassword,
            Some(_) => Plugin::CachingSha2Password,
        },
    };
    let proven = prove(&mut exchange, &applicant, endpoint, instance).await;
    let changed = proven.map(|(secret, connection)| {
        let account = Account {
            user: request.user.into(),
            secret,
            schema: request.schema.map(Into::into),
            collation,
            attributes: request.attributes.map(Into::into),
            nonce,
        };
        (account, connection)
    });
    (changed, exchange.sequence())
}
