//! Replicas that fall behind.

use std::thread;

use super::Fault;
use crate::error::Result;
use crate::scene::{Relay, Scene};

impl Fault {
    pub(super) fn stop_appliers(&self, scene: &Scene) -> Result<()> {
        let struck = self.struck(scene);
        for replica in &struck {
            replica.stop_sql_thread()?;
        }
        thread::sleep(self.lasts);
        for replica in &struck {
            replica.start_sql_thread()?;
        }
        Ok(())
    }

    pub(super) fn delay(&self, scene: &Scene) -> Result<()> {
        let struck = self.struck(scene);
        // Where it strikes several, at different distances.
        for (seconds, replica) in (1..).zip(&struck) {
            replica.set_delay(seconds)?;
        }
        thread::sleep(self.lasts);
        for replica in &struck {
            replica.set_delay(0)?;
        }
        Ok(())
    }

    /// Either nothing arrives and nothing is said, or the connection breaks and cannot be made again.
    pub(super) fn isolate_replica(&self, scene: &Scene) -> Result<()> {
        let feeds: Vec<&Relay> =
            self.struck(scene).into_iter().filter_map(|replica| scene.feed(replica)).collect();
        let silently = self.variant.is_multiple_of(2);
        feeds.iter().for_each(|feed| if silently { feed.stall() } else { feed.close() });
        thread::sleep(self.lasts);
        feeds.iter().for_each(|feed| feed.heal());
        Ok(())
    }
}
