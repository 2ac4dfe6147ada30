//! MariaDB's ed25519 accounts (plugin client_ed25519).
//!
//! The signature scheme is Ed25519 with one difference: the secret is SHA-512 of the password, of any length, where the
//! standard hashes a seed of 32 bytes. The server keeps the public key and sends a nonce of 32 bytes.

use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest, Sha512};

/// Bytes of the nonce in the switch request.
pub const NONCE: usize = 32;

/// SHA-512 of the password: enough to log in.
pub fn secret_from_password(password: &[u8]) -> [u8; 64] {
    Sha512::digest(password).into()
}

/// The public key, what the server keeps (base64 in its grant tables).
pub fn public_key(secret: &[u8; 64]) -> [u8; 32] {
    VerifyingKey::from(&ExpandedSecretKey::from_bytes(secret)).to_bytes()
}

/// The client's response.
pub fn sign(secret: &[u8; 64], nonce: &[u8]) -> [u8; 64] {
    let expanded = ExpandedSecretKey::from_bytes(secret);
    raw_sign::<Sha512>(&expanded, nonce, &VerifyingKey::from(&expanded)).to_bytes()
}

/// Whether `signature` is the response to `nonce` of who holds the secret of `public`.
pub fn verify(public: &[u8; 32], nonce: &[u8], signature: &[u8; 64]) -> bool {
    VerifyingKey::from_bytes(public)
        .is_ok_and(|key| key.verify_strict(nonce, &Signature::from_bytes(signature)).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_servers_public_key_is_ours() {
        // authentication_string of an account IDENTIFIED VIA ed25519 USING PASSWORD('edpw') on MariaDB 10.11, in base64:
        // LIEvGDGjHTmKyz3peLRjPqahOct5n6/BQCNm1bOvot4
        let public = [
            0x2C, 0x81, 0x2F, 0x18, 0x31, 0xA3, 0x1D, 0x39, 0x8A, 0xCB, 0x3D, 0xE9, 0x78, 0xB4, 0x63, 0x3E,
            0xA6, 0xA1, 0x39, 0xCB, 0x79, 0x9F, 0xAF, 0xC1, 0x40, 0x23, 0x66, 0xD5, 0xB3, 0xAF, 0xA2, 0xDE,
        ];
        assert_eq!(public_key(&secret_from_password(b"edpw")), public);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn only_the_password_signs(password: Vec<u8>, nonce: [u8; NONCE], bit in 0..512_usize) {
            let secret = secret_from_password(&password);
            let public = public_key(&secret);
            let mut signature = sign(&secret, &nonce);
            prop_assert!(verify(&public, &nonce, &signature));
            signature[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(!verify(&public, &nonce, &signature));
        }
    }
}
