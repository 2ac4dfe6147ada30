//! Connections that go from one session of a thread to the next.
//!
//! Where a session has ended its connections rest here (`pool = "session"`).
//!
//! What a session held on a connection (a transaction, locks, temporary tables, variables, prepared statements) the server
//! gives up at once: COM_RESET_CONNECTION goes out in place of COM_QUIT. Whoever takes the connection logs in on it, by
//! COM_CHANGE_USER: the server looks at account, password and limits as it does at a new connection, and the session begins
//! as a new one begins. Nobody gets in on the word of a pool.
//!
//! A connection that does not answer as it should is dropped without a word, and a new one is made, which then says what is
//! wrong. Not kept are connections to servers with an `init_connect`, which COM_CHANGE_USER does not run, and compressed ones.
//!
//! Where sessions share a few connections (`pool = "transaction"`) they lend them out between two statements: see `lending`.
//! Who takes one of its own account has already proved itself to a server; the server resets the connection, in one write with
//! the new session's state and its statement. Everybody else logs in on it as above.
//!
//! Per thread, so that nothing is shared; a connection rests, or is lent, for [`LONGEST`] at most.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::time::timeout_at;

use super::connection::{Connection, GOODBYE};
use super::error::{BackendError, ServerError};
pub use super::lending::Ticket;
use super::lending::{Answer, Grant, Lendable, Shelf};
use super::login::{self, LoggedIn, LoginRequest, Speech};
use crate::cluster::snapshot::{Node, NodeId};
use crate::observe::{Counted, NodeConnections};
use crate::transport::Channel;
use crate::transport::tls::ServerTls;

/// How long a connection may rest: less than any server's wait_timeout that is in use.
const LONGEST: Duration = Duration::from_secs(20);

/// Connections kept per thread and node.
const MOST: usize = 128;

/// Errors by which a server says that there are too many connections already: ER_CON_COUNT_ERROR,
/// ER_TOO_MANY_USER_CONNECTIONS, ER_USER_LIMIT_REACHED.
const TOO_MANY: [u16; 3] = [1040, 1203, 1226];

/// How long somebody waits for one of the connections that sessions share.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// How often who waits looks for what its owner could have asked for until now.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

thread_local! {
    static AT_REST: RefCell<Vec<Idle>> = const { RefCell::new(Vec::new()) };
    /// What sessions share, by node.
    static SHELVES: RefCell<Vec<Shelf<Lent>>> = const { RefCell::new(Vec::new()) };
    /// What sets the character set of a login, by its collation; `None` where the servers do not know that.
    static NAMES: RefCell<HashMap<u16, Option<Rc<[u8]>>>> = RefCell::new(HashMap::new());
}

/// Whose connection was lent out.
pub trait Owner: Debug {
    /// This connection is about to go to another session. `false`: not now, for somebody means to kill what runs on it.
    fn lets_go(&self, node: NodeId, thread: u32) -> bool;
}

/// A connection that its session has lent out.
#[derive(Debug)]
struct Lent {
    connection: Box<Connection>,
    owner: Arc<dyn Owner>,
    since: Instant,
}

impl Lendable for Lent {
    fn goes(&self) -> bool {
        self.owner.lets_go(self.connection.node, self.connection.thread)
    }
}

/// A place among the connections that a thread may have to a node. When it is dropped somebody else has it.
#[derive(Debug)]
pub struct Place(NodeId);

impl Drop for Place {
    fn drop(&mut self) {
        on_shelf(self.0, Shelf::free_place);
    }
}

