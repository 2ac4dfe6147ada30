//! What the proxy remembers of accounts, in memory only: enough to recognise a client and to log in as it, never the
//! password.
//!
//! An entry is made after a server has taken the login, and dropped when a server refuses it. Whether somebody may
//! come in is always the server's decision: each session logs in to a node before its client is let in.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use wire::auth::{caching_sha2, native};

use crate::backend::Secret;
use crate::cluster::snapshot::NodeId;

/// Accounts remembered at most; beyond that an arbitrary one is forgotten and asks its client for the password again.
const REMEMBERED: usize = 10_000;

/// How long nobody is asked for the password again because some node has not seen it: a node that does not take the
/// account at all must not make every login a long one.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(2);

/// A life of a node.
pub(super) type NodeLife = (NodeId, u64);

/// The accounts known so far.
#[derive(Debug, Default)]
pub struct Accounts {
    known: Mutex<HashMap<Box<[u8]>, Known>>,
}

/// What became of showing a password to the nodes.
#[derive(Debug, Default)]
pub struct Shown {
    /// Nodes that know it now, and those that refuse it, which need not be shown it once more.
    pub warm: Vec<NodeLife>,
    /// All that were tried, the warm ones included.
    pub tried: Vec<NodeLife>,
}

#[derive(Debug)]
struct Known {
    caching_sha2_stage2: [u8; 32],
    secret: Secret,
    /// Nodes whose own cache has seen the password in this life, so that they take the fast path.
    warm: Vec<NodeLife>,
    /// Nodes that were shown it, or tried, when it was told last.
    tried: Vec<NodeLife>,
    /// A client gave it encrypted with the proxy's key: it can be asked without TLS, too.
    by_key: bool,
    told_at: Instant,
}

impl Accounts {
    /// Recognises a client by its answer to a nonce in caching_sha2_password's fast path.
    pub fn recognise(&self, user: &[u8], response: &[u8], nonce: &[u8]) -> Option<Secret> {
        let response: &[u8; 32] = response.try_into().ok()?;
        let known = self.lock();
        let known = known.get(user)?;
        caching_sha2::recover_stage1(response, nonce, &known.caching_sha2_stage2)?;
        Some(known.secret.clone())
    }

    /// Whether the account's next login should bring its password, for one of these nodes has not seen it in its present
    /// life. A node that was tried in vain is tried again once in a while only.
    pub fn is_cold(&self, user: &[u8], nodes: &[NodeLife]) -> bool {
        self.lock().get(user).is_none_or(|known| {
            let again = known.told_at.elapsed() >= ASK_AGAIN_AFTER;
            nodes.iter().any(|node| !known.warm.contains(node) && (again || !known.tried.contains(node)))
        })
    }

    /// Whether a client of this account has told the password without TLS.
    pub fn was_told_by_key(&self, user: &[u8]) -> bool {
        self.lock().get(user).is_some_and(|known| known.by_key)
    }

    /// Remembers an account whose password a server has just taken, and what became of showing it to the others. `by_key`:
    /// the client gave it encrypted with the proxy's key.
    pub fn remember(&self, user: &[u8], secret: &Secret, shown: Shown, by_key: bool) {
        let Some(stage1) = secret.caching_sha2_stage1() else { return };
        let entry = Known {
            caching_sha2_stage2: caching_sha2::stage2(stage1),
            secret: secret.without_password(),
            warm: shown.warm,
            tried: shown.tried,
            by_key,
            told_at: Instant::now(),
        };
        let mut known = self.lock();
        if known.len() >= REMEMBERED
            && !known.contains_key(user)
            && let Some(other) = known.keys().next().cloned()
        {
            known.remove(&other);
        }
        known.insert(user.into(), entry);
    }

    /// A server has refused what is remembered.
    pub fn forget(&self, user: &[u8]) {
        self.lock().remove(user);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Box<[u8]>, Known>> {
        // An entry is replaced in one step, so that a panic elsewhere leaves none half made.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Recognises a client by its answer to a nonce in mysql_native_password, given the hashes that the servers keep.
pub(super) fn recognise_native<'a>(
    response: &[u8],
    nonce: &[u8],
    hashes: impl IntoIterator<Item = &'a [u8; 20]>,
) -> Option<Secret> {
    let response: &[u8; 20] = response.try_into().ok()?;
    hashes
        .into_iter()
        .find_map(|stage2| native::recover_stage1(response, nonce, stage2))
        .map(Secret::from_native_stage1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &[u8; 20] = b"01234567890123456789";

    fn answer(password: &[u8]) -> [u8; 32] {
        caching_sha2::scramble(&caching_sha2::stage1(password), NONCE)
    }

    #[test]
    fn only_the_right_password_is_recognised_and_only_until_it_is_forgotten() {
        let accounts = Accounts::default();
        assert!(accounts.recognise(b"app", &answer(b"right"), NONCE).is_none());
        accounts.remember(b"app", &Secret::from_password(b"right"), shown(&[(NodeId(0), 1)], &[]), false);
        let secret = accounts.recognise(b"app", &answer(b"right"), NONCE).unwrap();
        assert!(secret.password().is_none(), "the password itself is never kept");
        assert!(accounts.recognise(b"app", &answer(b"wrong"), NONCE).is_none());
        assert!(accounts.recognise(b"other", &answer(b"right"), NONCE).is_none());
        assert!(accounts.recognise(b"app", b"", NONCE).is_none());
        accounts.forget(b"app");
        assert!(accounts.recognise(b"app", &answer(b"right"), NONCE).is_none());
    }

    fn shown(warm: &[NodeLife], in_vain: &[NodeLife]) -> Shown {
        Shown { warm: warm.to_vec(), tried: [warm, in_vain].concat() }
    }

    #[test]
    fn a_restarted_node_is_cold_and_one_that_was_tried_in_vain_is_in_a_while() {
        let accounts = Accounts::default();
        let secret = Secret::from_password(b"x");
        accounts.remember(b"app", &secret, shown(&[(NodeId(0), 1)], &[(NodeId(1), 1)]), true);
        assert!(accounts.was_told_by_key(b"app") && !accounts.was_told_by_key(b"other"));
        let lives = [(NodeId(0), 1), (NodeId(1), 1)];
        assert!(!accounts.is_cold(b"app", &lives));
        assert!(accounts.is_cold(b"app", &[(NodeId(0), 1), (NodeId(1), 2)]));
        accounts.lock().get_mut(b"app".as_slice()).unwrap().told_at -= ASK_AGAIN_AFTER;
        assert!(accounts.is_cold(b"app", &lives));
        assert!(!accounts.is_cold(b"app", &lives[..1]));
    }

    #[test]
    fn a_native_client_gives_its_stage1_away_only_with_the_right_hash() {
        let stage1 = native::stage1(b"secret");
        let response = native::scramble(&stage1, NONCE);
        let right = native::stage2(&stage1);
        assert!(recognise_native(&response, NONCE, [&[0; 20]]).is_none());
        let secret = recognise_native(&response, NONCE, [&[0; 20], &right]).unwrap();
        assert_eq!(secret.native_stage1(), Some(&stage1));
    }

    #[test]
    fn the_number_of_accounts_is_bounded() {
        let accounts = Accounts::default();
        let secret = Secret::from_password(b"x");
        for number in 0..REMEMBERED + 10 {
            accounts.remember(number.to_string().as_bytes(), &secret, Shown::default(), false);
        }
        assert_eq!(accounts.lock().len(), REMEMBERED);
    }
}
