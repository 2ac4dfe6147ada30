//! What breaks, and how proxies come to know of it.

use gtid::Flavor;

use super::scenario::Change;
use super::state::{PROXIES, Phase, SERVERS, Server, State, bit};
use super::steps::{Model, Step, Steps};
use super::writes::Set;

/// The replica that becomes primary. Which one makes no difference, for they begin alike.
const PROMOTED: u8 = 1;

impl Model {
    pub(crate) fn faults(&mut self, state: &State, steps: &mut Steps) {
        if state.left.primary_restarts > 0 {
            let mut next = *state;
            next.left.primary_restarts -= 1;
            next.primary_restarts();
            (0..PROXIES).for_each(|proxy| self.joins_again(&mut next, proxy, state.primary));
            steps.add(Step::PrimaryRestarts, next);
        }
        if let Some(change) = self.scenario.change.filter(|_| !state.has_successor()) {
            self.primary_changes(state, change, steps);
        }
        for node in (0..SERVERS).filter_map(|node| u8::try_from(node).ok()) {
            if state.left.watcher_losses > 0 && state.server(node).up {
                self.watchers(state, node, steps);
            }
            if node != state.primary && state.server(node).up {
                self.replica_faults(state, node, steps);
            }
        }
        for proxy in 0..PROXIES {
            if self.is_used(state, proxy) {
                self.learns(state, proxy, steps);
            }
        }
    }

    fn watchers(&self, state: &State, node: u8, steps: &mut Steps) {
        for proxy in (0..PROXIES).filter(|proxy| self.is_used(state, *proxy)) {
            let mut next = *state;
            next.left.watcher_losses -= 1;
            self.joins_again(&mut next, proxy, node);
            steps.add(Step::WatcherIsCutOff { proxy, node }, next);
        }
    }

    fn replica_faults(&self, state: &State, node: u8, steps: &mut Steps) {
        if state.left.replica_losses > 0 {
            let mut next = *state;
            next.left.replica_losses -= 1;
            *next.server_mut(node) = Server::default();
            (0..PROXIES).for_each(|proxy| self.new_life(&mut next, proxy, node));
            steps.add(Step::ReplicaDies { node }, next);
        }
        let has = state.server(node).visible;
        if let Some(last) = has.last().filter(|_| state.left.replica_restarts > 0) {
            let mut next = *state;
            next.left.replica_restarts -= 1;
            let lost = Set::only(last);
            let rest = has.without(lost);
            let before = state.server(node).executed;
            let unnoticed = if self.scenario.notices_late { (1 << PROXIES) - 1 } else { 0 };
            *next.server_mut(node) =
                Server { up: true, logged: rest, visible: rest, executed: rest, before, unnoticed };
            for proxy in (0..PROXIES).filter(|_| unnoticed == 0) {
                self.joins_again(&mut next, proxy, node);
            }
            steps.add(Step::ReplicaRestarts { node, lost }, next);
        }
        for proxy in (0..PROXIES).filter(|proxy| state.server(node).unnoticed & bit(*proxy) != 0) {
            let mut next = *state;
            next.server_mut(node).unnoticed &= !bit(proxy);
            self.joins_again(&mut next, proxy, node);
            steps.add(Step::RestartIsNoticed { proxy, node }, next);
        }
    }

    /// What this proxy knew of the node's position is of an earlier life. LOWs need nothing done: none is stored.
    fn new_life(&self, state: &mut State, proxy: usize, node: u8) {
        for (session, client) in state.sessions.iter_mut().zip(self.scenario.clients) {
            if client.proxy == proxy && self.rules.positions_die {
                session.outlived(node);
            }
        }
    }

    /// A watcher's new connection: a new life, and the server says what it is. Until all that servers say fits together,
    /// nobody is primary.
    fn joins_again(&self, state: &mut State, proxy: usize, node: u8) {
        self.new_life(state, proxy, node);
        let changed = state.has_successor() && (node == 0 || node == state.primary);
        let learner = &mut state.proxies[proxy];
        if changed && learner.epoch == 1 && self.rules.samples_tell_the_role {
            (learner.primary, learner.follows) = (None, 0);
        } else if learner.primary == Some(node) {
            learner.life += 1;
            learner.heard = self.rules.reigns_before_it_has_told;
        }
    }

