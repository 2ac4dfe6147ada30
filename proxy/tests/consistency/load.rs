//! A load that watches what it reads: sessions that write and read rows of their own, and a counter that somebody else
//! raises on the primary.
//!
//! Row 0 of the table is the counter; every session has a row of its own.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::scene::Scene;
use crate::harness::client::Client;
use crate::harness::proxy::Proxy;
use crate::harness::stream::Target;

/// Sessions at a time.
pub(super) const SESSIONS: u64 = 8;

/// Every so many statements is a write.
const WRITE_EVERY: u64 = 5;

/// After a refusal: who is refused at once and tries again at once leaves no time to the servers.
const REST: Duration = Duration::from_millis(10);

/// ER_SERVER_SHUTDOWN: the proxy says so when a node was lost under a statement, and ends the session.
const LOST: u16 = 1053;

/// How often the counter is raised.
const COUNT_EVERY: Duration = Duration::from_millis(2);

/// What was seen, by all sessions together.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) reads: AtomicU64,
    pub(super) on_replicas: AtomicU64,
    pub(super) writes: AtomicU64,
    /// Writes that were not acknowledged.
    pub(super) writes_failed: AtomicU64,
    /// Reads without a write of the same session that was acknowledged before.
    pub(super) own_lost: AtomicU64,
    /// Reads in which something was older than in an earlier read of the same session.
    pub(super) gone_back: AtomicU64,
    /// Reads without what anybody had been told or shown before they began.
    pub(super) others_lost: AtomicU64,
    /// Reads that were refused.
    pub(super) refused: AtomicU64,
    /// The server_id of the primary at the start.
    primary: AtomicU64,
    /// What the counter's writer was acknowledged, and any session shown.
    known: AtomicU64,
}

impl Seen {
    /// Of a thousand reads, how many were served by replicas.
    pub(super) fn replica_share(&self) -> u64 {
        1000 * get(&self.on_replicas) / get(&self.reads).max(1)
    }
}

/// The number now.
pub(super) fn get(number: &AtomicU64) -> u64 {
    number.load(Ordering::SeqCst)
}

/// Makes the table with its rows.
pub(super) fn prepare(scene: &Scene) {
    scene.table();
    let rows: Vec<String> = (0..=SESSIONS).map(|id| format!("({id}, 0)")).collect();
    scene.at_primary().run(format!("INSERT INTO t VALUES {}", rows.join(", ")));
    crate::harness::clusters::caught_up(&scene.cluster);
}

/// What is done to the cluster under the load.
pub(super) type Disturb<'a> = &'a (dyn Fn(&Scene) + Sync);

/// Runs the sessions against an endpoint for a while, or until the disturbance has ended when that takes longer.
/// Whatever may be refused is counted; a read that breaks off fails the test.
pub(super) fn run(
    scene: &Scene,
    proxy: &Proxy,
    endpoint: &str,
    length: Duration,
    disturb: Disturb<'_>,
) -> Seen {
    let seen = Seen::default();
    let over = AtomicBool::new(false);
    let counter = scene.at_primary().value("SELECT v FROM t WHERE id = 0").parse().unwrap();
    seen.known.store(counter, Ordering::SeqCst);
    let primary = scene.at_primary().value("SELECT @@server_id").parse().unwrap();
    seen.primary.store(primary, Ordering::SeqCst);
    thread::scope(|scope| {
        let disturbing = scope.spawn(|| disturb(scene));
        scope.spawn(|| count(scene, &seen, &over));
        for id in 1..=SESSIONS {
            let (seen, over) = (&seen, &over);
            scope.spawn(move || session(&|| scene.client(proxy, endpoint), id, seen, over));
        }
        let begin = Instant::now();
        while begin.elapsed() < length || !disturbing.is_finished() {
            thread::sleep(Duration::from_millis(10));
        }
        over.store(true, Ordering::SeqCst);
    });
    seen
}

