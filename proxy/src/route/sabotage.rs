//! Rules left out on purpose, so that the checker can show that it would notice.
//!
//! Compiled only with the feature `sabotage`, which nothing switches on but `make prove`: a program that is built
//! without it cannot be told to break a promise. The environment variable `TIDEMARK_SABOTAGE` names the rule; without
//! it a build with the feature keeps every promise.

use std::env;
use std::sync::OnceLock;

/// A rule of the levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// A node must have what the session needs: `need`.
    Need,
    /// A read at the level `global` asks the primary first: `probe`.
    Probe,
    /// A session moves only to a node that shows what the last one can have shown: `high`.
    High,
    /// The reply of a read that ran while the primary was asked must cover its answer: `proviso`.
    Proviso,
    /// The primary must itself show what was seen elsewhere: `primary`.
    Primary,
}

impl Rule {
    const ALL: [(&'static str, Self); 5] = [
        ("need", Self::Need),
        ("probe", Self::Probe),
        ("high", Self::High),
        ("proviso", Self::Proviso),
        ("primary", Self::Primary),
    ];
}

/// Whether this process leaves the rule out.
pub(super) fn ignores(rule: Rule) -> bool {
    static IGNORED: OnceLock<Option<Rule>> = OnceLock::new();
    let ignored = IGNORED.get_or_init(|| {
        let name = env::var("TIDEMARK_SABOTAGE").ok()?;
        Rule::ALL.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
    });
    *ignored == Some(rule)
}
