//! An ERR packet.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Capabilities, ErrPacket};

fuzz_target!(|payload: &[u8]| {
    let Ok(err) = ErrPacket::parse(payload) else { return };
    let _ = err.to_string();
    let mut written = Vec::new();
    err.write(&mut written, Capabilities::PROTOCOL_41);
    assert_eq!(ErrPacket::parse(&written), Ok(err));
});
