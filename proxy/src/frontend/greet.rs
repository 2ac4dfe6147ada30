//! The proxy's greeting, and the client's first words: a request for TLS, its login.

use aws_lc_rs::rand;
use gtid::Flavor;
use wire::auth::Plugin;
use wire::capability::{Capabilities, extended};
use wire::greeting::{Greeting, SCRAMBLE};
use wire::login::is_ssl_request;
use wire::status::Status;

use super::FrontendError;
use crate::cluster::snapshot::{Facts, Snapshot};
use crate::error::ClientError;
use crate::instance::Instance;
use crate::transport::packet::{Exact, Exchange};

/// Everything the proxy can do for a client. What a node cannot is taken out.
///
/// Absent on purpose: several authentication factors.
pub const OFFERED: Capabilities = Capabilities(
    Capabilities::LONG_PASSWORD.0
        | Capabilities::FOUND_ROWS.0
        | Capabilities::LONG_FLAG.0
        | Capabilities::CONNECT_WITH_DB.0
        | Capabilities::NO_SCHEMA.0
        | Capabilities::COMPRESS.0
        | Capabilities::ODBC.0
        | Capabilities::LOCAL_FILES.0
        | Capabilities::IGNORE_SPACE.0
        | Capabilities::PROTOCOL_41.0
        | Capabilities::INTERACTIVE.0
        | Capabilities::SSL.0
        | Capabilities::IGNORE_SIGPIPE.0
        | Capabilities::TRANSACTIONS.0
        | Capabilities::RESERVED.0
        | Capabilities::SECURE_CONNECTION.0
        | Capabilities::MULTI_STATEMENTS.0
        | Capabilities::MULTI_RESULTS.0
        | Capabilities::PS_MULTI_RESULTS.0
        | Capabilities::PLUGIN_AUTH.0
        | Capabilities::CONNECT_ATTRS.0
        | Capabilities::PLUGIN_AUTH_LENENC_DATA.0
        | Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS.0
        | Capabilities::SESSION_TRACK.0
        | Capabilities::DEPRECATE_EOF.0
        | Capabilities::ZSTD_COMPRESSION_ALGORITHM.0
        | Capabilities::QUERY_ATTRIBUTES.0,
);

/// Of MariaDB's own capabilities those that pass through as they are. Absent on purpose: metadata that a server leaves out
/// because a client has it (which of the nodes has sent it, no client knows), several commands in a packet, and reports of
/// progress.
const OFFERED_EXTENDED: u32 =
    extended::STMT_BULK_OPERATIONS | extended::EXTENDED_METADATA | extended::BULK_UNIT_RESULTS;

/// What this client was offered.
pub(super) struct Offer {
    pub(super) capabilities: Capabilities,
    pub(super) extended: u32,
    pub(super) plugin: Plugin,
}

/// Sends the greeting: version and collation of the servers, capabilities that all of them have.
pub(super) async fn greet(
    exchange: &mut Exchange<'_>,
    id: u32,
    instance: &Instance,
) -> Result<(Offer, [u8; SCRAMBLE]), FrontendError> {
    let snapshot = instance.cluster.snapshot();
    let Some(facts) = spokesman(&snapshot) else {
        return Err(ClientError::own(
            "no node of the cluster has answered yet; see the log, or run tidemark check",
        )
        .into());
    };
    let capabilities =
        snapshot.nodes.iter().filter_map(|node| node.facts.as_ref()).fold(OFFERED, |common, facts| {
            common & (facts.capabilities | Capabilities::SSL | Capabilities::LONG_PASSWORD)
        });
    let extended = (snapshot.nodes.iter().filter_map(|node| node.facts.as_ref()))
        .fold(OFFERED_EXTENDED, |common, facts| common & facts.extended);
    // They are announced by leaving this one out.
    let capabilities =
        if extended == 0 { capabilities } else { capabilities.without(Capabilities::LONG_PASSWORD) };
    let plugin = match facts.flavor {
        Flavor::Mysql => Plugin::CachingSha2Password,
        Flavor::Mariadb => Plugin::NativePassword,
    };
    let scramble = nonce()?;
    let version = match facts.flavor {
        Flavor::Mysql => facts.version.clone(),
        // Clients tell the families apart by this prefix, and old ones need it.
        Flavor::Mariadb => format!("5.5.5-{}", facts.version),
    };
    let mut payload = Vec::new();
    Greeting {
        server_version: version.as_bytes(),
        connection_id: id,
        scramble,
        capabilities,
        collation: u8::try_from(facts.collation).unwrap_or(255),
        status: Status::AUTOCOMMIT,
        auth_plugin: plugin.name().as_bytes(),
        mariadb_extended: extended,
    }
    .write(&mut payload);
    exchange.write(&payload).await?;
    Ok((Offer { capabilities, extended, plugin }, scramble))
}

/// The node whose version the greeting shows: the primary, else any that has answered.
fn spokesman(snapshot: &Snapshot) -> Option<&Facts> {
    let primary = snapshot.primary.and_then(|id| snapshot.node(id));
    primary.into_iter().chain(&snapshot.nodes).find_map(|node| node.facts.as_deref())
}

/// Twenty random bytes, none of them NUL or '$': clients read the nonce as text that ends with NUL, and servers avoid
/// '$' for it separates the parts of a stored hash.
pub(super) fn nonce() -> Result<[u8; SCRAMBLE], FrontendError> {
    let mut bytes = [0; SCRAMBLE];
    rand::fill(&mut bytes)
        .map_err(|_| FrontendError::Protocol("the system gives no randomness".to_owned()))?;
    for byte in &mut bytes {
        *byte &= 0x7f;
        if *byte == 0 || *byte == b'$' {
            *byte += 1;
        }
    }
    Ok(bytes)
}

/// Reads the login, after TLS if the client asks for it. Not a byte beyond a request for TLS is taken in the clear.
pub(super) async fn read_login(
    exchange: &mut Exchange<'_>,
    offered: Capabilities,
    instance: &Instance,
) -> Result<Vec<u8>, FrontendError> {
    let first = exchange.read(Exact::Yes).await?;
    if !is_ssl_request(&first) {
        return Ok(first);
    }
    if !offered.contains(Capabilities::SSL) {
        return Err(FrontendError::Protocol("a request for TLS that was not offered".to_owned()));
    }
    exchange.channel().accept_tls(&instance.acceptor).await.map_err(|_| FrontendError::Closed)?;
    Ok(exchange.read(Exact::No).await?)
}
