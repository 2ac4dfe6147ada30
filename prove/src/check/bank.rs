//! Accounts among which money is moved, in transactions: whoever looks, the sum is always the same.

use super::{Anomaly, Verdict, explain, snapshots};
use crate::history::Read;

/// Holds every look at the accounts against what is in all of them together.
#[must_use]
pub fn bank(reads: &[Read], total: u64) -> Verdict {
    let mut verdict = Verdict::default();
    for read in reads {
        let sum: u64 = read.values.iter().map(|value| u64::from(*value)).sum();
        if sum != total {
            verdict.note(Anomaly::Fractured, read.who.level, || {
                format!("{}, found {sum} in all accounts, and there is {total}", explain::place(read))
            });
        }
    }
    snapshots::repeat(reads, &mut verdict);
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Level, Who};

    fn look(level: Level, values: &[u32], again: Option<&[u32]>) -> Read {
        let who = Who { number: 1, level, proxy: 'A' };
        Read { who, begin: 1, end: 2, node: 2, values: values.into(), again: again.map(Into::into) }
    }

    #[test]
    fn money_neither_comes_nor_goes() {
        let reads = [look(Level::Session, &[60, 40], None), look(Level::Session, &[100], Some(&[100]))];
        assert!(bank(&reads, 100).findings().is_empty());
        for level in Level::OFFERED {
            let verdict = bank(&[look(level, &[60, 50], None)], 100);
            assert_eq!((verdict.count(level, Anomaly::Fractured), verdict.violations(level)), (1, 1));
        }
    }

    #[test]
    fn a_snapshot_does_not_change() {
        let verdict = bank(&[look(Level::Eventual, &[60, 40], Some(&[50, 50]))], 100);
        assert_eq!(verdict.count(Level::Eventual, Anomaly::Unrepeatable), 1);
    }
}
