//! What a decision is made from, with all that the watchers may know of positions at that moment.
//!
//! Samples are not stored in a state: each may be of any age within the life of its node. Of a LOW it is asked only whether
//! it covers something, so that the oldest one, nothing, and the youngest stand for all between them; of a HIGH the two
//! ends do, or that there is none.

use gtid::Flavor;
use tidemark::config::Level;

use super::needs::Needs;
use super::state::{Bound, Kind, Mask, Read, SERVERS, Sampled, bit};
use super::writes::Set;

/// One read's question where to run.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    pub(crate) needs: Needs,
    pub(crate) level: Level,
    pub(crate) kind: Kind,
    pub(crate) asked: Option<Bound>,
    pub(crate) sampled: Option<Sampled>,
    pub(crate) awaited: Option<Set>,
    pub(crate) expired: bool,
    pub(crate) world: World,
}

/// What the proxy knows of the cluster.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct World {
    pub(crate) epoch: u8,
    pub(crate) primary: Option<u8>,
    /// Whether it has told where it is.
    pub(crate) reigns: bool,
    pub(crate) up: Mask,
    pub(crate) follows: Mask,
    pub(crate) kept: Set,
    /// What was acknowledged through it, when that is known and counts.
    pub(crate) acknowledged: Option<Set>,
    /// For each server, the youngest and the oldest LOW that its watcher may have published.
    pub(crate) lows: [[Set; 2]; SERVERS],
    /// The oldest and the youngest HIGH of the node of the last result that may have been asked for after it; it may
    /// also be that none was.
    pub(crate) highs: Option<[Set; 2]>,
    /// Whether an older HIGH, from before anything was written, passes for one.
    pub(crate) any_high_counts: bool,
}

impl Question {
    pub(crate) fn new(read: &Read, needs: Needs, world: World) -> Self {
        Self {
            needs,
            level: read.level,
            kind: read.kind,
            asked: read.asked,
            sampled: read.sampled,
            awaited: read.awaited,
            expired: read.expired,
            world,
        }
    }

    /// Whether the read may run before it is known how fresh it must be; its answer will be compared with a LOW.
    pub(crate) fn may_be_guessed(&self) -> bool {
        self.kind == Kind::Plain && self.level == Level::Global && self.asked.is_none()
    }

    /// Where sets are compared, what a LOW has and no other position has makes no difference.
    pub(crate) fn without_what_is_not_compared(mut self, family: Flavor) -> Self {
        if family == Flavor::Mysql && !self.may_be_guessed() {
            let sampled = match self.sampled {
                Some(Sampled::AtMost(high)) => high,
                Some(Sampled::Nothing) | None => Set::EMPTY,
            };
            let asked = self.asked.map_or(Set::EMPTY, |bound| bound.high);
            let [oldest, youngest] = self.world.highs.unwrap_or_default();
            let acknowledged = self.world.acknowledged.unwrap_or_default();
            let awaited = self.awaited.unwrap_or_default();
            let others = [self.needs.bound, asked, sampled, awaited, acknowledged, oldest, youngest];
            let compared = others.into_iter().fold(self.needs.written, Set::with);
            self.world.lows = self.world.lows.map(|lows| lows.map(|low| low.common(compared)));
        }
        self
    }

    /// The same question for each set of samples that the watchers may have published: one LOW for each server, and
    /// one HIGH or none.
    pub(crate) fn samples(&self) -> impl Iterator<Item = Self> {
        let each = |place: usize| self.world.highs.map(|highs| [highs[place]; 2]);
        let highs = [None, each(0), each(1)];
        (0..1 << SERVERS).flat_map(move |old: Mask| {
            let lows =
                std::array::from_fn(|index| [self.world.lows[index][usize::from(old & bit(index) != 0)]; 2]);
            highs.map(|highs| Self { world: World { lows, highs, ..self.world }, ..*self })
        })
    }
}
