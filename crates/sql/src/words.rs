//! The words that mean something: keywords, built-in functions, system schemas, found by one probe of a table that is
//! built at compile time.
//!
//! A word that is not in the table is a name. What a name may do depends on what follows: before a parenthesis it may be
//! a stored function.

mod functions;
mod keywords;

pub(crate) use keywords::Kw;

/// What a word means for a read in which it stands bare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A name, or a keyword that is harmless; a parenthesis behind it would make it a call of something unknown.
    Plain,
    /// A keyword behind which a parenthesis only groups, or makes a built-in construct.
    Group,
    /// The name of a type; the parenthesis behind it holds lengths where a type can stand.
    Type,
    /// A keyword that has no place in a plain read.
    Deny(Denied),
    /// As `Deny`, unless it is called as a function: INSERT(), REPLACE().
    DenyUnlessCalled,
    /// A function if a parenthesis follows, else a name.
    Call(Function),
    /// A system schema.
    Schema(Schema),
}

/// Why a keyword has no place in a plain read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    Write,
    Lock,
    Into,
    Other,
}

/// What calling a built-in function means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// No side effect, and right on any node.
    Pure(Family, Space),
    /// `Pure`; MariaDB takes it for a stored function unless it has two arguments.
    Point,
    /// `Pure`; MariaDB takes it for a stored function if it has no argument.
    Geometry,
    /// `Pure`, but a name like any other in MariaDB's expressions.
    JsonTable,
    LastInsertId,
    PreviousResult,
    GetLock,
    ReleaseLock,
    ReleaseAllLocks,
    InspectLock,
    Sequence,
    Server,
    ConnectionId,
}

/// Which family has a function built in. In the other one anybody may have created a function of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Both,
    Mysql,
    Mariadb,
    /// MariaDB of this version or newer; versions as in [`crate::Dialect::version`].
    MariadbSince(u16),
    /// MySQL, and MariaDB of this version or newer.
    MysqlAndMariadbSince(u16),
    /// MariaDB, and MySQL older than this version.
    MariadbAndMysqlBefore(u16),
}

/// Whether space may stand between a function and its parenthesis, without IGNORE_SPACE. Where it may not, a name with
/// space behind it is that of a stored function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Allowed,
    Forbidden,
    ForbiddenInMariadb,
}

impl Function {
    /// A function of both families, spelt in any way.
    pub(crate) const PURE: Function = Function::Pure(Family::Both, Space::Allowed);
    /// A function of both families whose name is a token of the grammar.
    pub(crate) const ADJACENT: Function = Function::Pure(Family::Both, Space::Forbidden);
}

/// The schemas that belong to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schema {
    /// information_schema, of which some tables are about schema objects
    Information,
    /// performance_schema, sys, mysql
    Server,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    name: &'static str,
    pub(crate) kw: Kw,
    pub(crate) role: Role,
}

/// What is known of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub(crate) kw: Kw,
    pub(crate) role: Role,
}

impl Meaning {
    /// A name.
    pub(crate) const NAME: Meaning = Meaning { kw: Kw::None, role: Role::Plain };
}

const COUNT: usize = keywords::KEYWORDS.len() + functions::count();

/// Keywords and functions in one list.
static ENTRIES: [Entry; COUNT] = {
    let mut all = [Entry { name: "", kw: Kw::None, role: Role::Plain }; COUNT];
    let mut at = 0;
    while at < keywords::KEYWORDS.len() {
        all[at] = keywords::KEYWORDS[at];
        at += 1;
    }
    let mut group = 0;
    while group < functions::GROUPS.len() {
        let (function, names) = functions::GROUPS[group];
        let mut i = 0;
        while i < names.len() {
            all[at] = Entry { name: names[i], kw: Kw::None, role: Role::Call(function) };
            at += 1;
            i += 1;
        }
        group += 1;
    }
    all
};

const SLOTS: usize = 4096;

const _: () = assert!(COUNT * 2 < SLOTS);

/// What is compared to find a word: its length and its ends, without the case of letters.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    /// The first eight bytes, or all, little-endian.
    first: u64,
    /// The last eight bytes; `first` again for a word of up to eight.
    last: u64,
    len: usize,
}