/// Raises the counter on the primary, as somebody does who does not know of the proxy. Whichever server is primary.
fn count(scene: &Scene, seen: &Seen, over: &AtomicBool) {
    let mut client = None;
    let mut value = get(&seen.known);
    while !over.load(Ordering::SeqCst) {
        // What failed may have been written all the same, and is not written again.
        value += 1;
        let address = Target::Tcp(scene.cluster.current_primary().address());
        let connected = client.take().or_else(|| scene.account().try_connect(&address).ok());
        client = connected.and_then(|mut client| {
            client.send_query(format!("UPDATE t SET v = {value} WHERE id = 0"));
            client.try_reply().ok().filter(|reply| reply.error().is_none()).map(|_| client)
        });
        if client.is_some() {
            seen.known.fetch_max(value, Ordering::SeqCst);
        }
        thread::sleep(COUNT_EVERY);
    }
}

/// One session: what it may rely on.
struct Session<'a> {
    client: Client,
    id: u64,
    seen: &'a Seen,
    /// The last write that was acknowledged.
    own: u64,
    /// The last write that was tried.
    tried: u64,
    /// What was read last: the own row, and the counter.
    last: (u64, u64),
}

fn session(connect: &dyn Fn() -> Client, id: u64, seen: &Seen, over: &AtomicBool) {
    let mut client = connect();
    let own = client.value(&format!("SELECT v FROM t WHERE id = {id} FOR UPDATE")).parse().unwrap();
    let mut session = Session { client, id, seen, own, tried: own, last: (0, 0) };
    for number in id.. {
        if over.load(Ordering::SeqCst) {
            return;
        }
        let goes_on = if number.is_multiple_of(WRITE_EVERY) { session.write() } else { session.read() };
        if !goes_on {
            // Nothing is promised from one session to the next.
            session = Session { client: connect(), own: 0, last: (0, 0), ..session };
        }
    }
}

impl Session<'_> {
    /// Returns whether the session goes on.
    fn write(&mut self) -> bool {
        self.tried += 1;
        self.client.send_query(format!("UPDATE t SET v = {} WHERE id = {}", self.tried, self.id));
        match self.client.try_reply() {
            Ok(reply) if reply.error().is_none() => {
                self.own = self.tried;
                self.seen.writes.fetch_add(1, Ordering::SeqCst);
                true
            }
            Ok(reply) => {
                let error = reply.error();
                self.seen.writes_failed.fetch_add(1, Ordering::SeqCst);
                thread::sleep(REST);
                // A connection that was lost under a write ends the session.
                error.is_none_or(|error| error.code != LOST)
            }
            Err(_) => {
                self.seen.writes_failed.fetch_add(1, Ordering::SeqCst);
                false
            }
        }
    }

    fn read(&mut self) -> bool {
        let (id, seen) = (self.id, self.seen);
        let known = get(&seen.known);
        self.client.send_query(format!(
            "SELECT v, (SELECT v FROM t WHERE id = 0), @@server_id FROM t WHERE id = {id}"
        ));
        let reply = match self.client.try_reply() {
            Ok(reply) => reply,
            Err(failure) => panic!("session {id}: a read broke off: {failure:?}"),
        };
        if let Some(error) = reply.error() {
            if seen.refused.fetch_add(1, Ordering::SeqCst) == 0 {
                eprintln!("session {id}: refused: {error:?}");
            }
            thread::sleep(REST);
            return error.code != LOST;
        }
        let rows = reply.text_rows();
        let cells: Vec<u64> = rows[0].iter().map(|cell| cell.as_ref().unwrap().parse().unwrap()).collect();
        let (mine, counter, server) = (cells[0], cells[1], cells[2]);
        let raise = |number: &AtomicU64, so: bool| number.fetch_add(u64::from(so), Ordering::SeqCst);
        raise(&seen.reads, true);
        raise(&seen.on_replicas, server != get(&seen.primary));
        raise(&seen.own_lost, mine < self.own);
        raise(&seen.gone_back, mine < self.last.0 || counter < self.last.1);
        raise(&seen.others_lost, counter < known);
        seen.known.fetch_max(counter, Ordering::SeqCst);
        self.last = (mine, counter);
        true
    }
}
