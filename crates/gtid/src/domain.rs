//! A MariaDB position: the last GTID of each replication domain.
//!
//! Within a domain the log is one sequence, so "up to and including number N" says everything, and the position is a
//! small map. Numbers are comparable only as long as one primary writes the domain: after a failover that lost
//! transactions two different ones carry the same number. [`BinlogState`](crate::BinlogState) tells them apart.

use std::fmt;

use smallvec::SmallVec;

use crate::error::ParseError;
use crate::mariadb_text;

/// A MariaDB GTID, `domain-server-sequence`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DomainGtid {
    /// `gtid_domain_id`: which of the independent logs.
    pub domain: u32,
    /// `server_id` of the server that wrote the transaction first.
    pub server_id: u32,
    /// The number within the domain, counting up.
    pub sequence: u64,
}

impl DomainGtid {
    /// Which of two of one domain is further. The server id only breaks ties, so that merging does not depend on order.
    fn is_beyond(self, other: Self) -> bool {
        (self.sequence, self.server_id) > (other.sequence, other.server_id)
    }
}

impl fmt::Display for DomainGtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.domain, self.server_id, self.sequence)
    }
}

impl fmt::Debug for DomainGtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The last GTID of each domain, as in `@@gtid_slave_pos` and `@@gtid_binlog_pos`; sorted by domain.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct DomainPositions(SmallVec<[DomainGtid; 3]>);

impl From<DomainGtid> for DomainPositions {
    /// The position at which this was the last transaction.
    fn from(gtid: DomainGtid) -> Self {
        Self::from_unordered(SmallVec::from_slice(&[gtid]))
    }
}

impl DomainPositions {
    /// Reads `0-1-16,7-1-3`. Of several GTIDs of a domain the furthest counts; sequence number 0, which no transaction
    /// has, says that nothing of the domain was applied and is left out.
    ///
    /// # Errors
    /// When the text is not a list of GTIDs, or larger than this crate's bounds.
    pub fn parse(text: &[u8]) -> Result<Self, ParseError> {
        let mut positions = SmallVec::new();
        mariadb_text::parse_list(text, |gtid| positions.push(gtid))?;
        Ok(Self::from_unordered(positions))
    }

    pub(crate) fn from_unordered(mut positions: SmallVec<[DomainGtid; 3]>) -> Self {
        positions.retain(|gtid| gtid.sequence > 0);
        positions.sort_by_key(|gtid| (gtid.domain, gtid.sequence, gtid.server_id));
        positions.dedup_by(|next, kept| {
            let same = next.domain == kept.domain;
            if same {
                *kept = *next;
            }
            same
        });
        Self(positions)
    }

    /// Whether no domain has anything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The last GTID of a domain.
    pub fn get(&self, domain: u32) -> Option<DomainGtid> {
        let at = self.0.binary_search_by_key(&domain, |gtid| gtid.domain).ok()?;
        self.0.get(at).copied()
    }

    /// The last GTID of each domain, in order of the domains.
    pub fn iter(&self) -> impl Iterator<Item = DomainGtid> {
        self.0.iter().copied()
    }

    /// Whether every domain of `need` has come at least as far here.
    pub fn covers(&self, need: &Self) -> bool {
        need.missing(self).next().is_none()
    }

    /// Takes the further GTID of each domain.
    pub fn merge(&mut self, other: &Self) {
        self.take_over(other, DomainGtid::is_beyond);
    }

    /// Takes the GTIDs of `written` for its domains, further or not, and keeps the other domains.
    pub fn overwrite(&mut self, written: &Self) {
        self.take_over(written, |_, _| true);
    }

    fn take_over(&mut self, other: &Self, wins: fn(DomainGtid, DomainGtid) -> bool) {
        let mut fresh: SmallVec<[DomainGtid; 3]> = SmallVec::new();
        for &theirs in &other.0 {
            let found = self.0.binary_search_by_key(&theirs.domain, |gtid| gtid.domain).ok();
            match found.and_then(|at| self.0.get_mut(at)) {
                Some(mine) if wins(theirs, *mine) => *mine = theirs,
                Some(_) => {}
                None => fresh.push(theirs),
            }
        }
        if !fresh.is_empty() {
            self.0.extend(fresh);
            self.0.sort_by_key(|gtid| gtid.domain);
        }
    }

    /// The domains that are further here than in `applied`, each with its last GTID here.
    #[must_use]
    pub fn missing_from(&self, applied: &Self) -> Self {
        Self(self.missing(applied).map(|(gtid, _)| gtid).collect())
    }

    /// Whether both have come anywhere in a common domain.
    pub fn intersects(&self, other: &Self) -> bool {
        let (few, many) = if self.0.len() <= other.0.len() { (self, other) } else { (other, self) };
        few.iter().any(|gtid| many.get(gtid.domain).is_some())
    }

    /// The first of [`DomainPositions::missing_from`], as text. It is the last GTID of its domain, not the next one
    /// `applied` will get: a position does not know who wrote the ones between.
    pub fn first_missing(&self, applied: &Self) -> Option<String> {
        self.missing(applied).next().map(|(gtid, _)| gtid.to_string())
    }

    /// How many sequence numbers `applied` is behind, over all domains; saturating. Numbers may have gaps, so this is
    /// at least the number of transactions.
    pub fn count_missing_from(&self, applied: &Self) -> u64 {
        self.missing(applied).fold(0, |sum, (gtid, have)| sum.saturating_add(gtid.sequence - have))
    }

    /// How many domains: the size of the value.
    pub fn domains(&self) -> usize {
        self.0.len()
    }

    /// The text of the GTID after a domain's last: what to wait for to learn that the domain has moved. `None` when
    /// the domain is not known here or has used up its numbers.
    pub fn next_gtid(&self, domain: u32) -> Option<String> {
        let last = self.get(domain)?;
        let sequence = last.sequence.checked_add(1)?;
        Some(DomainGtid { sequence, ..last }.to_string())
    }

    /// Each GTID here that `applied` has not reached, with how far `applied` is.
    fn missing<'a>(&'a self, applied: &'a Self) -> impl Iterator<Item = (DomainGtid, u64)> + use<'a> {
        self.0.iter().filter_map(|&gtid| {
            let have = applied.get(gtid.domain).map_or(0, |theirs| theirs.sequence);
            (have < gtid.sequence).then_some((gtid, have))
        })
    }
}

/// The text the servers accept and print.
impl fmt::Display for DomainPositions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, gtid) in self.0.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{gtid}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for DomainPositions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}
