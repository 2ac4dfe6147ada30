//! Whether a transaction may be split: not by what statements said, but by what the primary connection says of itself.

use gtid::Flavor;
use wire::wanted::TransactionWanted;

use super::Session;
use super::understand::Statement;
use crate::backend::BackendError;
use crate::backend::control::rows;
use crate::backend::state::Shared;
use crate::cluster::snapshot::NodeId;
use crate::config::Mode;

/// Whether transactions of this session may be split, as its primary connection said.
#[derive(Debug)]
pub(super) struct Characteristics {
    node: NodeId,
    thread: u32,
    /// The session's state then: another one may have other characteristics.
    state: Shared,
    may_split: bool,
}

impl Session {
    /// Whether the transaction that this BEGIN begins may be split.
    pub(super) async fn may_split(&mut self, begin: &Statement) -> bool {
        self.endpoint.settings.load().transaction_split
            && self.endpoint.mode == Mode::ReadWrite
            && self.transaction.is_none()
            && self.autocommit
            && !self.split.next_is_set
            && self.pins.reason().is_none()
            // What is told of a transaction depends on the tables that it has read.
            && self.wanted.transaction == TransactionWanted::Off
            && begin.hints.node_role.is_none()
            && self.characteristics_allow(begin).await
    }

    /// Asks the primary connection, which alone knows what the session began with, once for each state of the session.
    async fn characteristics_allow(&mut self, begin: &Statement) -> bool {
        let primary = self.instance.cluster.snapshot().primary;
        if let Some(node) = primary {
            self.have_back(node);
        }
        if let Some(answer) = &self.split.answer
            && primary.is_none_or(|primary| primary == answer.node)
            && Shared::ptr_eq(&answer.state, &self.state)
            && self.backends.get(answer.node).is_some_and(|connection| connection.thread == answer.thread)
        {
            return answer.may_split;
        }
        let Some(node) = primary else { return false };
        // What fails here is told when BEGIN itself is sent there.
        if self.reach(node, begin).await.is_err() {
            return false;
        }
        let Some(connection) = self.backends.get(node) else { return false };
        let thread = connection.thread;
        let may_split = match connection.ask(characteristics(self.flavor)).await.map(rows) {
            Ok(rows) => rows.first().is_some_and(|row| allow(row)),
            Err(BackendError::Refused(_)) => false,
            Err(error) => {
                tracing::warn!(session = self.id, %error, "cannot ask for the isolation level; the connection is given up");
                self.drop_connection(node);
                return false;
            }
        };
        self.split.answer =
            Some(Characteristics { node, thread, state: Shared::clone(&self.state), may_split });
        may_split
    }
}

/// Asks for what decides on splitting. MariaDB knows the names of MySQL since 11.1 only.
fn characteristics(flavor: Flavor) -> &'static [u8] {
    match flavor {
        Flavor::Mysql => {
            b"SELECT @@session.transaction_isolation, @@session.transaction_read_only, @@session.completion_type"
        }
        Flavor::Mariadb => b"SELECT @@session.tx_isolation, @@session.tx_read_only, @@session.completion_type",
    }
}

/// Every statement must have its own snapshot, and COMMIT must mean COMMIT.
fn allow(row: &[Option<Vec<u8>>]) -> bool {
    let [Some(isolation), Some(read_only), Some(completion)] = row else { return false };
    matches!(isolation.as_slice(), b"READ-COMMITTED" | b"READ-UNCOMMITTED")
        && read_only == b"0"
        && completion == b"NO_CHAIN"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_allows_it() {
        let row = |cells: [&str; 3]| cells.map(|cell| Some(cell.as_bytes().to_vec())).to_vec();
        assert!(allow(&row(["READ-COMMITTED", "0", "NO_CHAIN"])));
        assert!(allow(&row(["READ-UNCOMMITTED", "0", "NO_CHAIN"])));
        for cells in [
            ["REPEATABLE-READ", "0", "NO_CHAIN"],
            ["SERIALIZABLE", "0", "NO_CHAIN"],
            ["SNAPSHOT", "0", "NO_CHAIN"],
            ["READ-COMMITTED", "1", "NO_CHAIN"],
            ["READ-COMMITTED", "0", "CHAIN"],
            ["READ-COMMITTED", "0", "RELEASE"],
        ] {
            assert!(!allow(&row(cells)), "{cells:?}");
        }
        assert!(!allow(&[]) && !allow(&[None, None, None]));
    }
}
