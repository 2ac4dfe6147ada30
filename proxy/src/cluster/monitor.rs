//! A connection of the monitor account: how it is opened, and the questions that are asked on it.

use std::time::{Duration, Instant};

use gtid::Flavor;
use tokio::time::timeout;
use wire::capability::Capabilities;
use wire::command::CommandCode;
use wire::rows::{QueryOutcome, TextResult};

use super::entry::Told;
use super::facts::{self, Greeted, Grounds, Variables};
use super::said::{self, Said};
use super::version::{Version, flavor};
use crate::backend::control::{ask, command};
use crate::backend::error::BackendError;
use crate::backend::login::{LoginRequest, login};
use crate::backend::secret::Secret;
use crate::config::{Address, ClusterConfig};
use crate::transport::Channel;
use crate::transport::tls::ServerTls;

/// How long a node may take to answer a question of the proxy's own, beyond what it was asked to wait: a server that
/// needs longer for a `SELECT` of variables serves nobody.
pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(3);

/// utf8mb4_general_ci, which both families know.
const COLLATION: u16 = 45;

/// ER_SPECIFIC_ACCESS_DENIED_ERROR: a privilege is missing.
const PRIVILEGE_MISSING: u16 = 1227;

/// The account and the way to the nodes.
pub(super) struct Monitor {
    user: String,
    secret: Secret,
    tls: ServerTls,
}

impl Monitor {
    /// The account of the configuration.
    pub(super) fn new(config: &ClusterConfig, tls: ServerTls) -> Self {
        Self {
            user: config.monitor_user.clone(),
            secret: Secret::from_password(config.monitor_password.expose()),
            tls,
        }
    }

    /// Logs in, within [`ANSWER_LIMIT`].
    pub(super) async fn connect(&self, address: &Address) -> Result<Connection, BackendError> {
        let request = LoginRequest {
            user: self.user.as_bytes(),
            secret: &self.secret,
            schema: None,
            collation: COLLATION,
            capabilities: Capabilities::default(),
            extended: 0,
            attributes: None,
            compression: None,
        };
        let logged_in =
            timeout(ANSWER_LIMIT, login(address, &self.tls, request)).await.map_err(|_| silent())??;
        let mut connection = Connection {
            flavor: flavor(&logged_in.version),
            greeted: Greeted {
                version: logged_in.version,
                capabilities: logged_in.offered,
                extended: logged_in.offered_extended,
                collation: logged_in.collation,
            },
            channel: logged_in.channel,
            variables: Variables::default(),
        };
        // The server must neither close the connection for being idle nor cut questions or answers short, whatever its
        // init_connect says.
        let settings = match connection.flavor {
            Flavor::Mysql => {
                "SET SESSION wait_timeout = 31536000, max_execution_time = 0, sql_select_limit = DEFAULT, autocommit = 1"
            }
            Flavor::Mariadb => {
                "SET SESSION wait_timeout = 31536000, max_statement_time = 0, sql_select_limit = DEFAULT, autocommit = 1"
            }
        };
        connection.ask(settings, Duration::ZERO).await?;
        Ok(connection)
    }
}

fn silent() -> BackendError {
    BackendError::Silent(u64::try_from(ANSWER_LIMIT.as_millis()).unwrap_or(u64::MAX))
}

/// A connection that is logged in as the monitor account.
pub(super) struct Connection {
    channel: Channel,
    /// The server's family.
    pub(super) flavor: Flavor,
    greeted: Greeted,
    variables: Variables,
}

impl Connection {
    /// Asks, and returns the rows. `held`: how long the question itself asks the server to wait.
    pub(super) async fn ask(&mut self, sql: &str, held: Duration) -> Result<TextResult, BackendError> {
        let outcomes = ask(&mut self.channel, sql, ANSWER_LIMIT + held).await?;
        Ok(outcomes
            .into_iter()
            .find_map(|outcome| match outcome {
                QueryOutcome::Rows(result) => Some(result),
                _ => None,
            })
            .unwrap_or_default())
    }

    /// How long the node takes to answer when it has nothing to do for it.
    pub(super) async fn ping(&mut self) -> Result<Duration, BackendError> {
        let sent_at = Instant::now();
        command(&mut self.channel, CommandCode::Ping, &[], ANSWER_LIMIT).await?;
        Ok(sent_at.elapsed())
    }

    /// Asks for everything but the position: settings and sources.
    pub(super) async fn told(&mut self) -> Result<Told, BackendError> {
        self.variables = Variables::read(&self.ask(facts::VARIABLES, Duration::ZERO).await?);
        self.replication(self.variables.writable()).await
    }

    /// The same with the settings as they were, but for whether it takes writes: `SHOW GLOBAL VARIABLES` costs a
    /// server a thousand times what a position does.
    pub(super) async fn replication(&mut self, writable: bool) -> Result<Told, BackendError> {
        let status = self.allowed(self.version().replica_status(self.flavor)).await?;
        let log_status = self.allowed(self.version().log_status(self.flavor)).await?;
        let lacks_grant = if status.is_some() && log_status.is_some() {
            None
        } else {
            let account = self.ask("SELECT CURRENT_USER()", Duration::ZERO).await?;
            Some(facts::missing_privilege(
                self.flavor,
                account.rows.first().and_then(|row| row.first()?.as_deref()),
            ))
        };
        let said = Said {
            identity: self.variables.identity(self.flavor),
            writable,
            sources: status.as_ref().map(said::sources),
        };
        let grounds = Grounds { said: &said, log_status: log_status.as_ref(), lacks_grant };
        Ok(Told {
            facts: facts::facts(&self.greeted, self.flavor, &self.variables, grounds),
            said,
            behind: status.as_ref().and_then(said::behind),
            received: status.as_ref().and_then(|status| said::received(status, self.flavor)),
            logs_updates: self.variables.logs_updates(),
            has_gtids: self.variables.has_gtids(self.flavor),
        })
    }

    /// Asks what needs a privilege; `None` without it.
    async fn allowed(&mut self, sql: &str) -> Result<Option<TextResult>, BackendError> {
        match self.ask(sql, Duration::ZERO).await {
            Ok(answer) => Ok(Some(answer)),
            Err(BackendError::Refused(error)) if error.code == PRIVILEGE_MISSING => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn version(&self) -> Version {
        Version::parse(&self.greeted.version)
    }
}
