//! Routing hints in comments: `/*FORCE_MASTER*/`, `/*FORCE_SLAVE*/`, `/* to master */`, `/* to slave */` and
//! `/* tidemark: node=..., consistency=..., timeout_us=... */`, in any case and place.
//!
//! Only a comment that holds nothing else is a hint. Comments to the end of the line, executable comments and optimizer
//! hints are not looked at: drivers and servers give those their own meaning.

/// Longest `timeout_us`, as in the configuration.
const LONGEST_TIMEOUT_US: u32 = 1_000_000;

/// What the comments of a statement ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The role asked for. With contradicting hints the primary wins.
    pub node_role: Option<RoleHint>,
    /// The consistency level of this statement. A name that is none counts as the strongest: a slip of the pen must not
    /// weaken a promise.
    pub consistency: Option<Level>,
    /// How long to wait for a fresh replica, in microseconds; 0 waits for ever.
    pub timeout_us: Option<u32>,
    /// The name of the node asked for, as a range of bytes (start, end) of the statement.
    pub node: Option<(u32, u32)>,
    /// A `tidemark:` comment could not be read in full. What could be read is set.
    pub bad: bool,
}

/// A role asked for by a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleHint {
    /// FORCE_MASTER, to master
    Primary,
    /// FORCE_SLAVE, to slave
    Replica,
}

/// A consistency level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Any committed state.
    Eventual,
    /// What this session wrote and saw.
    Session,
    /// What anybody was told is committed.
    Global,
}

impl Level {
    /// The level of this name, in any case.
    pub fn from_name(name: &[u8]) -> Option<Level> {
        [Level::Eventual, Level::Session, Level::Global]
            .into_iter()
            .find(|level| name.eq_ignore_ascii_case(level.as_str().as_bytes()))
    }

    /// The name as in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::Eventual => "eventual",
            Level::Session => "session",
            Level::Global => "global",
        }
    }
}

impl Hints {
    /// Whether the statement carries no hint at all.
    pub fn is_empty(&self) -> bool {
        *self == Hints::default()
    }

    /// Takes in the inside of one comment, which starts at byte `at` of the statement.
    pub(crate) fn read_comment(&mut self, inside: &[u8], at: usize) {
        let text = inside.trim_ascii();
        let text_at = at + (inside.len() - inside.trim_ascii_start().len());
        match text.first() {
            Some(b'f' | b'F' | b't' | b'T') => {}
            _ => return,
        }
        if let Some(role) = role(text) {
            let primary_already = self.node_role == Some(RoleHint::Primary);
            self.node_role = Some(if primary_already { RoleHint::Primary } else { role });
        } else if let Some(settings) = after_tidemark(text) {
            self.read_settings(settings, text_at + (text.len() - settings.len()));
        }
    }

    fn read_settings(&mut self, settings: &[u8], at: usize) {
        let mut item_at = at;
        for item in settings.split(|&b| b == b',') {
            if !self.read_setting(item, item_at) {
                self.bad = true;
            }
            item_at += item.len() + 1;
        }
    }

    /// One `name=value`; false if it cannot be read.
    fn read_setting(&mut self, item: &[u8], at: usize) -> bool {
        let Some(equals) = memchr::memchr(b'=', item) else {
            return false;
        };
        let (name, value) = (item[..equals].trim_ascii(), &item[equals + 1..]);
        let value_at = at + equals + 1 + (value.len() - value.trim_ascii_start().len());
        let value = value.trim_ascii();
        let (value, value_at) = unquote(value, value_at);
        if name.eq_ignore_ascii_case(b"consistency") {
            let level = Level::from_name(value);
            self.consistency = Some(level.unwrap_or(Level::Global));
            level.is_some()
        } else if name.eq_ignore_ascii_case(b"timeout_us") {
            let timeout_us = decimal(value).filter(|us| *us <= LONGEST_TIMEOUT_US);
            self.timeout_us = timeout_us.or(self.timeout_us);
            timeout_us.is_some()
        } else if name.eq_ignore_ascii_case(b"node") {
            let range = (u32::try_from(value_at), u32::try_from(value_at + value.len()));
            match range {
                (Ok(start), Ok(end)) if start < end => {
                    self.node = Some((start, end));
                    true
                }
                _ => false,
            }
        } else {
            false
        }
    }
}

