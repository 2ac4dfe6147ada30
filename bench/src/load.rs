//! The closed loop: every client begins its next turn when the last one is answered.

use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::error::{Error, Result};
use crate::figures::percentile;
use crate::parties::{Party, Purpose};
use crate::player::Player;
use crate::process::processor_time;
use crate::workload::Workload;

/// What runs before anything is counted: caches fill, and connections to the nodes are made.
const WARM_UP: Duration = Duration::from_millis(300);

/// What was measured in one round, of one workload before one party.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cell {
    /// Processor time of the proxy for each statement, in microseconds; `None` where there is no proxy.
    pub(crate) cpu_us: Option<f64>,
    /// Statements answered in a second (connections, where each has one statement).
    pub(crate) per_second: f64,
    /// Megabytes answered in a second.
    pub(crate) megabytes: f64,
    /// Half of the turns took no longer than this, in microseconds.
    pub(crate) p50_us: f64,
    /// 99 of 100 turns took no longer than this, in microseconds.
    pub(crate) p99_us: f64,
    /// Turns that were given up.
    pub(crate) given_up: u64,
}

/// A thread that runs the clients: the one that called.
pub(crate) fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().map_err(Error::system("cannot start the clients"))
}

/// Measures one workload before one party.
pub(crate) async fn measure(
    workload: Workload,
    party: &Party,
    purpose: Purpose,
    connections: usize,
    time: Duration,
) -> Result<Cell> {
    let mut players = Vec::new();
    for number in 0..connections {
        let door = party.door(purpose, number);
        players.push(Player::ready(workload, door, (number as u64, connections as u64)).await?);
    }
    let (players, _) = run(players, WARM_UP).await?;
    let spent = || party.pid().map(processor_time).transpose();
    let before = spent()?;
    let begin = Instant::now();
    let (players, mut noted) = run(players, time).await?;
    let elapsed = begin.elapsed().as_secs_f64();
    let after = spent()?;
    for player in players {
        player.leave().await?;
    }
    let statements = noted.statements.max(1) as f64;
    let taken = after.zip(before).map(|(after, before)| after.saturating_sub(before));
    Ok(Cell {
        cpu_us: taken.map(|taken| taken.as_secs_f64() * 1e6 / statements),
        per_second: noted.statements as f64 / elapsed,
        megabytes: noted.bytes as f64 / 1e6 / elapsed,
        p50_us: f64::from(percentile(&mut noted.durations_us, 50)),
        p99_us: f64::from(percentile(&mut noted.durations_us, 99)),
        given_up: noted.given_up,
    })
}

/// What clients noted.
#[derive(Debug, Default)]
struct Noted {
    statements: u64,
    bytes: u64,
    given_up: u64,
    durations_us: Vec<u32>,
}

/// Lets the clients work for this time. A turn that has begun is ended.
async fn run(players: Vec<Player>, time: Duration) -> Result<(Vec<Player>, Noted)> {
    let end = Instant::now() + time;
    let working: Vec<JoinHandle<Result<(Player, Noted)>>> =
        players.into_iter().map(|player| tokio::spawn(work(player, end))).collect();
    let mut players = Vec::new();
    let mut all = Noted::default();
    for player in working {
        let (player, noted) = player
            .await
            .map_err(|error| Error::Conversation(format!("a client ended before its time: {error}")))??;
        players.push(player);
        all.statements += noted.statements;
        all.bytes += noted.bytes;
        all.given_up += noted.given_up;
        all.durations_us.extend(noted.durations_us);
    }
    Ok((players, all))
}

async fn work(mut player: Player, end: Instant) -> Result<(Player, Noted)> {
    let mut noted = Noted::default();
    let mut begin = Instant::now();
    while begin < end {
        let turn = player.turn().await?;
        let now = Instant::now();
        noted.statements += turn.statements;
        noted.bytes += turn.bytes;
        noted.given_up += u64::from(turn.given_up);
        if turn.timed {
            let micros = now.duration_since(begin).as_micros();
            noted.durations_us.push(u32::try_from(micros).unwrap_or(u32::MAX));
        }
        begin = now;
    }
    Ok((player, noted))
}
