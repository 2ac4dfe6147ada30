//! The hashes that servers keep of native passwords, where the monitor account may read them.
//!
//! A client with `mysql_native_password` never sends its password, and its answer can be checked, and used to log in,
//! only by who knows the hash. Accounts with other plugins, and all of them where the monitor may not look, are asked
//! for the password itself (see `prove`).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use wire::auth::native::stage2_from_hex;

use super::FrontendError;
use crate::backend::control::{ask, rows};
use crate::backend::login::{LoginRequest, login};
use crate::backend::{BackendError, Secret};
use crate::config::Address;
use crate::transport::tls::ServerTls;
use wire::capability::Capabilities;

/// How long an answer of the servers is used again.
const FRESH: Duration = Duration::from_secs(5);

/// From what age on an answer that does not fit is asked for again.
const OUTDATED: Duration = Duration::from_millis(200);

/// Names remembered at most; a storm of made-up names must not fill the memory.
const REMEMBERED: usize = 10_000;

/// Questions under way at a time; a storm of logins must not become one on the primary.
const AT_A_TIME: usize = 4;

/// How long the primary may take to answer.
const LIMIT: Duration = Duration::from_secs(5);

/// What is known of one user name.
#[derive(Clone, Debug)]
pub struct NativeHashes {
    /// SHA1(SHA1(password)) of every account of this name with a native password.
    pub stage2: Vec<[u8; 20]>,
    /// Whether the name has accounts of other plugins, or it could not be found out.
    pub others: bool,
    asked_at: Instant,
}

impl NativeHashes {
    /// Whether a password may have been changed since. A storm of wrong ones must not make every answer outdated.
    pub fn may_be_outdated(&self) -> bool {
        self.asked_at.elapsed() > OUTDATED
    }
}

/// Asks for hashes, and remembers the answers for a few seconds.
#[derive(Debug)]
pub struct Hashes {
    user: String,
    secret: Secret,
    known: Mutex<HashMap<Box<[u8]>, NativeHashes>>,
    turns: Semaphore,
}

impl Hashes {
    /// Asks as this account, the monitor's.
    pub fn new(user: String, secret: Secret) -> Self {
        Self { user, secret, known: Mutex::default(), turns: Semaphore::new(AT_A_TIME) }
    }

    /// The hashes of a user name, from the node at `address`.
    pub async fn of(
        &self,
        user: &[u8],
        address: &Address,
        tls: &ServerTls,
    ) -> Result<NativeHashes, FrontendError> {
        if let Some(known) = self.remembered(user) {
            return Ok(known);
        }
        let _turn = self.turns.acquire().await.map_err(|_| FrontendError::Closed)?;
        let found = match self.ask(user, address, tls).await {
            Ok(found) => found,
            Err(error) => {
                tracing::debug!(%address, %error, "the monitor account may not read the accounts' hashes");
                NativeHashes { stage2: Vec::new(), others: true, asked_at: Instant::now() }
            }
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(user.into(), found.clone());
        Ok(found)
    }

    /// Forgets a user name: what is remembered did not fit.
    pub fn forget(&self, user: &[u8]) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(user);
    }

    fn remembered(&self, user: &[u8]) -> Option<NativeHashes> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(user).filter(|hashes| hashes.asked_at.elapsed() < FRESH).cloned()
    }

    /// Both families have the view or table `mysql.user` with these columns. The name goes as hexadecimal, so that no
    /// quoting can be got wrong; the empty name stands for anonymous accounts.
    async fn ask(
        &self,
        user: &[u8],
        address: &Address,
        tls: &ServerTls,
    ) -> Result<NativeHashes, BackendError> {
        let request = LoginRequest {
            user: self.user.as_bytes(),
            secret: &self.secret,
            schema: None,
            collation: 45,
            capabilities: Capabilities::default(),
            extended: 0,
            attributes: None,
            compression: None,
        };
        let mut channel = login(address, tls, request).await?.channel;
        let name: String = user.iter().map(|byte| format!("{byte:02x}")).collect();
        let named = if name.is_empty() { "''".to_owned() } else { format!("_utf8mb4 0x{name}, ''") };
        let question =
            format!("SELECT plugin, authentication_string FROM mysql.user WHERE user IN ({named})");
        let found = rows(ask(&mut channel, &question, LIMIT).await?);
        let mut hashes = NativeHashes { stage2: Vec::new(), others: false, asked_at: Instant::now() };
        for row in found {
            let mut columns = row.into_iter().map(Option::unwrap_or_default);
            let (plugin, text) = (columns.next().unwrap_or_default(), columns.next().unwrap_or_default());
            match stage2_from_hex(&text) {
                Some(stage2) if plugin.is_empty() || plugin == b"mysql_native_password" => {
                    hashes.stage2.push(stage2)
                }
                // An empty native password is answered with an empty response, and needs no hash.
                None if text.is_empty() && plugin == b"mysql_native_password" => {}
                _ => hashes.others = true,
            }
        }
        Ok(hashes)
    }
}
