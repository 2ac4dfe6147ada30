//! A client's session: read a command, understand it, decide where it runs, run it there, remember what came of it.
//!
//! The steps are files of their own, in this order: `understand`, `decide` (with `route`, which is pure), `reach`,
//! `run` (with `relay`), `remember` (with `changes`, `insert_id`, `unasked`, `temporary` and `pins`). Beside the road:
//! `attend` for waiting, `herald` for who must hear of a write first, `speculate` for reads that run while the primary is
//! asked (`question`), `answer` for what the proxy says itself, `split` for transactions that have not reached a node yet,
//! `ahead`, `reset`, `kill` and `tunnel` for commands with rules of their own, `lend` for connections that sessions share.
//!
//! A session lives on one thread for its whole life, and everything it owns is its own: no step takes a lock.

mod ahead;
mod answer;
mod attend;
mod changes;
mod decide;
mod herald;
mod insert_id;
mod isolation;
mod kill;
mod lend;
mod pins;
mod prepared;
mod question;
mod reach;
mod registry;
mod remember;
mod reset;
mod run;
mod speculate;
mod split;
mod temporary;
mod tunnel;
mod unasked;
mod understand;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use gtid::Flavor;
use wire::capability::Capabilities;
use wire::frame::write_packet;
use wire::ok::{OK_HEADER, OkPacket};
use wire::status::Status;
use wire::wanted::Wanted;

use crate::backend::pool;
use crate::backend::state::{Shared, State};
use crate::cluster::snapshot::{self, NodeId, Snapshot};
use crate::config::Pool;
use crate::endpoint::Endpoint;
use crate::error::ClientError;
use crate::frontend::{Account, LoggedIn, Peer};
use crate::instance::Instance;
use crate::relay::{Command, CommandError};
use crate::route::{Needs, Reason};
use crate::transport::Channel;

use changes::is_system_schema;
use decide::Overrides;
use insert_id::InsertId;
use lend::Left;
use pins::Pins;
use prepared::PreparedStatements;
use reach::Backends;
pub use registry::{Card, Ending, Registry};
use speculate::Guesses;
use split::Split;
use temporary::Temporary;
use unasked::Unasked;
use understand::{Role, Statement, Understood};

/// A client's session.
pub struct Session {
    id: u32,
    client: Channel,
    capabilities: Capabilities,
    /// MariaDB's own ones.
    extended: u32,
    peer: Peer,
    account: Account,
    instance: Arc<Instance>,
    endpoint: Arc<Endpoint>,
    card: Arc<Card>,
    flavor: Flavor,
    backends: Backends,
    /// The state that every connection is brought to before it runs a statement.
    state: Shared,
    /// How statements are read: sql_mode and character set as they stand now.
    dialect: sql::Dialect,
    default_dialect: sql::Dialect,
    /// What the client wants to be told of its session.
    wanted: Wanted,
    default_wanted: Wanted,
    overrides: Overrides,
    status: Status,
    autocommit: bool,
    default_autocommit: bool,
    /// Where a transaction is open.
    transaction: Option<NodeId>,
    /// What concerns transactions that are open nowhere yet.
    split: Split,
    /// Where the previous statement ran.
    previous: Option<NodeId>,
    /// Where what pins the session lives.
    home: Option<NodeId>,
    /// The cluster's epoch when it came to live there.
    home_since: u64,
    pins: Pins,
    temporary: Temporary,
    /// Variables that keep reads on the primary.
    tied_by: BTreeSet<Box<[u8]>>,
    /// What is still to be learnt of the session's state.
    unasked: Option<Unasked>,
    in_system_schema: bool,
    /// Where SET TRANSACTION was said for the next transaction.
    next_transaction_on: Option<NodeId>,
    insert_id: InsertId,
    needs: Needs,
    guesses: Guesses,
    left: Left,
    prepared: PreparedStatements,
    /// A server has said that the password must be changed first.
    expired: bool,
    /// How often the client was refused to become somebody else.
    refused_changes: u8,
    last: Option<LastRoute>,
    dice: Dice,
}

/// How the last statement was routed, for TIDEMARK SHOW ROUTE.
#[derive(Clone, Copy, Debug)]
struct LastRoute {
    node: NodeId,
    role: snapshot::Role,
    reason: Reason,
    waited: Duration,
}

