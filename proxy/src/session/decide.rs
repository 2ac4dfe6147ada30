//! From the route decision to a node: the steps it asks for are taken here until it names one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gtid::Position;
use tokio::time::timeout;

use super::registry::Ending;
use super::understand::Statement;
use super::{End, Session};
use crate::alarm;
use crate::config::{GlobalScope, Level, OnTimeout};
use crate::error::ClientError;
use crate::route::{
    Attempt, Decision, Facts, Go, NodeSet, Outcome, PrimaryBound, Promise, Refusal, Sampled, Standing, route,
};

/// How long a statement that can run at once lets the primary think about where else it could.
const MAY_ASK_LIMIT: Duration = Duration::from_millis(5);

/// Before the primary is tried again when it takes no connection.
const TRY_AGAIN: Duration = Duration::from_millis(50);

/// What the session itself asked for with TIDEMARK SET.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overrides {
    pub(super) consistency: Option<Level>,
    pub(super) timeout_us: Option<u32>,
    pub(super) on_timeout: Option<OnTimeout>,
}

/// Why no node was found for a statement.
pub(super) enum NoNode {
    /// The client is told, and the session goes on.
    Refused(ClientError),
    /// The session ends.
    Ended(End),
}

/// A statement on its way to a node: what was tried, and how long it has waited.
pub(super) struct Search {
    pub(super) attempt: Attempt,
    /// The epoch of what was learnt for it.
    epoch: u64,
    /// The level it is read at.
    pub(super) level: Level,
    /// From when on it waited for a position, its time limit counted.
    waiting_since: Option<Instant>,
    /// How long that took until a node was found.
    pub(super) waited: Option<Duration>,
    /// Nodes whose connection broke under it.
    pub(super) lost: u32,
    /// Until when it may wait for a primary, once it had to.
    held_until: Option<Instant>,
}

impl Search {
    pub(super) fn new(excluded: NodeSet) -> Self {
        Self {
            attempt: Attempt { excluded, ..Attempt::default() },
            epoch: 0,
            level: Level::default(),
            waiting_since: None,
            waited: None,
            lost: 0,
            held_until: None,
        }
    }

    /// Under another primary nothing that was learnt counts, nor is it worth waiting for.
    fn in_epoch(&mut self, epoch: u64) {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.attempt.forget();
        }
    }

    /// The wait is over, for now or for good.
    fn found(&mut self) {
        self.waited = self.waiting_since.map(|since| since.elapsed());
    }
}

impl Session {
    /// The level and timeout of a statement: the endpoint's, then the session's, then the statement's own.
    fn promise(&self, statement: &Statement) -> (Promise, Option<Duration>) {
        let settings = self.endpoint.settings.load();
        let level = statement
            .hints
            .consistency
            .map(Level::from)
            .or(self.overrides.consistency)
            .unwrap_or(settings.consistency);
        let timeout_us = statement
            .hints
            .timeout_us
            .or(self.overrides.timeout_us)
            .unwrap_or(settings.consistency_timeout_us);
        let on_timeout = self.overrides.on_timeout.unwrap_or(settings.on_timeout);
        let limit = (timeout_us > 0).then(|| Duration::from_micros(u64::from(timeout_us)));
        (Promise { level, on_timeout }, limit)
    }

