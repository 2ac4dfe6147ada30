//! sha256_password: the password itself, inside TLS or encrypted with the server's key.
//!
//! Facts: the manual's "SHA-256 Authentication" in the client/server protocol; `sql-common/client_authentication.cc`.

/// The client's packet that asks for the server's RSA key.
pub const REQUEST_PUBLIC_KEY: u8 = 1;
