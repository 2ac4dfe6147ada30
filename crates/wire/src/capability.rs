//! Capability flags: what client and server agree to speak (the servers' CLIENT_* constants, without the prefix).

use std::ops::{BitAnd, BitOr};

/// A set of capability flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Capabilities(
    /// The flags as they stand in greeting and login.
    pub u32,
);

impl Capabilities {
    /// CLIENT_LONG_PASSWORD; MariaDB calls the bit CLIENT_MYSQL and clears it to announce its extended capabilities.
    pub const LONG_PASSWORD: Capabilities = Capabilities(1);
    /// UPDATE counts matched rows, not changed ones.
    pub const FOUND_ROWS: Capabilities = Capabilities(1 << 1);
    /// Longer column flags; always set.
    pub const LONG_FLAG: Capabilities = Capabilities(1 << 2);
    /// The login names a schema.
    pub const CONNECT_WITH_DB: Capabilities = Capabilities(1 << 3);
    /// `schema.table.column` is refused.
    pub const NO_SCHEMA: Capabilities = Capabilities(1 << 4);
    /// Compression with zlib.
    pub const COMPRESS: Capabilities = Capabilities(1 << 5);
    /// Without effect on the protocol.
    pub const ODBC: Capabilities = Capabilities(1 << 6);
    /// LOAD DATA LOCAL may ask the client for a file.
    pub const LOCAL_FILES: Capabilities = Capabilities(1 << 7);
    /// Spaces are allowed before the parenthesis of a function.
    pub const IGNORE_SPACE: Capabilities = Capabilities(1 << 8);
    /// The protocol of MySQL 4.1, the only one spoken here.
    pub const PROTOCOL_41: Capabilities = Capabilities(1 << 9);
    /// interactive_timeout applies instead of wait_timeout.
    pub const INTERACTIVE: Capabilities = Capabilities(1 << 10);
    /// TLS can be, or is being, switched on.
    pub const SSL: Capabilities = Capabilities(1 << 11);
    /// Without effect on the protocol.
    pub const IGNORE_SIGPIPE: Capabilities = Capabilities(1 << 12);
    /// Status flags about transactions are understood.
    pub const TRANSACTIONS: Capabilities = Capabilities(1 << 13);
    /// Was CLIENT_PROTOCOL_41's trial; without meaning now.
    pub const RESERVED: Capabilities = Capabilities(1 << 14);
    /// Authentication data is preceded by its length (CLIENT_RESERVED2, once CLIENT_SECURE_CONNECTION).
    pub const SECURE_CONNECTION: Capabilities = Capabilities(1 << 15);
    /// One COM_QUERY may hold several statements.
    pub const MULTI_STATEMENTS: Capabilities = Capabilities(1 << 16);
    /// One COM_QUERY may be answered by several results.
    pub const MULTI_RESULTS: Capabilities = Capabilities(1 << 17);
    /// One COM_STMT_EXECUTE may be answered by several results.
    pub const PS_MULTI_RESULTS: Capabilities = Capabilities(1 << 18);
    /// Authentication plugins are named.
    pub const PLUGIN_AUTH: Capabilities = Capabilities(1 << 19);
    /// The login carries connection attributes.
    pub const CONNECT_ATTRS: Capabilities = Capabilities(1 << 20);
    /// The login's authentication data has a length-encoded length.
    pub const PLUGIN_AUTH_LENENC_DATA: Capabilities = Capabilities(1 << 21);
    /// A login with an expired password is let in to change it.
    pub const CAN_HANDLE_EXPIRED_PASSWORDS: Capabilities = Capabilities(1 << 22);
    /// OK packets tell how the session's state changed.
    pub const SESSION_TRACK: Capabilities = Capabilities(1 << 23);
    /// No EOF packets: none behind column definitions, OK packets with header 0xFE at a result's end.
    pub const DEPRECATE_EOF: Capabilities = Capabilities(1 << 24);
    /// Column definitions may be left out (resultset_metadata). Never agreed to by this project.
    pub const OPTIONAL_RESULTSET_METADATA: Capabilities = Capabilities(1 << 25);
    /// Compression with zstd.
    pub const ZSTD_COMPRESSION_ALGORITHM: Capabilities = Capabilities(1 << 26);
    /// COM_QUERY and COM_STMT_EXECUTE carry query attributes.
    pub const QUERY_ATTRIBUTES: Capabilities = Capabilities(1 << 27);
    /// More than one authentication factor.
    pub const MULTI_FACTOR_AUTHENTICATION: Capabilities = Capabilities(1 << 28);
    /// Reserved for more capabilities; MariaDB used the bit for progress reports.
    pub const CAPABILITY_EXTENSION: Capabilities = Capabilities(1 << 29);
    /// A client-side setting that clients have been seen to send.
    pub const SSL_VERIFY_SERVER_CERT: Capabilities = Capabilities(1 << 30);
    /// A client-side setting that clients have been seen to send.
    pub const REMEMBER_OPTIONS: Capabilities = Capabilities(1 << 31);

    /// Whether all flags of `other` are set.
    #[inline]
    pub const fn contains(self, other: Capabilities) -> bool {
        self.0 & other.0 == other.0
    }

    /// The flags set in either.
    #[inline]
    pub const fn union(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 | other.0)
    }

    /// The flags set in both.
    #[inline]
    pub const fn intersection(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 & other.0)
    }

    /// These flags less those of `other`.
    #[inline]
    pub const fn without(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 & !other.0)
    }
}

/// MariaDB's own capabilities: a second word of flags, in greetings and logins without LONG_PASSWORD (its server's
/// MARIADB_CLIENT_* constants, less 32 bits).
pub mod extended {
    /// COM_STMT_BULK_EXECUTE is known.
    pub const STMT_BULK_OPERATIONS: u32 = 1 << 2;
    /// Column definitions tell more of a type: json, inet6, geometry types.
    pub const EXTENDED_METADATA: u32 = 1 << 3;
    /// COM_STMT_BULK_EXECUTE can be asked for each row's id and count.
    pub const BULK_UNIT_RESULTS: u32 = 1 << 5;
}

impl BitOr for Capabilities {
    type Output = Capabilities;
    fn bitor(self, other: Capabilities) -> Capabilities {
        self.union(other)
    }
}

impl BitAnd for Capabilities {
    type Output = Capabilities;
    fn bitand(self, other: Capabilities) -> Capabilities {
        self.intersection(other)
    }
}
