//! KILL and KILL QUERY of the ids that the proxy gave out.
//!
//! Whether an account may kill a session is for a server to say: the node on which the session's statement runs, or on
//! which its last one ran, is told so by the killer's own account. By the same way a session ends what it has left behind.

use std::sync::Arc;
use std::time::Duration;

use sql::KillKind;
use wire::capability::Capabilities;

use super::Session;
use super::registry::Ending;
use crate::backend::BackendError;
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
    kind: KillKind,
    id: u64,
) -> Result<(), ClientError> {
    let card = u32::try_from(id).ok().and_then(|id| instance.registry.get(id));
    let Some(card) = card else {
        return Err(ClientError::new(1094, b"HY000", format!("Unknown thread id: {id}")));
    };
    let own = card.user() == killer.user;
    let _aim = card.is_aimed_at();
    let lives = |node| instance.cluster.snapshot().node(node).map(|node| node.incarnation);
    let place = card.running().or_else(|| card.thread(lives).filter(|_| !own));
    if own && kind == KillKind::Connection {
        // Before the server ends its connection, which it would take for an outage.
        card.end(Ending::Killed);
    }
    let allowed = match place {
        Some((node, thread)) => tell_node(instance, killer, kind, node, thread).await?,
        None => Allowed::NotAsked,
    };
    if allowed == Allowed::NotAsked {
        // No server has judged: only one's own sessions.
        if !own {
            return Err(ClientError::new(1095, b"HY000", format!("You are not owner of thread {id}")));
        }
        if kind == KillKind::Query {
            card.interrupt();
        }
    }
    if kind == KillKind::Connection {
        card.end(Ending::Killed);
    }
    Ok(())
}

impl Session {
    /// Forgets the connection to a node on which a read runs that nobody waits for any more, and has the node end it. Of
    /// itself a server does not notice: the read would run on, and hold up what replication does to its tables.
    pub(super) fn abandon(&mut self, node: NodeId) {
        let thread = self.backends.get(node).map(|connection| (connection.thread, connection.incarnation));
        self.drop_connection(node);
        let Some((thread, incarnation)) = thread else { return };
        let lives = self.instance.cluster.snapshot().node(node).map(|node| node.incarnation);
        if lives != Some(incarnation) {
            return;
        }
        let (instance, account, session) = (Arc::clone(&self.instance), self.account.clone(), self.id);
        let name = self.node_name(node);
        tokio::task::spawn_local(async move {
            match tell_node(&instance, &account, KillKind::Connection, node, thread).await {
                Ok(_) => {
                    tracing::debug!(session, node = name, thread, "a read that nobody waits for was ended");
                }
                Err(error) => {
                    let error = String::from_utf8_lossy(&error.message);
                    tracing::warn!(session, node = name, thread, %error, "a read that nobody waits for may run on there");
                }
            }
        });
    }
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
    kind: KillKind,
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
        extended: 0,
        attributes: None,
        compression: None,
    };
    let told = async {
        let mut channel = login(&address, &instance.server_tls, request).await?.channel;
        // A statement that is only cut short may still answer, and be taken for one that ended.
        let what = if kind == KillKind::Query { "QUERY" } else { "CONNECTION" };
        ask(&mut channel, &format!("KILL {what} {thread}"), KILL_TIMEOUT).await
    };
    match told.await {
        Ok(_) => Ok(Allowed::ByServer),
        // The statement has ended meanwhile: ER_NO_SUCH_THREAD.
        Err(BackendError::Refused(error)) if error.code == 1094 => Ok(Allowed::NotAsked),
        // The node has forgotten the killer's password, and cannot judge either.
        Err(BackendError::PasswordNeeded) => Ok(Allowed::NotAsked),
        Err(error) => Err(ClientError::from_backend(&name, &error)),
    }
}
