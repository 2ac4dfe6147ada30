//! A server's packet during authentication, and a password decrypted from a client's.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::auth::caching_sha2::{unxor_password, xor_password};
use wire::auth::native::stage2_from_hex;
use wire::{AuthPacket, Capabilities};

fuzz_target!(|payload: &[u8]| {
    for capabilities in [Capabilities::default(), Capabilities::SESSION_TRACK] {
        let _ = AuthPacket::parse(payload, capabilities);
    }
    let _ = stage2_from_hex(payload);
    let nonce = b"0123456789abcdefghij";
    if let Some(password) = unxor_password(payload, nonce) {
        assert_eq!(xor_password(&password, nonce).as_slice(), payload);
    }
});
