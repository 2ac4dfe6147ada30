//! The threads. The only place where runtimes are built.
//!
//! Sessions run on worker threads, each with a runtime of its own and nothing shared between them; a session stays on
//! the worker that got it. What is not on the road of a statement (accepting, watching the nodes, the admin API) runs
//! on the control thread, so that it neither waits for sessions nor makes them wait.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::task::LocalSet;

use crate::backend::pool;
use crate::instance::Instance;
use crate::listener::{Newcomer, serve_client};

/// How often a worker closes the connections to servers that have been at rest for long.
const SWEEP: Duration = Duration::from_secs(5);

/// Builds the runtime of the control thread.
///
/// # Errors
/// When the system gives no event queue.
pub fn control() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// The worker threads, as the listeners see them.
#[derive(Clone, Debug)]
pub struct Workers {
    workers: Arc<[Worker]>,
}

#[derive(Debug)]
struct Worker {
    door: mpsc::UnboundedSender<Newcomer>,
    sessions: Arc<AtomicUsize>,
}

impl Workers {
    /// Starts `count` worker threads.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn start(count: usize, instance: &Arc<Instance>) -> io::Result<Self> {
        let workers: io::Result<Vec<Worker>> =
            (0..count.max(1)).map(|number| Worker::start(number, Arc::clone(instance))).collect();
        Ok(Self { workers: workers?.into() })
    }

    /// Hands a client to the worker with the fewest.
    pub fn give(&self, newcomer: Newcomer) {
        let Some(worker) = self.workers.iter().min_by_key(|worker| worker.sessions.load(Ordering::Relaxed))
        else {
            return;
        };
        worker.sessions.fetch_add(1, Ordering::Relaxed);
        if worker.door.send(newcomer).is_err() {
            tracing::error!("a worker thread has ended; the client is turned away");
        }
    }
}

impl Worker {
    fn start(number: usize, instance: Arc<Instance>) -> io::Result<Self> {
        let (door, mut arrivals) = mpsc::unbounded_channel();
        let sessions = Arc::new(AtomicUsize::new(0));
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let count = Arc::clone(&sessions);
        thread::Builder::new().name(format!("worker-{number}")).spawn(move || {
            let local = LocalSet::new();
            local.spawn_local(async {
                loop {
                    tokio::time::sleep(SWEEP).await;
                    pool::sweep();
                }
            });
            local.spawn_local(async move {
                while let Some(newcomer) = arrivals.recv().await {
                    let (instance, count) = (Arc::clone(&instance), Arc::clone(&count));
                    tokio::task::spawn_local(async move {
                        serve_client(newcomer, instance).await;
                        count.fetch_sub(1, Ordering::Relaxed);
                    });
                }
            });
            runtime.block_on(local);
        })?;
        Ok(Self { door, sessions })
    }
}