/// A connection for a session.
pub enum Borrowed {
    /// Of another session of the account, from whom nothing is left.
    Reset(Box<Connection>),
    /// Logged in to.
    New(LoggedIn),
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
    pub(super) place: Option<Place>,
    pub(super) _counted: Counted,
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
    if pooled && let Some(idle) = take(node, Speech::of(&request), false) {
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

/// A connection to a node where sessions share them, for an account that a server has let in before.
///
/// # Errors
/// As [`login::login`]; with error 1040 also when none could be had for [`LONGEST_WAIT`], or too many wait already.
pub async fn borrow(
    node: &Node,
    (places, counts): (usize, &NodeConnections),
    tls: &ServerTls,
    request: LoginRequest<'_>,
) -> Result<Borrowed, BackendError> {
    if let Some(logged_in) = log_in_at_rest(node, request).await {
        return Ok(Borrowed::New(logged_in));
    }
    let mut search = Search::new(places, counts);
    loop {
        match search.wait(node).await? {
            Granted::Lent(connection) if connection.can_serve(&request) => {
                if let Some(connection) = hand_over(connection, request.collation).await {
                    counts.hand_over(node.id);
                    return Ok(Borrowed::Reset(connection));
                }
            }
            granted => {
                if let Some(logged_in) = search.log_in(granted, node, tls, request).await? {
                    return Ok(Borrowed::New(logged_in));
                }
            }
        }
    }
}

/// The same for a client whose account the server has to look at.
///
/// # Errors
/// As [`borrow`].
pub async fn log_in_shared(
    node: &Node,
    (places, counts): (usize, &NodeConnections),
    tls: &ServerTls,
    request: LoginRequest<'_>,
) -> Result<LoggedIn, BackendError> {
    if let Some(logged_in) = log_in_at_rest(node, request).await {
        return Ok(logged_in);
    }
    let mut search = Search::new(places, counts);
    loop {
        let granted = search.wait(node).await?;
        if let Some(logged_in) = search.log_in(granted, node, tls, request).await? {
            return Ok(logged_in);
        }
    }
}

async fn log_in_at_rest(node: &Node, request: LoginRequest<'_>) -> Option<LoggedIn> {
    let idle = take(node, Speech::of(&request), true)?;
    login::log_in_again(idle, request).await.ok()
}

/// The search for one of the connections that sessions share.
struct Search<'a> {
    places: usize,
    counts: &'a NodeConnections,
    deadline: Instant,
}

/// What a search was given.
enum Granted {
    Lent(Box<Connection>),
    Place(Place),
}

impl Granted {
    /// Of a connection that has died meanwhile there is only the place.
    fn new(grant: Grant<Lent>, node: &Node) -> Self {
        let mut connection = match grant {
            Grant::Lent(lent) => lent.connection,
            Grant::Place => return Self::Place(Place(node.id)),
        };
        let is_dead = connection.incarnation != node.incarnation || connection.channel.has_news();
        match connection.take_place_if(is_dead) {
            Some(place) => Self::Place(place),
            None => Self::Lent(connection),
        }
    }
}

impl<'a> Search<'a> {
    fn new(places: usize, counts: &'a NodeConnections) -> Self {
        Self { places, counts, deadline: Instant::now() + LONGEST_WAIT }
    }

    /// Waits in line for a connection, or for room for one.
    async fn wait(&self, node: &Node) -> Result<Granted, BackendError> {
        let id = node.id;
        let (number, told) = match on_shelf(id, |shelf| shelf.ask(self.places, Instant::now())) {
            Answer::Granted(grant) => return Ok(Granted::new(grant, node)),
            Answer::Full => return Err(self.too_many(node, "and the line for them is full")),
            Answer::InLine(number, told) => (number, told),
        };
        let mut waiting = Waiting { node: id, number, told, _counted: self.counts.waits(id) };
        // What rests there was of no use, but its places are.
        close_all_with_place(id);
        loop {
            let look = self.deadline.min(Instant::now() + LOOK_AGAIN);
            if let Ok(Ok(grant)) = timeout_at(look.into(), &mut waiting.told).await {
                return Ok(Granted::new(grant, node));
            }
            if let Some(lent) = on_shelf(id, |shelf| shelf.ask_again(number, Instant::now())) {
                return Ok(Granted::new(Grant::Lent(lent), node));
            }
            if Instant::now() >= self.deadline {
                return Err(self.too_many(node, "and none was given back in time"));
            }
        }
    }

