//! What one server has and another has not: the difference of two histories.
//!
//! MySQL's sets say it by their numbers. MariaDB's positions do not, because a number may be given twice: after a failover
//! that lost `0-1-7` the new primary writes `0-2-7`. So each GTID that a server shows, in its log or as the last it has
//! applied, is looked for *with the server that wrote it* in the other's log. A replica that logs nothing of what it
//! applies shows it in its position.

use std::fmt;
use std::time::Instant;

use gtid::{BinlogState, DomainGtid, GtidSet, Position};

use super::sample::Sample;

/// The history that others are compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct History<'a> {
    /// MySQL: everything the server is known to have. MariaDB: what it has applied as a replica.
    pub(super) position: &'a Position,
    /// MariaDB: who wrote what in its log; `None` while that was never heard.
    pub(super) log: Option<&'a BinlogState>,
    /// When that was asked for; `None` when the server does not answer now.
    pub(super) sent_at: Option<Instant>,
}

impl History<'_> {
    /// Whether it has this very transaction, as far as can be told: what came before the log began is known by its number
    /// only.
    fn has(&self, gtid: DomainGtid) -> bool {
        let Position::Mariadb(applied) = self.position else { return false };
        let before = applied.get(gtid.domain).is_some_and(|last| {
            last.sequence > gtid.sequence
                || (last.sequence, last.server_id) == (gtid.sequence, gtid.server_id)
        });
        before || self.log.is_some_and(|log| log.contains(gtid))
    }
}

/// Transactions of a server that another one lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Stray {
    /// By their numbers.
    Mysql(GtidSet),
    /// By number and server, in order; of each server and domain the last.
    Mariadb(Vec<DomainGtid>),
}

impl Stray {
    /// Everything that the server has by its answer.
    pub(super) fn all_of(sample: &Sample) -> Self {
        match &*sample.applied {
            Position::Mysql(set) => Self::Mysql(set.clone()),
            Position::Mariadb(applied) => {
                let mut all: Vec<DomainGtid> = applied.iter().collect();
                all.extend(sample.log.iter().flat_map(|log| log.iter()));
                all.sort_by_key(|gtid| (gtid.domain, gtid.server_id, std::cmp::Reverse(gtid.sequence)));
                all.dedup_by_key(|gtid| (gtid.domain, gtid.server_id));
                Self::Mariadb(all)
            }
        }
    }

    /// What of it the other does not have.
    pub(super) fn without(self, history: History<'_>) -> Self {
        match (self, history.position) {
            (Self::Mysql(set), Position::Mysql(known)) => Self::Mysql(set.missing_from(known)),
            (Self::Mysql(set), Position::Mariadb(_)) => Self::Mysql(set),
            (Self::Mariadb(mut gtids), _) => {
                gtids.retain(|gtid| !history.has(*gtid));
                Self::Mariadb(gtids)
            }
        }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Mysql(set) => set.is_empty(),
            Self::Mariadb(gtids) => gtids.is_empty(),
        }
    }
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mysql(set) => set.fmt(f),
            Self::Mariadb(gtids) => {
                let text: Vec<String> = gtids.iter().map(DomainGtid::to_string).collect();
                f.write_str(&text.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtid::Flavor;
    use std::sync::Arc;

    fn position(text: &str) -> Position {
        Position::parse(Flavor::Mariadb, text.as_bytes()).unwrap()
    }

    /// What a MariaDB server with this position and log has and another one has not.
    fn stray(applied: &str, log: &str, history: (&str, &str)) -> String {
        let now = Instant::now();
        let sample = Sample {
            identity: "3".to_owned(),
            writable: false,
            applied: Arc::new(position(applied)),
            logged: Arc::new(position(applied)),
            log: Some(Arc::new(BinlogState::parse(log.as_bytes()).unwrap())),
            sent_at: now,
            received_at: now,
        };
        let log = BinlogState::parse(history.1.as_bytes()).unwrap();
        let known = position(history.0);
        let history = History { position: &known, log: Some(&log), sent_at: None };
        Stray::all_of(&sample).without(history).to_string()
    }

    #[test]
    fn a_number_given_twice_is_found_in_the_logs() {
        // The old primary came back with 0-1-7, which the new one never had.
        assert_eq!(stray("0-2-8", "0-1-7,0-2-8", ("0-1-6", "0-2-8")), "0-1-7");
        // What the new primary applied before it logged anything is no such thing.
        assert_eq!(stray("0-2-8", "0-1-6,0-2-8", ("0-1-6", "0-2-8")), "");
        assert_eq!(stray("0-2-8", "0-1-6,0-2-8", ("", "0-1-6,0-2-8")), "");
    }

    #[test]
    fn a_number_given_twice_is_found_in_the_position_of_who_logs_nothing() {
        for new_primary in [("0-1-99", "0-2-100"), ("0-1-99", "0-1-99,0-2-101"), ("", "0-1-99,0-2-500")] {
            assert_eq!(stray("0-1-100", "", new_primary), "0-1-100", "{new_primary:?}");
            assert_eq!(stray("0-1-99,7-1-1", "", new_primary), "7-1-1", "{new_primary:?}");
        }
        // Late, and of a server that was primary long ago.
        assert_eq!(stray("0-1-40", "", ("0-2-80", "0-3-81")), "");
        // The same number of two servers.
        assert_eq!(stray("0-1-80", "", ("0-2-80", "0-3-81")), "0-1-80");
    }
}
