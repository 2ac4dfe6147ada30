//! Waiting for what is not the session's own, while its client may leave and KILL may come.

use std::pin::pin;

use super::decide::NoNode;
use super::registry::{Card, Ending};
use super::{End, Session};
use crate::error::ClientError;
use crate::transport::Channel;

/// Bytes a client may send ahead while its statement waits; more than that is read only when the wait is over.
const SENT_AHEAD: usize = 64 * 1024;

impl Session {
    /// Waits for `work`, unless the client leaves or the statement is killed.
    pub(super) async fn attended<T>(&mut self, work: impl Future<Output = T>) -> Result<T, NoNode> {
        let mut work = pin!(work);
        loop {
            if let Some(done) = self.attended_unless_drained(work.as_mut()).await? {
                return Ok(done);
            }
        }
    }

    /// The same, but `None` as soon as the session is asked to end: it has waited long enough.
    pub(super) async fn attended_unless_drained<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<Option<T>, NoNode> {
        tokio::select! {
            biased;
            done = work => Ok(Some(done)),
            () = left(&mut self.client) => Err(NoNode::Ended(End::ClientGone)),
            why = called(&self.card) => why.map_or(Ok(None), Err),
        }
    }

    /// Whether somebody has ended the session, or its statement, while a connection was looked for.
    pub(super) fn called_off(&self) -> Option<NoNode> {
        match self.card.ending() {
            Ending::Killed => Some(NoNode::Ended(End::Killed)),
            _ if self.card.take_interrupt() => Some(NoNode::Refused(ClientError::interrupted())),
            Ending::Drained | Ending::No => None,
        }
    }
}

/// Returns when the client is gone.
async fn left(client: &mut Channel) {
    while client.unread().len() < SENT_AHEAD {
        match client.fill().await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    std::future::pending().await
}

/// Returns when somebody wants something of the session; `None`: that it ends when it can.
async fn called(card: &Card) -> Option<NoNode> {
    loop {
        card.wake.rung().await;
        match card.ending() {
            Ending::Killed => return Some(NoNode::Ended(End::Killed)),
            _ if card.take_interrupt() => return Some(NoNode::Refused(ClientError::interrupted())),
            Ending::Drained => return None,
            Ending::No => {}
        }
    }
}
