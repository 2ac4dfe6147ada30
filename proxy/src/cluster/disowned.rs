//! Transactions that a node has and the server that wrote them has lost: by a crash, a restore or a RESET.
//!
//! That server gives their numbers to other transactions. From then on no comparison of numbers tells the node's
//! transactions from the new ones, and a node that was rightly set aside would look like any other. So what was lost is
//! remembered for each node that had it, through its lives and through changes of the primary, until the node answers
//! without it.
//!
//! What a node wrote itself is not remembered: nobody else gives such a number by accident, and when the primary has it,
//! an operator has put it there to settle the matter.

use std::fmt;

use gtid::{DomainGtid, GtidSet, Position, Uuid};

use super::sample::Sample;
use super::stray::{History, Stray};

/// What a node has of what others have lost.
#[derive(Clone, Debug, Default)]
pub(super) struct Disowned {
    /// MySQL: which transactions.
    set: GtidSet,
    /// MariaDB: of a domain and server, the first that was lost.
    from: Vec<DomainGtid>,
}

impl Disowned {
    /// Whether there is nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.from.is_empty()
    }

    /// Remembers what of `stray`, which the node has and the primary has not, the server behind `author` wrote and has not
    /// any more. Its answer must be younger than the node's.
    pub(super) fn note(&mut self, stray: &Stray, author: &Sample, primary: History<'_>) {
        match (stray, &*author.logged) {
            (Stray::Mysql(stray), Position::Mysql(left)) => {
                if let Ok(uuid) = Uuid::parse(author.identity.as_bytes()) {
                    self.set.merge(&stray.of_server(uuid).missing_from(left));
                }
            }
            (Stray::Mariadb(stray), _) => {
                let written = |gtid: &&DomainGtid| gtid.server_id.to_string() == author.identity;
                for gtid in stray.iter().filter(written) {
                    let last = |log: Option<&gtid::BinlogState>| {
                        log.and_then(|log| log.last_of(gtid.domain, gtid.server_id)).unwrap_or_default()
                    };
                    let left = last(author.log.as_deref());
                    if left < gtid.sequence {
                        self.note_from(DomainGtid { sequence: left.max(last(primary.log)) + 1, ..*gtid });
                    }
                }
            }
            (Stray::Mysql(_), Position::Mariadb(_)) => {}
        }
    }

    fn note_from(&mut self, first: DomainGtid) {
        match self.from.iter_mut().find(|known| is_of(known, &first)) {
            Some(known) => known.sequence = known.sequence.min(first.sequence),
            None => self.from.push(first),
        }
    }

    /// Forgets what the node has not any more by its own answer. `logs_updates`: whether what it applies stands in its log;
    /// of what it only applied, it shows the last.
    pub(super) fn keep_what_is_left(&mut self, sample: &Sample, logs_updates: bool) {
        if let Position::Mysql(set) = &*sample.applied
            && !self.set.is_empty()
        {
            self.set = self.set.common_with(set);
        }
        self.from.retain(|first| has(sample, logs_updates, first));
    }

    /// The primary is another one, which has `kept`: what was disowned is right now, and the numbers given again are
    /// wrong.
    pub(super) fn turn(&mut self, kept: &Self, sample: Option<&Sample>, logs_updates: bool) {
        let known = self.clone();
        self.set = known.set.missing_from(&kept.set);
        self.from.retain(|first| !kept.from.iter().any(|kept| is_of(kept, first)));
        let Some(sample) = sample else { return };
        if let Position::Mysql(set) = &*sample.applied {
            self.set.merge(&set.common_with(&kept.set).missing_from(&known.set));
        }
        let others = kept.from.iter().filter(|kept| !known.from.iter().any(|known| is_of(known, kept)));
        self.from.extend(others.filter(|first| has(sample, logs_updates, first)));
    }
}

fn is_of(one: &DomainGtid, other: &DomainGtid) -> bool {
    (one.domain, one.server_id) == (other.domain, other.server_id)
}

/// Whether a MariaDB server has this transaction or a later one of the same server.
fn has(sample: &Sample, logs_updates: bool, first: &DomainGtid) -> bool {
    let Position::Mariadb(applied) = &*sample.applied else { return false };
    let logged = sample.log.as_ref().is_some_and(|log| log.contains(*first));
    logged
        || applied.get(first.domain).is_some_and(|last| {
            last.sequence >= first.sequence && (last.server_id == first.server_id || !logs_updates)
        })
}

