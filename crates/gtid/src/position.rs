//! A position of either kind of server.

use std::fmt;

use crate::domain::DomainPositions;
use crate::error::ParseError;
use crate::gtid_set::GtidSet;

/// Which kind of GTID a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavor {
    /// MySQL and its kin: sets of `source:number`.
    Mysql,
    /// MariaDB: `domain-server-sequence`.
    Mariadb,
}

impl fmt::Display for Flavor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mysql => "MySQL",
            Self::Mariadb => "MariaDB",
        })
    }
}

/// A MySQL and a MariaDB position were to be combined, neither of them empty. One cluster has one flavour, so this is a
/// token of another cluster or a cluster of mixed servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlavorMismatch {
    /// The position that was to grow.
    pub ours: Flavor,
    /// The one that was to be added.
    pub theirs: Flavor,
}

impl fmt::Display for FlavorMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} position does not fit a {} one", self.theirs, self.ours)
    }
}

impl std::error::Error for FlavorMismatch {}

/// A log position: what was written to, or applied from, a replication log.
///
/// Equality is by value *and* flavour; an empty position of one flavour still covers, and is covered by, one of the
/// other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Position {
    /// A set of MySQL GTIDs.
    Mysql(GtidSet),
    /// The last MariaDB GTID of each domain.
    Mariadb(DomainPositions),
}

impl Default for Position {
    /// The empty MySQL position; it takes on the flavour of the first thing merged into it.
    fn default() -> Self {
        Self::empty(Flavor::Mysql)
    }
}

impl Position {
    /// The position at which nothing was written.
    pub fn empty(flavor: Flavor) -> Self {
        match flavor {
            Flavor::Mysql => Self::Mysql(GtidSet::default()),
            Flavor::Mariadb => Self::Mariadb(DomainPositions::default()),
        }
    }

    /// Reads what a server of this flavour writes: see [`GtidSet::parse`] and [`DomainPositions::parse`].
    ///
    /// # Errors
    /// When the text is not a position of that flavour, or larger than this crate's bounds.
    pub fn parse(flavor: Flavor, text: &[u8]) -> Result<Self, ParseError> {
        match flavor {
            Flavor::Mysql => GtidSet::parse(text).map(Self::Mysql),
            Flavor::Mariadb => DomainPositions::parse(text).map(Self::Mariadb),
        }
    }

