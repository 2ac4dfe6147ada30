//! KILL and KILL QUERY of the ids that the proxy gave out.
//!
//! The node on which the session's statement runs is told, by the killer's own account: whether it may kill that
//! thread is for the server to say.

use std::time::Duration;

use wire::capability::Capabilities;

use super::registry::Ending;
use crate::backend::control::ask;
use crate::backend::login::{LoginRequest, login};
use crate::cluster::snapshot::NodeId;
use crate::error::ClientError;
use crate::frontend::Account;
use crate::instance::Instance;

/// How long a node may take for a KILL.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Kills the statement of a session, or the session with it.
///
/// # Errors
/// What the server says, or that nobody has this id.
pub(super) async fn kill(
    instance: &Instance,
    killer: &Account,
    id: u64,
    query_only: bool,
) -> Result<(), ClientError> {
    let card = u32::try_from(id).ok().and_then(|id| instance.registry.get(id));
    let Some(card) = card else {
        return Err(ClientError::new(1094, b"HY000", format!("Unknown thread id: {id}")));
    };
    let allowed = match card.running() {
        Some((node, thread)) => tell_node(instance, killer, node, thread).await?,
        None => Allowed::NotAsked,
    };
    if allowed == Allowed::NotAsked {
        // No server has judged: only one's own sessions.
        if card.user() != killer.user {
            return Err(ClientError::new(1095, b"HY000", format!("You are not owner of thread {id}")));
        }
        if query_only {
            card.interrupt();
        }
    }
    if !query_only {
        card.end(Ending::Killed);
    }
    Ok(())
}

/// Who said that the killer may.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allowed {
    /// The server, by carrying it out.
    ByServer,
    /// Nobody: the statement had ended before the server could judge.
    NotAsked,
}

async fn tell_node(
    instance: &Instance,
    killer: &Account,
    node: NodeId,
    thread: u32,
) -> Result<Allowed, ClientError> {
    let found = {
        let snapshot = instance.cluster.snapshot();
        snapshot
            .node(node)
            .filter(|node| node.is_up())
            .map(|node| (node.name.to_string(), node.address.clone()))
    };
    // A node that does not answer cannot judge.
    let Some((name, address)) = found else { return Ok(Allowed::NotAsked) };
    let request = LoginRequest {
        user: &killer.user,
        secret: &killer.secret,
        schema: None,
        collation: killer.collation,
        capabilities: Capabilities::default(),
        attributes: None,
    };
    let told = async {
        let mut channel = login(&address, &instance.server_tls, request).await?.channel;
        ask(&mut channel, &format!("KILL QUERY {thread}"), KILL_TIMEOUT).await
    };
    match told.await {
        Ok(_) => Ok(Allowed::ByServer),
        // The statement has ended meanwhile: ER_NO_SUCH_THREAD.
        Err(crate::backend::BackendError::Refused(error)) if error.code == 1094 => Ok(Allowed::NotAsked),
        Err(error) => Err(ClientError::from_backend(&name, &error)),
    }
}
