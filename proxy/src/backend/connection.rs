//! A session's connection to one node.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use gtid::Flavor;
use smallvec::SmallVec;
use tokio::time::timeout;
use wire::capability::Capabilities;
use wire::command::{CommandCode, write_command, write_query};
use wire::frame::{HEADER, Header, write_packet};
use wire::rows::QueryOutcome;
use wire::status::Status;

use super::control::{answer, command, query, within};
use super::error::BackendError;
use super::login::{LoggedIn, LoginRequest, Origin, Speech, names_of};
use super::pool::{Idle, Place};
use super::state::{Shared, State};
use crate::cluster::snapshot::NodeId;
use crate::observe::Counted;
use crate::transport::Channel;

/// ER_MUST_CHANGE_PASSWORD: the account's password has expired.
pub const MUST_CHANGE_PASSWORD: u16 = 1820;

/// How long a node may take to bring a connection to the session's state.
const SETUP_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a server may take to take a few bytes before its connection is closed instead.
const REST_LIMIT: Duration = Duration::from_millis(100);

/// Bytes of commands without a reply that may wait for the next command before they are sent on their own.
const OUTBOX_LIMIT: usize = 16 * 1024;

/// Whether the server tells on this connection what a statement changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracking {
    /// Whatever the server does by default. Enough for reads that change nothing.
    Default,
    /// Positions, schema, every session variable, and whether other state changed.
    Full,
    /// The same without positions, which MySQL does not let be switched on inside a transaction
    /// (ER_VARIABLE_NOT_SETTABLE_IN_TRANSACTION).
    WithoutPositions,
}

/// What an answer is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owed {
    /// The trackers.
    Trackers,
    /// A part of the session's state.
    State,
}

/// A statement as the server knows it.
#[derive(Clone, Copy, Debug)]
struct Remote {
    server_id: u32,
    types_version: u32,
}

/// A connection to one node, and what the server on the other side knows of the session.
#[derive(Debug)]
pub struct Connection {
    /// The bytes.
    pub channel: Channel,
    /// Which node.
    pub node: NodeId,
    /// Which life of the node.
    pub incarnation: u64,
    /// The server's id of the connection.
    pub thread: u32,
    /// The status flags of the last reply.
    pub status: Status,
    flavor: Flavor,
    capabilities: Capabilities,
    tracking: Tracking,
    state: Shared,
    statements: HashMap<u32, Remote>,
    outbox: Vec<u8>,
    /// What waits in the outbox, or was sent, and has an answer to come.
    owed: SmallVec<[Owed; 4]>,
    /// A command was sent whose reply has not been read to its end.
    busy: bool,
    origin: Origin,
    /// COM_SET_OPTION was said here, which no reset takes back.
    has_option: bool,
    /// The account by which the last login was made.
    user: Box<[u8]>,
    /// The collation that it named.
    collation: u16,
    /// Its place, where there are only so many.
    place: Option<Place>,
    counted: Counted,
}

impl Connection {
    /// Takes over a connection that has just logged in, in the schema the session's state names.
    pub fn new(
        logged_in: LoggedIn,
        node: NodeId,
        incarnation: u64,
        flavor: Flavor,
        (user, schema): (&[u8], Option<&[u8]>),
        counted: Counted,
    ) -> Self {
        Self {
            channel: logged_in.channel,
            node,
            incarnation,
            thread: logged_in.thread,
            status: logged_in.status,
            flavor,
            capabilities: logged_in.capabilities,
            tracking: Tracking::Default,
            state: Rc::new(State { schema: schema.map(Into::into), ..State::default() }),
            statements: HashMap::new(),
            outbox: Vec::new(),
            owed: SmallVec::new(),
            busy: false,
            origin: logged_in.origin,
            has_option: false,
            user: user.into(),
            collation: logged_in.asked_collation,
            place: logged_in.place,
            counted,
        }
    }

