//! A reply to one of the proxy's own queries; the first byte is the size of the pieces it comes in.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Collected, QueryOutcome, ResultCollector};

fuzz_target!(|bytes: &[u8]| {
    let Some((piece, stream)) = bytes.split_first() else { return };
    let mut collector = ResultCollector::new(1 << 16);
    for piece in stream.chunks(usize::from(*piece).max(1)) {
        let Ok(fed) = collector.feed(piece) else { return };
        assert!(fed.consumed <= piece.len());
        match fed.collected {
            Collected::More => assert_eq!(fed.consumed, piece.len()),
            Collected::Done(outcomes) => {
                for outcome in &outcomes {
                    if let QueryOutcome::Rows(result) = outcome {
                        assert!(result.rows.iter().all(|row| row.len() == result.columns.len()));
                    }
                }
                return;
            }
        }
    }
});
