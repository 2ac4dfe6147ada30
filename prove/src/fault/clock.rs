//! A wall clock that is set while the proxies run.

use std::thread;

use super::Fault;
use crate::error::Result;
use crate::scene::Scene;

/// By how many seconds: a leap, a daylight saving time set by hand, a battery that was empty.
const JUMPS: [i64; 6] = [-2, 2, 3600, -3600, 30 * 86_400, -365 * 86_400];

impl Fault {
    pub(super) fn set_clock(&self, scene: &Scene) -> Result<()> {
        let Some(clock) = &scene.clock else { return Ok(()) };
        let jump = usize::try_from(self.variant).unwrap_or_default() % JUMPS.len();
        clock.jump(JUMPS.get(jump).copied().unwrap_or_default())?;
        thread::sleep(self.lasts);
        clock.jump(0)
    }
}
