//! Blocks of client addresses: what an endpoint's `allow` lists.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An IPv4 or IPv6 block, such as `10.0.0.0/8`; an address alone is a block of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    base: IpAddr,
    /// Leading bits that count: 0..=32 or 0..=128.
    prefix: u8,
}

/// Why a text is not a block of addresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// What stands before the slash is not an IP address. Names are not taken: they would have to be looked up.
    #[error("\"{0}\" is not an IP address; write one, or a block such as \"10.0.0.0/8\"")]
    BadAddress(String),
    /// What stands behind the slash is not a number of bits.
    #[error("\"{text}\" is not a prefix length; write 0 to {max}")]
    BadPrefix {
        /// The text behind the slash.
        text: String,
        /// 32 or 128.
        max: u8,
    },
    /// The address has bits set that the prefix leaves out, so one of the two is a mistake.
    #[error("\"{text}\" has bits set behind its prefix; write \"{meant}\"")]
    StrayBits {
        /// The block as written.
        text: String,
        /// The block that contains it.
        meant: Network,
    },
}

impl Network {
    /// Whether the address is in the block. An IPv4 client on an IPv6 listener counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.base, address.to_canonical()) {
            (IpAddr::V4(base), IpAddr::V4(address)) => masked_v4(address, self.prefix) == base,
            (IpAddr::V6(base), IpAddr::V6(address)) => masked_v6(address, self.prefix) == base,
            _ => false,
        }
    }
}

fn masked_v4(address: Ipv4Addr, prefix: u8) -> Ipv4Addr {
    let mask = u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0);
    Ipv4Addr::from(u32::from(address) & mask)
}

fn masked_v6(address: Ipv6Addr, prefix: u8) -> Ipv6Addr {
    let mask = u128::MAX.checked_shl(128 - u32::from(prefix.min(128))).unwrap_or(0);
    Ipv6Addr::from(u128::from(address) & mask)
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| NetworkError::BadAddress(address.to_owned()))?;
        let max = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => max,
            Some(digits) => digits
                .parse()
                .ok()
                .filter(|bits| *bits <= max)
                .ok_or_else(|| NetworkError::BadPrefix { text: digits.to_owned(), max })?,
        };
        let base = match address {
            IpAddr::V4(v4) => IpAddr::V4(masked_v4(v4, prefix)),
            IpAddr::V6(v6) => IpAddr::V6(masked_v6(v6, prefix)),
        };
        let network = Self { base, prefix };
        if base != address {
            return Err(NetworkError::StrayBits { text: text.to_owned(), meant: network });
        }
        Ok(network)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(network: &str, address: &str, inside: bool) {
        let network: Network = network.parse().unwrap();
        assert_eq!(network.contains(address.parse().unwrap()), inside, "{network} {address}");
    }

    #[test]
    fn blocks_contain_what_shares_their_prefix() {
        check("10.0.0.0/8", "10.255.0.1", true);
        check("10.0.0.0/8", "11.0.0.1", false);
        check("192.168.1.128/25", "192.168.1.127", false);
        check("127.0.0.1", "127.0.0.1", true);
        check("127.0.0.1", "127.0.0.2", false);
        check("0.0.0.0/0", "203.0.113.9", true);
        check("0.0.0.0/0", "2001:db8::1", false);
        check("2001:db8::/32", "2001:db8:1::1", true);
        check("2001:db8::/32", "2001:db9::1", false);
        check("::/0", "::1", true);
        check("10.0.0.0/8", "::ffff:10.1.2.3", true);
    }

    #[test]
    fn mistakes_are_told_with_their_remedy() {
        let error = |text: &str| text.parse::<Network>().unwrap_err().to_string();
        assert!(error("localhost").contains("not an IP address"));
        assert!(error("10.0.0.0/33").contains("0 to 32"));
        assert!(error("::/129").contains("0 to 128"));
        assert!(error("10.0.0.0/").contains("prefix length"));
        assert_eq!(
            error("10.1.2.3/8"),
            "\"10.1.2.3/8\" has bits set behind its prefix; write \"10.0.0.0/8\""
        );
    }
}