    /// Logs in with what was given. `None`: the search goes on.
    async fn log_in(
        &mut self,
        granted: Granted,
        node: &Node,
        tls: &ServerTls,
        request: LoginRequest<'_>,
    ) -> Result<Option<LoggedIn>, BackendError> {
        let place = match granted {
            Granted::Place(place) => Some(place),
            Granted::Lent(connection) => match change_hands(*connection, request).await {
                Ok(logged_in) => {
                    self.counts.hand_over(node.id);
                    return Ok(Some(logged_in));
                }
                Err(place) => place,
            },
        };
        match login::login(&node.address, tls, request).await {
            Ok(logged_in) => Ok(Some(LoggedIn { place, ..logged_in })),
            // Others have taken what the server has. What this thread has there must do.
            Err(BackendError::Refused(error)) if TOO_MANY.contains(&error.code) => {
                drop(place);
                let taken = on_shelf(node.id, |shelf| shelf.taken());
                if !close_all(node.id) && (taken == 0 || Instant::now() >= self.deadline) {
                    return Err(BackendError::Refused(error));
                }
                self.places = taken;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn too_many(&self, node: &Node, why: &str) -> BackendError {
        tracing::warn!(node = %node.name, places = self.places, why,
            "a client gets error 1040, for all connections that may be open are in use: raise pool_size, or look for \
             transactions that stay open");
        let message = format!(
            "Too many connections: all {} that this thread of Tidemark may have to {} are in use, {why}; see pool_size",
            self.places, node.name
        );
        BackendError::Refused(ServerError {
            code: TOO_MANY[0],
            sql_state: *b"08004",
            message: message.into_bytes(),
        })
    }
}

/// Logs in on a connection that another account's session has lent out, or that speaks otherwise. Gives its place back where
/// that cannot be.
async fn change_hands(
    mut connection: Connection,
    request: LoginRequest<'_>,
) -> Result<LoggedIn, Option<Place>> {
    let place = connection.take_place_if(true);
    if !connection.speaks(&request) {
        connection.quit().await;
        return Err(place);
    }
    let Some(idle) = connection.rest().await else { return Err(place) };
    match login::log_in_again(idle, request).await {
        Ok(logged_in) => Ok(LoggedIn { place, ..logged_in }),
        Err(_) => Err(place),
    }
}

/// Resets a connection for another session of its account. `None`: it is of no use.
async fn hand_over(mut connection: Box<Connection>, collation: u16) -> Option<Box<Connection>> {
    if !connection.forgets_names() {
        connection.begin_anew(None);
        return Some(connection);
    }
    let known = NAMES.with_borrow(|names| names.get(&collation).cloned());
    let names = match known {
        Some(names) => names,
        None => {
            let found = connection.names_of(collation).await.ok()?.map(Rc::from);
            NAMES.with_borrow_mut(|names| names.insert(collation, found.clone()));
            found
        }
    };
    connection.begin_anew(Some(&*names?));
    Some(connection)
}

/// Somebody in line. What it was given and has not taken goes on to the next.
struct Waiting {
    node: NodeId,
    number: u64,
    told: oneshot::Receiver<Grant<Lent>>,
    _counted: Counted,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        on_shelf(self.node, |shelf| shelf.leave_line(self.number));
        if let Ok(Grant::Place) = self.told.try_recv() {
            drop(Place(self.node));
        }
    }
}

/// Lends a connection out. `None`: somebody has waited for it. Before `kept_until` only its owner gets it.
pub fn lend(
    connection: Box<Connection>,
    owner: Arc<dyn Owner>,
    kept_until: Option<Instant>,
) -> Option<Ticket> {
    let node = connection.node;
    let lent = Lent { connection, owner, since: Instant::now() };
    on_shelf(node, |shelf| shelf.lend(lent, kept_until))
}

/// What was lent out, unless somebody else has it.
pub fn have_back(node: NodeId, ticket: &Ticket) -> Option<Box<Connection>> {
    on_shelf(node, |shelf| shelf.give_back(ticket)).map(|lent| lent.connection)
}

/// Nothing is dropped in here, for a dropped place is given back here.
fn on_shelf<R>(node: NodeId, work: impl FnOnce(&mut Shelf<Lent>) -> R) -> R {
    SHELVES.with_borrow_mut(|shelves| {
        if shelves.len() <= node.index() {
            shelves.resize_with(node.index() + 1, Shelf::default);
        }
        work(&mut shelves[node.index()])
    })
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
fn take(node: &Node, speech: Speech, has_place: bool) -> Option<Idle> {
    let fits = |idle: &Idle| {
        idle.node == node.id
            && idle.incarnation == node.incarnation
            && idle.origin.speech == speech
            && idle.place.is_some() == has_place
    };
    AT_REST.with_borrow_mut(|all| {
        let index = all.iter().rposition(fits)?;
        Some(all.remove(index))
    })
}

/// Closes what has rested, or was lent out, for long. To be called now and then.
pub fn sweep() {
    close(|idle| idle.since.elapsed() > LONGEST);
    let shelves = SHELVES.with_borrow(Vec::len);
    for node in (0..shelves).filter_map(|index| index.try_into().ok()).map(NodeId) {
        let old = on_shelf(node, |shelf| shelf.take_where(|lent| lent.since.elapsed() > LONGEST));
        old.into_iter().for_each(|lent| lent.connection.say_goodbye());
    }
}

/// Closes what rests on a node and has a place there.
fn close_all_with_place(node: NodeId) {
    close(|idle| idle.node == node && idle.place.is_some());
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
        let _ = self.channel.write_now(GOODBYE);
    }
}
