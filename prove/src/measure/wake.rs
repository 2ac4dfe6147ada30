//! How long after a replica showed a row the read that waited for it is answered.

use std::fmt;
use std::time::{Duration, Instant};

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use tokio::time::sleep;

use super::{Bench, READ, direct, percentile};
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::history::Level;

/// Writes per replica, and the time between two.
const WRITES: u32 = 40;
const BETWEEN: Duration = Duration::from_millis(25);

/// The looking begins so long before the first of them is due.
const EARLY: Duration = Duration::from_millis(50);

/// The figures of one replica.
#[derive(Debug, Clone)]
pub struct Wake {
    /// How late it applies on purpose.
    delay: Duration,
    /// From the row's being there to the answer; negative when the answer came before who looks for the row saw it.
    median_us: i64,
    slow_us: i64,
}

impl fmt::Display for Wake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "answer after the row showed on a replica with a delay of {} s | median {} us, p90 {} us",
            self.delay.as_secs(),
            self.median_us,
            self.slow_us
        )
    }
}

/// Has every replica apply at a delay of its own, and measures each.
pub(super) fn each_replica(bench: &Bench, driver: &Driver) -> Result<Vec<Wake>> {
    let mut wakes = Vec::new();
    for (seconds, replica) in (0..).zip(bench.cluster.replicas()) {
        replica.set_delay(seconds)?;
    }
    let mut value = 0;
    for (seconds, replica) in (0..).zip(bench.cluster.replicas()) {
        let delay = Duration::from_secs(seconds);
        let observer = Driver::start("observer")?;
        let looking = observer.handle().block_on(direct(replica))?;
        let seen = observer.handle().spawn(look(looking, value, delay));
        let answers = driver.handle().block_on(write_and_read(bench, replica.name(), value))?;
        value += WRITES;
        let seen = driver.handle().block_on(seen).map_err(ended)??;
        let mut after: Vec<i64> = answers
            .iter()
            .zip(&seen)
            .map(|(answer, seen)| {
                micros(answer.saturating_duration_since(*seen))
                    - micros(seen.saturating_duration_since(*answer))
            })
            .collect();
        wakes.push(Wake {
            delay,
            median_us: percentile(&mut after, 50),
            slow_us: percentile(&mut after, 90),
        });
    }
    for replica in bench.cluster.replicas() {
        replica.set_delay(0)?;
    }
    Ok(wakes)
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

fn ended(error: tokio::task::JoinError) -> Error {
    Error::system("a client ended before its time")(std::io::Error::other(error))
}

/// Looks at the row all the time, and notes when each value, or one after it, was there.
async fn look(mut replica: Conn, before: u32, delay: Duration) -> Result<Vec<Instant>> {
    sleep(delay.saturating_sub(EARLY)).await;
    let mut seen = Vec::new();
    while seen.len() < WRITES as usize {
        let value: Option<u32> = replica.query_first(READ).await?;
        let shown = value.unwrap_or_default().saturating_sub(before);
        let now = Instant::now();
        seen.resize(seen.len().max(shown as usize), now);
    }
    Ok(seen)
}

/// Writes, and has another session read each on that replica. Returns when the answers came.
async fn write_and_read(bench: &Bench, replica: &str, before: u32) -> Result<Vec<Instant>> {
    let mut writer = bench.session(Level::Session).await?;
    let mut readers = Vec::new();
    for _ in 0..WRITES {
        readers.push(bench.session(Level::Session).await?);
    }
    let mut waiting = Vec::new();
    for (number, mut reader) in (1..).zip(readers) {
        sleep(BETWEEN).await;
        writer.query_drop(format!("UPDATE app.measured SET v = {} WHERE id = 1", before + number)).await?;
        let position: Option<String> = writer.query_first("TIDEMARK SHOW POSITION").await?;
        reader.query_drop(format!("TIDEMARK SET position = '{}'", position.unwrap_or_default())).await?;
        let read = format!("/* tidemark: node={replica} */ {READ}");
        waiting.push(tokio::spawn(async move {
            let _value: Option<u32> = reader.query_first(read).await?;
            Ok::<Instant, Error>(Instant::now())
        }));
    }
    let mut answers = Vec::new();
    for read in waiting {
        answers.push(read.await.map_err(ended)??);
    }
    Ok(answers)
}
