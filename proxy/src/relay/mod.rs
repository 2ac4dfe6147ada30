//! A command out to a node, its reply back to the client.
//!
//! Both directions stream: what is read in one turn is written in the same turn, and the next read waits for that
//! write, so that a slow reader holds back its server and nobody's memory. `wire`'s walker finds the end of the reply
//! and translates it; here are only the sockets.
//!
//! Deliberately absent: what the reply means. It is noted in [`Heard`], and `session` draws the conclusions.

mod command;
mod heard;
mod infile;
mod outgoing;

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Poll, ready};
use std::time::Duration;

use gtid::Flavor;
use tokio::time::timeout;
use wire::reply::{ClientView, Progress, ReplyError, ReplyWalker};

use crate::backend::{BackendError, ServerError};
use crate::bell::Bell;
use crate::transport::Channel;

pub use command::{Command, CommandError, Sent, WHOLE_LIMIT, send, send_now, send_rest};
pub use heard::Heard;
use outgoing::Outgoing;

/// How long the rest of a reply is read that nobody gets; after that to connect anew costs less.
const DISCARD_LIMIT: Duration = Duration::from_millis(10);

/// Which side ended a relay early.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The client has gone; the reply has nobody to go to.
    #[error("the client went away: {0}")]
    Client(io::Error),
    /// The client broke the protocol while it sent data for its command.
    #[error("the client broke the protocol: {0}")]
    ClientProtocol(&'static str),
    /// The connection to the node was lost.
    #[error("the connection to the node was lost: {source}")]
    Server {
        /// What the system said.
        source: io::Error,
        /// Whether the client has received a part of the reply.
        answered: bool,
    },
    /// What the session's state needed, sent ahead of the command, failed. The reply to the command counts for nothing.
    #[error("the session's state could not be brought there: {0}")]
    Setup(BackendError),
    /// The node refused the command before it had all of it, and closes the connection.
    #[error("the node refused the command with error {} before its end", .error.code)]
    Refused {
        /// What it said.
        error: ServerError,
        /// The number of the packet that tells the client so.
        client_first: u8,
    },
    /// The node sent what is no reply.
    #[error("the node broke the protocol: {source}")]
    ServerProtocol {
        /// What was wrong.
        source: ReplyError,
        /// Whether the client has received a part of the reply.
        answered: bool,
    },
}

impl RelayError {
    /// Whether the client has received nothing of a reply yet, and is still there.
    pub fn may_be_repeated(&self) -> bool {
        matches!(
            self,
            Self::Setup(_)
                | Self::Server { answered: false, .. }
                | Self::ServerProtocol { answered: false, .. }
        )
    }
}

/// How a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client has all of it.
    Answered,
    /// The node refused to run the statement because it is read only; the client has received nothing.
    ReadOnly,
    /// The node is about to close the connection and has not run the statement; the client has received nothing.
    GoingAway,
    /// The gate let nothing through; the client has received nothing.
    Withheld {
        /// Whether the reply is over; else the connection is of no use.
        over: bool,
    },
}

/// What to do when a node answers that it is read only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnReadOnly {
    /// It is the answer: pass it on.
    PassOn,
    /// Keep it from the client, for the statement can run elsewhere.
    Hold,
}

/// Keeps the reply from the client until it is known whether it is one.
pub struct Gate<'a> {
    /// Tells whether it is.
    pub opens: Pin<&'a mut dyn Future<Output = bool>>,
    /// Called when there is a reply, and nothing else to wait for.
    pub press: &'a dyn Fn(),
}

/// What the reply answers, and for whom.
pub struct Asked<'a> {
    /// Walks the reply; made for the command.
    pub walker: ReplyWalker,
    /// The client.
    pub view: ClientView<'a>,
    /// The family of the node.
    pub flavor: Flavor,
    /// Whether the statement could run elsewhere.
    pub on_read_only: OnReadOnly,
    /// Hears what was heard before the client does.
    pub witness: Option<&'a dyn Fn(&Heard)>,
    /// When to stop waiting for a node that says nothing.
    pub patience: Patience<'a>,
}

/// How long a reply is worth waiting for.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    /// Rung when there may be a reason to stop.
    pub bell: &'a Bell,
    /// Whether there is one. It is told whether the client has received a part of the reply.
    pub is_over: &'a dyn Fn(bool) -> bool,
}

impl Patience<'_> {
    /// Waits for something until it is not worth waiting for any more.
    pub async fn wait<T>(self, what: impl Future<Output = T>, answered: bool) -> io::Result<T> {
        let no_answer = || io::Error::new(io::ErrorKind::TimedOut, "no answer");
        self.unless(what, || (self.is_over)(answered).then(no_answer)).await
    }

    /// The same for what a node says, also until its client has left.
    async fn wait_for<T>(
        self,
        client: &Channel,
        what: impl Future<Output = io::Result<T>>,
        answered: bool,
    ) -> Result<T, RelayError> {
        let lost = |source| RelayError::Server { source, answered };
        let given_up = || match () {
            () if (self.is_over)(answered) => {
                Some(lost(io::Error::new(io::ErrorKind::TimedOut, "no answer")))
            }
            () if client.has_left() => Some(RelayError::Client(io::ErrorKind::UnexpectedEof.into())),
            () => None,
        };
        self.unless(what, given_up).await?.map_err(lost)
    }

    /// Waits for something, and looks at each ring of the bell whether to give up.
    async fn unless<T, E>(
        self,
        what: impl Future<Output = T>,
        given_up: impl Fn() -> Option<E>,
    ) -> Result<T, E> {
        let mut what = pin!(what);
        poll_fn(|context| {
            loop {
                if let Poll::Ready(came) = what.as_mut().poll(context) {
                    return Poll::Ready(Ok(came));
                }
                ready!(self.bell.poll_rung(context));
                if let Some(why) = given_up() {
                    return Poll::Ready(Err(why));
                }
            }
        })
        .await
    }
}

