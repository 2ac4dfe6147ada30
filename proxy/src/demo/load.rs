//! The load: on each endpoint a few clients that write a row and read it back at once.
//!
//! On the global endpoint the row is written in turn by the client that reads it, by another client, and directly on the
//! primary, past the proxy: what the level promises covers all three. The other endpoints promise nothing about rows
//! that others wrote, so there the clients read their own.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use sandbox::Cluster;
use tokio::sync::oneshot;
use tokio::task::LocalSet;

use super::client::Client;
use super::report::Report;
use super::setting::Setting;
use super::tally::Tally;
use crate::backend::BackendError;
use crate::config::{Address, Level};
use crate::instance::Instance;
use crate::runtime;

/// Clients that read on each endpoint. Each has a row of its own.
const CLIENTS: u32 = 2;

/// Reads after each write.
const READS: u32 = 4;

/// The pause between two rounds of a client.
const PAUSE: Duration = Duration::from_millis(20);

/// The pause before a client that failed connects again.
const AGAIN: Duration = Duration::from_secs(1);

/// The statements that make the table: one row for each client.
pub(super) fn table() -> String {
    let rows: Vec<String> = (0..3 * CLIENTS).map(|row| format!("({row}, 0)")).collect();
    format!(
        "CREATE TABLE app.tide (id INT UNSIGNED PRIMARY KEY, version BIGINT UNSIGNED NOT NULL); \
         INSERT INTO app.tide VALUES {}",
        rows.join(", ")
    )
}

/// The load, on a thread of its own: it must not make the thread wait that watches the nodes.
pub(super) struct Load {
    stop: Option<oneshot::Sender<()>>,
    ended: oneshot::Receiver<()>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Load {
    /// Starts the clients and the report.
    pub(super) fn start(cluster: &Cluster, setting: &Setting, instance: &Arc<Instance>) -> io::Result<Self> {
        let runtime = runtime::control()?;
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let primary = Setting::address(cluster.primary().port());
        let endpoints = setting.endpoints();
        let instance = Arc::clone(instance);
        let thread = thread::Builder::new().name("load".to_owned()).spawn(move || {
            let clients = LocalSet::new();
            let tallies = endpoints.map(|(level, port)| {
                let tally = Rc::new(RefCell::new(Tally::default()));
                for number in 0..CLIENTS {
                    let row = level as u32 * CLIENTS + number;
                    let places = Places { level, endpoint: Setting::address(port), primary: primary.clone() };
                    clients.spawn_local(client(row, places, Rc::clone(&tally)));
                }
                tally
            });
            let report = Report::new(instance, endpoints, tallies);
            runtime.block_on(clients.run_until(async {
                tokio::select! {
                    _ = stopped => {}
                    () = report.every_second() => {}
                }
            }));
            // Nobody waits any more when the demonstration was stopped.
            let _ = end.send(());
        })?;
        Ok(Self { stop: Some(stop), ended, thread: Some(thread) })
    }

    /// Returns when nobody reads the report any more.
    pub(super) async fn ended(&mut self) {
        // An error stands for a thread that ended without a word, which is an end, too.
        let _ = (&mut self.ended).await;
    }

    /// Ends the clients, and waits until they have.
    pub(super) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the load ended early");
        }
    }
}

/// Where a client writes and reads.
struct Places {
    level: Level,
    endpoint: Address,
    primary: Address,
}

/// One client, for ever: when something fails it says so and begins again.
async fn client(row: u32, places: Places, tally: Rc<RefCell<Tally>>) {
    let mut version = 0;
    loop {
        let Err(error) = rounds(row, &places, &mut version, &tally).await;
        tally.borrow_mut().trouble(&error);
        tokio::time::sleep(AGAIN).await;
    }
}

/// Rounds of one write and some reads.
async fn rounds(
    row: u32,
    places: &Places,
    version: &mut u64,
    tally: &RefCell<Tally>,
) -> Result<std::convert::Infallible, BackendError> {
    let mut reader = Client::connect(&places.endpoint).await?;
    let mut others = Vec::new();
    if places.level == Level::Global {
        others.push(Client::connect(&places.endpoint).await?);
        others.push(Client::connect(&places.primary).await?);
    }
    loop {
        for writer in 0..=others.len() {
            *version += 1;
            let writer = writer.checked_sub(1).and_then(|other| others.get_mut(other));
            writer.unwrap_or(&mut reader).write(row, *version).await?;
            for _ in 0..READS {
                let begin = Instant::now();
                let seen = reader.read(row).await?;
                tally.borrow_mut().read(begin.elapsed(), seen.is_none_or(|seen| seen < *version));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
