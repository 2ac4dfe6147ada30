//! Servers that end and come back.

use std::thread;

use sandbox::Family;

use super::Fault;
use crate::error::Result;
use crate::scene::Scene;

impl Fault {
    /// A MySQL replica may lose what it has not written by then, and come back older than it was. (A MariaDB replica would
    /// stop for good then, because its binary log is ahead of its tables.)
    pub(super) fn kill_replica(&self, scene: &Scene) -> Result<()> {
        let struck = self.struck(scene);
        for replica in &struck {
            if replica.engine().family() == Family::Mysql {
                replica.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 0")?;
            }
        }
        thread::sleep(self.lasts / 2);
        for replica in &struck {
            replica.kill9()?;
        }
        thread::sleep(self.lasts / 2);
        for replica in &struck {
            replica.start()?;
        }
        Ok(())
    }

    /// In order, or not. What was acknowledged is in the binary log, which survives the process either way.
    pub(super) fn restart_primary(&self, scene: &Scene) -> Result<()> {
        let primary = scene.cluster.current_primary();
        if self.variant.is_multiple_of(2) {
            primary.terminate()?
        } else {
            primary.kill9()?
        }
        thread::sleep(self.lasts / 2);
        primary.start()?;
        thread::sleep(self.lasts / 2);
        Ok(())
    }

    /// Connections stay open, and nobody answers. The primary is struck as often as any other.
    pub(super) fn freeze(&self, scene: &Scene) -> Result<()> {
        let Some(server) = scene.cluster.servers().get(self.any_node(scene)) else { return Ok(()) };
        server.pause()?;
        thread::sleep(self.lasts);
        server.resume()?;
        Ok(())
    }
}