/// Reads what the node says next. `false`: it need not be heard, for the gate lets nothing through.
fn hear(server: &mut Channel, gate: &mut Option<Gate<'_>>) -> impl Future<Output = io::Result<bool>> {
    poll_fn(move |context| {
        if let Poll::Ready(read) = pin!(server.fill()).poll(context) {
            return Poll::Ready(read.and_then(end_is_an_error).map(|_| true));
        }
        let Some(closed) = gate else { return Poll::Pending };
        let opens = ready!(closed.opens.as_mut().poll(context));
        *gate = None;
        if opens { Poll::Pending } else { Poll::Ready(Ok(false)) }
    })
}

/// Streams one whole reply from `server` to `client`, nothing of it before the gate opens.
///
/// # Errors
/// See [`RelayError`]; the connection to the node is of no use then.
pub async fn reply(
    client: &mut Channel,
    server: &mut Channel,
    command: &mut Command,
    mut asked: Asked<'_>,
    mut gate: Option<Gate<'_>>,
    heard: &mut Heard,
) -> Result<Ended, RelayError> {
    let Asked { walker, view, flavor, on_read_only, witness, patience } = &mut asked;
    let mut answered = false;
    loop {
        if server.unread().is_empty() && !patience.wait_for(client, hear(server, &mut gate), answered).await?
        {
            let over = Box::pin(discard(server, walker, view, *flavor, heard)).await;
            return Ok(Ended::Withheld { over });
        }
        let mut outgoing = Outgoing::new(heard, *flavor);
        let fed = walker
            .feed(server.unread_mut(), view, &mut outgoing)
            .map_err(|source| RelayError::ServerProtocol { source, answered })?;
        let outgoing = outgoing.finish();
        if *on_read_only == OnReadOnly::Hold && !answered {
            let declined = match () {
                () if heard.only_read_only_refusal() => Some(Ended::ReadOnly),
                () if heard.only_going_away() => Some(Ended::GoingAway),
                () => None,
            };
            if let Some(declined) = declined {
                server.consume(fed.consumed);
                return Ok(declined);
            }
        }
        if !outgoing.is_empty()
            && !heard.was_interrupted()
            && let Some(closed) = gate.take()
        {
            (closed.press)();
            let opens = patience.wait(closed.opens, answered).await;
            if !opens.map_err(|source| RelayError::Server { source, answered })? {
                server.consume(fed.consumed);
                let over = fed.progress == Progress::Done
                    || Box::pin(discard(server, walker, view, *flavor, heard)).await;
                return Ok(Ended::Withheld { over });
            }
        }
        if let Some(witness) = witness {
            witness(heard);
        }
        if let Some(rest) = outgoing.send_now(server.unread(), client).map_err(RelayError::Client)? {
            // A client that does not read is waited for, but not by KILL.
            let sent = patience.wait(client.write(&rest), true).await.flatten();
            sent.map_err(RelayError::Client)?;
        }
        answered |= !outgoing.is_empty();
        server.consume(fed.consumed);
        match fed.progress {
            Progress::More => {
                if let Some(number) = client.next_frame().filter(|_| walker.has_stopped()) {
                    walker.client_goes_on_with(number);
                }
            }
            Progress::Done => return Ok(Ended::Answered),
            Progress::LocalInfile => {
                command.consume(client);
                let sent = patience.wait(Box::pin(infile::send(client, server, walker)), true).await;
                sent.map_err(RelayError::Client)??;
            }
        }
    }
}

/// Reads away what is left of a reply, if that comes soon. Returns whether it is over.
async fn discard(
    server: &mut Channel,
    walker: &mut ReplyWalker,
    view: &ClientView<'_>,
    flavor: Flavor,
    heard: &mut Heard,
) -> bool {
    let rest = swallow(server, walker, view, flavor, heard);
    timeout(DISCARD_LIMIT, rest).await.is_ok_and(|read| read.is_ok())
}

/// Reads a whole reply that is not for the client, such as that of a statement prepared once more.
///
/// # Errors
/// As [`reply`].
pub async fn swallow(
    server: &mut Channel,
    walker: &mut ReplyWalker,
    view: &ClientView<'_>,
    flavor: Flavor,
    heard: &mut Heard,
) -> Result<(), RelayError> {
    let answered = false;
    loop {
        if server.unread().is_empty() {
            let read = server.fill().await.and_then(end_is_an_error);
            read.map_err(|source| RelayError::Server { source, answered })?;
        }
        let fed = walker
            .feed(server.unread_mut(), view, &mut Outgoing::new(heard, flavor))
            .map_err(|source| RelayError::ServerProtocol { source, answered })?;
        server.consume(fed.consumed);
        if fed.progress != Progress::More {
            return Ok(());
        }
    }
}

fn end_is_an_error(count: usize) -> io::Result<usize> {
    if count == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(count) }
}