/// MariaDB: `0-1-81+` for that and whatever came behind it from the same server.
impl fmt::Display for Disowned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from: Vec<String> = self.from.iter().map(|first| format!("{first}+")).collect();
        write!(f, "{}{}", self.set, from.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtid::{BinlogState, Flavor};
    use std::sync::Arc;
    use std::time::Instant;

    const UUIDS: [&str; 2] = ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"];

    fn mysql(identity: usize, text: &str) -> Sample {
        let text = text.replace('A', UUIDS[0]).replace('B', UUIDS[1]);
        let applied = Arc::new(Position::parse(Flavor::Mysql, text.as_bytes()).unwrap());
        sample(UUIDS[identity], applied, None)
    }

    fn mariadb(identity: &str, applied: &str, log: &str) -> Sample {
        let applied = Arc::new(Position::parse(Flavor::Mariadb, applied.as_bytes()).unwrap());
        sample(identity, applied, Some(Arc::new(BinlogState::parse(log.as_bytes()).unwrap())))
    }

    fn sample(identity: &str, applied: Arc<Position>, log: Option<Arc<BinlogState>>) -> Sample {
        let now = Instant::now();
        let logged = Arc::clone(&applied);
        let identity = identity.to_owned();
        Sample { identity, writable: true, applied, logged, log, sent_at: now, received_at: now }
    }

    fn history(sample: &Sample) -> History<'_> {
        History { position: &sample.applied, log: sample.log.as_deref(), sent_at: Some(sample.sent_at) }
    }

    /// What is noted of a replica when this primary answers.
    fn noted(replica: &Sample, primary: &Sample) -> Disowned {
        let mut disowned = Disowned::default();
        let stray = Stray::all_of(replica).without(history(primary));
        disowned.note(&stray, primary, history(primary));
        disowned
    }

    #[test]
    fn what_its_author_lost_is_remembered_while_the_node_has_it() {
        let mut disowned = noted(&mysql(1, "A:1-100,B:1"), &mysql(0, "A:1-80"));
        assert_eq!(disowned.to_string(), format!("{}:81-100", UUIDS[0]));
        // The numbers are given again, and the node goes on from there.
        disowned.keep_what_is_left(&mysql(1, "A:1-130"), true);
        assert!(!disowned.is_empty());
        disowned.keep_what_is_left(&mysql(1, "A:1-90"), true);
        assert_eq!(disowned.to_string(), format!("{}:81-90", UUIDS[0]));
        disowned.keep_what_is_left(&mysql(1, "A:1-70"), true);
        assert!(disowned.is_empty());
    }

    #[test]
    fn what_mariadb_lost_is_remembered_from_its_first_number_on() {
        let primary = mariadb("1", "", "0-1-80");
        let mut disowned = noted(&mariadb("2", "0-1-100", "0-1-100,0-2-3"), &primary);
        assert_eq!(disowned.to_string(), "0-1-81+");
        let again = Stray::all_of(&mariadb("2", "0-1-100", "0-1-100"));
        let primary = mariadb("1", "", "0-1-90");
        disowned.note(&again, &primary, history(&primary));
        assert_eq!(disowned.to_string(), "0-1-81+");
        for (applied, log, logs_updates, left) in [
            ("0-1-130", "0-1-130", true, true),
            ("0-1-80", "0-1-80", true, false),
            // Cloned anew from a server that was primary after that; without a log this cannot be told from having gone on.
            ("0-3-200", "0-1-80,0-3-200", true, false),
            ("0-3-200", "", false, true),
            ("0-1-80", "", false, false),
        ] {
            let mut disowned = disowned.clone();
            disowned.keep_what_is_left(&mariadb("2", applied, log), logs_updates);
            assert_eq!(!disowned.is_empty(), left, "{applied} {log}");
        }
    }

    #[test]
    fn when_a_node_that_kept_it_is_promoted_the_new_numbers_are_the_wrong_ones() {
        let lost = noted(&mysql(1, "A:1-100"), &mysql(0, "A:1-80"));
        let mut as_well = noted(&mysql(1, "A:1-95"), &mysql(0, "A:1-80"));
        as_well.turn(&lost, Some(&mysql(1, "A:1-95")), true);
        assert!(as_well.is_empty());
        let mut old_primary = Disowned::default();
        old_primary.turn(&lost, Some(&mysql(0, "A:1-85")), true);
        assert_eq!(old_primary.to_string(), format!("{}:81-85", UUIDS[0]));

        let lost = noted(&mariadb("2", "0-1-100", ""), &mariadb("1", "", "0-1-80"));
        let mut as_well = lost.clone();
        as_well.turn(&lost, Some(&mariadb("3", "0-1-95", "0-1-95")), true);
        assert!(as_well.is_empty());
        let mut old_primary = Disowned::default();
        old_primary.turn(&lost, Some(&mariadb("1", "", "0-1-85")), true);
        assert_eq!(old_primary.to_string(), "0-1-81+");
    }
}
