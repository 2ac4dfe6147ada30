//! Asking the primary itself: the shared probe behind the level `global`, and behind every session whose bound is not
//! known.
//!
//! The primary's upper bound, asked for after a statement arrived, covers everything that anybody was told of before,
//! through whatever proxy or none. One question serves all who came before it was sent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gtid::Flavor;
use tokio::time::timeout;

use super::group;
use super::monitor::Connection;
use super::sample::{self, Reader, Sample};
use super::shared::Shared;
use super::snapshot::NodeId;
use crate::backend::error::BackendError;
use crate::config::Address;
use crate::route::PrimaryBound;

/// How long the primary may take to answer, a change of the primary included.
pub(super) const ASK_LIMIT: Duration = Duration::from_secs(5);

/// Before the primary is tried again after a connection to it failed.
const RETRY: Duration = Duration::from_millis(50);

/// Why the primary's position is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// Nobody to ask.
    #[error("no node is known to be the primary; `tidemark check` tells what each node says")]
    NoPrimary,
    /// It was asked in vain.
    #[error("the primary did not tell its position within {} s: {why}", ASK_LIMIT.as_secs())]
    Failed {
        /// The last thing that went wrong, with the node's name.
        why: Arc<str>,
    },
    /// A transaction stands in its log and is not committed, for too long.
    #[error(
        "the primary has held transactions between log and commit for {seconds} s (a semi-synchronous replica that \
         does not acknowledge, or a session with its own gtid_next): {position}"
    )]
    Stuck {
        /// How long that was waited for.
        seconds: u64,
        /// Which ones.
        position: Arc<str>,
    },
    /// The proxy is stopping.
    #[error("the proxy is stopping")]
    Stopped,
}

/// Answers the callers of the probe, one group after the other.
pub(super) async fn serve(shared: Arc<Shared>) {
    let mut line = Line::new(Arc::clone(&shared));
    loop {
        let callers = shared.probe.gather().await;
        let answer = line.within_limit(async |line| line.probe().await).await;
        group::answer(callers, &answer);
    }
}

/// A connection to whoever is primary.
pub(super) struct Line {
    shared: Arc<Shared>,
    held: Option<Held>,
    trouble: Option<Arc<str>>,
}

/// The connection while it works.
pub(super) struct Held {
    node: NodeId,
    connection: Connection,
    reader: Reader,
    fresh: bool,
}

impl Line {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, held: None, trouble: None }
    }

    /// Runs a conversation with the primary within [`ASK_LIMIT`].
    pub(super) async fn within_limit<T>(
        &mut self,
        conversation: impl AsyncFnOnce(&mut Self) -> Result<T, AskError>,
    ) -> Result<T, AskError> {
        self.trouble = None;
        match timeout(ASK_LIMIT, conversation(self)).await {
            Ok(answer) => answer,
            Err(_) => {
                // The answer may still come; the next question must not take it for its own.
                self.held = None;
                Err(self.trouble.take().map_or(AskError::NoPrimary, |why| AskError::Failed { why }))
            }
        }
    }

    async fn probe(&mut self) -> Result<PrimaryBound, AskError> {
        let (sample, _) = self.sample().await;
        let high = gtid::Position::clone(&sample.logged);
        let shown = match high.flavor() {
            Flavor::Mysql => Some(gtid::Position::clone(&sample.applied)),
            Flavor::Mariadb => None,
        };
        Ok(PrimaryBound { high, shown })
    }

    /// Asks until whoever is primary has confirmed that it is, and tells where it is.
    pub(super) async fn sample(&mut self) -> (Sample, NodeId) {
        loop {
            let (node, incarnation) = self.connect().await;
            // A primary that has lost its history must not answer for the one that is known of it.
            let known = self.shared.reached(node);
            let Some(sample) = self.try_question(async |held: &mut Held| held.question().await).await else {
                continue;
            };
            let identity = self
                .shared
                .snapshot
                .load()
                .node(node)
                .and_then(|node| Some(node.facts.as_ref()?.server_uuid.clone()));
            if identity.as_ref() != Some(&sample.identity) {
                self.fail(node, "another server answers at its address").await;
                continue;
            }
            if !sample.writable {
                self.trouble = Some(Arc::from(format!("{} has become read only", self.name(node))));
                self.shared.update(|board, now| board.demoted(now, node));
                continue;
            }
            self.shared.update(|board, now| board.answered(now, node, incarnation, &known, &sample));
            return (sample, node);
        }
    }

    /// Asks one thing on the connection to the primary; `None` when that failed and all is to be begun anew.
    pub(super) async fn try_question<T>(
        &mut self,
        question: impl AsyncFnOnce(&mut Held) -> Result<T, BackendError>,
    ) -> Option<T> {
        let held = self.held.as_mut()?;
        match question(held).await {
            Ok(answer) => {
                held.fresh = false;
                Some(answer)
            }
            Err(why) => {
                let (node, fresh) = (held.node, held.fresh);
                if fresh {
                    self.fail(node, &why.to_string()).await;
                } else {
                    // A connection that had lain idle may have been closed by anybody; a new one tells.
                    self.held = None;
                }
                None
            }
        }
    }

    /// Makes sure of a connection to the primary, however long it takes until there is one. Returns the primary and
    /// the life it is in.
    async fn connect(&mut self) -> (NodeId, u64) {
        let mut topology = self.shared.topology();
        loop {
            let primary = self
                .shared
                .snapshot
                .load()
                .primary()
                .map(|node| (node.id, node.incarnation, node.address.clone()));
            let Some((node, incarnation, address)) = primary else {
                // The channel lives as long as the cluster does.
                let _ = topology.changed().await;
                continue;
            };
            if self.held.as_ref().is_some_and(|held| held.node == node) {
                return (node, incarnation);
            }
            match self.dial(node, &address).await {
                Ok(held) => {
                    self.held = Some(held);
                    return (node, incarnation);
                }
                Err(why) => self.fail(node, &why.to_string()).await,
            }
        }
    }

    async fn dial(&self, node: NodeId, address: &Address) -> Result<Held, BackendError> {
        let connection = self.shared.monitor.connect(address).await?;
        let reader = Reader::new(connection.flavor);
        Ok(Held { node, connection, reader, fresh: true })
    }

    /// Gives the connection up and waits a little, or until something is known to be otherwise.
    async fn fail(&mut self, node: NodeId, why: &str) {
        self.held = None;
        let name = self.name(node);
        tracing::debug!(node = &*name, why, "asking the primary failed; trying again");
        self.trouble = Some(Arc::from(format!("{name}: {why}")));
        self.shared.nudge(node);
        let mut topology = self.shared.topology();
        let _ = timeout(RETRY, topology.changed()).await;
    }

    fn name(&self, node: NodeId) -> Arc<str> {
        self.shared.snapshot.load().node(node).map_or_else(|| Arc::from("?"), |node| Arc::clone(&node.name))
    }
}

impl Held {
    /// The connection itself.
    pub(super) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    async fn question(&mut self) -> Result<Sample, BackendError> {
        let sql = sample::question(self.connection.flavor, None);
        let sent_at = Instant::now();
        let answer = self.connection.ask(&sql, Duration::ZERO).await?;
        self.reader
            .read(&answer, sent_at, Instant::now())
            .map_err(|error| BackendError::Protocol(error.to_string()))
    }
}
