//! The MySQL client/server protocol as bytes.
//!
//! Everything here is a function from bytes to values or from values to bytes: packets of the connection phase
//! (`greeting`, `login`, `auth`), of the command phase (`command`, `prepared`), the answers (`ok`, `err`, `eof`,
//! `session_track`), and the walker that finds where a streamed reply ends and translates it for the client that
//! asked (`reply`).
//!
//! Deliberately absent: sockets, clocks, asynchronous code, TLS, compression, and SQL. Nothing in this crate panics on
//! what a peer sent, and nothing grows without a limit: each function that keeps bytes says how many.
//!
//! *Payload* always means a packet without its four-byte headers; a command's payload starts with its command byte.

pub mod auth;
pub mod capability;
pub mod change_user;
pub mod command;
pub mod eof;
pub mod err;
pub mod frame;
pub mod greeting;
pub mod login;
mod malformed;
pub mod ok;
pub mod prepared;
mod put;
mod reader;
pub mod reply;
pub mod rows;
pub mod session_track;
pub mod status;
mod value;
pub mod wanted;

pub use auth::{AuthPacket, Plugin};
pub use capability::Capabilities;
pub use change_user::ChangeUser;
pub use command::CommandCode;
pub use err::ErrPacket;
pub use frame::Header;
pub use greeting::{Greeting, GreetingError};
pub use login::Login;
pub use malformed::Malformed;
pub use ok::OkPacket;
pub use prepared::{Execute, PrepareOk};
pub use reply::{ClientView, Expect, Fed, Progress, ReplyError, ReplySink, ReplyWalker};
pub use rows::{Collected, QueryOutcome, ResultCollector, TextResult};
pub use session_track::{SessionTrack, Tracked};
pub use status::Status;
pub use wanted::{TransactionWanted, Wanted, WantedVariables};
