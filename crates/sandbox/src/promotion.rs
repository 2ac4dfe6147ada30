//! Another primary: planned, or after the old one was lost.

use std::time::Duration;

use crate::{Cluster, Error, Result, Server};

/// A replica of a test applies what it has fetched in moments.
const CATCH_UP_LIMIT: Duration = Duration::from_secs(60);

impl Cluster {
    /// Makes `new` the primary and has every other running server follow it.
    ///
    /// If the old primary runs this loses nothing: it is made read-only, `new` catches up with it, and it becomes a replica.
    /// If it does not run, what it had not sent is lost; started again it still takes itself for a primary, as it would
    /// outside, until [`rejoin`](Self::rejoin).
    pub fn promote(&self, new: &Server) -> Result<()> {
        if !self.uses_gtid() || !new.has_binary_log() {
            return Err(Error::Machine(format!(
                "{} cannot be promoted: that needs GTIDs and a binary log",
                new.name()
            )));
        }
        let old = self.current_primary();
        if old.name() == new.name() {
            return Ok(());
        }
        if old.is_running() {
            old.set_read_only(true)?;
            new.wait_for(old, true, CATCH_UP_LIMIT)?;
        }
        new.follow_nobody()?;
        new.set_read_only(false)?;
        self.set_current_primary(new);
        for other in self.servers().iter().filter(|other| other.name() != new.name() && other.is_running()) {
            self.rejoin(other)?;
        }
        Ok(())
    }

    /// Makes `server` a read-only replica of the current primary, whatever it was. Transactions that the primary lacks stay on
    /// it.
    pub fn rejoin(&self, server: &Server) -> Result<()> {
        server.set_read_only(true)?;
        server.follow(self.current_primary(), self.uses_gtid())?;
        server.wait_replicating(CATCH_UP_LIMIT)
    }
}
