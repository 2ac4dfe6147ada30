//! An OK packet: read, and the same after it was written again for a receiver that hears everything.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Capabilities, OkPacket, Wanted};

fuzz_target!(|payload: &[u8]| {
    for capabilities in [Capabilities::default(), Capabilities::SESSION_TRACK] {
        let Ok(ok) = OkPacket::parse(payload, capabilities) else { continue };
        for wanted in [Wanted::everything(), Wanted::default()] {
            let mut written = Vec::new();
            ok.write(&mut written, payload[0], capabilities, &wanted).expect("tracked state was checked");
            let again = OkPacket::parse(&written, capabilities).expect("what was written can be read");
            assert_eq!((again.affected_rows, again.last_insert_id), (ok.affected_rows, ok.last_insert_id));
            assert_eq!((again.warnings, again.info), (ok.warnings, ok.info));
            assert!(again.tracked.iter().count() <= ok.tracked.iter().count());
        }
    }
});