    /// Makes the server ready for the session's next statement: its trackers, then whatever of the state differs. What must
    /// be said goes with the next command in one write, or with [`Self::settle`], which hears the answers.
    pub fn bring_to(&mut self, state: &Shared, tracking: Tracking, in_transaction: bool) {
        if tracking == Tracking::Full && self.tracking != Tracking::Full {
            self.track(in_transaction);
        }
        if !Rc::ptr_eq(&self.state, state) {
            self.apply(state);
            self.is_at(state);
        }
    }

    fn track(&mut self, in_transaction: bool) {
        if in_transaction && self.flavor == Flavor::Mysql {
            if self.tracking == Tracking::Default {
                self.owe(Owed::Trackers, CommandCode::Query, TRACK_WITHOUT_POSITIONS.as_bytes());
                self.tracking = Tracking::WithoutPositions;
            }
            return;
        }
        self.owe(Owed::Trackers, CommandCode::Query, track_everything(self.flavor).as_bytes());
        self.tracking = Tracking::Full;
    }

    /// Whether the server tells the positions of writes on this connection.
    pub fn tells_positions(&self) -> bool {
        self.tracking == Tracking::Full
    }

    /// Whether this connection cannot be brought to a state: it is in a schema, and the session in none any more.
    pub fn cannot_become(&self, state: &State) -> bool {
        state.schema.is_none() && self.state.schema.is_some()
    }

    fn apply(&mut self, state: &State) {
        if let Some(option) = state.option.filter(|option| self.state.option != Some(*option)) {
            self.owe(Owed::State, CommandCode::SetOption, &option);
        }
        if let Some(role) = state.role.as_deref().filter(|role| self.state.role.as_deref() != Some(*role)) {
            self.owe(Owed::State, CommandCode::Query, role);
        }
        if let Some(schema) =
            state.schema.as_deref().filter(|schema| self.state.schema.as_deref() != Some(*schema))
        {
            self.owe(Owed::State, CommandCode::InitDb, schema);
        }
        let statements = [state.set_variables(&self.state), state.set_user_variables(&self.state)];
        for statement in statements.into_iter().flatten() {
            self.owe(Owed::State, CommandCode::Query, &statement);
        }
    }

    /// LAST_INSERT_ID() is this from now on; told as the state is.
    pub fn insert_id_is(&mut self, id: u64) {
        let statement = format!("SET @@session.last_insert_id={id}");
        self.owe(Owed::State, CommandCode::Query, statement.as_bytes());
    }

    fn owe(&mut self, owed: Owed, code: CommandCode, argument: &[u8]) {
        match code {
            CommandCode::Query => write_query(&mut self.outbox, argument, self.capabilities),
            _ => write_command(&mut self.outbox, code, argument),
        }
        self.owed.push(owed);
    }

    /// Hears the answers to what [`Self::bring_to`] had to say, and says it first if it has not gone with a command.
    ///
    /// # Errors
    /// `Refused` when the server does not take a part of the state; the connection is then in between and must be
    /// given up, as after every other error.
    pub async fn settle(&mut self) -> Result<(), BackendError> {
        if self.is_owed() { Box::pin(self.hear_answers()).await } else { Ok(()) }
    }

    async fn hear_answers(&mut self) -> Result<(), BackendError> {
        let (channel, outbox, owed) = (&mut self.channel, &mut self.outbox, &mut self.owed);
        let conversation = async {
            if !outbox.is_empty() {
                channel.write_commands(&std::mem::take(outbox)).await?;
            }
            for owed in owed.drain(..) {
                match answer(channel).await {
                    // Nothing runs before the password is changed, which may be what comes now.
                    Err(BackendError::Refused(error))
                        if owed == Owed::Trackers && error.code == MUST_CHANGE_PASSWORD =>
                    {
                        self.tracking = Tracking::Default;
                    }
                    answer => drop(answer?),
                }
            }
            Ok(())
        };
        within(SETUP_TIMEOUT, conversation).await
    }

    /// Asks a statement of the proxy's own.
    ///
    /// # Errors
    /// `Refused` with the server's error, of it or of what was owed; anything else means that the connection must be given up.
    pub async fn ask(&mut self, statement: &[u8]) -> Result<Vec<QueryOutcome>, BackendError> {
        self.settle().await?;
        query(&mut self.channel, self.capabilities, statement, SETUP_TIMEOUT).await
    }

