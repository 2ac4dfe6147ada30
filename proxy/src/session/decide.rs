//! From the route decision to a node: the steps it asks for are taken here until it names one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gtid::{Flavor, Position};
use tokio::time::timeout;

use super::question::Question;
use super::registry::Ending;
use super::understand::Statement;
use super::{End, Session};
use crate::alarm;
use crate::cluster::{AskError, Reign};
use crate::config::{GlobalScope, Level, OnTimeout};
use crate::error::ClientError;
use crate::route::{
    Attempt, Decision, Facts, Go, NodeSet, Outcome, PrimaryBound, Promise, Refusal, Sampled, Standing, route,
};

/// How long a statement that can run at once lets the primary think about where else it could.
const MAY_ASK_LIMIT: Duration = Duration::from_millis(5);

/// How long the primary may change, or restart, each time that it has answered.
const UNSETTLED_LIMIT: Duration = Duration::from_secs(5);

/// How long a statement that waits for a primary leaves the question where else it could run.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

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
    /// Under whom that was learnt.
    reign: Option<Reign>,
    /// What was promised to it.
    pub(super) promise: Promise,
    /// How long it may wait for that.
    limit: Option<Duration>,
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
    pub(super) fn new(excluded: NodeSet, (promise, limit): (Promise, Option<Duration>)) -> Self {
        Self {
            attempt: Attempt { excluded, ..Attempt::default() },
            reign: None,
            promise,
            limit,
            waiting_since: None,
            waited: None,
            lost: 0,
            held_until: None,
        }
    }

    /// Under another primary, or in another life of it, nothing that was learnt counts, nor is it worth waiting for.
    fn under(&mut self, reign: Option<Reign>) {
        if self.reign != reign {
            self.reign = reign;
            self.attempt.forget();
        }
    }

    /// Under whom its node was chosen.
    pub(super) fn reign(&self) -> Option<Reign> {
        self.reign
    }

    /// By when the primary must have told its position, if anything can be done without that. Where the primary serves what
    /// is late, nothing can.
    pub(super) fn told_by(&self, since: Instant) -> Option<Instant> {
        let goes_without = self.promise.on_timeout != OnTimeout::Primary && !self.attempt.expired;
        self.limit.filter(|_| goes_without).map(|limit| since + limit)
    }

    /// It waited from then on, if not before.
    pub(super) fn waits_since(&mut self, since: Instant) {
        self.waiting_since.get_or_insert(since);
    }

    /// The wait is over, for now or for good.
    pub(super) fn found(&mut self) {
        self.waited = self.waiting_since.map(|since| since.elapsed());
    }
}

