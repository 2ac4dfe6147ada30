//! The proxy as a client of the nodes: logging in, the proxy's own questions, and a session's connections.
//!
//! Deliberately absent: which node to use (`route`) and what a reply means for the session (`session`).

pub mod connection;
pub mod control;
pub mod error;
mod lending;
pub mod login;
pub mod pool;
pub mod secret;
pub mod state;

pub use connection::{Connection, MUST_CHANGE_PASSWORD, Tracking};
pub use error::{BackendError, ServerError};
pub use secret::Secret;
