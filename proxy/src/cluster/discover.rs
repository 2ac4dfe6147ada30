//! Who is primary, and who follows whom: a pure function over what all nodes said.
//!
//! Roles are never configured. The primary is the one writable node that the others follow. When what the nodes say
//! fits no single answer, the primary that was known before stays it, as long as it has not said that it is one no
//! more: a proxy that guesses writes to two servers.

use super::said::{Said, Source};
use super::snapshot::Role;
use crate::config::Address;

/// What is known of one node, in the order of the configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Voice<'a> {
    /// Where it listens.
    pub(super) address: &'a Address,
    /// Whether it was asked yet, with or without an answer.
    pub(super) asked: bool,
    /// Whether it answers now.
    pub(super) up: bool,
    /// What it said last; `None` when it never did.
    pub(super) said: Option<&'a Said>,
    /// Whether it has everything that the last primary was known to have.
    pub(super) complete: bool,
    /// Whether it is being waited for to execute what it was sent as a replica.
    pub(super) behind: bool,
}

/// The answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Roles {
    /// The primary: its index.
    pub(super) primary: Option<usize>,
    /// How sure that is.
    pub(super) verdict: Verdict,
    /// Each node's role.
    pub(super) roles: Vec<Role>,
    /// For each node, the nodes it is set up to replicate from.
    pub(super) sources: Vec<Vec<usize>>,
}

/// How the primary was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// All that the nodes say fits.
    Clear,
    /// Some were not asked yet, and they may be what is missing.
    TooEarly,
    /// No node that answers takes writes.
    NoneWritable,
    /// These take writes, and the others' replication does not tell which of them is meant.
    SeveralWritable(Vec<usize>),
    /// The only writable node follows another one, or the others follow a node that does not answer.
    Unproven(usize),
    /// This one is to be the next primary, as soon as it has executed what it was sent.
    Behind(usize),
}

impl Roles {
    /// Whether the node's history is the primary's: it is the primary, or replicates from a node that has it.
    pub(super) fn descends_from_primary(&self, node: usize) -> bool {
        let mut reached = vec![node];
        let mut next = 0;
        while let Some(&at) = reached.get(next) {
            if Some(at) == self.primary {
                return true;
            }
            let sources = self.sources.get(at).into_iter().flatten();
            let fresh: Vec<usize> = sources.copied().filter(|source| !reached.contains(source)).collect();
            reached.extend(fresh);
            next += 1;
        }
        false
    }
}

