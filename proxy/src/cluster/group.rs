//! One question for many callers: who comes while a question is under way joins the next one, because an answer proves
//! nothing to whoever came after it was asked.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::sleep;

/// From so many callers on it is worth waiting for those who were answered together.
const WORTH_A_REST: usize = 4;

/// How long they are waited for at most, while nobody has nothing else to do: a tick of the runtime's timer.
const PATIENCE: Duration = Duration::from_millis(1);

/// Callers of one kind of question. Bounded by the number of sessions, each of which asks once at a time.
///
/// Whoever was answered is likely to ask again at once. Where several were answered together, the next question rests until
/// as many have come, or until somebody has nothing to do but wait for it: they go on sharing one question, instead of missing
/// each other by a little.
#[derive(Debug)]
pub(super) struct Group<T> {
    line: Mutex<Line<T>>,
    bell: Notify,
}

#[derive(Debug)]
struct Line<T> {
    /// Who joins the next question; `None` when nobody will ask any more.
    next: Option<Vec<oneshot::Sender<T>>>,
    /// So many are waited for before it is asked.
    expected: usize,
    /// Somebody who has joined has nothing else to do.
    pressed: bool,
    /// Counts the questions.
    round: Round,
}

/// Which question somebody has joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round(u64);

impl<T> Default for Group<T> {
    fn default() -> Self {
        let line = Line { next: Some(Vec::new()), expected: 1, pressed: false, round: Round::default() };
        Self { line: Mutex::new(line), bell: Notify::new() }
    }
}

impl<T> Line<T> {
    fn joined(&self) -> usize {
        self.next.as_ref().map_or(0, Vec::len)
    }

    fn is_due(&self) -> bool {
        self.joined() >= if self.pressed { 1 } else { self.expected }
    }
}

impl<T: Clone> Group<T> {
    /// Joins the next question and waits for its answer; `None` when nobody asks any more.
    pub(super) async fn ask(&self) -> Option<T> {
        let (round, answer) = self.join();
        self.press(round);
        answer.await.ok()
    }

    /// Joins the next question, at once. Its answer comes out of what is returned, and is not needed before [`Self::press`];
    /// an error when nobody asks any more.
    pub(super) fn join(&self) -> (Round, oneshot::Receiver<T>) {
        let (sender, answer) = oneshot::channel();
        let round = self.change(|line| {
            if let Some(next) = &mut line.next {
                next.push(sender);
            }
            line.round
        });
        (round, answer)
    }

    /// Somebody who has joined this question has nothing else to do any more: it is asked as soon as it can be.
    pub(super) fn press(&self, round: Round) {
        self.change(|line| line.pressed |= line.round == round);
    }

    /// Waits until a question is due, and closes the group: the question that is sent after this is theirs.
    pub(super) async fn gather(&self) -> Vec<oneshot::Sender<T>> {
        loop {
            let rests = {
                let mut line = self.line();
                if line.is_due() {
                    let callers = line.next.as_mut().map(std::mem::take).unwrap_or_default();
                    line.pressed = false;
                    line.round.0 += 1;
                    line.expected = if callers.len() < WORTH_A_REST { 1 } else { callers.len() };
                    return callers;
                }
                line.expected > 1
            };
            tokio::select! {
                biased;
                () = self.bell.notified() => {}
                () = sleep(PATIENCE), if rests => self.line().expected = 1,
            }
        }
    }

    /// Nobody will ask any more: sends everybody away, now and from now on.
    pub(super) fn close(&self) {
        self.line().next = None;
    }

    fn line(&self) -> MutexGuard<'_, Line<T>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<R>(&self, change: impl FnOnce(&mut Line<T>) -> R) -> R {
        let (result, due) = {
            let mut line = self.line();
            (change(&mut line), line.is_due())
        };
        if due {
            self.bell.notify_one();
        }
        result
    }
}

/// Gives everybody in a group the answer.
pub(super) fn answer<T: Clone>(group: Vec<oneshot::Sender<T>>, answer: &T) {
    for caller in group {
        // Whoever is gone needs none.
        let _ = caller.send(answer.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::ready;
    use std::sync::Arc;

    /// What comes of it without a wait.
    async fn at_once<T>(work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = ready(()) => None,
        }
    }

    #[tokio::test]
    async fn who_comes_during_a_question_gets_the_next_answer() {
        let group = Arc::new(Group::<u32>::default());
        let join = |group: &Arc<Group<u32>>| {
            tokio::spawn({
                let group = Arc::clone(group);
                async move { group.ask().await }
            })
        };
        let (first, second) = (join(&group), join(&group));
        tokio::task::yield_now().await;
        let under_way = group.gather().await;
        assert_eq!(under_way.len(), 2);
        let late = join(&group);
        tokio::task::yield_now().await;
        answer(under_way, &1);
        assert_eq!((first.await.unwrap(), second.await.unwrap()), (Some(1), Some(1)));
        assert!(!late.is_finished());
        answer(group.gather().await, &2);
        assert_eq!(late.await.unwrap(), Some(2));
    }

    #[tokio::test]
    async fn nobody_waits_for_an_asker_that_is_gone() {
        let group = Arc::new(Group::<u32>::default());
        let caller = tokio::spawn({
            let group = Arc::clone(&group);
            async move { group.ask().await }
        });
        tokio::task::yield_now().await;
        drop(group.gather().await);
        assert_eq!(caller.await.unwrap(), None);
        group.close();
        assert_eq!(group.ask().await, None);
    }

    #[tokio::test]
    async fn who_was_answered_together_asks_together_again() {
        let group = Group::<u32>::default();
        let join = |count| (0..count).map(|_| group.join().1).collect::<Vec<_>>();
        let first = join(5);
        assert_eq!(group.gather().await.len(), 5);
        let second = join(4);
        assert!(at_once(group.gather()).await.is_none(), "one more is expected");
        let third = join(2);
        assert_eq!(group.gather().await.len(), 6);
        drop((first, second, third));
    }

    #[tokio::test]
    async fn who_has_nothing_else_to_do_is_not_kept() {
        let group = Group::<u32>::default();
        let _first: Vec<_> = (0..5).map(|_| group.join()).collect();
        assert_eq!(group.gather().await.len(), 5);
        let (before, _second) = group.join();
        let (round, _third) = group.join();
        assert_eq!(before, round);
        group.press(Round(round.0 - 1));
        assert!(
            at_once(group.gather()).await.is_none(),
            "five are expected; the answer before is none of theirs"
        );
        group.press(round);
        assert_eq!(at_once(group.gather()).await.expect("somebody waits").len(), 2);
    }

    #[tokio::test]
    async fn nobody_is_waited_for_long() {
        let group = Group::<u32>::default();
        let _first: Vec<_> = (0..5).map(|_| group.join()).collect();
        assert_eq!(group.gather().await.len(), 5);
        let _second = group.join();
        let asked = tokio::time::timeout(Duration::from_secs(10), group.gather()).await;
        assert_eq!(asked.expect("five do not come").len(), 1);
        let _third = group.join();
        assert_eq!(at_once(group.gather()).await.expect("one is not worth a rest").len(), 1);
    }
}
