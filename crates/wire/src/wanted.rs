//! What a client asked to be told about its session.
//!
//! Towards the servers the proxy turns on more trackers than the client did. What the client did not ask for is taken
//! out of the OK packets on their way to it; this is the list of what stays.

use crate::Malformed;
use crate::put::{Put, lenenc_width};
use crate::reader::Reader;
use crate::session_track::{self as track, SessionTrack, read_variable};

/// The session's own values of the variables session_track_*, as far as the client set them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// session_track_schema.
    pub schema: bool,
    /// session_track_state_change.
    pub state_change: bool,
    /// session_track_gtids is not OFF.
    pub gtids: bool,
    /// session_track_transaction_info.
    pub transaction: TransactionWanted,
    /// session_track_system_variables.
    pub variables: WantedVariables,
}

/// Values of session_track_transaction_info.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TransactionWanted {
    /// Nothing about transactions.
    #[default]
    Off,
    /// The eight characters of the state.
    State,
    /// The state and the statements to start the transaction anew.
    Characteristics,
}

/// Values of session_track_system_variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedVariables {
    /// No variable.
    None,
    /// `*`.
    All,
    /// These, in lower case.
    List(Vec<Box<[u8]>>),
}

impl Default for Wanted {
    /// The servers' defaults.
    fn default() -> Wanted {
        Wanted {
            schema: true,
            state_change: false,
            gtids: false,
            transaction: TransactionWanted::Off,
            variables: WantedVariables::default(),
        }
    }
}

impl Default for WantedVariables {
    /// The default of MySQL and MariaDB 10.11. Newer MariaDB adds variables; the proxy reads the value at login.
    fn default() -> WantedVariables {
        WantedVariables::parse(
            b"time_zone,autocommit,character_set_client,character_set_results,character_set_connection",
        )
    }
}

impl WantedVariables {
    /// Reads the value of session_track_system_variables: names between commas, `*` for all, empty for none.
    pub fn parse(text: &[u8]) -> WantedVariables {
        let names = text.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|name| !name.is_empty());
        let list: Vec<Box<[u8]>> = names.map(|name| name.to_ascii_lowercase().into_boxed_slice()).collect();
        if list.is_empty() {
            WantedVariables::None
        } else if list.iter().any(|name| **name == *b"*") {
            WantedVariables::All
        } else {
            WantedVariables::List(list)
        }
    }

    /// Whether the client wants to hear of this variable; names are compared without regard to case.
    pub fn contains(&self, name: &[u8]) -> bool {
        match self {
            WantedVariables::None => false,
            WantedVariables::All => true,
            WantedVariables::List(list) => list.iter().any(|wanted| wanted.eq_ignore_ascii_case(name)),
        }
    }
}

impl Wanted {
    /// Everything a server tells.
    pub fn everything() -> Wanted {
        Wanted {
            schema: true,
            state_change: true,
            gtids: true,
            transaction: TransactionWanted::Characteristics,
            variables: WantedVariables::All,
        }
    }

    /// Whether entries of this type stay; entries of variables are decided one variable at a time. Unknown types go:
    /// the client cannot have asked for what this project has never heard of.
    fn keeps(&self, kind: u8) -> bool {
        match kind {
            track::SCHEMA => self.schema,
            track::STATE_CHANGE => self.state_change,
            track::GTIDS => self.gtids,
            track::CHARACTERISTICS => self.transaction == TransactionWanted::Characteristics,
            track::STATE => self.transaction != TransactionWanted::Off,
            _ => false,
        }
    }

    /// Whether the client wants all of these entries.
    pub(crate) fn keeps_all(&self, tracked: SessionTrack<'_>) -> bool {
        let keeps_variables = |block| {
            let mut reader = Reader::new(block);
            while let Ok((name, _)) = read_variable(&mut reader) {
                if !self.variables.contains(name) {
                    return false;
                }
            }
            true
        };
        tracked.entries().flatten().all(|(kind, block)| match kind {
            track::VARIABLES => keeps_variables(block),
            kind => self.keeps(kind),
        })
    }

    /// Bytes of the entries that stay.
    pub(crate) fn kept_length(&self, tracked: SessionTrack<'_>) -> Result<usize, Malformed> {
        let mut total = 0;
        self.visit_kept(tracked, |_, block, pairs| {
            let length = pairs.map_or(block.len(), |length| length);
            total += 1 + lenenc_width(length as u64) + length;
        })?;
        Ok(total)
    }

