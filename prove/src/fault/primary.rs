//! What happens to a primary that is well: another one takes its place, or it waits for others before it shows what is in
//! its log already.

use std::thread;
use std::time::Duration;

use sandbox::{Family, Server};

use super::Fault;
use crate::error::Result;
use crate::scene::Scene;

/// How long a transaction is held, in milliseconds; then the server goes on by itself.
const HELD_MS: u64 = 700;

impl Fault {
    pub(super) fn switch_over(&self, scene: &Scene) -> Result<()> {
        let replicas = scene.replicas();
        let Some(new) = replicas.get(self.replica) else { return Ok(()) };
        thread::sleep(self.lasts / 2);
        scene.cluster.promote(new)?;
        scene.tell_primary();
        for replica in scene.replicas() {
            scene.follow_through_relay(replica)?;
        }
        thread::sleep(self.lasts / 2);
        Ok(())
    }

    /// A primary that waits for a semi-synchronous replica, which there is not: what it waits for is in the binary log,
    /// the replicas apply and show it, and the primary itself does not. After a while it gives up waiting; so it is told anew.
    pub(super) fn hold_commits(&self, scene: &Scene) -> Result<()> {
        let primary = scene.cluster.current_primary();
        let family = primary.engine().family();
        if family == Family::Mysql {
            primary.sql("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'")?;
        }
        let held = (0..3).try_for_each(|_| {
            hold(primary, true)?;
            thread::sleep(Duration::from_millis(HELD_MS));
            hold(primary, false)
        });
        if family == Family::Mysql {
            primary.sql("UNINSTALL PLUGIN rpl_semi_sync_source")?;
        }
        held
    }
}

fn hold(primary: &Server, on: bool) -> Result<()> {
    let statement = match (primary.engine().family(), on) {
        (Family::Mysql, true) => format!(
            "SET GLOBAL rpl_semi_sync_source_timeout = {HELD_MS}, GLOBAL rpl_semi_sync_source_enabled = ON"
        ),
        (Family::Mysql, false) => "SET GLOBAL rpl_semi_sync_source_enabled = OFF".to_owned(),
        (Family::Mariadb, true) => format!(
            "SET GLOBAL rpl_semi_sync_master_wait_point = AFTER_SYNC, GLOBAL rpl_semi_sync_master_timeout = {HELD_MS}, \
             GLOBAL rpl_semi_sync_master_enabled = ON"
        ),
        (Family::Mariadb, false) => "SET GLOBAL rpl_semi_sync_master_enabled = OFF".to_owned(),
    };
    primary.sql(&statement)?;
    Ok(())
}
