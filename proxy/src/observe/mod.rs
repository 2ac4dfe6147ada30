//! What has happened, in numbers: counters that a session raises on its way without a lock, read by the admin API.

mod connections;
mod counters;
mod exposition;
mod histogram;
mod metrics;

pub use connections::{Counted, NodeConnections};
pub use counters::Counters;
pub use histogram::{BOUNDS_US, Histogram};
pub use metrics::{Observed, connections, metrics, statements_of};
