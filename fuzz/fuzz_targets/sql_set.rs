//! SET, KILL and the statements about transactions read from any bytes: names and values are parts of the text, in order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sql::{Dialect, Kind, classify, kill_target, set, transaction_control};

fuzz_target!(|bytes: &[u8]| {
    let text = [b"SET ", bytes].concat();
    for dialect in [Dialect::default(), Dialect::from_sql_mode(b"ANSI_QUOTES,NO_BACKSLASH_ESCAPES")] {
        let whole = text.as_ptr_range();
        let mut behind = whole.start;
        for item in set::assignments(&text, dialect) {
            for part in [item.name, item.value] {
                if !part.is_empty() {
                    let range = part.as_ptr_range();
                    assert!(behind <= range.start && range.end <= whole.end);
                    behind = range.end;
                }
            }
        }
        let _ = kill_target(bytes, dialect);
        if transaction_control(bytes, dialect).is_some() {
            let kind = classify(bytes, dialect).kind;
            assert!(matches!(kind, Kind::Begin | Kind::Commit | Kind::Rollback));
        }
    }
});
