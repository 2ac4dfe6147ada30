//! Made-up clusters, one word for each node.

use super::*;

/// One node of a made-up cluster: `w` or `r` for writable or read only, whom it follows (`*` marks stopped
/// threads), `!` when it is down, `?` when it was never heard of, `+` when it lacks nothing, `-` when it has still to execute
/// what it was sent.
fn cluster(words: &[&str], previous: Option<usize>) -> Roles {
    let addresses: Vec<Address> =
        (0..words.len()).map(|index| Address::Tcp { host: format!("h{index}"), port: 3306 }).collect();
    let said: Vec<Option<Said>> = words.iter().enumerate().map(|(index, word)| said(index, word)).collect();
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
            behind: word.contains('-'),
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
fn a_promoted_node_first_executes_what_it_was_sent() {
    check(&["w!", "w0-", "r1"], Some(0), Some(0), "PRR");
    check(&["r", "w-", "r1"], Some(0), None, "--R");
    check(&["w", "w*-", "r1"], Some(0), None, "--R");
    check(&["w!", "w0", "r1"], Some(0), Some(1), "-PR");
    assert_eq!(cluster(&["w!", "w0-", "r1"], Some(0)).verdict, Verdict::Behind(1));
    // There was no primary before it whose writes could be missing, or it is the same.
    check(&["w-", "r0"], None, Some(0), "PR");
    check(&["w-", "r0"], Some(0), Some(0), "PR");
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
            behind: false,
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
