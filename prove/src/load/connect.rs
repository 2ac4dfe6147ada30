//! Where a client connects, and its sessions, one after the other: a connection that is lost ends the session, and what
//! was promised to it ends with it.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mysql_async::{Conn, Opts, OptsBuilder};
use sandbox::{APP_PASSWORD, APP_USER};
use tokio::time::{sleep, timeout};

use super::Shared;
use crate::history::{Level, Who};

/// How long any operation may take before the client gives up on its connection. Longer than any fault lasts.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The rest after a login that failed.
const AGAIN: Duration = Duration::from_millis(20);

/// ER_SERVER_SHUTDOWN: the session ends with it.
const ENDED: u16 = 1053;

/// ER_OPTION_PREVENTS_STATEMENT: who goes around the proxies is told so that another server is primary.
const READ_ONLY: u16 = 1290;

/// An address that may change while the clients run: another server is primary.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// A proxy's endpoint.
    Socket(PathBuf),
    /// The primary's port, whichever that is.
    Port(Arc<Mutex<u16>>),
}

impl Place {
    /// A port that stays the same.
    pub(crate) fn port(port: u16) -> Self {
        Self::Port(Arc::new(Mutex::new(port)))
    }
}

/// What a client connects to, and as whom.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    pub(crate) place: Place,
    pub(crate) level: Level,
    pub(crate) proxy: char,
}

impl Door {
    pub(crate) fn options(&self) -> Opts {
        let builder = OptsBuilder::default()
            .user(Some(APP_USER))
            .pass(Some(APP_PASSWORD))
            .db_name(Some("app"))
            .prefer_socket(false)
            // Asked for otherwise, with a statement that is none of the client's.
            .max_allowed_packet(Some(1 << 20))
            .wait_timeout(Some(28_800));
        match &self.place {
            Place::Socket(path) => builder.socket(path.to_str()),
            Place::Port(port) => {
                let port = *port.lock().unwrap_or_else(PoisonError::into_inner);
                builder.ip_or_hostname("127.0.0.1").tcp_port(port)
            }
        }
        .into()
    }
}

/// The session a client has now, if any.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) connection: Conn,
    pub(super) who: Who,
}

/// A client's connection over time.
#[derive(Debug)]
pub(super) struct Line {
    door: Door,
    held: Option<Held>,
}

impl Line {
    pub(super) fn new(door: Door) -> Self {
        Self { door, held: None }
    }

    pub(super) fn level(&self) -> Level {
        self.door.level
    }

    /// The number of the session that is open.
    pub(super) fn session(&self) -> Option<u32> {
        self.held.as_ref().map(|held| held.who.number)
    }

    /// The session, a new one when there is none. `None` when it is time to end.
    pub(super) async fn held(&mut self, shared: &Shared) -> Option<&mut Held> {
        while self.held.is_none() {
            if shared.is_over() {
                return None;
            }
            match timeout(PATIENCE, Conn::new(self.door.options())).await {
                Ok(Ok(connection)) => {
                    let number = shared.numbers.fetch_add(1, Ordering::SeqCst);
                    let who = Who { number, level: self.door.level, proxy: self.door.proxy };
                    self.held = Some(Held { connection, who });
                }
                Ok(Err(_)) | Err(_) => sleep(AGAIN).await,
            }
        }
        self.held.as_mut()
    }

    /// Ends the session, unless the error leaves it as it was.
    pub(super) fn after(&mut self, error: &Failure) {
        let goes_on = match error {
            Failure::Told(mysql_async::Error::Server(error)) => match error.code {
                ENDED => false,
                READ_ONLY => self.door.level != Level::Direct,
                _ => true,
            },
            Failure::Told(_) | Failure::Silence => false,
        };
        if !goes_on {
            self.end();
        }
    }

    /// Ends the session.
    pub(super) fn end(&mut self) {
        self.held = None;
    }
}

/// Why an operation has no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// The driver says why: an error of the server, or a connection that broke.
    Told(mysql_async::Error),
    /// Nothing came.
    Silence,
}

impl Failure {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Told(error) => error.to_string(),
            Self::Silence => format!("no answer within {} s", PATIENCE.as_secs()),
        }
    }
}

/// An operation, with the client's patience.
pub(super) async fn patiently<T>(
    operation: impl Future<Output = Result<T, mysql_async::Error>>,
) -> Result<T, Failure> {
    match timeout(PATIENCE, operation).await {
        Ok(outcome) => outcome.map_err(Failure::Told),
        Err(_) => Err(Failure::Silence),
    }
}