    /// Its flavour.
    pub fn flavor(&self) -> Flavor {
        match self {
            Self::Mysql(_) => Flavor::Mysql,
            Self::Mariadb(_) => Flavor::Mariadb,
        }
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Mysql(set) => set.is_empty(),
            Self::Mariadb(domains) => domains.is_empty(),
        }
    }

    /// Whether a node that has applied `self` has applied `need`. An empty need is always covered; one of another
    /// flavour never is.
    pub fn covers(&self, need: &Self) -> bool {
        match (self, need) {
            (Self::Mysql(have), Self::Mysql(need)) => have.covers(need),
            (Self::Mariadb(have), Self::Mariadb(need)) => have.covers(need),
            (_, need) => need.is_empty(),
        }
    }

    /// Whether a log that ends at `self` has these very transactions. MariaDB: as far as the two alone can tell, which is
    /// when the last of each domain is of one server; [`BinlogState`](crate::BinlogState) can tell more.
    pub fn surely_has(&self, need: &Self) -> bool {
        match (self, need) {
            (Self::Mariadb(have), Self::Mariadb(need)) => need.iter().all(|gtid| {
                let last = have.get(gtid.domain);
                last.is_some_and(|last| last.server_id == gtid.server_id && last.sequence >= gtid.sequence)
            }),
            _ => self.covers(need),
        }
    }

    /// Grows to cover `other` too: the union of sets, the further GTID of each domain.
    ///
    /// # Errors
    /// When both have something, of different flavours; `self` is then unchanged.
    pub fn merge(&mut self, other: &Self) -> Result<(), FlavorMismatch> {
        match (&mut *self, other) {
            (Self::Mysql(have), Self::Mysql(new)) => have.merge(new),
            (Self::Mariadb(have), Self::Mariadb(new)) => have.merge(new),
            _ => return self.adopt(other),
        }
        Ok(())
    }

    /// What a session needs after its own write `written`: that write, because it stands in the log behind everything
    /// the session saw before. MySQL has one log, so the write replaces everything; MariaDB has one per domain, so the
    /// other domains stay. An empty `written` changes nothing.
    ///
    /// # Errors
    /// As [`Position::merge`].
    pub fn advance(&mut self, written: &Self) -> Result<(), FlavorMismatch> {
        match (&mut *self, written) {
            (_, written) if written.is_empty() => {}
            (Self::Mysql(have), Self::Mysql(new)) => have.clone_from(new),
            (Self::Mariadb(have), Self::Mariadb(new)) => have.overwrite(new),
            _ => return self.adopt(written),
        }
        Ok(())
    }

    /// Combines with a position of the other flavour, which works only while one of them is empty.
    fn adopt(&mut self, other: &Self) -> Result<(), FlavorMismatch> {
        if other.is_empty() {
            return Ok(());
        }
        if !self.is_empty() {
            return Err(FlavorMismatch { ours: self.flavor(), theirs: other.flavor() });
        }
        self.clone_from(other);
        Ok(())
    }

    /// What of `self` is not in `applied`: the difference of sets, the domains that are further here. Empty exactly
    /// when `applied` covers `self`. All of `self` when the flavours differ.
    #[must_use]
    pub fn missing_from(&self, applied: &Self) -> Self {
        match (self, applied) {
            (Self::Mysql(need), Self::Mysql(have)) => Self::Mysql(need.missing_from(have)),
            (Self::Mariadb(need), Self::Mariadb(have)) => Self::Mariadb(need.missing_from(have)),
            _ => self.clone(),
        }
    }

    /// Whether the two have a transaction in common (MariaDB: a domain).
    pub fn intersects(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Mysql(a), Self::Mysql(b)) => a.intersects(b),
            (Self::Mariadb(a), Self::Mariadb(b)) => a.intersects(b),
            _ => false,
        }
    }

    /// The text of the first GTID of `self` that `applied` lacks, for `WAIT_FOR_EXECUTED_GTID_SET` (the lowest number
    /// of the first source concerned) or `MASTER_GTID_WAIT` (the last GTID of the first domain concerned).
    pub fn first_missing(&self, applied: &Self) -> Option<String> {
        match (self, applied) {
            (Self::Mysql(need), Self::Mysql(have)) => need.first_missing(have),
            (Self::Mysql(need), _) => need.first_missing(&GtidSet::default()),
            (Self::Mariadb(need), Self::Mariadb(have)) => need.first_missing(have),
            (Self::Mariadb(need), _) => need.first_missing(&DomainPositions::default()),
        }
    }

    /// How many transactions of `self` are not in `applied`; saturating. MariaDB: sequence numbers, which may have
    /// gaps, so at least the transactions.
    pub fn count_missing_from(&self, applied: &Self) -> u64 {
        match (self, applied) {
            (Self::Mysql(need), Self::Mysql(have)) => need.count_missing_from(have),
            (Self::Mariadb(need), Self::Mariadb(have)) => need.count_missing_from(have),
            _ => self.count(),
        }
    }

    /// How many transactions; saturating. MariaDB: as [`Position::count_missing_from`] an empty position.
    pub fn count(&self) -> u64 {
        match self {
            Self::Mysql(set) => set.count(),
            Self::Mariadb(domains) => domains.count_missing_from(&DomainPositions::default()),
        }
    }

    /// The size of the value: intervals, or domains. More than a thousand is worth an alarm.
    pub fn intervals(&self) -> usize {
        match self {
            Self::Mysql(set) => set.intervals(),
            Self::Mariadb(domains) => domains.domains(),
        }
    }
}

/// The canonical text that servers of the flavour accept.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mysql(set) => fmt::Display::fmt(set, f),
            Self::Mariadb(domains) => fmt::Display::fmt(domains, f),
        }
    }
}
