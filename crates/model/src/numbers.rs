//! The names that servers give to writes, and the positions made of them.
//!
//! MySQL names a write after the server that made it, so that a name is never given twice. MariaDB counts on from where
//! the new primary stands: after a failover that lost writes, a number that was lost is given to another write.

use gtid::{Flavor, Position, Uuid};

use super::writes::{Set, Write};

/// The name of a MySQL source: the first primary, or its successor.
fn uuid(successor: bool) -> Uuid {
    Uuid::from_bytes([u8::from(successor); 16])
}

/// How writes are numbered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Numbers {
    pub(crate) family: Flavor,
    /// What the successor has of the first primary's writes; its own numbers come after these.
    pub(crate) kept: Set,
}

impl Numbers {
    /// The position of a server that has these, or the name of a single one.
    pub(crate) fn position(self, set: Set) -> Position {
        let text = match self.family {
            Flavor::Mysql => set.iter().map(|write| self.name(write)).collect::<Vec<_>>().join(","),
            Flavor::Mariadb => set.last().map(|write| self.name(write)).unwrap_or_default(),
        };
        Position::parse(self.family, text.as_bytes()).unwrap()
    }

    /// The writes that a position stands for. The converse of [`Self::position`] for whatever one server can have.
    pub(crate) fn set(self, position: &Position) -> Set {
        match position {
            Position::Mysql(set) => [false, true]
                .into_iter()
                .flat_map(|successor| {
                    let source = uuid(successor).into();
                    let counts = set.intervals_of(&source).iter().flat_map(|part| part.first()..=part.last());
                    counts.map(move |count| Write::of(successor, u8::try_from(count - 1).unwrap()))
                })
                .fold(Set::EMPTY, |set, write| set.with(Set::only(write))),
            Position::Mariadb(domains) => {
                let Some(last) = domains.get(0) else { return Set::EMPTY };
                let sequence = u8::try_from(last.sequence).unwrap();
                if last.server_id == 1 {
                    Set::FIRST.up_to(Write::of(false, sequence - 1))
                } else {
                    let own = sequence - self.kept.len();
                    (0..own).fold(self.kept, |set, count| set.with(Set::only(Write::of(true, count))))
                }
            }
        }
    }

    /// What the OK of a write tells, when the server's log then holds this much: MySQL names the write alone, MariaDB's
    /// number stands for everything before it too.
    pub(crate) fn told(self, write: Write, log: Set) -> Set {
        match self.family {
            Flavor::Mysql => Set::only(write),
            Flavor::Mariadb => log.up_to(write),
        }
    }

    fn name(self, write: Write) -> String {
        let count = write.count() + 1;
        match (self.family, write.is_successors()) {
            (Flavor::Mysql, successor) => format!("{}:{count}", uuid(successor)),
            (Flavor::Mariadb, false) => format!("0-1-{count}"),
            (Flavor::Mariadb, true) => format!("0-2-{}", self.kept.len() + count),
        }
    }
}

#[test]
fn positions_and_sets_stand_for_each_other() {
    let kept = Set(0b001);
    for family in [Flavor::Mysql, Flavor::Mariadb] {
        let numbers = Numbers { family, kept };
        for set in [0, 0b001, 0b011, 0b111, 0b001_001, 0b011_001].map(Set) {
            assert_eq!(numbers.set(&numbers.position(set)), set, "{family}");
        }
    }
    // The number of a write that was lost is given again, by MariaDB only.
    let covers = |family| {
        let numbers = Numbers { family, kept };
        numbers.position(Set(0b011)).covers(&numbers.position(Set(0b001_001)))
    };
    assert!(covers(Flavor::Mariadb) && !covers(Flavor::Mysql));
}
