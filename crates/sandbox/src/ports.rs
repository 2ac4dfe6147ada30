//! Ports for servers that do not run yet.
//!
//! A port taken from the system by binding port 0 lies in the range it hands out to outgoing connections: before the server
//! binds it, or while the server is being restarted, a client's connection may have got it. The ports here are drawn at
//! random from below that range; a collision with another program is seen when the server fails to bind, and another port is
//! drawn.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    net::{Ipv4Addr, TcpListener},
};

/// Above the registered ports people use for databases, below Linux's default `ip_local_port_range` (32768 and up).
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A port that nobody listens on now. Falls back to one the system chooses if hardly any is left.
pub(crate) fn free() -> u16 {
    for _ in 0..1000 {
        let port = FIRST + random() % COUNT;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map_or(FIRST, |address| address.port())
}

/// Sixteen random bits: every hasher state the standard library makes is seeded anew.
fn random() -> u16 {
    let bytes = RandomState::new().build_hasher().finish().to_le_bytes();
    u16::from_le_bytes([bytes[0], bytes[1]])
}
