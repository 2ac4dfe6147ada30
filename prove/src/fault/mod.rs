//! What is done to a cluster while clients work, and undone again.

mod clock;
mod network;
mod primary;
mod replication;
mod servers;

use std::fmt;
use std::time::Duration;

use crate::chance::Chance;
use crate::error::Result;
use crate::scene::Scene;

/// A kind of fault, as the table names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A replica, or all of them, apply nothing for a while.
    ApplierStopped,
    /// Replicas apply everything a second or two late.
    Delayed,
    /// A replica is killed and started again.
    ReplicaKilled,
    /// The primary is shut down, or killed, and started again.
    PrimaryRestarted,
    /// A replica hears nothing from its source.
    ReplicaIsolated,
    /// A proxy, or both, do not reach a node.
    LinkBroken,
    /// A server stands still: its process is stopped, and goes on later.
    ServerFrozen,
    /// All connections of the proxies to a node are reset.
    ConnectionsCut,
    /// The connections on which the proxies watch the nodes are killed.
    WatchersCut,
    /// The wall clock of the proxies is set forth or back.
    ClockJumps,
    /// A replica becomes primary, and the primary a replica.
    Switchover,
    /// The primary keeps transactions between its log and its tables, so that the replicas show them first.
    CommitsHeld,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::ApplierStopped,
        Self::Delayed,
        Self::ReplicaKilled,
        Self::PrimaryRestarted,
        Self::ReplicaIsolated,
        Self::LinkBroken,
        Self::ServerFrozen,
        Self::ConnectionsCut,
        Self::WatchersCut,
        Self::ClockJumps,
        Self::Switchover,
        Self::CommitsHeld,
    ];

    /// What it is called.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ApplierStopped => "SQL thread stopped",
            Self::Delayed => "delay",
            Self::ReplicaKilled => "replica killed",
            Self::PrimaryRestarted => "primary restarted",
            Self::ReplicaIsolated => "replica cut off from the primary",
            Self::LinkBroken => "node cut off from proxies",
            Self::ServerFrozen => "server frozen",
            Self::ConnectionsCut => "connections to nodes cut",
            Self::WatchersCut => "watching connections cut",
            Self::ClockJumps => "clock jumps",
            Self::Switchover => "planned switchover",
            Self::CommitsHeld => "commits held on the primary",
        }
    }

    /// Whether it makes replicas fall behind for so long that reads at the level `eventual` must be stale.
    #[must_use]
    pub fn makes_stale(self) -> bool {
        matches!(self, Self::ApplierStopped | Self::Delayed | Self::ReplicaIsolated)
    }

    /// Whether it is about the primary: one such fault at a time.
    fn strikes_primary(self) -> bool {
        matches!(self, Self::PrimaryRestarted | Self::Switchover | Self::CommitsHeld)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A fault with all that chance decides about it.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    /// What.
    pub(crate) kind: Kind,
    /// Which of the replicas, by their order then.
    replica: usize,
    /// Whether all replicas, or all proxies.
    all: bool,
    /// One of the ways in which it can happen.
    variant: u64,
    /// How long it lasts.
    pub(crate) lasts: Duration,
}

impl Fault {
    /// A fault of this kind.
    pub(crate) fn of(kind: Kind, chance: &mut Chance) -> Self {
        Self {
            kind,
            replica: usize::from(chance.percent(50)),
            all: chance.percent(50),
            variant: chance.below(1000),
            lasts: Duration::from_millis(800) + chance.up_to(Duration::from_millis(1200)),
        }
    }

    /// A fault about which nothing is left to chance.
    pub(crate) fn fixed(kind: Kind, all: bool, lasts: Duration) -> Self {
        Self { kind, replica: 0, all, variant: 0, lasts }
    }

    /// Does it, waits, and undoes it.
    pub(crate) fn strike(&self, scene: &Scene) -> Result<()> {
        match self.kind {
            Kind::ApplierStopped => self.stop_appliers(scene),
            Kind::Delayed => self.delay(scene),
            Kind::ReplicaKilled => self.kill_replica(scene),
            Kind::PrimaryRestarted => self.restart_primary(scene),
            Kind::ReplicaIsolated => self.isolate_replica(scene),
            Kind::LinkBroken => self.break_link(scene),
            Kind::ServerFrozen => self.freeze(scene),
            Kind::ConnectionsCut => self.cut_connections(scene),
            Kind::WatchersCut => self.cut_watchers(scene),
            Kind::ClockJumps => self.set_clock(scene),
            Kind::Switchover => self.switch_over(scene),
            Kind::CommitsHeld => self.hold_commits(scene),
        }
    }

    /// One of all servers, by its place among them.
    fn any_node(&self, scene: &Scene) -> usize {
        usize::try_from(self.variant / 2).unwrap_or_default() % scene.cluster.servers().len()
    }

    /// The replicas it strikes.
    fn struck<'a>(&self, scene: &'a Scene) -> Vec<&'a sandbox::Server> {
        let replicas = scene.replicas();
        if self.all { replicas } else { replicas.into_iter().skip(self.replica).take(1).collect() }
    }
}

/// Whether these can be done at the same time. Who plans a switchover sees to it first that the replicas are well.
pub(crate) fn go_together(faults: &[Kind]) -> bool {
    let primary = faults.iter().filter(|kind| kind.strikes_primary()).count();
    let ill =
        [Kind::ApplierStopped, Kind::Delayed, Kind::ReplicaKilled, Kind::ReplicaIsolated, Kind::ServerFrozen];
    let planned = faults.contains(&Kind::Switchover);
    primary <= 1 && !(planned && faults.iter().any(|kind| ill.contains(kind)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fault_of_the_primary_at_a_time_and_no_switchover_to_a_sick_replica() {
        assert!(go_together(&[Kind::Delayed, Kind::ReplicaKilled, Kind::PrimaryRestarted]));
        assert!(!go_together(&[Kind::CommitsHeld, Kind::PrimaryRestarted]));
        assert!(go_together(&[Kind::Switchover, Kind::ClockJumps, Kind::ConnectionsCut]));
        assert!(!go_together(&[Kind::Switchover, Kind::Delayed]));
    }

    #[test]
    fn a_seed_says_everything_about_a_fault() {
        let text = |seed| format!("{:?}", Fault::of(Kind::Delayed, &mut Chance::new(seed)));
        assert_eq!(text(3), text(3));
        assert_ne!(text(3), text(4));
    }
}
