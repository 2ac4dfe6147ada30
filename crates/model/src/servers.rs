//! Steps of the servers: a write is logged, shown, executed and acknowledged, in this order and in the order of the log;
//! replicas apply it as soon as it is logged, each in its own time.

use gtid::Flavor;

use super::state::{Phase, SERVERS, State};
use super::steps::{Model, Step, Steps};
use super::writes::{EACH, Set, Write};

impl Model {
    pub(crate) fn servers(&mut self, state: &State, steps: &mut Steps) {
        self.primary(state, steps);
        for node in (0..SERVERS).filter_map(|node| u8::try_from(node).ok()) {
            if node != state.primary {
                self.replica(state, node, steps);
            }
        }
    }

    fn primary(&mut self, state: &State, steps: &mut Steps) {
        let primary = state.server(state.primary);
        if let Some(write) = state.next_write().filter(|_| state.left.direct_writes > 0) {
            let mut next = *state;
            next.left.direct_writes -= 1;
            next.log(write);
            steps.add(Step::DirectWrite(write), next);
        }
        if let Some(write) = primary.logged.without(primary.visible).first() {
            let mut next = *state;
            let primary = next.server_mut(state.primary);
            primary.visible = primary.visible.with(Set::only(write));
            steps.add(Step::Commits(write), next);
        }
        if let Some(write) = primary.visible.without(primary.executed).first() {
            self.acknowledge(state, write, steps);
        }
        if let Some(write) = state.relay.first() {
            let mut next = *state;
            let late = Set::only(write);
            next.relay = next.relay.without(late);
            let primary = next.server_mut(state.primary);
            primary.logged = primary.logged.with(late);
            (primary.visible, primary.executed) = (primary.logged, primary.logged);
            steps.add(Step::Applies { node: state.primary, write }, next);
        }
    }

    /// A write is executed, and whoever made it hears of it.
    fn acknowledge(&mut self, state: &State, write: Write, steps: &mut Steps) {
        let mut next = *state;
        let done = Set::only(write);
        let primary = next.server_mut(state.primary);
        primary.executed = primary.executed.with(done);
        next.acked = next.acked.with(done);
        let writer = state.sessions.iter().enumerate().find_map(|(index, session)| match session.phase {
            Phase::Writing { write: own, heard } if own == write => Some((index, heard)),
            _ => None,
        });
        let Some((index, heard)) = writer else {
            return steps.add(Step::Acknowledges { write, told: true }, next);
        };
        next.sessions[index].phase = Phase::Idle;
        next.sessions[index].wrote = next.sessions[index].wrote.with(done);
        if self.scenario.clients[index].untold {
            let mut untold = next;
            if self.rules.notes_untold_writes {
                self.decisions.lost_track(&mut untold.sessions[index].needs);
            }
            self.proclaim(&mut untold, index, done, None, heard);
            steps.add(Step::Acknowledges { write, told: false }, untold);
        }
        let told = self.told(state, write);
        self.proclaim(&mut next, index, done, Some(told), heard);
        if self.rules.notes_writes {
            self.decisions.wrote(&mut next.sessions[index].needs, told);
        }
        steps.add(Step::Acknowledges { write, told: true }, next);
    }

    fn replica(&self, state: &State, node: u8, steps: &mut Steps) {
        let replica = state.server(node);
        if !replica.up {
            return;
        }
        if replica.visible != replica.executed {
            let mut next = *state;
            next.server_mut(node).executed = replica.visible;
            return steps.add(Step::HasApplied { node }, next);
        }
        let source = state.server(state.primary).logged;
        // MariaDB finds no place to go on from in a log that lacks the replica's last write.
        let stuck = self.scenario.family == Flavor::Mariadb && !source.covers(replica.visible);
        if let Some(write) = source.without(replica.visible).first().filter(|_| !stuck) {
            let mut next = *state;
            let replica = next.server_mut(node);
            replica.visible = replica.visible.with(Set::only(write));
            replica.logged = replica.visible;
            steps.add(Step::Applies { node, write }, next);
        }
    }
}

impl State {
    /// The write that the primary would make next, while it takes writes.
    pub(crate) fn next_write(&self) -> Option<Write> {
        let own = self.server(self.primary).logged.without(if self.has_successor() {
            Set::FIRST
        } else {
            Set::EMPTY
        });
        (self.relay.is_empty() && own.len() < EACH).then(|| Write::of(self.has_successor(), own.len()))
    }

    /// The primary logs a write.
    pub(crate) fn log(&mut self, write: Write) {
        let primary = self.server_mut(self.primary);
        primary.logged = primary.logged.with(Set::only(write));
    }
}