/// Why a session ends.
#[derive(Clone, Debug)]
pub enum End {
    /// The client said goodbye, or closed the connection between two commands.
    Quit,
    /// The client's connection broke.
    ClientGone,
    /// The client closed its connection inside a packet.
    Truncated,
    /// The client is told this as the last thing.
    Told(ClientError),
    /// The same, in the packet of this number.
    ToldAt(ClientError, u8),
    /// The client was told, or has received a part of a reply whose rest is lost.
    Broken,
    /// KILL of a statement, and of the session with it.
    Killed,
    /// Without a word: KILL while nothing ran, or its wait_timeout.
    Dismissed,
    /// The proxy is about to stop, or its endpoint is drained.
    Drained,
}

impl End {
    /// The same end after the client has heard of it.
    fn told(self) -> Self {
        Self::Broken
    }
}

impl Session {
    /// A session for a client that has been let in.
    pub fn new(
        logged_in: LoggedIn,
        card: Arc<Card>,
        peer: Peer,
        endpoint: Arc<Endpoint>,
        instance: Arc<Instance>,
    ) -> Self {
        let LoggedIn { channel, capabilities, extended, account, connection, .. } = logged_in;
        let (facts, version) = {
            let snapshot = instance.cluster.snapshot();
            let releases =
                snapshot.nodes.iter().filter_map(|node| node.facts.as_ref()).map(|facts| facts.release);
            let facts = snapshot.node(connection.node).and_then(|node| node.facts.clone());
            (facts, releases.min().unwrap_or_default())
        };
        let flavor = facts.as_ref().map_or(Flavor::Mysql, |facts| facts.flavor);
        let default_wanted = facts.as_ref().map(|facts| facts.default_wanted.clone()).unwrap_or_default();
        let dialect = sql::Dialect {
            charset: sql::Charset::from_collation_id(account.collation),
            multi_statements: capabilities.contains(Capabilities::MULTI_STATEMENTS),
            flavor: match flavor {
                Flavor::Mysql => sql::Flavor::Mysql,
                Flavor::Mariadb => sql::Flavor::Mariadb,
            },
            version,
            ..facts
                .as_ref()
                .map_or_else(Default::default, |facts| sql::Dialect::from_sql_mode(facts.sql_mode.as_bytes()))
        };
        let status = connection.status;
        card.rests_on(connection.node, connection.incarnation, connection.thread);
        let mut backends = Backends::default();
        let state = State { schema: account.schema.clone(), ..State::default() };
        backends.put(Box::new(connection));
        Self {
            id: card.id,
            client: channel,
            capabilities,
            extended,
            peer,
            in_system_schema: account.schema.as_deref().is_some_and(is_system_schema),
            account,
            instance,
            endpoint,
            dice: Dice::new(card.id),
            card,
            flavor,
            backends,
            state: Shared::new(state),
            dialect,
            default_dialect: dialect,
            wanted: default_wanted.clone(),
            default_wanted,
            overrides: Overrides::default(),
            status,
            autocommit: status.contains(Status::AUTOCOMMIT),
            default_autocommit: status.contains(Status::AUTOCOMMIT),
            transaction: None,
            split: Split::default(),
            previous: None,
            home: None,
            home_since: 0,
            pins: Pins::default(),
            temporary: Temporary::default(),
            tied_by: BTreeSet::new(),
            unasked: None,
            next_transaction_on: None,
            insert_id: InsertId::default(),
            needs: Needs::default(),
            guesses: Guesses::default(),
            left: Left::default(),
            prepared: PreparedStatements::default(),
            expired: false,
            refused_changes: 0,
            last: None,
        }
    }

    /// Serves the client until one side ends it.
    pub async fn run(&mut self) -> End {
        loop {
            self.lend().await;
            let served = match self.next_command().await {
                Ok(mut command) => self.serve(&mut command).await,
                Err(end) => Err(end),
            };
            if let Err(end) = served {
                self.say_goodbye(&end).await;
                return end;
            }
        }
    }

