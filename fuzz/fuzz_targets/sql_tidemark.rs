//! TIDEMARK statements and hints from any bytes: what is accepted is within its limits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sql::{Dialect, MAX_TIMEOUT_US, TidemarkCommand, classify, tidemark_command};

fuzz_target!(|bytes: &[u8]| {
    let dialect = Dialect::default();
    for text in [bytes.to_vec(), [b"TIDEMARK SET ", bytes].concat(), [b"TIDEMARK SHOW ", bytes].concat()] {
        match tidemark_command(&text, dialect) {
            Ok(TidemarkCommand::SetConsistencyTimeoutUs(us)) => assert!(us <= MAX_TIMEOUT_US),
            Ok(TidemarkCommand::SetPosition(token)) => {
                assert!(!token.is_empty() && token.iter().all(u8::is_ascii_graphic));
            }
            Ok(_) => {}
            Err(text) => assert!(text.starts_with("write ")),
        }
    }
    let hinted = [b"/* tidemark: ", bytes, b" */ SELECT 1"].concat();
    if let Some((start, end)) = classify(&hinted, dialect).hints.node {
        assert!(start < end && end as usize <= hinted.len());
    }
});
