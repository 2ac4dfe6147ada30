//! Connections whose session has ended, kept for the next session of this thread.
//!
//! What a session held on a connection (a transaction, locks, temporary tables, variables, prepared statements) the server
//! gives up at once: COM_RESET_CONNECTION goes out in place of COM_QUIT. Whoever takes the connection logs in on it, by
//! COM_CHANGE_USER: the server looks at account, password and limits as it does at a new connection, and the session begins
//! as a new one begins. Nobody gets in on the word of a pool.
//!
//! A connection that does not answer as it should is dropped without a word, and a new one is made, which then says what is
//! wrong. Not kept are connections to servers with an `init_connect`, which COM_CHANGE_USER does not run, and compressed ones.
//!
//! Per thread, so that nothing is shared; a connection is at rest for [`LONGEST`] at most.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use super::connection::Connection;
use super::error::BackendError;
use super::login::{self, LoggedIn, LoginRequest, Speech};
use crate::cluster::snapshot::{Node, NodeId};
use crate::observe::OpenConnection;
use crate::transport::Channel;
use crate::transport::tls::ServerTls;

/// How long a connection may rest: less than any server's wait_timeout that is in use.
const LONGEST: Duration = Duration::from_secs(20);

/// Connections kept per thread and node.
const MOST: usize = 128;

/// Errors by which a server says that there are too many connections already: ER_CON_COUNT_ERROR,
/// ER_TOO_MANY_USER_CONNECTIONS, ER_USER_LIMIT_REACHED.
const TOO_MANY: [u16; 3] = [1040, 1203, 1226];

thread_local! {
    static AT_REST: RefCell<Vec<Idle>> = const { RefCell::new(Vec::new()) };
}

/// A connection at rest. The server owes the answer to COM_RESET_CONNECTION.
#[derive(Debug)]
pub(super) struct Idle {
    pub(super) channel: Channel,
    pub(super) node: NodeId,
    /// Which life of the node.
    pub(super) incarnation: u64,
    /// How it began, and what it speaks.
    pub(super) origin: login::Origin,
    pub(super) thread: u32,
    pub(super) since: Instant,
    pub(super) _counted: OpenConnection,
}

/// Logs in to a node: on a connection at rest, if `pooled` and there is one, else on a new one.
///
/// # Errors
/// As [`login::login`].
pub async fn log_in(
    node: &Node,
    pooled: bool,
    tls: &ServerTls,
    request: LoginRequest<'_>,
) -> Result<LoggedIn, BackendError> {
    if pooled && let Some(idle) = take(node, Speech::of(&request)) {
        match login::log_in_again(idle, request).await {
            Ok(logged_in) => return Ok(logged_in),
            Err(error) => tracing::debug!(node = %node.name, %error, "a connection at rest is of no use"),
        }
    }
    match login::login(&node.address, tls, request).await {
        Err(BackendError::Refused(error)) if TOO_MANY.contains(&error.code) && close_all(node.id) => {
            login::login(&node.address, tls, request).await
        }
        logged_in => logged_in,
    }
}

/// Puts a connection to rest that its session needs no more; closes it if that cannot be. `pools`: whether the node's
/// connections may be kept.
pub async fn put(connection: Connection, pools: bool) {
    let node = connection.node;
    let has_room = AT_REST.with_borrow(|idle| idle.iter().filter(|idle| idle.node == node).count() < MOST);
    if !pools || !has_room || !connection.can_rest() {
        connection.quit().await;
    } else if let Some(idle) = connection.rest().await {
        AT_REST.with_borrow_mut(|all| all.push(idle));
    }
}

/// The connection that rests the shortest, of those that fit.
fn take(node: &Node, speech: Speech) -> Option<Idle> {
    let fits = |idle: &Idle| {
        idle.node == node.id && idle.incarnation == node.incarnation && idle.origin.speech == speech
    };
    AT_REST.with_borrow_mut(|all| {
        let index = all.iter().rposition(fits)?;
        Some(all.remove(index))
    })
}

/// Closes what has rested for long. To be called now and then.
pub fn sweep() {
    close(|idle| idle.since.elapsed() > LONGEST);
}

/// Closes all that rest on a node. Returns whether there were any.
fn close_all(node: NodeId) -> bool {
    close(|idle| idle.node == node)
}

fn close(which: impl Fn(&Idle) -> bool) -> bool {
    let (closed, kept): (Vec<_>, Vec<_>) = AT_REST.take().into_iter().partition(which);
    AT_REST.set(kept);
    let any = !closed.is_empty();
    closed.into_iter().for_each(Idle::say_goodbye);
    any
}

impl Idle {
    /// COM_QUIT, if it goes without waiting.
    fn say_goodbye(mut self) {
        // Whether the server hears it or not, the connection is closed.
        let _ = self.channel.write_now(b"\x01\0\0\0\x01");
    }
}