    /// One command, from its bytes to its answer. What is rare keeps its state on the heap, so that a session that runs
    /// statements is small.
    async fn serve(&mut self, command: &mut Command) -> Result<(), End> {
        // A KILL QUERY that came while nothing ran hits nothing.
        self.card.take_interrupt();
        match self.understand(command) {
            Understood::Run(statement) => self.run_whole(command, statement).await,
            Understood::Ping => self.answer_ok(command).await,
            Understood::Own(text) => {
                let text = command.payload(&self.client).get(text).unwrap_or_default().to_vec();
                Box::pin(self.answer_own(command, &text)).await
            }
            Understood::ConnectionId(text) => {
                let text = command.payload(&self.client).get(text).unwrap_or_default().to_vec();
                Box::pin(self.answer_connection_id(command, &text)).await
            }
            Understood::SslStatus(status) => Box::pin(self.answer_ssl_status(command, status)).await,
            Understood::Kill(kind, id) => Box::pin(self.answer_kill(command, kind, id)).await,
            Understood::CloseStatement(id) => Box::pin(self.close_statement(command, id)).await,
            Understood::LongData(id) => Box::pin(self.long_data(command, id)).await,
            Understood::Follow(statement) => Box::pin(self.tunnel(command, &statement)).await,
            Understood::ChangeUser => Box::pin(self.change_user(command)).await,
            Understood::ResetConnection => Box::pin(self.reset_connection(command)).await,
            Understood::Refuse(error) => Box::pin(self.refuse(command, &error)).await,
            Understood::Quit => Err(End::Quit),
        }
    }

    /// A statement; one that is to be prepared must be whole, for its text is needed again.
    async fn run_whole(&mut self, command: &mut Command, statement: Statement) -> Result<(), End> {
        if statement.role == Role::Prepare && !command.whole {
            let whole = command.complete(&mut self.client).await.map_err(|_| End::ClientGone)?;
            if !whole {
                let text = "Got a packet bigger than 'max_allowed_packet' bytes: a statement of 16 MiB and more cannot be \
                            prepared through Tidemark";
                return self.refuse(command, &ClientError::new(1153, b"08S01", text)).await;
            }
        }
        if let Some(node) = self.read_only_transaction_ended_by(&statement) {
            Box::pin(self.end_read_only_transaction(node)).await;
        }
        if let Some(control) = self.control(command, &statement)
            && Box::pin(self.answer_control(command, &statement, control)).await?
        {
            return Ok(());
        }
        let statement = self.within_unopened(command, statement);
        self.run_statement(command, &statement).await
    }

    /// Waits for the client's next command, or for a reason to end.
    async fn next_command(&mut self) -> Result<Command, End> {
        loop {
            match self.card.ending() {
                Ending::Killed => return Err(End::Dismissed),
                Ending::Drained if !self.in_transaction() => return Err(End::Drained),
                Ending::Drained | Ending::No => {}
            }
            let idle = self.idle_limit();
            tokio::select! {
                biased;
                command = Command::read(&mut self.client) => {
                    let command = command.map_err(ended)?.ok_or(End::Quit)?;
                    // It came behind the answer to a KILL, which nobody has looked at yet.
                    return if self.card.ending() == Ending::Killed { Err(End::Dismissed) } else { Ok(command) };
                }
                () = self.card.wake.rung() => { self.card.take_interrupt(); }
                () = passed(idle) => return Err(self.too_long_idle()),
            }
        }
    }

    /// How long the session may be idle: as long as its client has set wait_timeout to. The servers' own limits end their
    /// connections, which are made anew when they are needed.
    fn idle_limit(&self) -> Option<Duration> {
        let set = self.state.variables.get(b"wait_timeout".as_slice())?;
        std::str::from_utf8(set).ok()?.parse().ok().map(Duration::from_secs)
    }

    /// ER_CLIENT_INTERACTION_TIMEOUT, which MariaDB does not say.
    fn too_long_idle(&self) -> End {
        match self.flavor {
            Flavor::Mysql => {
                let text = "The client was disconnected by the server because of inactivity. See wait_timeout and \
                            interactive_timeout for configuring this behavior.";
                End::ToldAt(ClientError::new(4031, b"HY000", text), 0)
            }
            Flavor::Mariadb => End::Dismissed,
        }
    }

    /// What must run where the session already is: on the connection that holds what cannot be moved.
    fn pinned_for(&self, statement: &Statement, snapshot: &Snapshot) -> Option<(NodeId, Reason)> {
        let on_statement = match &statement.role {
            Role::Execute(id) => self.prepared.get(*id).and_then(|prepared| prepared.sent_ahead_to),
            Role::Fetch(id) => self.prepared.get(*id).and_then(|prepared| prepared.cursor).or(self.previous),
            Role::Reset(id) => {
                let prepared = self.prepared.get(*id);
                prepared.and_then(|prepared| prepared.cursor.or(prepared.sent_ahead_to)).or(self.previous)
            }
            _ => None,
        };
        if let Some(node) = on_statement {
            return Some((node, Reason::PinnedStatement));
        }
        // A read-only transaction has set them on a replica.
        let by_variables = statement.request.reason == sql::Reason::UserVariable
            && self.home.is_some_and(|home| Some(home) != snapshot.primary);
        let reason = self.pins.reason().or_else(|| by_variables.then_some(Reason::PinnedUserVariable))?;
        Some((self.home.or(snapshot.primary)?, reason))
    }

