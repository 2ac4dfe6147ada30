//! The names of authentication plugins.

/// An authentication plugin, by its client half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plugin {
    /// mysql_native_password: SHA-1, the default of MariaDB.
    NativePassword,
    /// caching_sha2_password: SHA-256, the default of MySQL since 8.0.
    CachingSha2Password,
    /// client_ed25519: MariaDB's ed25519 accounts.
    Ed25519,
    /// mysql_clear_password: the password itself; only inside TLS.
    ClearPassword,
    /// sha256_password: the password inside TLS or RSA.
    Sha256Password,
    /// Any other.
    Other,
}

impl Plugin {
    /// The plugin of this name.
    pub fn from_name(name: &[u8]) -> Plugin {
        match name {
            b"mysql_native_password" => Plugin::NativePassword,
            b"caching_sha2_password" => Plugin::CachingSha2Password,
            b"client_ed25519" => Plugin::Ed25519,
            b"mysql_clear_password" => Plugin::ClearPassword,
            b"sha256_password" => Plugin::Sha256Password,
            _ => Plugin::Other,
        }
    }

    /// The name, as it stands in packets; empty for `Other`.
    pub const fn name(self) -> &'static str {
        match self {
            Plugin::NativePassword => "mysql_native_password",
            Plugin::CachingSha2Password => "caching_sha2_password",
            Plugin::Ed25519 => "client_ed25519",
            Plugin::ClearPassword => "mysql_clear_password",
            Plugin::Sha256Password => "sha256_password",
            Plugin::Other => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for plugin in [
            Plugin::NativePassword,
            Plugin::CachingSha2Password,
            Plugin::Ed25519,
            Plugin::ClearPassword,
            Plugin::Sha256Password,
        ] {
            assert_eq!(Plugin::from_name(plugin.name().as_bytes()), plugin);
        }
        assert_eq!(Plugin::from_name(b"auth_gssapi_client"), Plugin::Other);
    }
}
