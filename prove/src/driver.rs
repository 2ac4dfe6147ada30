//! A thread that drives asynchronous work until it is dropped: one for the clients, one for the network they go through,
//! so that neither is late because of the other.

use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::error::{Error, Result};

/// Such a thread.
#[derive(Debug)]
pub struct Driver {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    /// Starts it.
    ///
    /// # Errors
    /// When the system has no thread or no event queue left.
    pub fn start(name: &str) -> Result<Self> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Error::system("cannot wait for events"))?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                // The sender is dropped with the driver.
                let _ = runtime.block_on(stopped);
            })
            .map_err(Error::system("cannot start a thread"))?;
        Ok(Self { handle, stop: Some(stop), thread: Some(thread) })
    }

    /// Where work is handed in.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It panics only if a task did, which was reported where that was awaited.
            let _ = thread.join();
        }
    }
}
