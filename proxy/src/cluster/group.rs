//! One question for many callers: who comes while a question is under way joins the next one, because an answer proves
//! nothing to whoever came after it was asked.

use std::sync::{Mutex, PoisonError};

use tokio::sync::{Notify, oneshot};

/// Callers of one kind of question. Bounded by the number of sessions, each of which asks once at a time.
#[derive(Debug)]
pub(super) struct Group<T> {
    next: Mutex<Option<Vec<oneshot::Sender<T>>>>,
    bell: Notify,
}

impl<T> Default for Group<T> {
    fn default() -> Self {
        Self { next: Mutex::new(Some(Vec::new())), bell: Notify::new() }
    }
}

impl<T: Clone> Group<T> {
    /// Joins the next question and waits for its answer; `None` when nobody asks any more.
    pub(super) async fn join(&self) -> Option<T> {
        let (sender, answer) = oneshot::channel();
        self.lock().as_mut()?.push(sender);
        self.bell.notify_one();
        answer.await.ok()
    }

    /// Waits until somebody has joined, and closes the group: the question that is sent after this is theirs.
    pub(super) async fn gather(&self) -> Vec<oneshot::Sender<T>> {
        loop {
            let group = self.lock().as_mut().map(std::mem::take).unwrap_or_default();
            if !group.is_empty() {
                return group;
            }
            self.bell.notified().await;
        }
    }

    /// Nobody will ask any more: sends everybody away, now and from now on.
    pub(super) fn close(&self) {
        drop(self.lock().take());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Vec<oneshot::Sender<T>>>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
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
    use std::sync::Arc;

    #[tokio::test]
    async fn who_comes_during_a_question_gets_the_next_answer() {
        let group = Arc::new(Group::<u32>::default());
        let join = |group: &Arc<Group<u32>>| {
            tokio::spawn({
                let group = Arc::clone(group);
                async move { group.join().await }
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
            async move { group.join().await }
        });
        tokio::task::yield_now().await;
        drop(group.gather().await);
        assert_eq!(caller.await.unwrap(), None);
        group.close();
        assert_eq!(group.join().await, None);
    }
}
