//! The proxy's own questions to a node: small results, whole, with a time limit.
//!
//! Used by `cluster` and `check`, and by a session only to set its connection up; never between a client's
//! statement and its reply.

use std::time::Duration;

use tokio::time::timeout;
use wire::capability::Capabilities;
use wire::command::{CommandCode, write_command, write_query};
use wire::rows::{Collected, QueryOutcome, ResultCollector};

use super::error::{BackendError, ServerError};
use crate::transport::Channel;

/// Largest result of a question, in bytes. A GTID set of a thousand intervals takes some 50 KiB.
const RESULT_LIMIT: usize = 4 * 1024 * 1024;

/// Asks `sql` on one of the proxy's own connections, and returns the outcomes of its statements.
///
/// # Errors
/// `Refused` with the server's error; anything else means that the connection must not be used any more.
pub async fn ask(
    channel: &mut Channel,
    sql: &str,
    limit: Duration,
) -> Result<Vec<QueryOutcome>, BackendError> {
    query(channel, Capabilities::default(), sql.as_bytes(), limit).await
}

/// Asks a statement on a connection of these capabilities that owes no reply.
///
/// # Errors
/// As [`ask`].
pub async fn query(
    channel: &mut Channel,
    capabilities: Capabilities,
    statement: &[u8],
    limit: Duration,
) -> Result<Vec<QueryOutcome>, BackendError> {
    let mut out = Vec::with_capacity(statement.len() + 8);
    write_query(&mut out, statement, capabilities);
    converse(channel, &out, limit).await
}

/// The same for any command that is answered as a query is.
///
/// # Errors
/// As [`ask`].
pub async fn command(
    channel: &mut Channel,
    code: CommandCode,
    argument: &[u8],
    limit: Duration,
) -> Result<Vec<QueryOutcome>, BackendError> {
    let mut out = Vec::with_capacity(argument.len() + 8);
    write_command(&mut out, code, argument);
    converse(channel, &out, limit).await
}

async fn converse(
    channel: &mut Channel,
    out: &[u8],
    limit: Duration,
) -> Result<Vec<QueryOutcome>, BackendError> {
    let conversation = async {
        channel.write_command(out).await?;
        let outcomes = answer(channel).await?;
        if !channel.unread().is_empty() {
            return Err(BackendError::Protocol("bytes behind the end of a reply".to_owned()));
        }
        Ok(outcomes)
    };
    within(limit, conversation).await
}

/// Waits for a node's answers for so long and no longer.
///
/// # Errors
/// `Silent` when they have not come; else what there was before.
pub(super) async fn within<T>(
    limit: Duration,
    answers: impl Future<Output = Result<T, BackendError>>,
) -> Result<T, BackendError> {
    let silent = |_| BackendError::Silent(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
    timeout(limit, answers).await.map_err(silent)?
}

/// Reads the whole answer to one command that was sent, and nothing behind it.
///
/// # Errors
/// As [`ask`].
pub(super) async fn answer(channel: &mut Channel) -> Result<Vec<QueryOutcome>, BackendError> {
    let mut collector = ResultCollector::new(RESULT_LIMIT);
    if channel.compression().is_some() {
        collector = collector.with_any_numbers();
    }
    loop {
        if channel.unread().is_empty() && channel.fill().await? == 0 {
            return Err(BackendError::Io(std::io::ErrorKind::UnexpectedEof.into()));
        }
        let fed =
            collector.feed(channel.unread()).map_err(|error| BackendError::Protocol(error.to_string()))?;
        channel.consume(fed.consumed);
        match fed.collected {
            Collected::More => {}
            Collected::Done(outcomes) => {
                return match outcomes.last() {
                    Some(QueryOutcome::Err(error)) => {
                        Err(BackendError::Refused(ServerError::from_packet(error)))
                    }
                    _ => Ok(outcomes),
                };
            }
        }
    }
}

/// The rows of the first result among `outcomes`, or none.
pub fn rows(outcomes: Vec<QueryOutcome>) -> Vec<Vec<Option<Vec<u8>>>> {
    outcomes
        .into_iter()
        .find_map(|outcome| match outcome {
            QueryOutcome::Rows(result) => Some(result.rows),
            _ => None,
        })
        .unwrap_or_default()
}
