//! The way of a read: it is routed as often as it must be, takes the steps that the decisions ask for, and ends with a
//! result that is held against what was promised.

use tidemark::config::Level;

use super::decisions::Choice;
use super::question::{Question, World};
use super::state::{At, Bound, Kind, Phase, Read, SERVERS, Server, State, bit};
use super::steps::{Model, Next, Promise, Step, Steps};
use super::writes::Set;

impl Model {
    pub(crate) fn route(&mut self, state: &State, session: usize, steps: &mut Steps) {
        let mut state = *state;
        self.enter_reign(&mut state, session);
        let Phase::Reading(mut read) = state.sessions[session].phase else { return };
        let proxy = &mut state.proxies[self.scenario.clients[session].proxy];
        proxy.mark.kept |= self.scenario.one_proxy && read.level == Level::Global;
        let epoch = proxy.epoch;
        if read.epoch != epoch {
            read.epoch = epoch;
            if self.rules.forgets_answers_of_old_epochs {
                (read.asked, read.sampled, read.awaited) = (None, None, None);
            }
        }
        let question = Question::new(&read, state.sessions[session].needs, self.world(&state, session))
            .without_what_is_not_compared(self.scenario.family);
        for &choice in self.decisions.choices(&question).iter() {
            let next = self.follow(&state, session, read, choice);
            steps.0.push(Next { step: Step::Routes { session, choice }, ..next });
        }
    }

    /// What the session's proxy may know of the cluster now.
    fn world(&self, state: &State, session: usize) -> World {
        let index = self.scenario.clients[session].proxy;
        let (needs, proxy) = (state.sessions[session].needs, state.proxies[index]);
        let low = |node: usize| {
            let server = state.servers[node];
            let young = if self.rules.low_is_executed { server.executed } else { server.logged };
            let young = young.common(self.told_in_this_epoch(state, index, node));
            let believed = server.unnoticed & bit(index) != 0 || !self.rules.positions_die;
            [young.with(if believed { server.before } else { Set::EMPTY }), Set::EMPTY]
        };
        let highs = needs.seen.filter(|seen| seen.alive).and_then(|seen| {
            let told = self.told_in_this_epoch(state, index, usize::from(seen.node));
            let logs = self.scenario.replicas_log || proxy.primary == Some(seen.node);
            let now = self.high_of(state.server(seen.node)).common(told);
            (logs && told.covers(seen.high)).then_some([seen.high, seen.high.with(now)])
        });
        World {
            epoch: proxy.epoch,
            primary: proxy.primary,
            reigns: proxy.reign().is_some(),
            up: (0..SERVERS).filter(|node| state.servers[*node].up).fold(0, |mask, node| mask | bit(node)),
            follows: proxy.follows,
            kept: state.kept,
            acknowledged: proxy.mark.position(proxy.epoch).filter(|_| proxy.mark.kept),
            lows: std::array::from_fn(low),
            highs,
            any_high_counts: !self.rules.high_is_younger_than_the_result,
        }
    }

    /// What a server's sample says that it may show.
    fn high_of(&self, server: &Server) -> Set {
        if self.rules.high_is_owned { server.logged } else { server.executed }
    }

    /// What of a server's log its samples can show to a proxy that takes it for what it was: one that shows more tells of
    /// the change.
    fn told_in_this_epoch(&self, state: &State, proxy: usize, node: usize) -> Set {
        let changed = [0, usize::from(state.primary)].contains(&node) && state.has_successor();
        let tells = changed && state.proxies[proxy].epoch == 1 && self.rules.samples_tell_the_role;
        if tells { Set::FIRST } else { Set::ALL }
    }

    /// Takes the step that the decision asks for.
    fn follow(&mut self, state: &State, session: usize, read: Read, choice: Choice) -> Next {
        let mut next = *state;
        let mut broken = None;
        let proxy = state.proxies[self.scenario.clients[session].proxy];
        let since = proxy.mark.since(proxy.epoch);
        let stays = |next: &mut State, read: Read| next.sessions[session].phase = Phase::Reading(read);
        match choice {
            Choice::Go { no_replica: true, .. } if !self.rules.primary_without_replicas => {
                stays(&mut next, Read { at: At::Waiting { only: None }, ..read });
            }
            Choice::Go { node, shows: Some(position), .. } if self.rules.primary_shows_first => {
                stays(&mut next, Read { at: At::Showing { node, position }, ..read });
            }
            Choice::Go { node, proviso: Some(low), .. } => {
                let at = At::Held { node, low, result: state.server(node).visible, alive: true };
                stays(&mut next, Read { at, since, ..read });
                self.join(&mut next, session);
            }
            Choice::Go { node, stale, .. } => broken = self.run(&mut next, session, read, node, stale),
            Choice::Ask => {
                stays(&mut next, Read { at: At::Asking, since, ..read });
                self.join(&mut next, session);
            }
            Choice::MayAsk => {
                stays(&mut next, Read { at: At::MayAsk, ..read });
                self.join(&mut next, session);
            }
            Choice::Wait { position } => {
                let only = if self.rules.waits_for_any { None } else { Some(self.nearest(state, session)) };
                stays(&mut next, Read { at: At::Waiting { only }, awaited: Some(position), ..read });
            }
            Choice::Refuse => next.sessions[session].phase = Phase::Idle,
        }
        Next { step: Step::Routes { session, choice }, state: next, broken }
    }

