//! The part of a session's state that can be moved: what a connection to another node must be told before it can
//! run the session's next statement as the first one would have.
//!
//! It is learnt from the servers' session trackers, not from statements, and compared by identity first: a
//! connection that was brought to a state keeps a pointer to it, and the ordinary statement costs one comparison.
//!
//! Deliberately absent: temporary tables, locks, and values that only the server knows. They pin (see `session`).

use std::collections::BTreeMap;
use std::rc::Rc;

/// Variables that a tracker may report and that must not be moved: they belong to one connection, say what a
/// statement did, or (the trackers themselves) are the proxy's own business on every connection.
const STAYS: [&[u8]; 18] = [
    b"statement_id",
    b"last_gtid",
    b"gtid_next",
    b"gtid_seq_no",
    b"gtid_domain_id",
    b"server_id",
    b"sql_log_bin",
    b"sql_log_off",
    b"last_insert_id",
    b"identity",
    b"insert_id",
    b"error_count",
    b"warning_count",
    b"pseudo_thread_id",
    b"rand_seed1",
    b"rand_seed2",
    b"pseudo_slave_mode",
    b"pseudo_replica_mode",
];

/// What SET NAMES sets.
pub const NAMES: [&[u8]; 4] =
    [b"character_set_client", b"character_set_connection", b"character_set_results", b"collation_connection"];

/// The name of a session variable, and its value.
pub type Variable = (Box<[u8]>, Box<[u8]>);

/// Variables that set another one when they are set, which no server reports: that one is set again behind them. It comes
/// later in the alphabet, in which variables are set.
const TAKES_ALONG: [(&[u8], &[u8]); 2] =
    [(b"character_set_connection", b"collation_connection"), (b"max_join_size", BIG_SELECTS)];

/// What `max_join_size` takes along.
const BIG_SELECTS: &[u8] = b"sql_big_selects";

/// The value of `max_join_size` that is no limit: with any other one `sql_big_selects` is off (`fix_sql_big_selects` and its
/// like in the servers' `sys_vars.cc`).
const NO_LIMIT: &[u8] = b"18446744073709551615";

/// A question for these values, which the session's sql_select_limit does not keep from an answer.
pub fn question(columns: &[Vec<u8>]) -> Vec<u8> {
    [b"SELECT ", columns.join(&b", "[..]).as_slice(), b" LIMIT 1"].concat()
}

/// A session's movable state. Values are texts as the servers report or take them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The current schema; `None` before one was chosen.
    pub schema: Option<Box<[u8]>>,
    /// Session variables that were changed since login.
    pub variables: BTreeMap<Box<[u8]>, Box<[u8]>>,
    /// User variables with the literals they were set to.
    pub user_variables: BTreeMap<Box<[u8]>, Box<[u8]>>,
    /// The last SET ROLE statement.
    pub role: Option<Box<[u8]>>,
    /// What COM_SET_OPTION last said, as it is sent.
    pub option: Option<[u8; 2]>,
}

/// A state that sessions and connections share while nothing changes.
pub type Shared = Rc<State>;

impl State {
    /// Whether a session variable moves with the session.
    pub fn moves(name: &[u8]) -> bool {
        // The proxy sets every tracker itself but this one, which is the client's wherever it reads.
        let tracker = name.starts_with(b"session_track_") && name != b"session_track_transaction_info";
        !tracker && !STAYS.contains(&name)
    }

    /// Whether a value of a session variable makes reads depend on what was written or run on the same connection: it gives
    /// the last generated id to `IS NULL`, seeds RAND(), or has the server take notes of statements.
    pub fn ties_reads(name: &[u8], value: &[u8]) -> bool {
        let on = value == b"1" || value.eq_ignore_ascii_case(b"ON");
        match name {
            b"sql_auto_is_null" | b"profiling" => on,
            b"optimizer_trace" => value.starts_with(b"enabled=on"),
            b"rand_seed1" | b"rand_seed2" => true,
            _ => false,
        }
    }

    /// Notes a variable that a server reported as changed. Returns whether it is one that moves.
    pub fn note_variable(state: &mut Shared, name: &[u8], value: &[u8]) -> bool {
        if !Self::moves(name) {
            return false;
        }
        if state.variables.get(name).is_none_or(|known| **known != *value) {
            Rc::make_mut(state).variables.insert(name.into(), value.into());
        }
        true
    }

    /// Notes what these variables, which a server reported together, have changed besides.
    pub fn note_taken_along(state: &mut Shared, told: &[Variable]) {
        let value =
            |name: &[u8]| told.iter().rev().find(|(told, _)| **told == *name).map(|(_, value)| &**value);
        if let (Some(limit), None) = (value(b"max_join_size"), value(BIG_SELECTS)) {
            Self::note_variable(state, BIG_SELECTS, if limit == NO_LIMIT { b"ON" } else { b"OFF" });
        }
    }