/// The role named by a comment that holds nothing else.
fn role(text: &[u8]) -> Option<RoleHint> {
    if text.eq_ignore_ascii_case(b"FORCE_MASTER") {
        return Some(RoleHint::Primary);
    }
    if text.eq_ignore_ascii_case(b"FORCE_SLAVE") {
        return Some(RoleHint::Replica);
    }
    let (to, rest) = text.split_at_checked(2)?;
    let name = rest.trim_ascii_start();
    if !to.eq_ignore_ascii_case(b"to") || name.len() == rest.len() {
        return None;
    }
    if name.eq_ignore_ascii_case(b"master") {
        Some(RoleHint::Primary)
    } else if name.eq_ignore_ascii_case(b"slave") {
        Some(RoleHint::Replica)
    } else {
        None
    }
}

/// What follows `tidemark:`.
fn after_tidemark(text: &[u8]) -> Option<&[u8]> {
    let (word, rest) = text.split_at_checked(8)?;
    if !word.eq_ignore_ascii_case(b"tidemark") {
        return None;
    }
    rest.trim_ascii_start().strip_prefix(b":")
}

/// The inside of a value that stands in quotes, and where it starts.
fn unquote(value: &[u8], at: usize) -> (&[u8], usize) {
    match value {
        [b'\'', inner @ .., b'\''] | [b'"', inner @ .., b'"'] => (inner, at + 1),
        _ => (value, at),
    }
}

/// A whole number without sign.
fn decimal(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || digits.len() > 10 {
        return None;
    }
    let mut value: u32 = 0;
    for digit in digits {
        let digit = digit.checked_sub(b'0').filter(|d| *d < 10)?;
        value = value.checked_mul(10)?.checked_add(u32::from(digit))?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(comment: &[u8]) -> Hints {
        let mut hints = Hints::default();
        hints.read_comment(comment, 2);
        hints
    }

    #[test]
    fn roles_in_any_case_and_spacing() {
        for text in [&b"FORCE_MASTER"[..], b" force_master ", b"to master", b"  TO\t Master "] {
            assert_eq!(read(text).node_role, Some(RoleHint::Primary), "{text:?}");
        }
        for text in [&b"FORCE_SLAVE"[..], b"Force_Slave\n", b"to slave", b"To   SLAVE"] {
            assert_eq!(read(text).node_role, Some(RoleHint::Replica), "{text:?}");
        }
        for text in [&b"tomaster"[..], b"FORCE_MASTERS", b"to masters", b"t", b"", b"to", b"goes to master"] {
            assert_eq!(read(text), Hints::default(), "{text:?}");
        }
    }

    #[test]
    fn the_primary_wins() {
        let mut hints = read(b"FORCE_MASTER");
        hints.read_comment(b"FORCE_SLAVE", 0);
        assert_eq!(hints.node_role, Some(RoleHint::Primary));
    }

    #[test]
    fn settings_with_and_without_quotes() {
        let text = b" Tidemark : node = 'db2', consistency=GLOBAL,timeout_us=5000 ";
        let hints = read(text);
        assert_eq!(hints.consistency, Some(Level::Global));
        assert_eq!(hints.timeout_us, Some(5000));
        let (start, end) = hints.node.unwrap();
        assert_eq!(&text[start as usize - 2..end as usize - 2], b"db2");
        assert!(!hints.bad);
    }

    #[test]
    fn a_level_that_is_none_is_the_strongest() {
        assert_eq!(read(b"tidemark: consistency=globl").consistency, Some(Level::Global));
        assert_eq!(read(b"tidemark: consistency=").consistency, Some(Level::Global));
        assert_eq!(read(b"tidemark: timeout_us=5").consistency, None);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for text in [
            &b"tidemark: consistency=strong"[..],
            b"tidemark: timeout_us=-1",
            b"tidemark: timeout_us=99999999999",
            b"tidemark: timeout_us=1000001",
            b"tidemark: node=",
            b"tidemark: colour=blue",
            b"tidemark:",
            b"tidemark: node=a,",
        ] {
            assert!(read(text).bad, "{text:?}");
        }
    }
}
