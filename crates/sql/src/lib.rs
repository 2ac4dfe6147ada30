//! Statement bytes to what the statement may do.
//!
//! [`classify`] answers one question for a MySQL or MariaDB statement: is it known to be safe on a replica? It is no
//! parser and refuses nothing: what it does not understand goes to the primary. It works on bytes that need not be text,
//! never panics, allocates nothing on that way and takes time linear in the length of the statement.
//!
//! What a statement's bytes do not say lies in [`Dialect`]. What neither says is the caller's business: whether a transaction is
//! open, whether temporary tables or locks exist, what the user variables are, and which schema is in use. After `USE
//! information_schema` (or performance_schema, sys, mysql) unqualified names are those of a system schema, and a statement
//! called a safe read here has to go to the primary.
//!
//! Deliberately absent: a syntax tree, name resolution, rewriting, and any list of what a server of one version takes.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod body;
mod call;
mod charset;
mod comment;
mod connection_id;
mod control;
mod definition;
mod dialect;
mod effects;
mod explain;
mod hint;
mod kill;
mod kind;
mod lexer;
mod number;
mod packet;
mod prepare;
mod reason;
mod scan;
mod schema;
pub mod set;
mod set_statement;
mod show;
mod spelt;
mod split;
mod ssl_status;
mod statement;
mod target;
mod temporary;
mod tidemark;
mod token;
mod transaction;
mod variable;
mod words;

pub use charset::Charset;
pub use connection_id::connection_id_column;
pub use dialect::{Dialect, Flavor};
pub use effects::Effects;
pub use hint::{Hints, Level, RoleHint};
pub use kill::{KillKind, Victim, kill_target};
pub use kind::Kind;
pub use prepare::{PreparedText, Source, prepared_text, string_value};
pub use reason::Reason;
pub use set::user_variables;
pub use split::{Split, split};
pub use ssl_status::{SslStatus, ssl_status};
pub use target::{Classified, Target};
pub use temporary::{TableName, TemporaryTables, temporary_tables};
pub use tidemark::{MAX_TIMEOUT_US, OnTimeout, Shown, TidemarkCommand, tidemark_command};
pub use transaction::{TransactionControl, transaction_control};

/// Says what the text of COM_QUERY or COM_STMT_PREPARE may do and where it can go.
///
/// `sql` is the command's text as sent, without a terminating zero.
pub fn classify(sql: &[u8], dialect: Dialect) -> Classified {
    packet::classify(sql, dialect)
}