    /// Notes the schema a server reported.
    pub fn note_schema(state: &mut Shared, schema: &[u8]) {
        if state.schema.as_deref() != Some(schema) {
            Rc::make_mut(state).schema = (!schema.is_empty()).then(|| schema.into());
        }
    }

    /// The statement that brings a connection's variables from `known` to this state; `None` when nothing differs.
    pub fn set_variables(&self, known: &Self) -> Option<Vec<u8>> {
        let mut assignments = self.names(known).unwrap_or_default();
        let named = !assignments.is_empty();
        for name in known.variables.keys().filter(|name| !self.variables.contains_key(*name)) {
            separate(&mut assignments);
            assignments.extend_from_slice(b"@@session.`");
            assignments.extend_from_slice(name);
            assignments.extend_from_slice(b"`=DEFAULT");
        }
        let differs = |name: &[u8]| self.variables.get(name) != known.variables.get(name);
        let taken_along = |name: &[u8]| TAKES_ALONG.iter().any(|(by, taken)| *taken == name && differs(by));
        for (name, value) in &self.variables {
            let (name, value) = (&**name, &**value);
            if (!differs(name) && !taken_along(name)) || (named && NAMES.contains(&name)) {
                continue;
            }
            separate(&mut assignments);
            assignments.extend_from_slice(b"@@session.`");
            assignments.extend_from_slice(name);
            assignments.extend_from_slice(b"`=");
            append_value(&mut assignments, name, value);
        }
        set(assignments)
    }

    /// `NAMES x COLLATE y` where that says it all. The variables one by one would not: results are described with the
    /// collation of SET NAMES, and character_set_results has but a character set's own.
    fn names(&self, known: &Self) -> Option<Vec<u8>> {
        let [client, connection, results, collation] = NAMES.map(|name| self.variables.get(name));
        let plain = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let collation = collation.filter(|collation| !collation.is_empty() && plain(collation))?;
        let charset = client.filter(|client| Some(*client) == connection && Some(*client) == results)?;
        // A collation that was set alone has taken its character set along, which no server reports.
        collation.strip_prefix(&**charset)?.strip_prefix(b"_")?;
        let differs = NAMES.iter().any(|name| self.variables.get(*name) != known.variables.get(*name));
        (differs && plain(charset)).then(|| [b"NAMES ", &**charset, b" COLLATE ", &**collation].concat())
    }

    /// The same for user variables: a statement of its own, for their literals are read in the session's character set.
    pub fn set_user_variables(&self, known: &Self) -> Option<Vec<u8>> {
        let mut assignments: Vec<u8> = Vec::new();
        for (name, literal) in changed(&self.user_variables, &known.user_variables) {
            separate(&mut assignments);
            assignments.extend_from_slice(b"@`");
            assignments.extend_from_slice(name);
            assignments.extend_from_slice(b"`=");
            assignments.extend_from_slice(literal);
        }
        set(assignments)
    }
}

fn set(assignments: Vec<u8>) -> Option<Vec<u8>> {
    (!assignments.is_empty()).then(|| [b"SET ", assignments.as_slice()].concat())
}

fn changed<'a>(
    wanted: &'a BTreeMap<Box<[u8]>, Box<[u8]>>,
    known: &'a BTreeMap<Box<[u8]>, Box<[u8]>>,
) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
    wanted
        .iter()
        .filter(|(name, value)| known.get(*name) != Some(*value))
        .map(|(name, value)| (&**name, &**value))
}

fn separate(assignments: &mut Vec<u8>) {
    if !assignments.is_empty() {
        assignments.push(b',');
    }
}

/// A tracker reports every value as text; numeric variables take no quoted one.
fn append_value(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    let number = !value.is_empty()
        && value.len() <= 40
        && value
            .iter()
            .enumerate()
            .all(|(at, byte)| byte.is_ascii_digit() || *byte == b'.' || (at == 0 && *byte == b'-'));
    if number {
        out.extend_from_slice(value);
    } else if value.is_empty() && name == b"character_set_results" {
        // NULL ("send as it is") is reported as an empty text.
        out.extend_from_slice(b"NULL");
    } else {
        // As hexadecimal: free of quoting, sql_mode and character sets.
        out.extend_from_slice(b"_utf8mb4 0x");
        for byte in value {
            out.push(hex(byte >> 4));
            out.push(hex(byte & 15));
        }
        if value.is_empty() {
            out.truncate(out.len() - b"_utf8mb4 0x".len());
            out.extend_from_slice(b"''");
        }
    }
}

