//! A point in time, met to within the kernel's timer: the runtime's own timer has whole milliseconds and rounds up, and a
//! consistency timeout is given in microseconds.
//!
//! The runtime's timer is used for all but the last stretch. That is left to a thread that sleeps until the next alarm of
//! the process is due; only a statement that waits for a replica pays for waking it.

use std::time::{Duration, Instant};

use futures_timer::Delay;
use tokio::time::sleep_until;

/// More than the runtime's timer is ever late by on an idle processor.
const COARSE: Duration = Duration::from_millis(2);

/// Returns at `deadline`: never before it, and a fraction of a millisecond after it at most on an idle processor.
pub(crate) async fn at(deadline: Instant) {
    if let Some(coarse) = deadline.checked_sub(COARSE)
        && coarse > Instant::now()
    {
        sleep_until(coarse.into()).await;
    }
    Delay::new(deadline.saturating_duration_since(Instant::now())).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_never_rings_early_and_what_is_past_rings_at_once() {
        for us in [0, 1, 50, 700, 1_999, 2_001, 5_500] {
            let deadline = Instant::now() + Duration::from_micros(us);
            at(deadline).await;
            assert!(Instant::now() >= deadline, "{us}");
        }
        at(Instant::now() - Duration::from_secs(1)).await;
    }

    #[tokio::test]
    async fn it_is_finer_than_a_millisecond() {
        // The best of many: a busy machine is late, but not always.
        let mut best = Duration::MAX;
        for _ in 0..50 {
            let deadline = Instant::now() + Duration::from_micros(300);
            at(deadline).await;
            best = best.min(deadline.elapsed());
        }
        assert!(best < Duration::from_micros(500), "{best:?}");
    }
}
