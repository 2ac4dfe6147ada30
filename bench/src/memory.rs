//! What a client costs in memory that has logged in, has read once, and is silent since.

use std::time::Duration;

use crate::error::Result;
use crate::parties::{Party, Purpose};
use crate::player::Player;
use crate::process::resident_kib;
use crate::workload::Workload;

/// How many clients.
pub(crate) const CLIENTS: u64 = 1_000;

/// How long they are silent before the memory is read.
const SILENCE: Duration = Duration::from_secs(1);

/// Memory of one proxy's process. What the kernel holds for its sockets is not in it.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    /// The proxy.
    pub(crate) name: &'static str,
    /// Without clients, in KiB.
    pub(crate) before_kib: u64,
    /// With them, in KiB.
    pub(crate) after_kib: u64,
}

impl Held {
    /// What each client added, in KiB.
    pub(crate) fn each_kib(&self) -> f64 {
        self.after_kib.saturating_sub(self.before_kib) as f64 / CLIENTS as f64
    }
}

/// Measures a proxy; `None` where there is no proxy.
pub(crate) async fn measure(party: &Party) -> Result<Option<Held>> {
    let Some(pid) = party.pid() else { return Ok(None) };
    let before_kib = resident_kib(pid)?;
    let mut players = Vec::new();
    for number in 0..CLIENTS {
        let door = party.door(Purpose::Reads, usize::try_from(number).unwrap_or_default());
        let mut player = Player::ready(Workload::Memory, door, (number, CLIENTS)).await?;
        player.turn().await?;
        players.push(player);
    }
    tokio::time::sleep(SILENCE).await;
    let after_kib = resident_kib(pid)?;
    for player in players {
        player.leave().await?;
    }
    Ok(Some(Held { name: party.name, before_kib, after_kib }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_share() {
        let held = Held { name: "x", before_kib: 10_000, after_kib: 15_500 };
        assert!((held.each_kib() - 5.5).abs() < 1e-9);
    }
}
