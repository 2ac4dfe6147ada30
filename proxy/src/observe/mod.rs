//! What has happened, in numbers: counters that a session raises on its way without a lock, read by the admin API.

mod counters;
mod histogram;

pub use counters::Counters;
pub use histogram::{BOUNDS_US, Histogram};
