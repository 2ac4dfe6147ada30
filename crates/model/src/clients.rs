//! Steps of the sessions: a read or a write begins, a position is given away; a read that waits goes on.

use tidemark::config::Level;

use super::needs::Needs;
use super::state::{At, Kind, Phase, Read, Sampled, State};
use super::steps::{Model, Step, Steps};
use super::writes::Set;

impl Model {
    pub(crate) fn clients(&mut self, state: &State, steps: &mut Steps) {
        for session in 0..self.scenario.clients.len() {
            match state.sessions[session].phase {
                Phase::Idle => self.begin(state, session, steps),
                Phase::Reading(read) => self.go_on(state, session, read, steps),
                Phase::Writing { .. } | Phase::Gone => {}
            }
        }
    }

    fn begin(&mut self, state: &State, session: usize, steps: &mut Steps) {
        let (client, left) = (self.scenario.clients[session], state.sessions[session]);
        for &level in client.levels {
            for &kind in client.kinds.iter().filter(|_| left.reads > 0) {
                let mut next = *state;
                next.sessions[session].reads -= 1;
                self.send(&mut next, session, level, kind);
                steps.add(Step::Begins { session, level, kind }, next);
            }
            if left.writes > 0 {
                let mut next = *state;
                next.sessions[session].writes -= 1;
                self.send(&mut next, session, level, Kind::Write);
                steps.add(Step::Begins { session, level, kind: Kind::Write }, next);
            }
        }
        if state.left.tokens > 0 {
            self.hand_over(state, session, steps);
        }
        if client.resets && !self.rules.survives_a_reset {
            let mut next = *state;
            let needs = &mut next.sessions[session].needs;
            *needs = Needs { reign: needs.reign, ..Needs::default() };
            steps.add(Step::Resets { session }, next);
        }
    }

    /// A session asks for its position, and another one sets it.
    fn hand_over(&mut self, state: &State, from: usize, steps: &mut Steps) {
        let others = (0..self.scenario.clients.len()).filter(|to| *to != from);
        for to in others.filter(|to| state.sessions[*to].phase == Phase::Idle) {
            for sampled in [false, true] {
                let mut next = *state;
                next.left.tokens -= 1;
                if let Some(position) = self.give(&mut next, from) {
                    self.take(&mut next, to, position, sampled);
                    let giver = next.sessions[from];
                    let taker = &mut next.sessions[to];
                    taker.wrote = taker.wrote.with(giver.wrote);
                    taker.saw = taker.saw.with(giver.saw);
                    taker.lost = taker.lost.with(giver.lost);
                    steps.add(Step::HandsOver { from, to }, next);
                }
            }
        }
    }

    /// The position of a session, if the primary can be asked for what it must be asked for, and has it.
    fn give(&mut self, state: &mut State, session: usize) -> Option<Set> {
        self.enter_reign(state, session);
        let needs = state.sessions[session].needs;
        if self.rules.tokens_tell_what_was_seen && (needs.unknown || needs.seen.is_some()) {
            let asked = state.knows_the_primary(self.scenario.clients[session].proxy);
            let answer = asked.then(|| self.bound_of(state, state.primary))?;
            if self.lost(state, &needs, answer.high) {
                return None;
            }
            self.decisions.learnt(&mut state.sessions[session].needs, answer);
        }
        Some(self.decisions.position_of(&state.sessions[session].needs))
    }

    /// A session sets a position. `sampled`: its proxy has heard of the primary's latest.
    fn take(&mut self, state: &mut State, session: usize, position: Set, sampled: bool) {
        let knows = state.knows_the_primary(self.scenario.clients[session].proxy);
        let high = if sampled && knows { state.server(state.primary).logged } else { Set::EMPTY };
        let proven = !self.rules.proves_tokens || self.decisions.surely_has(high, position);
        self.decisions.raise(&mut state.sessions[session].needs, position, proven);
    }

    fn go_on(&mut self, state: &State, session: usize, read: Read, steps: &mut Steps) {
        match read.at {
            At::Route => self.route(state, session, steps),
            At::Asking | At::Held { .. } => {}
            At::MayAsk => {
                let mut next = *state;
                self.leave(&mut next, session);
                let on = Read { at: At::Route, sampled: Some(Sampled::Nothing), ..read };
                next.sessions[session].phase = Phase::Reading(on);
                steps.add(Step::GoesOn { session }, next);
            }
            At::Waiting { only } => {
                let awaited = read.awaited.unwrap_or_default();
                let comes = |node| state.server(node).up && state.server(node).executed.covers(awaited);
                if only.is_none_or(comes) {
                    self.route(state, session, steps);
                }
                if self.scenario.expires {
                    let mut next = *state;
                    next.sessions[session].phase =
                        Phase::Reading(Read { at: At::Route, expired: true, ..read });
                    steps.add(Step::Expires { session }, next);
                }
            }
            At::Showing { node, position } => self.show(state, session, node, position, steps),
        }
    }

    /// Who is primary is looked at whenever a statement is routed.
    pub(crate) fn enter_reign(&mut self, state: &mut State, session: usize) {
        let proxy = state.proxies[self.scenario.clients[session].proxy];
        let needs = &mut state.sessions[session].needs;
        match proxy.reign() {
            Some(reign) if self.rules.asks_another_primary => self.decisions.under(needs, reign),
            Some(reign) => needs.reign = Some(reign),
            None => {}
        }
    }

    /// A client sends a statement. From now on it is owed what was acknowledged and shown before.
    fn send(&self, state: &mut State, session: usize, level: Level, kind: Kind) {
        let promised = level == Level::Global && kind != Kind::Write;
        let (acked, shown) = match self.scenario.one_proxy {
            _ if !promised => (Set::EMPTY, Set::EMPTY),
            true => (state.proxies[self.scenario.clients[session].proxy].acked, Set::EMPTY),
            false => (state.acked, state.shown),
        };
        state.sessions[session].phase = Phase::Reading(Read {
            level,
            kind,
            owes_acked: acked,
            owes_shown: shown,
            at: At::Route,
            epoch: 0,
            heard: kind == Kind::Write && self.herald(state, session),
            since: None,
            asked: None,
            sampled: None,
            awaited: None,
            expired: false,
        });
    }
}