    /// The same for a command that is answered as a query is.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub async fn command(&mut self, code: CommandCode, argument: &[u8]) -> Result<(), BackendError> {
        self.settle().await?;
        command(&mut self.channel, code, argument, SETUP_TIMEOUT).await.map(|_| ())
    }

    /// The state has changed by a statement that ran here: this connection is at it already.
    pub fn is_at(&mut self, state: &Shared) {
        self.has_option |= state.option.is_some();
        self.state = Rc::clone(state);
    }

    /// A statement may have changed the trackers; they are set again before the next one.
    pub fn trackers_changed(&mut self) {
        self.tracking = Tracking::Default;
    }

    /// The server has reset the session: it knows nothing of it any more but the schema.
    pub fn was_reset(&mut self) {
        self.tracking = Tracking::Default;
        self.statements.clear();
        self.state = Rc::new(State { schema: self.state.schema.clone(), ..State::default() });
    }

    /// The server's id of a statement that the client knows as `id`, when it is prepared here.
    pub fn statement(&self, id: u32) -> Option<u32> {
        self.statements.get(&id).map(|remote| remote.server_id)
    }

    /// The statement the client knows as `id` is prepared here as `server_id`.
    pub fn prepared(&mut self, id: u32, server_id: u32) {
        self.statements.insert(id, Remote { server_id, types_version: 0 });
    }

    /// Which of the parameter types sent so far the server knows; 0 for none.
    pub fn types_version(&self, id: u32) -> u32 {
        self.statements.get(&id).map_or(0, |remote| remote.types_version)
    }

    /// The server has seen these parameter types.
    pub fn has_types(&mut self, id: u32, version: u32) {
        if let Some(remote) = self.statements.get_mut(&id) {
            remote.types_version = version;
        }
    }

    /// Puts whole COM_STMT_SEND_LONG_DATA frames, which get no reply, in front of the next command.
    pub fn send_ahead(&mut self, frames: &[u8], server_id: u32) {
        let start = self.outbox.len();
        self.outbox.extend_from_slice(frames);
        let mut at = start;
        while let Some(header) = self.outbox.get(at..).and_then(Header::parse) {
            let end = at + HEADER + header.length;
            // A frame too short for an id was never taken in.
            if let Some(payload) = self.outbox.get_mut(at + HEADER..end) {
                let _ = wire::prepared::set_statement_id(payload, server_id);
            }
            at = end;
        }
    }

    /// Closes a statement here if it is prepared here. The command is sent along with the next one.
    pub fn close_statement(&mut self, id: u32) {
        if let Some(remote) = self.statements.remove(&id) {
            wire::prepared::write_close(&mut self.outbox, remote.server_id);
        }
    }

    /// Sends what waits, when it has become much.
    ///
    /// # Errors
    /// When the socket fails.
    pub async fn flush_if_full(&mut self) -> std::io::Result<()> {
        if self.outbox.len() < OUTBOX_LIMIT {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.outbox);
        self.channel.write_commands(&waiting).await
    }

    /// Whether it owes an answer to what [`Self::bring_to`] had to say.
    pub fn is_owed(&self) -> bool {
        !self.owed.is_empty()
    }

    /// Sends a command, and before it whatever waits, in one write, as far as the socket takes it at once. `false`: there is a
    /// rest, for [`Self::flush`].
    ///
    /// # Errors
    /// When the socket fails.
    pub fn send_now(&mut self, command: &[u8]) -> std::io::Result<bool> {
        self.busy = true;
        if !self.outbox.is_empty() || self.channel.compression().is_some() {
            self.outbox.extend_from_slice(command);
            return Ok(false);
        }
        let sent = self.channel.write_now(command)?;
        self.outbox.extend_from_slice(command.get(sent..).unwrap_or_default());
        Ok(self.outbox.is_empty())
    }

    /// Sends whatever waits.
    ///
    /// # Errors
    /// When the socket fails.
    pub async fn flush(&mut self) -> std::io::Result<()> {
        let waiting = std::mem::take(&mut self.outbox);
        self.channel.write_commands(&waiting).await
    }

    /// Sends a command, and before it whatever waits, in one write.
    ///
    /// # Errors
    /// When the socket fails.
    pub async fn send(&mut self, command: &[u8]) -> std::io::Result<()> {
        if self.send_now(command)? { Ok(()) } else { self.flush().await }
    }

    /// A reply has been read to its end.
    pub fn has_answered(&mut self) {
        self.busy = false;
    }

    /// Whether another session of an account can have the connection when the server has reset it.
    pub(super) fn can_serve(&self, request: &LoginRequest<'_>) -> bool {
        *self.user == *request.user
            && self.speaks(request)
            && (self.flavor == Flavor::Mysql || self.collation == request.collation)
            && self.state.role.is_none()
            && (request.schema.is_some() || self.state.schema.is_none())
    }

    /// Whether it speaks what a login asks for.
    pub(super) fn speaks(&self, request: &LoginRequest<'_>) -> bool {
        self.origin.speech == Speech::of(request)
    }

    /// Whether a reset leaves the connection without the character set of its login. MariaDB restores that (`org_charset` in
    /// its `sql_parse.cc`), and MySQL takes its own default.
    pub(super) fn forgets_names(&self) -> bool {
        self.flavor == Flavor::Mysql
    }

    /// Has the server give up what its session has left, in one write with what comes next, and begin as after a login.
    /// `names` sets the character set where that is not restored.
    pub(super) fn begin_anew(&mut self, names: Option<&[u8]>) {
        self.owe(Owed::State, CommandCode::ResetConnection, b"");
        self.was_reset();
        if let Some(names) = names {
            self.owe(Owed::State, CommandCode::Query, names);
        }
    }

    /// The statement that sets the character set of a login. `None`: the server does not know it.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub(super) async fn names_of(&mut self, collation: u16) -> Result<Option<Vec<u8>>, BackendError> {
        self.settle().await?;
        within(SETUP_TIMEOUT, names_of(&mut self.channel, self.capabilities, collation)).await
    }

    /// Its place, for the connection that takes over, on this condition.
    pub(super) fn take_place_if(&mut self, is_given_up: bool) -> Option<Place> {
        self.place.take_if(|_| is_given_up)
    }

    /// Whether the server owes nothing, so that another session can have the connection.
    pub fn can_rest(&self) -> bool {
        !self.busy
            && !self.has_option
            && self.owed.is_empty()
            && self.channel.unread().is_empty()
            && self.channel.compression().is_none()
    }

    /// Has the server give up what the session held. `None`: the connection is broken.
    pub(super) async fn rest(mut self) -> Option<Idle> {
        let mut out = std::mem::take(&mut self.outbox);
        write_packet(&mut out, &mut 0, &[CommandCode::ResetConnection as u8]);
        timeout(REST_LIMIT, self.channel.write_commands(&out)).await.ok()?.ok()?;
        Some(Idle {
            channel: self.channel,
            node: self.node,
            incarnation: self.incarnation,
            origin: self.origin,
            thread: self.thread,
            since: Instant::now(),
            place: self.place,
            _counted: self.counted,
        })
    }

    /// COM_QUIT, if it goes without waiting.
    pub(super) fn say_goodbye(mut self) {
        // Whether the server hears it or not, the connection is closed.
        let _ = self.channel.write_now(GOODBYE);
    }

    /// Ends the conversation politely. Nothing is waited for.
    pub async fn quit(mut self) {
        let mut out = std::mem::take(&mut self.outbox);
        write_packet(&mut out, &mut 0, &[CommandCode::Quit as u8]);
        // The server may have closed already, and then there is nobody to be polite to.
        let _ = self.channel.write_commands(&out).await;
        let _ = self.channel.shutdown().await;
    }
}

