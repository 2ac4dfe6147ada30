//! Clients at work: sessions that write and read, and note what they did and what they were told.

mod bank;
mod connect;
mod lists;
mod log;
mod registers;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::history::Nanos;

pub(crate) use bank::{Banker, TOTAL};
pub(crate) use connect::{Door, Place};
pub(crate) use lists::{Appender, in_the_end};
pub use log::Log;
pub(crate) use registers::{REGISTERS, Recorder};

/// After a refusal: who is refused at once and tries again at once leaves no time to the servers.
const REST: Duration = Duration::from_millis(10);

/// All tables, as statements for the primary.
pub(crate) fn prepare() -> String {
    [registers::prepare(), bank::prepare(), lists::prepare()].concat()
}

/// What all clients of a run share.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    /// When the run began: the zero of all times.
    zero: Instant,
    /// The next session's number.
    numbers: Arc<AtomicU32>,
    /// The next element for a list.
    elements: Arc<AtomicU32>,
    /// Whether the clients are to come to an end.
    over: Arc<AtomicBool>,
    /// How long a client rests after an operation, on average.
    rest: Duration,
    /// The number of this act.
    act: u32,
}

impl Shared {
    pub(crate) fn new(rest: Duration) -> Self {
        Self {
            zero: Instant::now(),
            numbers: Arc::new(AtomicU32::new(1)),
            elements: Arc::new(AtomicU32::new(1)),
            over: Arc::new(AtomicBool::new(false)),
            rest,
            act: 0,
        }
    }

    /// Begins the next act; returns its number.
    pub(crate) fn begin(&mut self) -> u32 {
        self.over.store(false, Ordering::SeqCst);
        self.act += 1;
        self.act
    }

    /// Has the clients come to an end.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    fn now(&self) -> Nanos {
        u64::try_from(self.zero.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn element(&self) -> u32 {
        self.elements.fetch_add(1, Ordering::SeqCst)
    }
}

/// A client of any kind.
#[derive(Debug)]
pub(crate) enum Client {
    Recorder(Recorder),
    Banker(Banker),
    Appender(Appender),
}

impl Client {
    /// Works until it is time to end.
    pub(crate) async fn run(mut self, shared: Shared) -> (Self, Log) {
        let mut log = Log::default();
        while !shared.is_over() {
            match &mut self {
                Self::Recorder(client) => client.work(&shared, &mut log).await,
                Self::Banker(client) => client.work(&shared, &mut log).await,
                Self::Appender(client) => client.work(&shared, &mut log).await,
            }
        }
        (self, log)
    }

    /// The number of its session, if it has one.
    pub(crate) fn session(&self) -> Option<u32> {
        match self {
            Self::Recorder(client) => client.session(),
            Self::Banker(client) => client.session(),
            Self::Appender(client) => client.session(),
        }
    }
}
