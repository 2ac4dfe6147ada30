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
    let (found, verdict) = elect(voices, &links);
    let primary = found.or_else(|| previous.filter(|index| may_stay(voices.get(*index))));
    let roles = (0..voices.len()).map(|index| role(voices, &links, primary, index)).collect();
    Roles { primary, verdict, roles, sources: links.set_up }
}

/// Whether a primary that cannot be confirmed stays it: it is silent, or still takes writes.
fn may_stay(voice: Option<&Voice<'_>>) -> bool {
    voice.is_some_and(|voice| !voice.up || voice.said.is_none_or(|said| said.writable))
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
mod tests {
    use super::*;

    /// One node of a made-up cluster: `w` or `r` for writable or read only, whom it follows (`*` marks stopped
    /// threads), `!` when it is down, `?` when it was never heard of, `+` when it lacks nothing.
    fn cluster(words: &[&str], previous: Option<usize>) -> Roles {
        let addresses: Vec<Address> =
            (0..words.len()).map(|index| Address::Tcp { host: format!("h{index}"), port: 3306 }).collect();
        let said: Vec<Option<Said>> =
            words.iter().enumerate().map(|(index, word)| said(index, word)).collect();
        let voices: Vec<Voice<'_>> = words
            .iter()
            .zip(&said)
            .zip(&addresses)
            .map(|((word, said), address)| Voice {
                address,
                asked: !word.contains('?'),
                up: !word.contains(['!', '?']),
                said: said.as_ref(),
                complete: word.contains('+'),
            })
            .collect();
        discover(&voices, previous)
    }

    fn said(index: usize, word: &str) -> Option<Said> {
        if word.contains('?') {
            return None;
        }
        let sources = word.chars().filter(char::is_ascii_digit).map(|digit| Source {
            identity: Some(format!("id{digit}")),
            host: format!("h{digit}"),
            port: 3306,
            running: !word.contains('*'),
            by_gtid: true,
            filters: Vec::new(),
        });
        Some(Said {
            identity: format!("id{index}"),
            writable: word.contains('w'),
            sources: Some(sources.collect()),
        })
    }

    #[track_caller]
    fn check(words: &[&str], previous: Option<usize>, primary: Option<usize>, roles: &str) {
        let found = cluster(words, previous);
        let letters: String = found
            .roles
            .iter()
            .map(|role| match role {
                Role::Primary => 'P',
                Role::Replica => 'R',
                Role::Unknown => '-',
            })
            .collect();
        assert_eq!((found.primary, letters.as_str()), (primary, roles), "{words:?} {:?}", found.verdict);
    }

    #[test]
    fn the_writable_node_that_others_follow_is_primary() {
        check(&["w", "r0", "r0"], None, Some(0), "PRR");
        check(&["r1", "w", "r1"], None, Some(1), "RPR");
        check(&["w"], None, Some(0), "P");
        check(&["w", "r0", "r1"], None, Some(0), "PRR");
    }

    #[test]
    fn replicas_that_nobody_made_read_only_are_replicas() {
        check(&["w", "w0", "w0"], None, Some(0), "PRR");
        check(&["w", "w0", "w1"], None, Some(0), "PRR");
        // Their primary gone, none of them is one.
        check(&["w!", "w0", "w0"], Some(0), Some(0), "PRR");
        check(&["w!", "w0", "w0"], None, None, "-RR");
    }

    #[test]
    fn a_promoted_node_needs_followers_or_the_whole_history() {
        // db2 stopped replicating and takes writes; db3 still looks for db1.
        check(&["w!", "w0*", "r0"], Some(0), Some(0), "P-R");
        check(&["w!", "w0*+", "r0"], Some(0), Some(1), "-PR");
        check(&["w!", "w0*", "r1"], Some(0), Some(1), "-PR");
        // Nobody is left who could follow another.
        check(&["w!", "w0*"], Some(0), Some(1), "-P");
        // It still tries to replicate: a replica without read_only.
        check(&["w!", "w0"], Some(0), Some(0), "PR");
    }

    #[test]
    fn an_empty_server_beside_the_cluster_is_never_elected() {
        check(&["w!", "r0", "w"], Some(0), Some(0), "PR-");
        check(&["w", "r0", "w"], None, Some(0), "PR-");
    }

    #[test]
    fn two_primaries_leave_the_known_one_or_none() {
        check(&["w", "w"], None, None, "--");
        check(&["w", "w"], Some(1), Some(1), "-P");
        check(&["w", "w", "r0", "r1"], Some(0), Some(0), "P-RR");
        // The old primary came back after a failover and nobody follows it.
        check(&["w", "w", "r1"], Some(1), Some(1), "-PR");
        check(&["w", "w", "r1"], Some(0), Some(1), "-PR");
    }

    #[test]
    fn rings_have_the_writable_node_as_primary() {
        check(&["w1", "r0"], None, Some(0), "PR");
        check(&["w1", "w0"], None, None, "RR");
        check(&["w1", "w0"], Some(0), Some(0), "PR");
    }

    #[test]
    fn a_primary_that_became_read_only_is_one_no_more() {
        check(&["r", "r0", "r0"], Some(0), None, "-RR");
        check(&["r!", "r0", "r0"], Some(0), Some(0), "PRR");
    }

    #[test]
    fn nothing_is_decided_for_those_not_asked_yet() {
        assert_eq!(cluster(&["w", "?"], None).verdict, Verdict::TooEarly);
        check(&["w", "?"], None, None, "--");
        check(&["?", "w", "r0"], None, None, "--R");
        check(&["w", "r0", "?"], None, Some(0), "PR-");
    }

    #[test]
    fn a_source_is_found_by_its_address_before_it_was_reached() {
        let mut said: Vec<Said> =
            ["w", "r0"].iter().enumerate().filter_map(|(index, word)| said(index, word)).collect();
        if let Some(source) = said.last_mut().and_then(|said| said.sources.as_mut()?.first_mut()) {
            source.identity = None;
        }
        let addresses = [0, 1].map(|index| Address::Tcp { host: format!("H{index}"), port: 3306 });
        let voices: Vec<Voice<'_>> = said
            .iter()
            .zip(&addresses)
            .map(|(said, address)| Voice {
                address,
                asked: true,
                up: true,
                said: Some(said),
                complete: false,
            })
            .collect();
        assert_eq!(discover(&voices, None).primary, Some(0));
    }

    #[test]
    fn descent_goes_through_other_replicas_and_survives_rings() {
        let roles = cluster(&["w", "r0", "r1", "r"], None);
        assert_eq!([0, 1, 2, 3].map(|node| roles.descends_from_primary(node)), [true, true, true, false]);
        let ring = cluster(&["w", "r2", "r1"], None);
        assert_eq!([1, 2].map(|node| ring.descends_from_primary(node)), [false, false]);
    }
}