/// Decides the roles. `previous` is the primary known so far.
pub(super) fn discover(voices: &[Voice<'_>], previous: Option<usize>) -> Roles {
    let links = Links::new(voices);
    let (found, verdict) = match elect(voices, &links) {
        // What it was sent was acknowledged by the primary before it, and is about to appear.
        (Some(next), _)
            if previous.is_some_and(|previous| previous != next)
                && voices.get(next).is_some_and(|voice| voice.behind) =>
        {
            (None, Verdict::Behind(next))
        }
        elected => elected,
    };
    // Nobody replicates any more from one that is about to be succeeded: what it took now would be lost.
    let stays = |voice: &Voice<'_>| !(matches!(verdict, Verdict::Behind(_)) && voice.up) && may_stay(voice);
    let primary = found.or_else(|| previous.filter(|index| voices.get(*index).is_some_and(stays)));
    let roles = (0..voices.len()).map(|index| role(voices, &links, primary, index)).collect();
    Roles { primary, verdict, roles, sources: links.set_up }
}

/// Whether a primary that cannot be confirmed stays it: it is silent, or still takes writes.
fn may_stay(voice: &Voice<'_>) -> bool {
    !voice.up || voice.said.is_none_or(|said| said.writable)
}

fn elect(voices: &[Voice<'_>], links: &Links) -> (Option<usize>, Verdict) {
    let writable: Vec<usize> =
        (0..voices.len()).filter(|index| links.up_and(voices, *index, |said| said.writable)).collect();
    // A writable node that replicates from another writable one is a replica that nobody made read only.
    let roots: Vec<usize> = writable
        .iter()
        .copied()
        .filter(|index| !links.follows(*index).iter().any(|source| writable.contains(source)))
        .collect();
    match roots.as_slice() {
        _ if links.is_too_early(voices, &roots) => (None, Verdict::TooEarly),
        [] if writable.is_empty() => (None, Verdict::NoneWritable),
        [] => (None, Verdict::SeveralWritable(writable)),
        [only] if links.is_followed(voices, *only) || is_free(voices, links, *only) => {
            (Some(*only), Verdict::Clear)
        }
        [only] => (None, Verdict::Unproven(*only)),
        several => {
            let followed: Vec<usize> =
                several.iter().copied().filter(|index| links.is_followed(voices, *index)).collect();
            match followed.as_slice() {
                [only] => (Some(*only), Verdict::Clear),
                _ => (None, Verdict::SeveralWritable(roots)),
            }
        }
    }
}

/// Whether a writable node that nobody follows may be the primary: every other node was asked, it follows nobody
/// itself, and either nobody follows another node, or it lacks nothing that the last primary was known to have.
fn is_free(voices: &[Voice<'_>], links: &Links, index: usize) -> bool {
    let follows_another = |other: usize| {
        other != index && voices.get(other).is_some_and(|voice| voice.up) && !links.follows(other).is_empty()
    };
    voices.iter().all(|voice| voice.asked)
        && links.follows(index).is_empty()
        && (!(0..voices.len()).any(follows_another) || voices.get(index).is_some_and(|voice| voice.complete))
}

fn role(voices: &[Voice<'_>], links: &Links, primary: Option<usize>, index: usize) -> Role {
    if primary == Some(index) {
        return Role::Primary;
    }
    let Some(said) = voices.get(index).and_then(|voice| voice.said) else { return Role::Unknown };
    // A writable node is a replica only while it replicates; one that stopped may have been promoted.
    let replicates = said.sources().iter().any(|source| !said.writable || source.running);
    if replicates && !links.is_itself(index) { Role::Replica } else { Role::Unknown }
}

/// Who replicates from whom, by index.
struct Links {
    set_up: Vec<Vec<usize>>,
    running: Vec<Vec<usize>>,
}

impl Links {
    fn new(voices: &[Voice<'_>]) -> Self {
        let to = |keep: fn(&Source) -> bool| {
            voices
                .iter()
                .map(|voice| {
                    let sources = voice.said.map(Said::sources).unwrap_or_default();
                    let mut found: Vec<usize> = sources
                        .iter()
                        .filter(|source| keep(source))
                        .filter_map(|source| find(voices, source))
                        .collect();
                    found.dedup();
                    found
                })
                .collect()
        };
        Self { set_up: to(|_| true), running: to(|source| source.running) }
    }

    fn follows(&self, index: usize) -> &[usize] {
        self.running.get(index).map(Vec::as_slice).unwrap_or_default()
    }

    fn is_followed(&self, voices: &[Voice<'_>], index: usize) -> bool {
        (0..voices.len()).any(|other| {
            other != index
                && voices.get(other).is_some_and(|voice| voice.up)
                && self.follows(other).contains(&index)
        })
    }

    /// Two servers with one identity look like one that follows itself.
    fn is_itself(&self, index: usize) -> bool {
        self.set_up.get(index).is_some_and(|sources| sources.contains(&index))
    }

    /// Whether some node was not asked yet, and no writable one is followed.
    fn is_too_early(&self, voices: &[Voice<'_>], writable: &[usize]) -> bool {
        voices.iter().any(|voice| !voice.asked)
            && !writable.iter().any(|index| self.is_followed(voices, *index))
    }

    fn up_and(&self, voices: &[Voice<'_>], index: usize, test: impl Fn(&Said) -> bool) -> bool {
        voices.get(index).is_some_and(|voice| voice.up && voice.said.is_some_and(&test))
    }
}

/// The node that a source is: by the identity it gave the replica, else by where the replica looks for it.
fn find(voices: &[Voice<'_>], source: &Source) -> Option<usize> {
    let named = source.identity.as_ref().and_then(|identity| {
        voices.iter().position(|voice| voice.said.is_some_and(|said| said.identity == *identity))
    });
    named
        .or_else(|| voices.iter().position(|voice| voice.said.is_none() && source.is_at(voice.address)))
        .or_else(|| {
            source.identity.is_none().then(|| voices.iter().position(|voice| source.is_at(voice.address)))?
        })
}

#[cfg(test)]
#[path = "discover_tests.rs"]
mod tests;
