//! A proxy's line to the primary: one question at a time, shared by all who came before it was sent.

use super::needs::Needs;
use super::state::{At, Bound, PROXIES, Phase, Probe, Read, Sampled, State, bit, members};
use super::steps::{Model, Next, Step, Steps};
use super::writes::Set;

impl Model {
    pub(crate) fn probes(&mut self, state: &State, steps: &mut Steps) {
        for proxy in 0..PROXIES {
            self.ask(state, proxy, steps);
            self.answer(state, proxy, steps);
            self.notes_late(state, proxy, steps);
        }
    }

    /// The question goes out. The server computes its answer at once: what is older proves less.
    fn ask(&self, state: &State, proxy: usize, steps: &mut Steps) {
        let line = state.proxies[proxy];
        let Some(node) = line.primary.filter(|_| line.probe.is_none() && line.next != 0) else { return };
        let refuses = self.rules.probes_who_takes_writes && node != state.primary;
        if !state.server(node).up || refuses {
            return;
        }
        let mut next = *state;
        next.proxies[proxy].next = 0;
        next.proxies[proxy].probe =
            Some(Probe { group: line.next, answer: self.bound_of(state, node), reign: line.reign() });
        steps.add(Step::Asks { proxy }, next);
    }

    /// What a server answers that is asked as the primary.
    pub(crate) fn bound_of(&self, state: &State, node: u8) -> Bound {
        let server = state.server(node);
        let high = if self.rules.probes_what_is_owned { server.logged } else { server.executed };
        Bound { high, shown: self.tells_what_it_shows().then_some(server.executed) }
    }

    fn answer(&mut self, state: &State, proxy: usize, steps: &mut Steps) {
        let Some(probe) = state.proxies[proxy].probe else { return };
        let mut next = *state;
        let mut broken = None;
        next.proxies[proxy].probe = None;
        for index in members(probe.group) {
            broken = broken.or(self.judge(&mut next, index, probe.answer));
            let mut session = next.sessions[index];
            let Phase::Reading(read) = session.phase else { continue };
            if let Some(reign) =
                probe.reign.filter(|_| read.at == At::Asking && self.rules.answers_tell_who_gives_them)
            {
                self.decisions.under(&mut session.needs, reign);
            }
            session.phase = match read.at {
                At::Asking if self.lost(state, &session.needs, probe.answer.high) => {
                    // An error, instead of what was asked for.
                    session.lost = Set::EMPTY;
                    Phase::Idle
                }
                At::Asking => Phase::Reading(Read { at: At::Route, asked: Some(probe.answer), ..read }),
                At::MayAsk => {
                    let sampled = Some(Sampled::AtMost(probe.answer.high));
                    Phase::Reading(Read { at: At::Route, sampled, ..read })
                }
                At::Route | At::Held { .. } | At::Waiting { .. } | At::Showing { .. } => continue,
            };
            if read.at == At::Asking {
                if let Some(since) = read.since {
                    next.proxies[proxy].mark.settle(since, probe.answer.high);
                }
                self.decisions.learnt(&mut session.needs, probe.answer);
            }
            next.sessions[index] = session;
        }
        steps.0.push(Next { step: Step::IsAnswered { proxy }, state: next, broken });
    }

    /// Whether what a session needs is not in the log of the primary that was asked, which is its first question to it.
    /// MySQL's sets say it; of a MariaDB server it is asked who wrote what, so that the last of it tells.
    pub(crate) fn lost(&mut self, state: &State, needs: &Needs, high: Set) -> bool {
        let need = self.decisions.position_of(needs);
        let has = if self.tells_what_it_shows() { high } else { state.server(state.primary).logged };
        let asked = if self.tells_what_it_shows() { need } else { need.last().map_or(need, Set::only) };
        self.rules.tells_what_is_lost && needs.unproven && !has.covers(asked)
    }

    /// A session joins the next question.
    pub(crate) fn join(&self, state: &mut State, session: usize) {
        let line = &mut state.proxies[self.scenario.clients[session].proxy];
        match &mut line.probe {
            Some(probe) if !self.rules.joins_the_next_probe => probe.group |= bit(session),
            _ => line.next |= bit(session),
        }
    }

    /// A session waits for no answer any more.
    pub(crate) fn leave(&self, state: &mut State, session: usize) {
        let line = &mut state.proxies[self.scenario.clients[session].proxy];
        line.next &= !bit(session);
        if let Some(probe) = &mut line.probe {
            probe.group &= !bit(session);
        }
    }
}
