//! A way to break a promise, in words.

use std::fmt;

use super::decisions::Choice;
use super::scenario::Change;
use super::search::{Counterexample, Explored};
use super::state::{Bound, Kind, Phase, SERVERS, State};
use super::steps::{Promise, Step};

impl fmt::Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} states, {} steps, the farthest after {}", self.states, self.steps, self.depth)
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} is broken in {} steps:", self.promise, self.way.len())?;
        for (number, (step, state)) in self.way.iter().enumerate() {
            writeln!(f, "{:3}. {step}", number + 1)?;
            writeln!(f, "     {state}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::S1 => "S1 (a session sees its own writes)",
            Self::S2 => "S2 (a session never sees less than before)",
            Self::G1 => "G1 (a read sees every write acknowledged before it began)",
            Self::G2 => "G2 (a read sees whatever reads before it have seen)",
            Self::Told => "the promise to tell what was lost",
            Self::Answered => "the promise that every read is answered",
        })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DirectWrite(write) => write!(f, "around all proxies: {write} stands in the primary's log"),
            Self::Commits(write) => write!(f, "the primary shows {write}"),
            Self::Acknowledges { write, told: true } => write!(f, "{write} is executed and acknowledged"),
            Self::Acknowledges { write, told: false } => {
                write!(f, "{write} is executed, and its position is not told")
            }
            Self::Applies { node, write } => write!(f, "db{node} applies and shows {write}"),
            Self::HasApplied { node } => write!(f, "db{node} counts it as executed"),
            Self::PrimaryRestarts => f.write_str("the primary restarts, losing nothing"),
            Self::ReplicaRestarts { node, lost } => write!(f, "db{node} restarts and has lost {lost}"),
            Self::RestartIsNoticed { proxy, node } => {
                write!(f, "proxy {proxy} notices that db{node} has restarted")
            }
            Self::ReplicaDies { node } => write!(f, "db{node} dies"),
            Self::WatcherIsCutOff { proxy, node } => {
                write!(f, "proxy {proxy} loses its watcher's connection to db{node}")
            }
            Self::PrimaryChanges(Change::Lossy) => f.write_str("db0 dies; db1 is promoted with what it has"),
            Self::PrimaryChanges(Change::Early) => {
                f.write_str("db0 dies; db1 is promoted while it still applies")
            }
            Self::PrimaryChanges(Change::Planned) => f.write_str("db0 becomes a replica of db1"),
            Self::LearnsOfTheChange { proxy } => write!(f, "proxy {proxy} learns that db1 is the primary"),
            Self::Compares { proxy, node } => {
                write!(f, "proxy {proxy} finds nothing on db{node} that the primary lacks")
            }
            Self::Hears { proxy } => write!(f, "proxy {proxy} hears how far the primary is in its new life"),
            Self::Asks { proxy } => write!(f, "proxy {proxy} asks the primary"),
            Self::NotesLate { proxy } => write!(f, "proxy {proxy} notes what its clients were told"),
            Self::IsAnswered { proxy } => write!(f, "proxy {proxy} gets the answer"),
            Self::Resets { session } => write!(f, "session {session} resets its connection"),
            Self::Begins { session, level, kind } => {
                write!(f, "session {session} begins {kind} at the level {level}")
            }
            Self::HandsOver { from, to } => write!(f, "session {from} gives its position to session {to}"),
            Self::Routes { session, choice } => write!(f, "session {session}: {choice}"),
            Self::Expires { session } => write!(f, "session {session}: its time to wait is over"),
            Self::GoesOn { session } => write!(f, "session {session} goes on without an answer"),
            Self::IsShown { session } => {
                write!(f, "session {session} hears that the primary shows it, and reads")
            }
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain => f.write_str("a read"),
            Self::Locking => f.write_str("a read that locks"),
            Self::On(node) => write!(f, "a read that is to run on db{node}"),
            Self::Write => f.write_str("a write"),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Go { node, stale: true, .. } => write!(f, "reads on db{node}, which is behind"),
            Self::Go { node, proviso: Some(_), .. } => {
                write!(f, "runs on db{node} while the primary is asked")
            }
            Self::Go { node, shows: None, .. } => write!(f, "runs on db{node}"),
            Self::Go { node, shows: Some(position), .. } => {
                write!(f, "may read on db{node} when it shows {position}")
            }
            Self::Ask => f.write_str("has the primary asked"),
            Self::MayAsk => f.write_str("has the primary asked, in order to move"),
            Self::Wait { position } => write!(f, "waits for a replica to apply {position}"),
            Self::Refuse => f.write_str("gets an error"),
        }
    }
}

/// What changed is not told apart from what did not: one line is short enough.
impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for node in 0..SERVERS {
            let server = &self.servers[node];
            let role = if usize::from(self.primary) == node { "*" } else { "" };
            match server.up {
                true => write!(f, "db{node}{role} shows {}", server.visible)?,
                false => write!(f, "db{node}{role} is down")?,
            }
            if server.logged != server.visible {
                write!(f, " of {}", server.logged)?;
            }
            if server.executed != server.visible {
                write!(f, ", executed {}", server.executed)?;
            }
            f.write_str("; ")?;
        }
        for (number, proxy) in self.proxies.iter().enumerate() {
            if let Some(probe) = &proxy.probe {
                write!(f, "proxy {number} was answered {}; ", probe.answer)?;
            }
        }
        for (number, session) in self.sessions.iter().enumerate() {
            let needs = session.needs.written.with(session.needs.bound);
            if session.phase != Phase::Idle || !needs.is_empty() || session.needs.seen.is_some() {
                write!(f, "session {number} needs {needs}")?;
                if let Some(seen) = session.needs.seen {
                    write!(f, ", saw db{}", seen.node)?;
                }
                f.write_str(if session.needs.unknown { " and more; " } else { "; " })?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.high)
    }
}
