//! How long after a replica has applied a write the read that waited for it is answered.
//!
//! Each write is applied by the replicas one after the other: their appliers are stopped, and started at different times. A
//! delay of the servers' own kind (`SOURCE_DELAY`) counts in whole seconds, so that many writes would be applied at once.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use sandbox::Server;

use super::{Bench, READ, direct, need, write};
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::history::Level;
use crate::tally::percentile;

/// Writes, each of which every replica applies.
const WRITES: u32 = 30;

/// How much later than the one before it each replica applies a write. The reads wait by then.
const LATER: Duration = Duration::from_millis(30);

/// The figures of one replica.
#[derive(Debug, Clone)]
pub struct Wake {
    /// When it was the next to apply: the first, the second or the third.
    turn: usize,
    /// From the row's being there to the answer; negative when the answer came before who looks for the row saw it.
    median_us: i64,
    slow_us: i64,
}

impl fmt::Display for Wake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "answer after the row showed on replica {} of 3, each {} ms later than the one before | median {} us, p90 {} us",
            self.turn,
            LATER.as_millis(),
            self.median_us,
            self.slow_us
        )
    }
}

/// A replica, the session that waits for it, and who looks at it around the proxy.
struct Seat<'a> {
    replica: &'a Server,
    reader: Option<Conn>,
    looker: Option<Conn>,
    after_us: Vec<i64>,
}

/// Measures each replica.
pub(super) fn each_replica(bench: &Bench, driver: &Driver) -> Result<Vec<Wake>> {
    let handle = driver.handle();
    let observers = Driver::start("observer")?;
    let mut seats = Vec::new();
    for replica in bench.cluster.replicas() {
        seats.push(Seat {
            replica,
            // So that it has a connection there: logging in is not what is measured.
            reader: Some(handle.block_on(reader_of(bench, replica))?),
            looker: Some(observers.handle().block_on(direct(replica))?),
            after_us: Vec::new(),
        });
    }
    let mut writer = handle.block_on(bench.session(Level::Session))?;
    for value in 1..=WRITES {
        for seat in &seats {
            seat.replica.stop_sql_thread()?;
        }
        let position = handle.block_on(write(&mut writer, value))?;
        let mut waiting = Vec::new();
        for seat in &mut seats {
            if let Some(reader) = seat.reader.take() {
                waiting.push(handle.spawn(wait(reader, hinted(seat.replica), position.clone())));
            }
        }
        for (seat, waits) in seats.iter_mut().zip(waiting) {
            thread::sleep(LATER);
            let Some(looker) = seat.looker.take() else { continue };
            let looks = observers.handle().spawn(look(looker, value));
            seat.replica.start_sql_thread()?;
            let (reader, answered) = handle.block_on(waits).map_err(Error::ended)??;
            let (looker, seen) = handle.block_on(looks).map_err(Error::ended)??;
            seat.after_us.push(
                micros(answered.saturating_duration_since(seen))
                    - micros(seen.saturating_duration_since(answered)),
            );
            (seat.reader, seat.looker) = (Some(reader), Some(looker));
        }
    }
    let wakes = seats.iter_mut().zip(1..).map(|(seat, turn)| Wake {
        turn,
        median_us: percentile(&mut seat.after_us, 50),
        slow_us: percentile(&mut seat.after_us, 90),
    });
    Ok(wakes.collect())
}

fn hinted(replica: &Server) -> String {
    format!("/* tidemark: node={} */ {READ}", replica.name())
}

async fn reader_of(bench: &Bench, replica: &Server) -> Result<Conn> {
    let mut reader = bench.session(Level::Session).await?;
    let _value: Option<u32> = reader.query_first(hinted(replica)).await?;
    Ok(reader)
}

/// Reads what must show a position. Returns when the answer came.
async fn wait(mut reader: Conn, read: String, position: String) -> Result<(Conn, Instant)> {
    need(&mut reader, &position).await?;
    let _value: Option<u32> = reader.query_first(read).await?;
    Ok((reader, Instant::now()))
}

/// Looks at the row all the time. Returns when the value was there.
async fn look(mut replica: Conn, value: u32) -> Result<(Conn, Instant)> {
    loop {
        let shown: Option<u32> = replica.query_first(READ).await?;
        if shown == Some(value) {
            return Ok((replica, Instant::now()));
        }
    }
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}