fn hex(nibble: u8) -> u8 {
    match nibble {
        0..=9 => b'0' + nibble,
        _ => b'a' + nibble - 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(variables: &[(&str, &str)]) -> Shared {
        let mut state = Shared::default();
        for (name, value) in variables {
            State::note_variable(&mut state, name.as_bytes(), value.as_bytes());
        }
        state
    }

    #[test]
    fn only_what_differs_is_set() {
        let old = state(&[("sql_mode", "ANSI"), ("sql_select_limit", "5")]);
        let new = state(&[("sql_mode", "ANSI"), ("sql_select_limit", "7"), ("sql_auto_is_null", "ON")]);
        assert_eq!(
            new.set_variables(&old).unwrap(),
            b"SET @@session.`sql_auto_is_null`=_utf8mb4 0x4f4e,@@session.`sql_select_limit`=7"
        );
        assert_eq!(new.set_variables(&new), None);
    }

    #[test]
    fn a_collation_moves_with_its_character_set() {
        let names = |collation| {
            state(&[
                ("character_set_client", "utf8mb4"),
                ("character_set_connection", "utf8mb4"),
                ("character_set_results", "utf8mb4"),
                ("collation_connection", collation),
                ("sql_auto_is_null", "1"),
            ])
        };
        let bin = names("utf8mb4_bin");
        assert_eq!(
            bin.set_variables(&State::default()).unwrap(),
            b"SET NAMES utf8mb4 COLLATE utf8mb4_bin,@@session.`sql_auto_is_null`=1"
        );
        let general = names("utf8mb4_general_ci");
        assert_eq!(general.set_variables(&bin).unwrap(), b"SET NAMES utf8mb4 COLLATE utf8mb4_general_ci");
        assert_eq!(general.set_variables(&general), None);
        let alone = names("latin1_bin");
        assert!(alone.set_variables(&bin).unwrap().starts_with(b"SET @@session.`collation_connection`="));
        let mut mixed = names("latin1_bin");
        State::note_variable(&mut mixed, b"character_set_connection", b"latin1");
        assert!(mixed.set_variables(&bin).unwrap().starts_with(b"SET @@session.`character_set_connection`="));
    }

    #[test]
    fn what_another_variable_sets_is_set_again_behind_it() {
        let known = state(&[
            ("character_set_client", "utf8mb4"),
            ("character_set_connection", "latin1"),
            ("character_set_results", "utf8mb4"),
            ("collation_connection", "latin1_swedish_ci"),
        ]);
        // SET NAMES utf8mb4 and SET collation_connection, which took the character set along.
        let mut new = Shared::clone(&known);
        State::note_variable(&mut new, b"character_set_connection", b"utf8mb4");
        let set = String::from_utf8(new.set_variables(&known).unwrap()).unwrap();
        let places = ["character_set_connection", "collation_connection"].map(|name| set.find(name));
        assert!(places[0].is_some() && places[0] < places[1], "{set}");

        let known = state(&[("max_join_size", "5"), ("sql_big_selects", "ON")]);
        let new = state(&[("max_join_size", "2"), ("sql_big_selects", "ON")]);
        assert_eq!(
            new.set_variables(&known).unwrap(),
            b"SET @@session.`max_join_size`=2,@@session.`sql_big_selects`=_utf8mb4 0x4f4e"
        );
        assert_eq!(new.set_variables(&new), None);
    }

    #[test]
    fn a_limit_of_joins_turns_big_selects_off() {
        let told = |pairs: &[(&str, &str)]| -> Vec<Variable> {
            pairs.iter().map(|(name, value)| (name.as_bytes().into(), value.as_bytes().into())).collect()
        };
        for (pairs, expected) in [
            (vec![("max_join_size", "2")], Some("OFF")),
            (vec![("max_join_size", "18446744073709551615")], Some("ON")),
            (vec![("max_join_size", "2"), ("sql_big_selects", "ON")], None),
            (vec![("sort_buffer_size", "2")], None),
        ] {
            let mut state = Shared::default();
            State::note_taken_along(&mut state, &told(&pairs));
            let noted = state.variables.get(BIG_SELECTS).map(|value| &**value);
            assert_eq!(noted, expected.map(str::as_bytes), "{pairs:?}");
        }
    }

    #[test]
    fn empty_texts_and_null_are_told_apart() {
        let new = state(&[("character_set_results", ""), ("sql_mode", "")]);
        assert_eq!(
            new.set_variables(&State::default()).unwrap(),
            b"SET @@session.`character_set_results`=NULL,@@session.`sql_mode`=''"
        );
    }

    #[test]
    fn what_belongs_to_one_connection_stays_there() {
        let mut state = Shared::default();
        for name in ["statement_id", "last_gtid", "session_track_gtids", "gtid_next"] {
            assert!(!State::note_variable(&mut state, name.as_bytes(), b"1"), "{name}");
        }
        assert_eq!(*state, State::default());
    }
}