    /// The replica that a session would wait for if it waited for one only.
    fn nearest(&self, state: &State, session: usize) -> u8 {
        let proxy = state.proxies[self.scenario.clients[session].proxy];
        let in_rotation = |node: &u8| {
            Some(*node) != proxy.primary && proxy.follows & bit(*node) != 0 && state.server(*node).up
        };
        (0..3u8).find(in_rotation).unwrap_or_default()
    }

    /// The primary that the proxy knows now is asked until it shows the position, or will never.
    pub(crate) fn show(&mut self, state: &State, session: usize, node: u8, position: Set, steps: &mut Steps) {
        let proxy = self.scenario.clients[session].proxy;
        let primary = state.server(state.primary);
        let commits = primary.logged.without(primary.executed);
        if !state.knows_the_primary(proxy) || !position.common(commits).is_empty() {
            return;
        }
        let Phase::Reading(read) = state.sessions[session].phase else { return };
        let mut next = *state;
        let mut broken = None;
        if self.rules.routes_again_after_a_change && state.proxies[proxy].epoch != read.epoch {
            next.sessions[session].phase = Phase::Reading(Read { at: At::Route, ..read });
        } else if state.server(node).up {
            broken = self.run(&mut next, session, read, node, false);
        } else {
            // An error: the node is gone.
            next.sessions[session].phase = Phase::Idle;
        }
        steps.0.push(Next { step: Step::IsShown { session }, state: next, broken });
    }

    /// The statement runs on this node and is answered. Returns the promise that this breaks.
    fn run(
        &mut self,
        state: &mut State,
        session: usize,
        read: Read,
        node: u8,
        stale: bool,
    ) -> Option<Promise> {
        let promised = read.level != Level::Eventual && !stale;
        let knows = state.knows_the_primary(self.scenario.clients[session].proxy);
        let lost = !state.sessions[session].lost.is_empty() && self.scenario.tells_losses;
        if promised && knows && lost {
            return Some(Promise::Told);
        }
        if read.kind == Kind::Write {
            state.write(session, node, read.heard);
            return None;
        }
        let result = state.server(node).visible;
        self.show_result(state, session, read, node, result, promised)
    }

    /// The client has its result. Returns the promise that this breaks.
    fn show_result(
        &mut self,
        state: &mut State,
        session: usize,
        read: Read,
        node: u8,
        result: Set,
        promised: bool,
    ) -> Option<Promise> {
        let server = *state.server(node);
        let lasting = result.common(state.history());
        let reader = &mut state.sessions[session];
        let broken = broken(&read, reader.wrote, reader.saw, result).filter(|_| promised);
        reader.phase = Phase::Idle;
        reader.saw = reader.saw.with(lasting);
        if self.rules.notes_results {
            let high = self.high_of(&server);
            let checked = promised || !self.rules.notes_unchecked_results;
            self.decisions.saw(&mut reader.needs, node, high, checked);
        }
        state.shown = state.shown.with(lasting);
        broken
    }

    /// The primary has answered while a read had run on a node. Returns the promise that this breaks.
    pub(crate) fn judge(&mut self, state: &mut State, session: usize, answer: Bound) -> Option<Promise> {
        let Phase::Reading(read @ Read { at: At::Held { node, low, result, alive }, .. }) =
            state.sessions[session].phase
        else {
            return None;
        };
        let proxy = &mut state.proxies[self.scenario.clients[session].proxy];
        if let Some(since) = read.since {
            proxy.mark.settle(since, answer.high);
        }
        let reign = proxy.reign();
        let reader = &mut state.sessions[session];
        if reign.is_none() || reader.needs.reign != reign {
            reader.phase = Phase::Reading(Read { at: At::Route, ..read });
            return None;
        }
        self.decisions.learnt(&mut reader.needs, answer);
        if self.rules.holds_replies_back && !self.decisions.had_applied(low, answer) {
            reader.phase = Phase::Reading(Read { at: At::Route, asked: Some(answer), ..read });
            return None;
        }
        let broken = self.show_result(state, session, read, node, result, true);
        if !alive {
            state.sessions[session].outlived(node);
        }
        broken
    }
}

impl State {
    /// A write has come to this server: it is logged, or refused by one that takes none.
    fn write(&mut self, session: usize, node: u8, heard: bool) {
        let write = self.next_write().filter(|_| node == self.primary);
        if let Some(write) = write {
            self.log(write);
        }
        self.sessions[session].phase = write.map_or(Phase::Idle, |write| Phase::Writing { write, heard });
    }
}

fn broken(read: &Read, wrote: Set, saw: Set, result: Set) -> Option<Promise> {
    let owed = [
        (Promise::S1, wrote),
        (Promise::S2, saw),
        (Promise::G1, read.owes_acked),
        (Promise::G2, read.owes_shown),
    ];
    owed.into_iter().find(|(_, owed)| !result.covers(*owed)).map(|(promise, _)| promise)
}
