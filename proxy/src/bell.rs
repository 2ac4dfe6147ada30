//! A bell that wakes one task, rung from anywhere.
//!
//! As tokio's `Notify` with one permit and one waiter, but a wait that ends for another reason, as nearly all do, leaves
//! nothing to be taken back.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use atomic_waker::AtomicWaker;

/// The bell of one task: rung, it stays so until that task has heard it.
#[derive(Debug, Default)]
pub struct Bell {
    rung: AtomicBool,
    waker: AtomicWaker,
}

impl Bell {
    /// Rings. Several rings before the task hears one are one.
    pub fn ring(&self) {
        self.rung.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Whether it has rung; hears it then, and else wakes the task when it rings.
    pub fn poll_rung(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.hear() {
            return Poll::Ready(());
        }
        self.waker.register(context.waker());
        // It may have rung in between.
        if self.hear() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Returns when it rings.
    pub async fn rung(&self) {
        poll_fn(|context| self.poll_rung(context)).await;
    }

    fn hear(&self) -> bool {
        self.rung.load(Ordering::Relaxed) && self.rung.swap(false, Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_ring_is_heard_once_before_and_during_the_wait() {
        let bell = Arc::new(Bell::default());
        bell.ring();
        bell.ring();
        bell.rung().await;
        assert!(timeout(Duration::from_millis(20), bell.rung()).await.is_err());
        let other = Arc::clone(&bell);
        let ringer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            other.ring();
        });
        bell.rung().await;
        ringer.join().unwrap();
    }
}
