//! Speculative reads: at the level `global` a read runs on a replica while the primary is asked how fresh it must be, so that
//! the question costs no time of its own.
//!
//! Its reply is held back until the answer is there. What the replica was known to have applied *before* the read was sent
//! is visible to it; when that covers the answer, the reply counts, else the read is run again as if nothing had been. A
//! session whose guesses fail, because others write all the time, makes fewer of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gtid::Position;
use sql::{Effects, Target};
use wire::Execute;

use super::Session;
use super::decide::{NoNode, Search, by, unable};
use super::question::Question;
use super::understand::{Role, Statement};
use crate::cluster::{Answer, AskError, Round};
use crate::config::Level;
use crate::relay::Command;
use crate::route::{Go, Outcome, PrimaryBound, had_applied};

/// After so many failures in a row, or more, the rest between two guesses does not grow any more: 2^6 reads.
const MOST_FAILURES: u8 = 6;

/// Reads that took longer than this are not run twice: to run one for nothing costs too much.
const QUICK: Duration = Duration::from_millis(10);

/// How a session's guesses have fared.
#[derive(Debug, Default)]
pub(super) struct Guesses {
    failures: u8,
    /// So many reads are not guessed about.
    rest: u8,
}

impl Guesses {
    fn is_due(&mut self) -> bool {
        let due = self.rest == 0;
        self.rest = self.rest.saturating_sub(1);
        due
    }

    fn note(&mut self, right: bool, quick: bool) {
        self.failures = match (right, quick) {
            (true, true) => return self.failures = self.failures.saturating_sub(1),
            (false, true) => MOST_FAILURES.min(self.failures + 1),
            (_, false) => MOST_FAILURES,
        };
        self.rest = 1 << self.failures;
    }
}

/// A read that runs, and what the primary is asked meanwhile.
pub(super) struct Guess {
    /// What the node was known to have applied.
    low: Arc<Position>,
    question: Question,
    round: Round,
    answer: Answer,
    sent_at: Instant,
    deadline: Option<Instant>,
    verdict: Option<Verdict>,
}

/// What came of it.
enum Verdict {
    /// The reply counts.
    Kept(PrimaryBound),
    /// The node may have lacked something, and had to apply this.
    Behind(PrimaryBound),
    /// Another primary, or another life of it.
    Overtaken,
    /// The primary has not told in time, where the settings know what to do then.
    Expired,
    /// It was asked in vain.
    Failed(AskError),
}

impl Guess {
    /// The two sides of a gate before the client: who waits for the answer, and what opens when it is there and the reply
    /// counts.
    pub(super) fn gate(&mut self) -> (impl Fn() + use<'_>, impl Future<Output = bool> + use<'_>) {
        let Self { low, question, round, answer, deadline, verdict, .. } = self;
        let (question, round) = (&*question, *round);
        let opens = async move {
            let judged = match by(*deadline, answer.told()).await {
                None => Verdict::Expired,
                Some(Err(error)) => Verdict::Failed(error),
                Some(Ok(bound)) => match question.answered(&bound) {
                    None => Verdict::Overtaken,
                    Some(_) if had_applied(low, &bound) => Verdict::Kept(bound),
                    Some(_) => Verdict::Behind(bound),
                },
            };
            matches!(verdict.insert(judged), Verdict::Kept(_))
        };
        (move || question.press(round), opens)
    }
}

impl Session {
    /// Whether this statement may run before it is known how fresh it must be. It must leave nothing behind on the node when
    /// its reply is thrown away.
    pub(super) fn may_speculate(&mut self, command: &Command, statement: &Statement, level: Level) -> bool {
        let leaves_nothing = || match statement.role {
            Role::Text(_) => true,
            Role::Execute(id) => {
                let prepared = self.prepared.get(id);
                let execute = prepared.and_then(|prepared| {
                    Execute::parse(command.payload(&self.client), prepared.params, self.capabilities).ok()
                });
                execute.is_some_and(|execute| !execute.wants_cursor())
            }
            Role::Prepare | Role::Fetch(_) | Role::Reset(_) | Role::Plain(_) => false,
        };
        command.whole
            && level == Level::Global
            && statement.request.target == Target::Replica
            && !statement.effects.contains(Effects::READ_ONLY_TRANSACTION)
            && leaves_nothing()
            && self.guesses.is_due()
    }

    /// Asks the primary, if the statement is to run meanwhile.
    pub(super) fn guess(&self, go: &Go, search: &Search) -> Option<Guess> {
        let low = Arc::clone(go.proviso.as_ref()?);
        let sent_at = Instant::now();
        let deadline = search.told_by(sent_at);
        // Under another primary than the one under whom the node was chosen, what it had applied means nothing.
        let question = Question::new(&self.instance.cluster, search.reign());
        let (round, answer) = self.instance.cluster.ask_meanwhile();
        Some(Guess { low, question, round, answer, sent_at, deadline, verdict: None })
    }

    /// The client has the reply.
    pub(super) fn guessed_right(&mut self, go: &Go, guess: Guess) {
        // What was interrupted is answered without a verdict.
        if let Some(Verdict::Kept(bound)) = guess.verdict {
            self.note_guess(go, true, guess.sent_at.elapsed());
            self.needs.learnt(&bound);
        }
    }

    /// The reply was thrown away: the statement goes on as if the primary had been asked first.
    pub(super) fn guessed_wrong(&mut self, go: &Go, guess: Guess, search: &mut Search) -> Result<(), NoNode> {
        self.note_guess(go, false, guess.sent_at.elapsed());
        search.waits_since(guess.sent_at);
        search.attempt.may_speculate = false;
        match guess.verdict {
            Some(Verdict::Behind(bound)) => {
                self.needs.learnt(&bound);
                search.attempt.asked = Some(bound);
            }
            Some(Verdict::Expired) => search.attempt.expired = true,
            Some(Verdict::Failed(error)) => {
                search.found();
                self.count_promise(Outcome::Error, search);
                return Err(unable(search.promise.level, &error));
            }
            Some(Verdict::Kept(_) | Verdict::Overtaken) | None => {}
        }
        Ok(())
    }

    fn note_guess(&mut self, go: &Go, right: bool, took: Duration) {
        let on_the_way = self.instance.cluster.round_trip(go.node).unwrap_or_default();
        self.guesses.note(right, took < QUICK + 2 * on_the_way);
        self.endpoint.counters.speculated(right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of so many reads, how many run as guesses.
    fn guesses(reads: u32, right: impl Fn(u32) -> bool, quick: bool) -> u32 {
        let mut guesses = Guesses::default();
        let mut made = 0;
        for read in 0..reads {
            if guesses.is_due() {
                made += 1;
                guesses.note(right(read), quick);
            }
        }
        made
    }

    #[test]
    fn who_guesses_right_goes_on_guessing() {
        assert_eq!(guesses(1000, |_| true, true), 1000);
    }

    #[test]
    fn who_guesses_wrong_guesses_seldom() {
        assert!((15..30).contains(&guesses(1000, |_| false, true)));
        assert!((600..950).contains(&guesses(1000, |read| read % 8 != 0, true)));
    }

    #[test]
    fn what_takes_long_is_seldom_guessed() {
        assert!((15..20).contains(&guesses(1000, |_| true, false)));
    }
}