    /// Finds the node a statement runs on.
    pub(super) async fn decide(&mut self, statement: &Statement, search: &mut Search) -> Result<Go, NoNode> {
        let (promise, limit) = self.promise(statement);
        search.level = promise.level;
        if let Some(level) = statement.hints.consistency {
            let able = self.instance.cluster.snapshot().can_serve(Level::from(level));
            able.map_err(|why| NoNode::Refused(ClientError::own(why)))?;
        }
        loop {
            search.in_epoch(self.instance.cluster.snapshot().epoch);
            match self.route(statement, promise, &search.attempt) {
                Decision::Go(go) => {
                    self.show_on_primary(&go, search).await?;
                    if self.instance.cluster.snapshot().epoch == search.epoch {
                        search.found();
                        return Ok(go);
                    }
                }
                Decision::Ask => {
                    let since = *search.waiting_since.get_or_insert_with(Instant::now);
                    // Where the primary serves what is late, there is nothing to do without its answer.
                    let goes_without = promise.on_timeout != OnTimeout::Primary && !search.attempt.expired;
                    let deadline = limit.filter(|_| goes_without).map(|limit| since + limit);
                    match by(deadline, self.learn(promise.level)).await {
                        None => search.attempt.expired = true,
                        Some(Ok(bound)) => search.attempt.asked = Some(bound),
                        Some(Err(why)) => {
                            search.found();
                            self.count_promise(Outcome::Error, search);
                            return Err(why);
                        }
                    }
                }
                Decision::MayAsk => {
                    let asked = timeout(MAY_ASK_LIMIT, self.instance.cluster.ask_primary()).await;
                    self.needs.stays(Instant::now());
                    search.attempt.sampled = Some(match asked {
                        Ok(Ok(bound)) => Sampled::AtMost(bound.high),
                        Ok(Err(_)) | Err(_) => Sampled::Nothing,
                    });
                }
                Decision::Wait { position, among } => {
                    let since = *search.waiting_since.get_or_insert_with(Instant::now);
                    search.attempt.waited = true;
                    search.attempt.awaited = Some(position.clone());
                    let deadline = limit.map(|limit| since + limit);
                    search.attempt.expired = self.wait(&position, among, deadline).await?;
                }
                Decision::Refuse(Refusal::NoPrimary) if self.hold(search).await? => {}
                Decision::Refuse(refusal) => {
                    search.found();
                    if matches!(refusal, Refusal::TimedOut { .. } | Refusal::NotTold) {
                        self.count_promise(Outcome::Error, search);
                    }
                    return Err(NoNode::Refused(told(&refusal, search.waited.unwrap_or_default())));
                }
            }
        }
    }

    /// Asks the primary how far anybody can have seen, and needs that from now on.
    ///
    /// If it has become primary, or was restarted, since the session wrote and saw something, it is also asked whether it
    /// has that. What it has not is told to the client, once: nothing shows it any more.
    pub(super) async fn learn(&mut self, level: Level) -> Result<PrimaryBound, NoNode> {
        let unable = |error| {
            let level = level.as_str();
            NoNode::Refused(ClientError::own(format!("the level {level} cannot be kept now: {error}")))
        };
        let cluster = Arc::clone(&self.instance.cluster);
        let epoch = cluster.snapshot().epoch;
        let mark = cluster.acknowledged().is_kept().then(|| cluster.acknowledged().mark());
        let bound = self.attended(cluster.ask_primary()).await?.map_err(unable)?;
        if let Some(mark) = mark {
            cluster.acknowledged().settle(&mark, &bound.high, epoch);
        }
        let mut lost = Position::default();
        if self.needs.unproven {
            let before = self.needs.position();
            lost = self.attended(cluster.lost(&before, &bound)).await?.map_err(unable)?;
        }
        self.needs.learnt(&bound);
        if lost.is_empty() {
            return Ok(bound);
        }
        let lost = shortened(&lost);
        tracing::warn!(
            session = self.id,
            endpoint = self.endpoint.name,
            lost,
            "the primary does not have what a session wrote, saw, or was given as a position; its client is told"
        );
        Err(NoNode::Refused(ClientError::own(format!(
            "the primary does not have transactions that this session wrote, saw, or was given as a position: {lost} (lost \
             when the primary changed or crashed, or of another cluster); the statement was not run, and those that \
             follow do not show them"
        ))))
    }

    fn route(&mut self, statement: &Statement, promise: Promise, attempt: &Attempt) -> Decision {
        let snapshot = self.instance.cluster.snapshot();
        if let Some(reign) = snapshot.reign() {
            self.needs.under(reign);
        }
        let settings = self.endpoint.settings.load();
        let mark = (promise.level == Level::Global && settings.global_scope == GlobalScope::Proxy)
            .then(|| self.instance.cluster.acknowledged().mark());
        let mut request = statement.request;
        let pinned = self.pinned_for(statement, &snapshot);
        if pinned.is_some() {
            request.node = None;
        }
        route(Facts {
            request,
            standing: Standing {
                mode: self.endpoint.mode,
                transaction: self.transaction,
                pinned,
                home: self.home.filter(|_| self.pins.hold_the_connection()),
                autocommit: self.autocommit,
                previous: self.previous,
            },
            promise,
            needs: &self.needs,
            settings: &settings,
            snapshot: &snapshot,
            attempt,
            acknowledged: mark.as_ref().and_then(|mark| mark.position(snapshot.epoch)),
            dice: self.dice.roll(),
        })
    }

