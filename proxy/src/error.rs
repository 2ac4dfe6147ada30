//! What a client is told when the proxy itself answers with an error: the form, MySQL's numbers, and the texts that are
//! used in more than one place. Only such errors, and the servers' own, reach a client.
//!
//! Numbers are MySQL's, so that drivers do what they do for a server: `mysqld_error.h`.

use gtid::Flavor;
use sql::KillKind;
use wire::capability::Capabilities;
use wire::err::ErrPacket;

use crate::backend::{BackendError, ServerError};

/// ER_ACCESS_DENIED_ERROR.
pub const ACCESS_DENIED: u16 = 1045;
/// ER_UNKNOWN_ERROR, for what no server would say.
pub const UNKNOWN: u16 = 1105;

/// An error for a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientError {
    /// MySQL's number.
    pub code: u16,
    /// MySQL's five characters.
    pub sql_state: [u8; 5],
    /// The text, which says what to do where something can be done.
    pub message: Vec<u8>,
}

impl ClientError {
    /// An error with a number of MySQL's.
    pub fn new(code: u16, sql_state: &[u8; 5], message: impl Into<Vec<u8>>) -> Self {
        Self { code, sql_state: *sql_state, message: message.into() }
    }

    /// An error that no server would give.
    pub fn own(message: impl Into<String>) -> Self {
        Self::new(UNKNOWN, b"HY000", format!("Tidemark: {}", message.into()))
    }

    /// The account or its password is wrong: the server's text, with the client's own host.
    pub fn access_denied(user: &[u8], host: &str, password_given: bool) -> Self {
        let mut message = b"Access denied for user '".to_vec();
        message.extend_from_slice(user);
        message.extend_from_slice(b"'@'");
        message.extend_from_slice(host.as_bytes());
        message.extend_from_slice(b"' (using password: ");
        message.extend_from_slice(if password_given { b"YES)" } else { b"NO)" });
        Self::new(ACCESS_DENIED, b"28000", message)
    }

    /// No more clients are taken.
    pub fn too_many_connections() -> Self {
        Self::new(1040, b"08004", "Too many connections")
    }

    /// The proxy is about to stop.
    pub fn shutting_down() -> Self {
        Self::new(1053, b"08S01", "Tidemark is shutting down; connect again")
    }

    /// The session cannot go on as it was: what the server held for it is lost.
    pub fn connection_lost(node: &str, what: &str) -> Self {
        Self::new(1053, b"08S01", format!("Tidemark: the connection to node {node} was lost {what}"))
    }

    /// What was left of a cursor's rows is lost, and nothing else: the session goes on.
    pub fn cursor_lost(node: &str) -> Self {
        Self::own(format!(
            "the connection to node {node} was lost, and with it the cursor; execute the statement again"
        ))
    }

    /// KILL QUERY hit the statement: ER_QUERY_INTERRUPTED.
    pub fn interrupted() -> Self {
        Self::new(1317, b"70100", "Query execution was interrupted")
    }

    /// What a server says to a session that killed itself, or its own statement: ER_QUERY_INTERRUPTED, and MariaDB's
    /// ER_CONNECTION_KILLED.
    pub fn killed(flavor: Flavor, kind: KillKind) -> Self {
        if flavor == Flavor::Mariadb && kind == KillKind::Connection {
            Self::new(1927, b"70100", "Connection was killed")
        } else {
            Self::interrupted()
        }
    }

    /// KILL of what only a server can compute, which would be another session there.
    pub fn kill_out_of_sight() -> Self {
        Self::own(
            "KILL is a statement of its own here, with a connection id as a number or parameter, or CONNECTION_ID(): the \
             servers have other ids",
        )
    }

    /// A write in a read-only transaction: ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION.
    pub fn read_only_transaction(flavor: Flavor) -> Self {
        let end = if flavor == Flavor::Mysql { "." } else { "" };
        Self::new(1792, b"25006", format!("Cannot execute statement in a READ ONLY transaction{end}"))
    }

    /// A write on an endpoint that has no replica to refuse it: ER_OPTION_PREVENTS_STATEMENT, as a replica words it.
    pub fn read_only(flavor: Flavor) -> Self {
        let server = if flavor == Flavor::Mysql { "MySQL" } else { "MariaDB" };
        Self::new(
            1290,
            b"HY000",
            format!(
                "The {server} server is running with the --read-only option so it cannot execute this statement"
            ),
        )
    }

    /// The client broke the protocol.
    pub fn malformed(what: impl std::fmt::Display) -> Self {
        Self::new(1835, b"HY000", format!("Malformed communication packet: {what}"))
    }

    /// Packets with wrong numbers.
    pub fn out_of_order() -> Self {
        Self::new(1156, b"08S01", "Got packets out of order")
    }

    /// A command that is none, or that the proxy does not pass on.
    pub fn unknown_command() -> Self {
        Self::new(1047, b"08S01", "Unknown command")
    }

    /// What a node said, or why it could not be asked.
    pub fn from_backend(node: &str, error: &BackendError) -> Self {
        match error {
            BackendError::Refused(error) => Self::from_server(error),
            BackendError::NoneUp => Self::new(2003, b"HY000", format!("Tidemark: {error}")),
            other => Self::new(2003, b"HY000", format!("Tidemark: cannot use node {node}: {other}")),
        }
    }

    /// A server's own error, unchanged.
    pub fn from_server(error: &ServerError) -> Self {
        Self { code: error.code, sql_state: error.sql_state, message: error.message.clone() }
    }

    /// The ERR payload as this client understands it.
    pub fn payload(&self, capabilities: Capabilities) -> Vec<u8> {
        let mut out = Vec::new();
        ErrPacket { code: self.code, sql_state: self.sql_state, message: self.message.as_slice().into() }
            .write(&mut out, capabilities);
        out
    }
}
