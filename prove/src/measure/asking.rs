//! What the level `global` costs: statements to the primary, and time.

use std::fmt;
use std::time::{Duration, Instant};

use mysql_async::Conn;
use mysql_async::prelude::Queryable;

use super::{Bench, READ, direct, questions};
use crate::error::{Error, Result};
use crate::history::Level;
use crate::tally::percentile;

/// Clients that read one read after the other, all at the same time.
const READERS: usize = 16;

/// How long, at each level; the levels take short turns, so that both have the same machine.
const TURN: Duration = Duration::from_millis(100);
const TURNS: usize = 20;

/// The figures.
#[derive(Debug, Clone)]
pub struct Asking {
    reads: u64,
    statements: u64,
    global_us: u64,
    session_us: u64,
    /// One statement on the primary, asked around the proxy by as many clients.
    round_trip_us: u64,
}

impl fmt::Display for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[allow(clippy::cast_precision_loss, reason = "a ratio")]
        let ratio = self.reads as f64 / self.statements.max(1) as f64;
        write!(
            f,
            "{READERS} readers at `global` | {ratio:.1} reads per statement to the primary; p50 {} us, at `session` {} us, of \
             the primary itself {} us",
            self.global_us, self.session_us, self.round_trip_us
        )
    }
}

/// Measures it.
pub(super) async fn measure(bench: &Bench) -> Result<Asking> {
    let mut primary = direct(bench.cluster.primary()).await?;
    let (mut global, mut session, mut around) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..READERS {
        global.push(bench.session(Level::Global).await?);
        session.push(bench.session(Level::Session).await?);
        around.push(direct(bench.cluster.primary()).await?);
    }
    let (mut at_global, mut at_session, mut there) = (Vec::new(), Vec::new(), Vec::new());
    let mut statements = 0;
    for _ in 0..TURNS {
        at_session.extend(turn(&mut session).await?);
        let before = questions(&mut primary).await?;
        at_global.extend(turn(&mut global).await?);
        // The one that counts is counted as well.
        statements += (questions(&mut primary).await? - before).saturating_sub(1);
        there.extend(turn(&mut around).await?);
    }
    Ok(Asking {
        reads: at_global.len() as u64,
        statements,
        global_us: percentile(&mut at_global, 50),
        session_us: percentile(&mut at_session, 50),
        round_trip_us: percentile(&mut there, 50),
    })
}

/// All of them read for a while. Returns how long each read took, in microseconds.
async fn turn(clients: &mut Vec<Conn>) -> Result<Vec<u64>> {
    let working: Vec<_> = clients.drain(..).map(|client| tokio::spawn(read(client))).collect();
    let mut took = Vec::new();
    for client in working {
        let (client, own) = client.await.map_err(Error::ended)??;
        clients.push(client);
        took.extend(own);
    }
    Ok(took)
}

async fn read(mut client: Conn) -> Result<(Conn, Vec<u64>)> {
    let (begin, mut took) = (Instant::now(), Vec::new());
    while begin.elapsed() < TURN {
        let before = Instant::now();
        let _value: Option<u32> = client.query_first(READ).await?;
        took.push(u64::try_from(before.elapsed().as_micros()).unwrap_or(u64::MAX));
    }
    Ok((client, took))
}
