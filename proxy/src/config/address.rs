//! Where a node or a listener is: a TCP host and port, or a UNIX socket.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::path::PathBuf;
use std::str::FromStr;

/// The longest path a UNIX socket can have on Linux, in bytes (`sun_path` less its closing zero).
const SOCKET_PATH_MAX: usize = 107;

/// The longest name DNS can carry, in bytes (RFC 1035, section 2.3.4).
const HOST_NAME_MAX: usize = 253;

/// An address as the file writes it: `host:port`, `[v6]:port` or `unix:/path`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// A TCP endpoint.
    Tcp {
        /// A name or an IP address, without brackets.
        host: String,
        /// The port; 0 is only of use to a listener, which then takes any free one.
        port: u16,
    },
    /// The absolute path of a UNIX socket.
    Unix(PathBuf),
}

/// Why a text is not an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// There is no `:port` at the end.
    #[error("\"{0}\" has no port; write \"host:port\" or \"unix:/path\"")]
    NoPort(String),
    /// The port is not a number from 0 to 65535.
    #[error("\"{0}\" is not a port; write a number from 1 to 65535")]
    BadPort(String),
    /// An IPv6 address stands without brackets.
    #[error("\"{0}\" is an IPv6 address without brackets; write \"[address]:port\"")]
    NoBrackets(String),
    /// The host is empty, too long or contains something no host name contains.
    #[error("\"{0}\" is not a host; write a name, an IPv4 address, or an IPv6 address in brackets")]
    BadHost(String),
    /// The path of the socket is relative, so it would depend on where the process was started.
    #[error("the socket path \"{0}\" is not absolute; write \"unix:/path\"")]
    RelativePath(String),
    /// The system cannot bind or reach a socket with so long a path.
    #[error("the socket path is longer than {SOCKET_PATH_MAX} bytes; use a shorter one")]
    LongPath,
}

impl Address {
    /// Whether only processes on this machine can reach it.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Unix(_) => true,
            Self::Tcp { host, .. } => {
                host.eq_ignore_ascii_case("localhost")
                    || host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
            }
        }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if let Some(path) = text.strip_prefix("unix:") {
            return socket(path);
        }
        if text.parse::<Ipv6Addr>().is_ok() {
            return Err(AddressError::NoBrackets(text.to_owned()));
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(|| AddressError::NoPort(text.to_owned()))?;
        let host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(v6) => match v6.parse::<Ipv6Addr>() {
                Ok(_) => v6,
                Err(_) => return Err(AddressError::BadHost(host.to_owned())),
            },
            None if text.ends_with(']') => return Err(AddressError::NoPort(text.to_owned())),
            None if is_host(host) => host,
            None => return Err(AddressError::BadHost(host.to_owned())),
        };
        // `u16::from_str` takes a leading plus sign, which nobody means.
        if !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(AddressError::BadPort(port.to_owned()));
        }
        let port = port.parse().map_err(|_| AddressError::BadPort(port.to_owned()))?;
        Ok(Self::Tcp { host: host.to_owned(), port })
    }
}

fn socket(path: &str) -> Result<Address, AddressError> {
    if !path.starts_with('/') {
        return Err(AddressError::RelativePath(path.to_owned()));
    }
    if path.len() > SOCKET_PATH_MAX {
        return Err(AddressError::LongPath);
    }
    Ok(Address::Unix(PathBuf::from(path)))
}

fn is_host(host: &str) -> bool {
    (1..=HOST_NAME_MAX).contains(&host.len())
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_back() {
        for text in ["127.0.0.1:3306", "db-1.example:1", "[::1]:6446", "unix:/run/mysqld/mysqld.sock"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        let v6 = "[::1]:6446".parse::<Address>().unwrap();
        assert_eq!(v6, Address::Tcp { host: "::1".into(), port: 6446 });
    }

    #[test]
    fn a_mistake_is_told_with_its_remedy() {
        #[track_caller]
        fn check(text: &str, wanted: &str) {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(wanted), "{text}: {error}");
        }
        check("db1", "has no port");
        check("", "has no port");
        check("[::1]", "has no port");
        check("::1", "without brackets");
        check("fe80::1:3306", "without brackets");
        check("[db1]:3306", "not a host");
        check(":3306", "not a host");
        check("*:3306", "not a host");
        check("a b:3306", "not a host");
        check("db1:", "not a port");
        check("db1:70000", "not a port");
        check("db1:+1", "not a port");
        check("unix:mysqld.sock", "not absolute");
        check(&format!("unix:/{}", "x".repeat(107)), "107 bytes");
    }

    #[test]
    fn local_is_what_only_this_machine_reaches() {
        for text in
            ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "localhost:1", "unix:/s"]
        {
            assert!(text.parse::<Address>().unwrap().is_local(), "{text}");
        }
        for text in ["0.0.0.0:1", "[::]:1", "10.0.0.1:1", "db1:1"] {
            assert!(!text.parse::<Address>().unwrap().is_local(), "{text}");
        }
    }
}