/// Takes the case from letters. Of the bytes that words are made of, no two others become one.
const CASE: u64 = 0x2020_2020_2020_2020;

impl Key {
    /// The key of a word in the table.
    const fn of_entry(word: &[u8]) -> Key {
        let from = if word.len() > 8 { word.len() - 8 } else { 0 };
        Key { first: pack(word, 0) | CASE, last: pack(word, from) | CASE, len: word.len() }
    }

    /// The key of a word in a statement: the same, with fewer steps.
    fn of(word: &[u8]) -> Key {
        let len = word.len();
        let first = match word {
            [a, b, c, d, e, f, g, h, ..] => u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]),
            [a, b, c, d, ..] => {
                // Two halves that overlap say the same where they do.
                let low = u64::from(u32::from_le_bytes([*a, *b, *c, *d]));
                match word {
                    [.., w, x, y, z] => {
                        low | (u64::from(u32::from_le_bytes([*w, *x, *y, *z])) << ((len - 4) * 8))
                    }
                    _ => low,
                }
            }
            _ => pack(word, 0),
        };
        let last = match word {
            [.., a, b, c, d, e, f, g, h] => u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]),
            _ => first,
        };
        Key { first: first | CASE, last: last | CASE, len }
    }

    const fn slot(self) -> usize {
        let mixed = (self.first ^ self.last.rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 52) as usize % SLOTS
    }
}

/// Up to eight bytes of `word` from `from` on.
const fn pack(word: &[u8], from: usize) -> u64 {
    let mut packed = 0;
    let mut i = 0;
    while i < 8 && from + i < word.len() {
        packed |= (word[from + i] as u64) << (8 * i);
        i += 1;
    }
    packed
}

static KEYS: [Key; COUNT] = {
    let mut keys = [Key { first: 0, last: 0, len: 0 }; COUNT];
    let mut i = 0;
    while i < COUNT {
        keys[i] = Key::of_entry(ENTRIES[i].name.as_bytes());
        i += 1;
    }
    keys
};

/// Open addressing: a slot holds an index into the entries plus one, 0 is free.
static SLOT_TABLE: [u16; SLOTS] = {
    let mut slots = [0u16; SLOTS];
    let mut i = 0;
    while i < COUNT {
        let mut slot = KEYS[i].slot();
        while slots[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        #[allow(clippy::cast_possible_truncation, reason = "COUNT is far below SLOTS")]
        {
            slots[slot] = i as u16 + 1;
        }
        i += 1;
    }
    slots
};

/// What is known of `word`, in any case.
#[inline]
pub(crate) fn lookup(word: &[u8]) -> Meaning {
    let key = Key::of(word);
    let mut slot = key.slot();
    while let Some(index) = usize::from(SLOT_TABLE[slot]).checked_sub(1) {
        let entry = &ENTRIES[index];
        if KEYS[index] == key && (key.len <= 8 || entry.name.as_bytes().eq_ignore_ascii_case(word)) {
            return Meaning { kw: entry.kw, role: entry.role };
        }
        slot = (slot + 1) % SLOTS;
    }
    Meaning::NAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_found_once() {
        for entry in &ENTRIES {
            let found = lookup(entry.name.to_ascii_uppercase().as_bytes());
            assert_eq!((found.kw, found.role), (entry.kw, entry.role), "{} is listed twice", entry.name);
        }
    }

    #[test]
    fn keys_are_made_alike_in_both_ways() {
        let word = b"abcdefghijklmnopqrstuvwxyz";
        for len in 0..word.len() {
            assert!(Key::of(&word[..len]) == Key::of_entry(&word[..len]), "{len}");
        }
    }

    #[test]
    fn names_are_names() {
        for word in [
            "",
            "customer",
            "selec",
            "selectt",
            "a_very_long_name_that_is_longer_than_any_keyword_of_the_table",
        ] {
            assert_eq!(lookup(word.as_bytes()), Meaning::NAME, "{word}");
        }
    }
}
