//! What a proxy has told its clients is written, for `global_scope = "proxy"`: `cluster::acknowledged`, and the herald that
//! raises it (`session::herald`).

use super::state::State;
use super::steps::{Model, Step, Steps};
use super::writes::Set;

/// `cluster::acknowledged::Mark`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Mark {
    /// Whether anybody has asked for it yet.
    pub(crate) kept: bool,
    /// Everything acknowledged in this epoch, when `known`.
    position: Set,
    known: bool,
    epoch: u8,
    /// Counts what made it unknown.
    round: u8,
    /// Told to a client and not noted here: only when the rule is left out that it comes here first.
    late: Set,
}

/// What is remembered of a mark while the primary is asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Since {
    round: u8,
    epoch: u8,
}

impl Mark {
    /// `Mark::position`.
    pub(crate) fn position(&self, epoch: u8) -> Option<Set> {
        (self.known && self.epoch == epoch).then_some(self.position)
    }

    /// The mark at the beginning of a question, when it is kept.
    pub(crate) fn since(&self, epoch: u8) -> Option<Since> {
        self.kept.then_some(Since { round: self.round, epoch })
    }

    /// `Acknowledged::note`.
    fn note(&mut self, written: Set, epoch: u8) {
        if self.epoch < epoch {
            self.begin(epoch);
        }
        if self.epoch == epoch {
            self.position = self.position.with(written);
        }
    }

    /// `Acknowledged::lost_track`.
    fn lost_track(&mut self) {
        self.known = false;
        self.round += 1;
    }

    /// `Acknowledged::settle`.
    pub(crate) fn settle(&mut self, since: Since, answer: Set) {
        if self.round != since.round || self.epoch > since.epoch {
            return;
        }
        if self.epoch < since.epoch {
            self.begin(since.epoch);
        }
        self.position = self.position.with(answer);
        self.known = true;
    }

    fn begin(&mut self, epoch: u8) {
        (self.position, self.known, self.epoch) = (Set::EMPTY, false, epoch);
    }
}

impl Model {
    /// Whether the proxy listens to what this write's reply tells: decided when the write begins, or when the reply comes.
    pub(crate) fn herald(&self, state: &State, session: usize) -> bool {
        let proxy = state.proxies[self.scenario.clients[session].proxy];
        self.scenario.one_proxy && (proxy.mark.kept || self.rules.heralds_listen_from_the_first)
    }

    /// A client is about to hear that its write is done. `told`: its position, unless the reply has none.
    pub(crate) fn proclaim(
        &self,
        state: &mut State,
        session: usize,
        done: Set,
        told: Option<Set>,
        heard: bool,
    ) {
        let proxy = &mut state.proxies[self.scenario.clients[session].proxy];
        proxy.acked = proxy.acked.with(done);
        match told {
            Some(told) if heard && self.rules.heralds_come_first => proxy.mark.note(told, proxy.epoch),
            Some(told) if heard => proxy.mark.late = proxy.mark.late.with(told),
            None if heard && self.rules.notes_untold_writes => proxy.mark.lost_track(),
            Some(_) | None => {}
        }
    }

    /// What was told to clients before it was noted is noted.
    pub(crate) fn notes_late(&self, state: &State, proxy: usize, steps: &mut Steps) {
        let late = state.proxies[proxy].mark.late;
        if !late.is_empty() {
            let mut next = *state;
            let noting = &mut next.proxies[proxy];
            noting.mark.late = Set::EMPTY;
            noting.mark.note(late, noting.epoch);
            steps.add(Step::NotesLate { proxy }, next);
        }
    }
}
