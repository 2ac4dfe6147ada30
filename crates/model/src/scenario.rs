//! What happens in one search: who reads and writes, and what may break.

use gtid::Flavor;
use tidemark::config::{Level, OnTimeout};

use super::needs::{Needs, Reign};
use super::rules::Rules;
use super::state::{Kind, Left, PROXIES, Phase, Proxy, SERVERS, SESSIONS, Server, Session, State};
use super::writes::Set;

/// A client and what it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    /// The proxy it is connected to.
    pub(crate) proxy: usize,
    /// The levels it reads at, any of them at any time.
    pub(crate) levels: &'static [Level],
    /// The kinds of its reads, likewise.
    pub(crate) kinds: &'static [Kind],
    pub(crate) reads: u8,
    pub(crate) writes: u8,
    /// Whether a write of it may be done without its position being told.
    pub(crate) untold: bool,
    /// Whether it may reset its connection.
    pub(crate) resets: bool,
}

impl Client {
    /// A client of this proxy that only reads.
    pub(crate) const fn reader(proxy: usize, levels: &'static [Level], reads: u8) -> Self {
        Self { proxy, levels, kinds: &[Kind::Plain], reads, writes: 0, untold: false, resets: false }
    }

    /// The same client, writing too.
    pub(crate) const fn writing(self, writes: u8) -> Self {
        Self { writes, ..self }
    }
}

/// How the primary changes, once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// It dies, and what the promoted replica has not applied is lost.
    Lossy,
    /// It dies, and the promoted replica still applies what it has received.
    Early,
    /// It is made read only, and the promoted replica has everything.
    Planned,
}

/// One search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    pub(crate) family: Flavor,
    pub(crate) clients: &'static [Client],
    /// Writes by somebody who knows of no proxy, and how often what may break.
    pub(crate) may: Left,
    pub(crate) change: Option<Change>,
    /// Whether a wait may end by its time limit; `consistency_timeout_us = 0` does not let it.
    pub(crate) expires: bool,
    /// What happens then: the primary serves the read, or a replica does that is behind.
    pub(crate) on_timeout: OnTimeout,
    /// Whether the primary takes reads as the replicas do.
    pub(crate) primary_reads: bool,
    /// Whether every write passes the proxy it is read through: `global_scope = "proxy"`.
    pub(crate) one_proxy: bool,
    /// Whether replicas log what they apply; else MariaDB has no HIGH of them.
    pub(crate) replicas_log: bool,
    /// Whether to be told of a loss is looked at.
    pub(crate) tells_losses: bool,
    /// Whether a replica that restarts may take statements before its watcher has noticed.
    pub(crate) notices_late: bool,
}

impl Scenario {
    /// A quiet cluster of MySQL servers with these clients.
    pub(crate) const fn of(clients: &'static [Client], direct_writes: u8) -> Self {
        Self {
            family: Flavor::Mysql,
            clients,
            may: Left {
                direct_writes,
                primary_restarts: 0,
                replica_restarts: 0,
                replica_losses: 0,
                watcher_losses: 0,
                tokens: 0,
            },
            change: None,
            expires: true,
            on_timeout: OnTimeout::Primary,
            primary_reads: false,
            one_proxy: false,
            replicas_log: true,
            tells_losses: true,
            notices_late: false,
        }
    }

    /// Where it begins: nothing is written, everybody knows everybody.
    pub(crate) fn start(&self, rules: &Rules) -> State {
        assert!(self.clients.len() <= SESSIONS, "room for {SESSIONS} sessions");
        let session = |index: usize| {
            let client = self.clients.get(index);
            Session {
                wrote: Set::EMPTY,
                saw: Set::EMPTY,
                lost: Set::EMPTY,
                reads: client.map_or(0, |client| client.reads),
                writes: client.map_or(0, |client| client.writes),
                phase: Phase::Idle,
                needs: Needs {
                    reign: rules.every_past_is_to_be_proven.then_some(Reign::NOBODYS),
                    ..Needs::default()
                },
            }
        };
        State {
            servers: [Server { up: true, ..Server::default() }; SERVERS],
            primary: 0,
            kept: Set::EMPTY,
            relay: Set::EMPTY,
            acked: Set::EMPTY,
            shown: Set::EMPTY,
            left: self.may,
            proxies: [Proxy::new(); PROXIES],
            sessions: std::array::from_fn(session),
        }
    }
}
