//! Authentication: the plugins' arithmetic, and the packets between login and OK.
//!
//! The nonce is always the 20 bytes of the greeting or of the switch request (32 for MariaDB's ed25519). What is left
//! out: RSA (the program's TLS library does it), and plugins beyond passwords (Kerberos, LDAP, WebAuthn).

pub mod caching_sha2;
pub mod ed25519;
pub mod native;
mod packet;
mod plugin;
pub mod sha256;

pub use packet::{AuthPacket, write_more, write_switch};
pub use plugin::Plugin;

/// XORs `mask` into `target`, byte by byte.
fn xor<const N: usize>(target: &[u8; N], mask: &[u8; N]) -> [u8; N] {
    let mut mixed = *target;
    mixed.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
    mixed
}
