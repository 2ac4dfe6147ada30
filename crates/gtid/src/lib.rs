//! Positions in a replication log: what has been written to it, or applied from it, and whether one position is at
//! least as far as another.
//!
//! MySQL names every transaction `source:number` and a position is a *set* of such names ([`GtidSet`]); MariaDB names
//! it `domain-server-sequence` and a position is the last name of each domain ([`DomainPositions`]). [`Position`] is
//! either of them, so that the rest of the program asks its one question, [`Position::covers`], without knowing which
//! server it talks to.
//!
//! The ordinary position is one source with one interval, or up to three domains: these live inline, and comparing,
//! merging or cloning them allocates nothing. Everything else is sorted and searched; no operation is quadratic.
//!
//! All text comes from the network or from a user. Parsing is bounded by [`MAX_TEXT_BYTES`] and [`MAX_INTERVALS`],
//! never panics, and its errors name the byte where the text stopped making sense.
//!
//! Deliberately absent: I/O, clocks, asking a server to compare two sets (it costs more than parsing them here), and
//! a "last number of a source" as a stand-in for a set: a replica that applies out of order has holes.

mod binlog_state;
mod domain;
mod error;
mod gtid_set;
mod intervals;
mod mariadb_text;
mod mysql_text;
mod position;
mod scan;
mod source;
mod token;
mod uuid;

pub use binlog_state::BinlogState;
pub use domain::{DomainGtid, DomainPositions};
pub use error::{ParseError, ParseErrorKind};
pub use gtid_set::GtidSet;
pub use intervals::{Interval, MAX_GNO};
pub use mysql_text::parse_owned;
pub use position::{Flavor, FlavorMismatch, Position};
pub use scan::{MAX_INTERVALS, MAX_TEXT_BYTES};
pub use source::{MAX_TAG_BYTES, Source, Tag};
pub use token::{MAX_TOKEN_BYTES, TokenError};
pub use uuid::Uuid;
