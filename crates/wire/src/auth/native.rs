//! mysql_native_password: SHA-1 of SHA-1.
//!
//! With *stage 1* = SHA1(password) and *stage 2* = SHA1(stage 1), the server keeps stage 2 and the client proves stage 1
//! by sending stage 1 XOR SHA1(nonce, stage 2). Who holds stage 2 and sees one response therefore learns stage 1, which is
//! enough to log in elsewhere as this account; this is how the proxy does it.

use sha1::{Digest, Sha1};
use subtle::ConstantTimeEq;

/// Bytes of a stage and of a response.
pub const LENGTH: usize = 20;

/// SHA1(password).
pub fn stage1(password: &[u8]) -> [u8; LENGTH] {
    Sha1::digest(password).into()
}

/// SHA1(stage 1), what the server keeps.
pub fn stage2(stage1: &[u8; LENGTH]) -> [u8; LENGTH] {
    Sha1::digest(stage1).into()
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
    Sha1::new().chain_update(nonce).chain_update(stage2).finalize().into()
}

/// Stage 2 from its form in the grant tables: an asterisk and 40 hexadecimal digits.
pub fn stage2_from_hex(text: &[u8]) -> Option<[u8; LENGTH]> {
    let digits = text.strip_prefix(b"*").filter(|digits| digits.len() == 2 * LENGTH)?;
    let mut stage2 = [0; LENGTH];
    for (byte, pair) in stage2.iter_mut().zip(digits.chunks_exact(2)) {
        for &digit in pair {
            let value = u8::try_from(char::from(digit).to_digit(16)?).ok()?;
            *byte = *byte << 4 | value;
        }
    }
    Some(stage2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_grant_tables_form_is_read() {
        // SELECT PASSWORD('secret') on MariaDB.
        let stage2 = stage2_from_hex(b"*14E65567ABDB5135D0CFD9A70B3032C179A49EE7").unwrap();
        assert_eq!(stage2, super::stage2(&stage1(b"secret")));
        assert_eq!(stage2_from_hex(b"14E65567ABDB5135D0CFD9A70B3032C179A49EE7"), None);
        assert_eq!(stage2_from_hex(b"*14E65567ABDB5135D0CFD9A70B3032C179A49EE"), None);
        assert_eq!(stage2_from_hex(b"*14E65567ABDB5135D0CFD9A70B3032C179A49EEG"), None);
    }

    proptest! {
        #[test]
        fn a_response_gives_the_stage_away(password: Vec<u8>, nonce: [u8; 20], other: [u8; 20]) {
            let stage1 = stage1(&password);
            let stage2 = stage2(&stage1);
            let response = scramble(&stage1, &nonce);
            prop_assert_eq!(recover_stage1(&response, &nonce, &stage2), Some(stage1));
            prop_assert_eq!(recover_stage1(&response, &other, &stage2), (other == nonce).then_some(stage1));
        }
    }
}
