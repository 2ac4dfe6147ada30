//! Clients at work: sessions that write and read, and note what they did and what they were told.

mod connect;
mod log;
mod registers;

pub(crate) use connect::{Door, Place};
pub use log::Log;
pub(crate) use registers::{Client, REGISTERS, prepare};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::{Duration, Instant};

/// What all clients of a run share.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    /// When the run began: the zero of all times.
    pub(crate) zero: Instant,
    /// The next session's number.
    pub(crate) numbers: Arc<AtomicU32>,
    /// Whether the clients are to come to an end.
    pub(crate) over: Arc<AtomicBool>,
    /// How long a client rests after an operation, on average.
    pub(crate) rest: Duration,
}

impl Shared {
    pub(crate) fn new(rest: Duration) -> Self {
        Self {
            zero: Instant::now(),
            numbers: Arc::new(AtomicU32::new(1)),
            over: Arc::new(AtomicBool::new(false)),
            rest,
        }
    }

    pub(crate) fn now(&self) -> crate::history::Nanos {
        u64::try_from(self.zero.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