impl Session {
    /// The level and timeout of a statement: the endpoint's, then the session's, then the statement's own.
    pub(super) fn promise(&self, statement: &Statement) -> (Promise, Option<Duration>) {
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
        if let Some(level) = statement.hints.consistency {
            let able = self.instance.cluster.snapshot().can_serve(Level::from(level));
            able.map_err(|why| NoNode::Refused(ClientError::own(why)))?;
        }
        loop {
            match self.route(statement, search) {
                Decision::Go(go) => {
                    if go.shows.is_none() || Box::pin(self.show_on_primary(&go, search)).await? {
                        search.found();
                        return Ok(go);
                    }
                }
                Decision::Ask => {
                    let since = *search.waiting_since.get_or_insert_with(Instant::now);
                    let deadline = search.told_by(since);
                    match Box::pin(by(deadline, self.learn(search.promise.level))).await {
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
                    let asked = Box::pin(timeout(MAY_ASK_LIMIT, self.instance.cluster.ask_primary())).await;
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
                    let deadline = search.limit.map(|limit| since + limit);
                    search.attempt.expired = Box::pin(self.wait(&position, among, deadline)).await?;
                }
                Decision::Refuse(Refusal::NoPrimary) if Box::pin(self.hold(search)).await? => {}
                Decision::Refuse(refusal) => {
                    search.found();
                    if matches!(refusal, Refusal::TimedOut { .. } | Refusal::NotTold) {
                        self.count_promise(Outcome::Error, search);
                    }
                    let waited = search.waited.unwrap_or_default();
                    return Err(NoNode::Refused(told(&refusal, waited, self.flavor)));
                }
            }
        }
    }

    /// Asks the primary how far anybody can have seen, and needs that from now on.
    ///
    /// If it has become primary, or was restarted, since the session wrote and saw something, it is also asked whether it
    /// has that. What it has not is told to the client, once: nothing shows it any more.
    pub(super) async fn learn(&mut self, level: Level) -> Result<PrimaryBound, NoNode> {
        let unable = |error| unable(level, &error);
        let cluster = Arc::clone(&self.instance.cluster);
        let bound = self.ask().await?.map_err(unable)?;
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

    /// Asks the primary until it answers in the reign in which it was asked: the session's past is then held against that one.
    async fn ask(&mut self) -> Result<Result<PrimaryBound, AskError>, NoNode> {
        let cluster = Arc::clone(&self.instance.cluster);
        let began = Instant::now();
        loop {
            let question = Question::new(&cluster, cluster.snapshot().reign());
            let bound = match self.attended(cluster.ask_primary()).await? {
                Ok(bound) => bound,
                Err(error) => return Ok(Err(error)),
            };
            match question.answered(&bound) {
                Some(reign) => {
                    self.needs.under(reign);
                    return Ok(Ok(bound));
                }
                None if began.elapsed() < UNSETTLED_LIMIT => {}
                None => return Ok(Err(AskError::NoPrimary)),
            }
        }
    }

    fn route(&mut self, statement: &Statement, search: &mut Search) -> Decision {
        let snapshot = self.instance.cluster.snapshot();
        let (reign, promise) = (snapshot.reign(), search.promise);
        search.under(reign);
        if let Some(reign) = reign {
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
        let decision = route(Facts {
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
            attempt: &search.attempt,
            acknowledged: mark.as_ref().and_then(|mark| mark.position(snapshot.epoch)),
            dice: self.dice.roll(),
        });
        // A primary that is there again and has told nothing yet may be in another life. A transaction would have ended with
        // the one before.
        let returned = |go: &Go| reign.is_none() && snapshot.primary == Some(go.node);
        match &decision {
            Decision::Go(go)
                if returned(go)
                    && promise.level != Level::Eventual
                    && self.transaction.is_none()
                    && self.needs.doubt() =>
            {
                Decision::Ask
            }
            _ => decision,
        }
    }

    /// A read that goes to the primary although a replica has shown more than the primary is known to: wait until it
    /// shows that too. Returns whether it is the same primary still.
    async fn show_on_primary(&mut self, go: &Go, search: &mut Search) -> Result<bool, NoNode> {
        let Some(position) = &go.shows else { return Ok(true) };
        search.waiting_since.get_or_insert_with(Instant::now);
        let cluster = Arc::clone(&self.instance.cluster);
        self.attended(cluster.primary_shows(position)).await?.map_err(|error| {
            NoNode::Refused(ClientError::own(format!(
                "the primary does not show what the session has seen: {error}"
            )))
        })?;
        Ok(cluster.snapshot().reign() == search.reign)
    }

    /// Waits a little for a primary, or until something changes. Returns whether the statement is to be routed again.
    async fn hold(&mut self, search: &mut Search) -> Result<bool, NoNode> {
        let mut changes = self.instance.cluster.changes();
        if self.instance.cluster.snapshot().primary().is_some() {
            return Ok(false);
        }
        let change = async {
            // The channel lives as long as the cluster does.
            let _ = timeout(LOOK_AGAIN, changes.changed()).await;
        };
        self.hold_until(search, change).await
    }

    /// Waits a little before the primary, to which no connection could be made, is tried again. Returns whether it is to be.
    pub(super) async fn hold_on(&mut self, search: &mut Search) -> Result<bool, NoNode> {
        self.hold_until(search, tokio::time::sleep(TRY_AGAIN)).await
    }

    /// Whatever binds the session to a connection no new one could take the place of: such a session is told at once.
    async fn hold_until(
        &mut self,
        search: &mut Search,
        change: impl Future<Output = ()>,
    ) -> Result<bool, NoNode> {
        if self.transaction.is_some() || self.pins.hold_the_connection() {
            return Ok(false);
        }
        let hold = Duration::from_millis(u64::from(self.endpoint.settings.load().failover_hold_ms));
        let until = *search.held_until.get_or_insert_with(|| Instant::now() + hold);
        if Instant::now() >= until || self.card.ending() == Ending::Drained {
            return Ok(false);
        }
        if search.lost == 0 {
            // Who could not be reached a while ago may be back.
            search.attempt.excluded = NodeSet::default();
        }
        Ok(self.attended_unless_drained(by(Some(until), change)).await?.is_some())
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
pub(super) async fn by<T>(deadline: Option<Instant>, work: impl Future<Output = T>) -> Option<T> {
    let Some(deadline) = deadline else { return Some(work.await) };
    tokio::select! {
        biased;
        done = work => Some(done),
        () = alarm::at(deadline) => None,
    }
}

/// The primary was asked in vain.
pub(super) fn unable(level: Level, error: &AskError) -> NoNode {
    let level = level.as_str();
    NoNode::Refused(ClientError::own(format!("the level {level} cannot be kept now: {error}")))
}

fn told(refusal: &Refusal, waited: Duration, flavor: Flavor) -> ClientError {
    match refusal {
        Refusal::ReadOnly => ClientError::read_only(flavor),
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
