//! MariaDB's `@@gtid_binlog_state`: the last sequence number *each server* wrote in each domain.
//!
//! A position alone cannot tell whether a new primary has a transaction: after a failover that lost `0-1-193747` the
//! new primary writes `0-2-193747`, and every comparison of numbers says "applied". The state still shows
//! `0-1-193746`.

use crate::domain::{DomainGtid, DomainPositions};
use crate::error::ParseError;
use crate::mariadb_text;

/// The last sequence number per domain and server, as in `@@gtid_binlog_state`. Empty on a server without
/// `log_slave_updates` that never wrote: then nothing can be proved to be there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BinlogState(Vec<DomainGtid>);

impl BinlogState {
    /// Reads the text of `@@gtid_binlog_state`.
    ///
    /// # Errors
    /// When the text is not a list of GTIDs, or larger than this crate's bounds.
    pub fn parse(text: &[u8]) -> Result<Self, ParseError> {
        let mut entries = Vec::new();
        mariadb_text::parse_list(text, |gtid| entries.push(gtid))?;
        entries.sort_by_key(|gtid| (gtid.domain, gtid.server_id, gtid.sequence));
        entries.dedup_by(|next, kept| {
            let same = (next.domain, next.server_id) == (kept.domain, kept.server_id);
            if same {
                *kept = *next;
            }
            same
        });
        Ok(Self(entries))
    }

    /// The last GTID of each server in each domain, in order of domains and servers.
    pub fn iter(&self) -> impl Iterator<Item = DomainGtid> {
        self.0.iter().copied()
    }

    /// The last sequence number that a server wrote in a domain.
    pub fn last_of(&self, domain: u32, server_id: u32) -> Option<u64> {
        let key = (domain, server_id);
        let at = self.0.binary_search_by_key(&key, |entry| (entry.domain, entry.server_id)).ok()?;
        self.0.get(at).map(|entry| entry.sequence)
    }

    /// Whether this very transaction went through the binary log: its server has come at least this far in its domain.
    pub fn contains(&self, gtid: DomainGtid) -> bool {
        self.last_of(gtid.domain, gtid.server_id).is_some_and(|last| last >= gtid.sequence)
    }

    /// The GTIDs of `need` that never went through this binary log: what a failover to this server has lost.
    #[must_use]
    pub fn lost(&self, need: &DomainPositions) -> DomainPositions {
        DomainPositions::from_unordered(need.iter().filter(|&gtid| !self.contains(gtid)).collect())
    }
}
