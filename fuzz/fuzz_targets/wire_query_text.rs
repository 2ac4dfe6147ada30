//! COM_QUERY with and without query attributes; the first byte decides.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::command::query_text;
use wire::{Capabilities, CommandCode};

fuzz_target!(|bytes: &[u8]| {
    let Some((named, payload)) = bytes.split_first() else { return };
    let capabilities = if named & 1 == 1 { Capabilities::QUERY_ATTRIBUTES } else { Capabilities::default() };
    let _ = payload.first().copied().and_then(CommandCode::from_u8);
    if let Ok(text) = query_text(payload, capabilities) {
        assert_eq!(text.end, payload.len());
        assert!(payload.get(text).is_some());
    }
});
