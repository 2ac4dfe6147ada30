//! Snapshots: all of one history stand in one order, and none changes while it is open.

use super::{Anomaly, Verdict, explain};
use crate::history::Read;

/// Sorted by how much they hold, each must hold all of the one before.
pub(super) fn in_one_order(reads: &[Read], verdict: &mut Verdict) {
    let size = |read: &Read| read.values.iter().map(|value| u64::from(*value)).sum::<u64>();
    let mut by_size: Vec<(u64, &Read)> = reads.iter().map(|read| (size(read), read)).collect();
    by_size.sort_by_key(|(size, _)| *size);
    for pair in by_size.windows(2) {
        if let [(_, smaller), (_, larger)] = pair
            && smaller.values.iter().zip(&larger.values).any(|(less, more)| less > more)
        {
            verdict.note(Anomaly::Torn, larger.who.level, || explain::torn(larger, smaller));
        }
    }
}

/// What was read twice in one snapshot was the same both times.
pub(super) fn repeat(reads: &[Read], verdict: &mut Verdict) {
    for read in reads {
        if let Some(again) = read.again.as_ref().filter(|again| **again != read.values) {
            verdict.note(Anomaly::Unrepeatable, read.who.level, || {
                format!(
                    "{}, read {:?}, and {again:?} in the same snapshot",
                    explain::place(read),
                    read.values
                )
            });
        }
    }
}
