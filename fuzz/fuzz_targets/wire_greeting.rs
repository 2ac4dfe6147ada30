//! A server's first packet: read without harm, and the same after it was written again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::Greeting;

fuzz_target!(|payload: &[u8]| {
    let Ok(greeting) = Greeting::parse(payload) else { return };
    let _ = greeting.version_text();
    let mut written = Vec::new();
    greeting.write(&mut written);
    assert_eq!(Greeting::parse(&written), Ok(greeting));
});