    /// A read that goes to the primary although a replica has shown more than the primary is known to: wait until it
    /// shows that too.
    async fn show_on_primary(&mut self, go: &Go, search: &mut Search) -> Result<(), NoNode> {
        let Some(position) = &go.shows else { return Ok(()) };
        search.waiting_since.get_or_insert_with(Instant::now);
        let cluster = Arc::clone(&self.instance.cluster);
        self.attended(cluster.primary_shows(position)).await?.map_err(|error| {
            NoNode::Refused(ClientError::own(format!(
                "the primary does not show what the session has seen: {error}"
            )))
        })
    }

    /// Waits for a primary while there is none, as long as the endpoint's settings say. Returns whether there is one now.
    async fn hold(&mut self, search: &mut Search) -> Result<bool, NoNode> {
        let cluster = Arc::clone(&self.instance.cluster);
        let mut changes = cluster.changes();
        if cluster.snapshot().primary().is_some() || self.card.ending() == Ending::Drained {
            return Ok(false);
        }
        let until = self.may_hold_until(search);
        let found = by(Some(until), async {
            while cluster.snapshot().primary().is_none() && changes.changed().await.is_ok() {}
        });
        self.attended_unless_drained(found).await?;
        Ok(cluster.snapshot().primary().is_some())
    }

    /// Waits a little before the primary, to which no connection could be made, is tried again. Returns whether it is to be.
    pub(super) async fn hold_on(&mut self, search: &mut Search) -> Result<bool, NoNode> {
        let goes_on = Instant::now() + TRY_AGAIN < self.may_hold_until(search);
        Ok(goes_on && self.attended_unless_drained(tokio::time::sleep(TRY_AGAIN)).await?.is_some())
    }

    fn may_hold_until(&self, search: &mut Search) -> Instant {
        let hold = Duration::from_millis(u64::from(self.endpoint.settings.load().failover_hold_ms));
        *search.held_until.get_or_insert_with(|| Instant::now() + hold)
    }

    /// Waits for a position. Returns whether the wait is over for good: the time is, or the session is to end.
    async fn wait(
        &mut self,
        position: &Position,
        among: NodeSet,
        deadline: Option<Instant>,
    ) -> Result<bool, NoNode> {
        if self.card.ending() == Ending::Drained {
            return Ok(true);
        }
        let cluster = Arc::clone(&self.instance.cluster);
        let applied = cluster.applied(position, |node| among.contains(node.id));
        let expired = async { by(deadline, applied).await.is_none() };
        Ok(self.attended_unless_drained(expired).await?.unwrap_or(true))
    }
}

/// What comes of it by then; `None` when the time is over first.
async fn by<T>(deadline: Option<Instant>, work: impl Future<Output = T>) -> Option<T> {
    let Some(deadline) = deadline else { return Some(work.await) };
    tokio::select! {
        biased;
        done = work => Some(done),
        () = alarm::at(deadline) => None,
    }
}

fn told(refusal: &Refusal, waited: Duration) -> ClientError {
    match refusal {
        Refusal::NoPrimary => ClientError::own(
            "no node is primary now, nor was one found within failover_hold_ms, and the statement needs one; see \
                 TIDEMARK SHOW NODES",
        ),
        Refusal::NoReplica => ClientError::own(
            "no replica is in rotation, and this endpoint is read-only; see TIDEMARK SHOW NODES",
        ),
        Refusal::NotTold => ClientError::own(format!(
            "the primary had not told its position within {} us, and on_timeout = \"error\"; see TIDEMARK SHOW NODES",
            waited.as_micros()
        )),
        Refusal::TimedOut { position } => ClientError::own(format!(
            "no replica had applied {} within {} us, and on_timeout = \"error\" or a read-only endpoint keeps the read \
             from the primary",
            shortened(position),
            waited.as_micros()
        )),
    }
}

/// A position as it fits into an error text.
fn shortened(position: &Position) -> String {
    const LIMIT: usize = 300;
    let mut text = position.to_string();
    if text.len() > LIMIT {
        text.truncate(LIMIT);
        text.push_str("...");
    }
    text
}
