//! Session state information, and what different clients want of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{SessionTrack, Tracked, Wanted, WantedVariables};

fuzz_target!(|bytes: &[u8]| {
    let Ok(track) = SessionTrack::parse(bytes) else { return };
    let mut variables = 0;
    for tracked in track.iter() {
        if let Tracked::Variable { name, .. } = tracked.expect("all of it was checked") {
            variables += 1;
            assert!(WantedVariables::All.contains(name));
            let _ = WantedVariables::parse(name).contains(name);
        }
    }
    assert!(variables <= bytes.len());
    let _ = (Wanted::default(), WantedVariables::parse(bytes));
});