    fn primary_changes(&self, state: &State, change: Change, steps: &mut Steps) {
        let (old, new) = (*state.server(0), *state.server(PROMOTED));
        let complete = new.executed == old.logged && old.executed == old.logged;
        if !new.up || change == Change::Planned && !complete {
            return;
        }
        let mut next = *state;
        next.primary = PROMOTED;
        let promoted = next.server_mut(PROMOTED);
        promoted.executed = new.visible;
        if change == Change::Early {
            next.relay = old.logged.without(new.visible);
        }
        if change != Change::Planned {
            *next.server_mut(0) = Server::default();
            (0..PROXIES).for_each(|proxy| self.new_life(&mut next, proxy, 0));
            next.writers_are_gone();
        }
        next.kept = next.history();
        next.lost_is_owed_to_nobody();
        steps.add(Step::PrimaryChanges(change), next);
    }

    fn learns(&mut self, state: &State, proxy: usize, steps: &mut Steps) {
        let knows = state.proxies[proxy].epoch > 1;
        if !knows && state.has_successor() && (state.relay.is_empty() || !self.rules.primary_has_applied_all)
        {
            let mut next = *state;
            let learnt = &mut next.proxies[proxy];
            (learnt.epoch, learnt.primary) = (2, Some(state.primary));
            (learnt.life, learnt.heard) = (0, true);
            if self.rules.compares_in_a_new_epoch {
                learnt.follows = bit(state.primary);
            }
            steps.add(Step::LearnsOfTheChange { proxy }, next);
        }
        if !state.proxies[proxy].heard {
            let mut next = *state;
            next.proxies[proxy].heard = true;
            steps.add(Step::Hears { proxy }, next);
        }
        for node in (0..SERVERS).filter_map(|node| u8::try_from(node).ok()) {
            let open = knows && state.proxies[proxy].follows & bit(node) == 0 && state.server(node).up;
            if open && self.is_of_the_primarys_history(state, node) {
                let mut next = *state;
                next.proxies[proxy].follows |= bit(node);
                steps.add(Step::Compares { proxy, node }, next);
            }
        }
    }

    /// Whether a proxy may find that this replica has nothing of its own. MySQL's is judged by a sample of any age, the
    /// oldest of which has nothing: what it has of a lost history it shows beside everything else. MariaDB says at the same
    /// time whom it follows and who wrote what it has logged.
    fn is_of_the_primarys_history(&mut self, state: &State, node: u8) -> bool {
        let (has, history) = (state.server(node).logged, state.server(state.primary).logged);
        match self.scenario.family {
            Flavor::Mysql => true,
            Flavor::Mariadb if self.scenario.replicas_log || self.rules.compares_by_server => {
                history.covers(has)
            }
            Flavor::Mariadb => self.decisions.covers(history, has),
        }
    }
}

impl State {
    /// Whatever it had logged it has committed when it comes back.
    fn primary_restarts(&mut self) {
        let node = self.primary;
        let primary = self.server_mut(node);
        (primary.visible, primary.executed) = (primary.logged, primary.logged);
        self.writers_are_gone();
    }

    /// Whoever was writing does not hear what became of it, and is disconnected.
    fn writers_are_gone(&mut self) {
        for session in &mut self.sessions {
            if matches!(session.phase, Phase::Writing { .. }) {
                (session.phase, session.reads, session.writes) = (Phase::Gone, 0, 0);
            }
        }
    }

    fn lost_is_owed_to_nobody(&mut self) {
        let history = self.history();
        let keep = |set: &mut Set| *set = set.common(history);
        keep(&mut self.acked);
        keep(&mut self.shown);
        self.proxies.iter_mut().for_each(|proxy| keep(&mut proxy.acked));
        for session in &mut self.sessions {
            session.lost = session.lost.with(session.wrote.without(history));
            keep(&mut session.wrote);
            keep(&mut session.saw);
            if let Phase::Reading(read) = &mut session.phase {
                keep(&mut read.owes_acked);
                keep(&mut read.owes_shown);
            }
        }
    }
}
