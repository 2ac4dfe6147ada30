//! What the proxy knows of an account's password: enough to log in to a node, and no more.

use std::fmt;

use wire::auth::{caching_sha2, ed25519, native};
use zeroize::Zeroizing;

/// A way to prove that one knows a password. Each part serves one authentication plugin of the servers; a part that
/// is absent could not be learnt from what the client sent.
#[derive(Clone, Default)]
pub struct Secret {
    empty: bool,
    password: Option<Zeroizing<Vec<u8>>>,
    native_stage1: Option<Zeroizing<[u8; 20]>>,
    caching_sha2_stage1: Option<Zeroizing<[u8; 32]>>,
    ed25519_secret: Option<Zeroizing<[u8; 64]>>,
}

impl Secret {
    /// All parts, from the password itself.
    pub fn from_password(password: &[u8]) -> Self {
        Self {
            empty: password.is_empty(),
            password: Some(Zeroizing::new(password.to_vec())),
            native_stage1: Some(Zeroizing::new(native::stage1(password))),
            caching_sha2_stage1: Some(Zeroizing::new(caching_sha2::stage1(password))),
            ed25519_secret: Some(Zeroizing::new(ed25519::secret_from_password(password))),
        }
    }

    /// The secret of an account without a password.
    pub fn empty() -> Self {
        Self { empty: true, ..Self::default() }
    }

    /// What a native client's answer gives away once it is checked: SHA1(password).
    pub fn from_native_stage1(stage1: [u8; 20]) -> Self {
        Self { native_stage1: Some(Zeroizing::new(stage1)), ..Self::default() }
    }

    /// The same without the password: what later logins need, and all that is kept when the login is over.
    pub fn without_password(&self) -> Self {
        Self { password: None, ..self.clone() }
    }

    /// Whether the password is empty.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// The password itself, while a login lasts.
    pub fn password(&self) -> Option<&[u8]> {
        self.password.as_ref().map(|password| password.as_slice())
    }

    /// SHA1(password), for `mysql_native_password`.
    pub fn native_stage1(&self) -> Option<&[u8; 20]> {
        self.native_stage1.as_deref()
    }

    /// SHA256(password), for the fast path of `caching_sha2_password`.
    pub fn caching_sha2_stage1(&self) -> Option<&[u8; 32]> {
        self.caching_sha2_stage1.as_deref()
    }

    /// SHA512(password), the key that `client_ed25519` signs with.
    pub fn ed25519_secret(&self) -> Option<&[u8; 64]> {
        self.ed25519_secret.as_deref()
    }
}

/// Never shows anything.
impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(***)")
    }
}
