//! caching_sha2_password: SHA-256, with a cache on the server that makes later logins fast.
//!
//! With *stage 1* = SHA256(password) and *stage 2* = SHA256(stage 1), a client sends stage 1 XOR SHA256(stage 2, nonce).
//! A server that has stage 2 in its cache checks it and says FAST_AUTH_OK; otherwise it says FULL_AUTH and the client sends
//! the password itself: as it is inside TLS, else mixed with the nonce and encrypted for the server's RSA key.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Bytes of a stage and of a response.
pub const LENGTH: usize = 32;

/// The client's packet that asks for the server's RSA key.
pub const REQUEST_PUBLIC_KEY: u8 = 2;
/// The server's data: the response fits the cache; OK follows.
pub const FAST_AUTH_OK: u8 = 3;
/// The server's data: send the password.
pub const FULL_AUTH: u8 = 4;

/// SHA256(password).
pub fn stage1(password: &[u8]) -> [u8; LENGTH] {
    Sha256::digest(password).into()
}

/// SHA256(stage 1), what the server caches.
pub fn stage2(stage1: &[u8; LENGTH]) -> [u8; LENGTH] {
    Sha256::digest(stage1).into()
}

/// The response of a client that knows stage 1. (An empty password has an empty response instead.)
pub fn scramble(stage1: &[u8; LENGTH], nonce: &[u8]) -> [u8; LENGTH] {
    super::xor(stage1, &mask(nonce, &stage2(stage1)))
}

/// Stage 1 of a client that gave `response` to `nonce`, if it fits `stage2`.
pub fn recover_stage1(response: &[u8; LENGTH], nonce: &[u8], stage2: &[u8; LENGTH]) -> Option<[u8; LENGTH]> {
    let stage1 = super::xor(response, &mask(nonce, stage2));
    let proven = self::stage2(&stage1).ct_eq(stage2);
    bool::from(proven).then_some(stage1)
}

fn mask(nonce: &[u8], stage2: &[u8; LENGTH]) -> [u8; LENGTH] {
    Sha256::new().chain_update(stage2).chain_update(nonce).finalize().into()
}

/// The password with a NUL behind it, mixed with the repeated nonce: what the client encrypts with RSA (OAEP, SHA-1).
pub fn xor_password(password: &[u8], nonce: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut mixed = Zeroizing::new(Vec::with_capacity(password.len() + 1));
    mixed.extend_from_slice(password);
    mixed.push(0);
    mix(&mut mixed, nonce);
    mixed
}

/// The password, without the NUL, from what was decrypted; `None` if it does not end with NUL.
pub fn unxor_password(mixed: &[u8], nonce: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut password = Zeroizing::new(mixed.to_vec());
    mix(&mut password, nonce);
    (password.pop() == Some(0)).then_some(password)
}

fn mix(bytes: &mut [u8], nonce: &[u8]) {
    bytes.iter_mut().zip(nonce.iter().cycle()).for_each(|(byte, nonce)| *byte ^= nonce);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_response_gives_the_stage_away(password: Vec<u8>, nonce: [u8; 20], other: [u8; 20]) {
            let stage1 = stage1(&password);
            let stage2 = stage2(&stage1);
            let response = scramble(&stage1, &nonce);
            prop_assert_eq!(recover_stage1(&response, &nonce, &stage2), Some(stage1));
            prop_assert_eq!(recover_stage1(&response, &other, &stage2), (other == nonce).then_some(stage1));
        }

        #[test]
        fn a_mixed_password_comes_back(password: Vec<u8>, nonce: [u8; 20]) {
            let mixed = xor_password(&password, &nonce);
            let back = unxor_password(&mixed, &nonce).unwrap();
            prop_assert_eq!(back.as_slice(), password.as_slice());
        }
    }

    #[test]
    fn what_does_not_end_with_nul_is_no_password() {
        assert!(unxor_password(b"abc", b"01234567890123456789").is_none());
        assert!(unxor_password(b"", b"01234567890123456789").is_none());
    }
}