    /// What pins the session lives on this node from now on.
    fn settle_on(&mut self, node: NodeId) {
        self.home = Some(node);
        self.home_since = self.instance.cluster.snapshot().epoch;
    }

    fn node_name(&self, node: NodeId) -> String {
        let snapshot = self.instance.cluster.snapshot();
        snapshot.node(node).map_or_else(|| node.0.to_string(), |node| node.name.to_string())
    }

    /// Tells the client why not; the session goes on.
    async fn refuse(&mut self, command: &mut Command, error: &ClientError) -> Result<(), End> {
        let sequence = self.forget_command(command).await?;
        self.write_error(error, sequence).await
    }

    /// Reads away what is left of a command. Returns the number of the packet that answers it.
    async fn forget_command(&mut self, command: &mut Command) -> Result<u8, End> {
        command.discard(&mut self.client).await.map_err(ended)
    }

    async fn answer_ok(&mut self, command: &mut Command) -> Result<(), End> {
        let sequence = self.forget_command(command).await?;
        self.write_ok(sequence).await
    }

    async fn write_ok(&mut self, sequence: u8) -> Result<(), End> {
        let ok = OkPacket { status: self.status, ..OkPacket::default() };
        let mut payload = Vec::new();
        let written = ok.write(&mut payload, OK_HEADER, self.capabilities, &self.wanted);
        written.map_err(|error| End::Told(ClientError::own(error.to_string())))?;
        self.write_payload(&payload, sequence).await
    }

    async fn write_error(&mut self, error: &ClientError, sequence: u8) -> Result<(), End> {
        self.write_payload(&error.payload(self.capabilities), sequence).await
    }

    async fn write_payload(&mut self, payload: &[u8], mut sequence: u8) -> Result<(), End> {
        let mut out = Vec::with_capacity(payload.len() + 4);
        write_packet(&mut out, &mut sequence, payload);
        self.client.write(&out).await.map_err(|_| End::ClientGone)
    }

    /// The last words to the client, and a polite end towards the servers.
    async fn say_goodbye(&mut self, end: &End) {
        let last = match end {
            End::Told(error) | End::ToldAt(error, _) => Some(error.clone()),
            End::Killed => Some(ClientError::new(1317, b"70100", "Query execution was interrupted")),
            End::Drained => Some(ClientError::shutting_down()),
            // Servers say nothing to whom they do not owe an answer: drivers take it for the answer to what they ask next.
            End::Quit | End::ClientGone | End::Truncated | End::Broken | End::Dismissed => None,
        };
        if let Some(error) = last {
            // Whether it still listens or not, the session is over.
            let sequence = match end {
                End::Drained => 0,
                End::ToldAt(_, sequence) => *sequence,
                _ => 1,
            };
            let _ = self.write_error(&error, sequence).await;
        }
        let _ = self.client.shutdown().await;
        self.have_all_back();
        let pools = self.endpoint.config.pool != Pool::Off && !matches!(end, End::Drained);
        for connection in self.backends.take_all() {
            let keeps = {
                let snapshot = self.instance.cluster.snapshot();
                let facts = snapshot.node(connection.node).and_then(|node| node.facts.as_ref());
                pools && facts.is_some_and(|facts| !facts.has_init_connect)
            };
            pool::put(connection, keeps).await;
        }
    }
}

/// Returns when this time has passed, if there is a limit.
async fn passed(limit: Option<Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
    }
}

fn ended(error: CommandError) -> End {
    match error {
        CommandError::Ended(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => End::Truncated,
        CommandError::Ended(_) => End::ClientGone,
        CommandError::OutOfOrder(_) => End::Told(ClientError::out_of_order()),
        CommandError::Empty => End::Told(ClientError::malformed(error)),
    }
}

/// Numbers for spreading reads: a xorshift generator, one per session, started from its id.
#[derive(Debug)]
struct Dice(u32);

impl Dice {
    fn new(id: u32) -> Self {
        Self(id.wrapping_mul(2_654_435_761) | 1)
    }

    fn roll(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
}