    /// Appends the entries that stay.
    pub(crate) fn write_kept(&self, out: &mut Vec<u8>, tracked: SessionTrack<'_>) -> Result<(), Malformed> {
        self.visit_kept(tracked, |kind, block, pairs| {
            out.push(kind);
            match pairs {
                None => out.put_lenenc_bytes(block),
                Some(length) => {
                    out.put_lenenc(length as u64);
                    self.visit_kept_pairs(block, |pair| out.extend_from_slice(pair));
                }
            }
        })
    }

    /// Calls `visit` for each entry that stays; for entries of variables with the bytes of the pairs that stay.
    fn visit_kept(
        &self,
        tracked: SessionTrack<'_>,
        mut visit: impl FnMut(u8, &[u8], Option<usize>),
    ) -> Result<(), Malformed> {
        for entry in tracked.entries() {
            let (kind, block) = entry?;
            if kind == track::VARIABLES {
                let mut length = 0;
                self.visit_kept_pairs(block, |pair| length += pair.len());
                if length > 0 {
                    visit(kind, block, Some(length));
                }
            } else if self.keeps(kind) {
                visit(kind, block, None);
            }
        }
        Ok(())
    }

    /// Calls `visit` with the bytes of each wanted name and value.
    fn visit_kept_pairs(&self, block: &[u8], mut visit: impl FnMut(&[u8])) {
        let mut reader = Reader::new(block);
        loop {
            let before = reader.rest();
            let Ok((name, _)) = read_variable(&mut reader) else {
                return;
            };
            if self.variables.contains(name) {
                visit(before.get(..before.len() - reader.remaining()).unwrap_or_default());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A variable, the schema, GTIDs, both kinds of transaction information, a state change and an unknown kind.
    const TOLD: &[u8] = b"\x00\x10\x08SQL_MODE\x01x\x02tz\x01y\x01\x04\x03app\x03\x05\x00\x03u:1\x05\x09\x08T_______\x04\x01\x00\
\x02\x011\x63\x02zz";

    fn kept(wanted: &Wanted) -> Vec<u8> {
        let told = SessionTrack::parse(TOLD).unwrap();
        let mut out = Vec::new();
        wanted.write_kept(&mut out, told).unwrap();
        assert_eq!(out.len(), wanted.kept_length(told).unwrap());
        let kept = SessionTrack::parse(&out).unwrap();
        assert!(wanted.keeps_all(kept));
        assert_eq!(wanted.keeps_all(told), out == TOLD);
        out
    }

    fn nothing() -> Wanted {
        Wanted { schema: false, variables: WantedVariables::None, ..Wanted::default() }
    }

    #[test]
    fn each_kind_is_kept_alone() {
        assert_eq!(kept(&nothing()), b"");
        assert_eq!(kept(&Wanted { schema: true, ..nothing() }), b"\x01\x04\x03app");
        assert_eq!(kept(&Wanted { gtids: true, ..nothing() }), b"\x03\x05\x00\x03u:1");
        assert_eq!(kept(&Wanted { state_change: true, ..nothing() }), b"\x02\x011");
        let transaction = |transaction| kept(&Wanted { transaction, ..nothing() });
        assert_eq!(transaction(TransactionWanted::State), b"\x05\x09\x08T_______");
        assert_eq!(transaction(TransactionWanted::Characteristics), b"\x05\x09\x08T_______\x04\x01\x00");
        let variables = |text: &[u8]| kept(&Wanted { variables: WantedVariables::parse(text), ..nothing() });
        assert_eq!(variables(b"sql_mode"), b"\x00\x0b\x08SQL_MODE\x01x");
        assert_eq!(variables(b" TZ , other"), b"\x00\x05\x02tz\x01y");
        assert_eq!(variables(b"*"), &TOLD[..18]);
        assert_eq!(variables(b"other"), b"");
    }

    #[test]
    fn everything_that_is_known_is_kept() {
        assert_eq!(kept(&Wanted::everything()), &TOLD[..TOLD.len() - 4]);
    }

    #[test]
    fn the_servers_lists_are_read() {
        assert_eq!(WantedVariables::parse(b""), WantedVariables::None);
        assert_eq!(WantedVariables::parse(b" , "), WantedVariables::None);
        assert_eq!(WantedVariables::parse(b"a,*"), WantedVariables::All);
        assert!(WantedVariables::default().contains(b"AutoCommit"));
        assert!(!WantedVariables::default().contains(b"sql_mode"));
    }
}