/// COM_QUIT.
pub(super) const GOODBYE: &[u8] = b"\x01\0\0\0\x01";

const TRACK_WITHOUT_POSITIONS: &str = "SET @@session.session_track_system_variables='*', \
     @@session.session_track_schema=ON, @@session.session_track_state_change=ON";

/// Facts: `session_track_gtids` is MySQL's; MariaDB reports `last_gtid` among the variables. `*` stands for all.
fn track_everything(flavor: Flavor) -> &'static str {
    match flavor {
        Flavor::Mysql => {
            "SET @@session.session_track_gtids=OWN_GTID, @@session.session_track_system_variables='*', \
             @@session.session_track_schema=ON, @@session.session_track_state_change=ON"
        }
        Flavor::Mariadb => TRACK_WITHOUT_POSITIONS,
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::UnixStream;
    use wire::auth::Plugin;

    use super::*;
    use crate::observe::NodeConnections;
    use crate::transport::Plain;

    const OK: &[u8] = b"\x07\0\0\x01\0\0\0\x02\0\0\0";
    const ERR: &[u8] = b"\x09\0\0\x01\xFF\x19\x04#42000";
    const REPLY: &[u8] = b"\x07\0\0\x01\0\x05\0\x02\0\0\0";

    /// A connection, its server's end, and a state in which it is not.
    fn stage() -> (Connection, UnixStream, Shared) {
        let (near, far) = UnixStream::pair().unwrap();
        let logged_in = LoggedIn {
            channel: Channel::new(Plain::Unix(near)),
            capabilities: Capabilities::PROTOCOL_41,
            offered: Capabilities::PROTOCOL_41,
            offered_extended: 0,
            version: "9.7.0".to_owned(),
            thread: 1,
            collation: 255,
            status: Status::AUTOCOMMIT,
            origin: Origin {
                speech: Speech::default(),
                capabilities: Capabilities::PROTOCOL_41,
                plugin: Plugin::NativePassword,
                nonce: Box::default(),
            },
            asked_collation: 255,
            place: None,
        };
        let counted = NodeConnections::new(1).opened(NodeId(0));
        let connection = Connection::new(logged_in, NodeId(0), 1, Flavor::Mysql, (b"app", None), counted);
        let mut state = State { schema: Some(b"app".as_slice().into()), ..State::default() };
        state.variables.insert(b"sql_select_limit".as_slice().into(), b"7".as_slice().into());
        (connection, far, Rc::new(state))
    }

    #[tokio::test]
    async fn the_state_goes_with_the_command_in_one_write() {
        let (mut connection, mut server, state) = stage();
        connection.bring_to(&state, Tracking::Full, false);
        connection.send(b"\x09\0\0\0\x03SELECT 1").await.unwrap();
        let mut said = [0; 4096];
        let length = server.read(&mut said).await.unwrap();
        let said = String::from_utf8_lossy(&said[..length]).into_owned();
        let order = ["session_track_gtids=", "app", "`sql_select_limit`=7", "SELECT 1"]
            .map(|part| said.find(part).unwrap());
        assert!(order.is_sorted(), "{said}");
        server.write_all(&[OK, OK, OK, REPLY].concat()).await.unwrap();
        connection.settle().await.unwrap();
        assert_eq!(connection.channel.unread(), REPLY);
        connection.channel.consume(REPLY.len());
        // Nothing of it is said or heard again.
        connection.bring_to(&state, Tracking::Full, false);
        connection.settle().await.unwrap();
        connection.send(b"\x01\0\0\0\x0E").await.unwrap();
        let mut ping = [0; 64];
        assert_eq!(server.read(&mut ping).await.unwrap(), 5);
    }

    #[tokio::test]
    async fn a_part_that_is_refused_is_heard_of() {
        let (mut connection, mut server, state) = stage();
        connection.bring_to(&state, Tracking::Default, false);
        server.write_all(&[OK, ERR].concat()).await.unwrap();
        let refused = connection.settle().await;
        assert!(matches!(refused, Err(BackendError::Refused(error)) if error.code == 1049));
    }
}
