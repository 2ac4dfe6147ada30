//! What an OK packet tells about a changed session (the servers' SESSION_TRACK_* constants).
//!
//! Both families send a list of entries, each a type byte and a length-encoded block. MySQL sends an entry for each
//! variable, MariaDB one entry that holds them all; both are read here.

use crate::Malformed;
use crate::reader::Reader;

/// SESSION_TRACK_SYSTEM_VARIABLES.
pub(crate) const VARIABLES: u8 = 0;
/// SESSION_TRACK_SCHEMA.
pub(crate) const SCHEMA: u8 = 1;
/// SESSION_TRACK_STATE_CHANGE.
pub(crate) const STATE_CHANGE: u8 = 2;
/// SESSION_TRACK_GTIDS.
pub(crate) const GTIDS: u8 = 3;
/// SESSION_TRACK_TRANSACTION_CHARACTERISTICS.
pub(crate) const CHARACTERISTICS: u8 = 4;
/// SESSION_TRACK_TRANSACTION_STATE (MariaDB: SESSION_TRACK_TRANSACTION_TYPE).
pub(crate) const STATE: u8 = 5;

/// The session state information of an OK packet, as sent; may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SessionTrack<'a>(&'a [u8]);

/// One thing that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracked<'a> {
    /// A variable of session_track_system_variables was assigned.
    Variable {
        /// Its name, in lower case.
        name: &'a [u8],
        /// Its new value as text.
        value: &'a [u8],
    },
    /// The current schema's name; empty when there is none.
    Schema(&'a [u8]),
    /// Something of the session's state changed (session_track_state_change).
    StateChanged(bool),
    /// The GTIDs of session_track_gtids, as text.
    Gtids(&'a [u8]),
    /// The statements that would start the current transaction anew.
    TransactionCharacteristics(&'a [u8]),
    /// Eight characters on the current transaction, underscores where nothing is to be said.
    TransactionState(&'a [u8]),
    /// A type of entry not known here.
    Unknown {
        /// Its type byte.
        kind: u8,
        /// Its block.
        data: &'a [u8],
    },
}

impl<'a> SessionTrack<'a> {
    /// Takes the entries' bytes after checking that every one of them can be read.
    ///
    /// # Errors
    /// An entry is cut short or holds other fields than its type says.
    pub fn parse(bytes: &'a [u8]) -> Result<SessionTrack<'a>, Malformed> {
        let track = SessionTrack(bytes);
        track.iter().try_for_each(|entry| entry.map(drop))?;
        Ok(track)
    }

    /// Whether nothing is told.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes as sent.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Everything told, in the order sent; nothing follows an error.
    pub fn iter(&self) -> Iter<'a> {
        Iter { entries: self.entries(), variables: Reader::new(b"") }
    }

    pub(crate) fn entries(&self) -> Entries<'a> {
        Entries(Reader::new(self.0))
    }
}

impl<'a> IntoIterator for SessionTrack<'a> {
    type Item = Result<Tracked<'a>, Malformed>;
    type IntoIter = Iter<'a>;
    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// The entries undivided: type byte and block.
#[derive(Clone, Debug)]
pub(crate) struct Entries<'a>(Reader<'a>);

impl<'a> Iterator for Entries<'a> {
    type Item = Result<(u8, &'a [u8]), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        let kind = self.0.u8("session state entry").ok()?;
        let block = self.0.lenenc_bytes("session state entry cut short");
        if block.is_err() {
            self.0 = Reader::new(b"");
        }
        Some(block.map(|block| (kind, block)))
    }
}

/// Iterator over what an OK packet tells of the session.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    entries: Entries<'a>,
    /// What is left of an entry of variables.
    variables: Reader<'a>,
}

impl<'a> Iterator for Iter<'a> {
    type Item = Result<Tracked<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.variables.is_empty() {
            match self.entries.next()? {
                Ok((VARIABLES, block)) => self.variables = Reader::new(block),
                Ok((kind, block)) => return Some(self.ended_by_error(entry(kind, block))),
                Err(error) => return Some(Err(error)),
            }
        }
        let pair = read_variable(&mut self.variables);
        Some(self.ended_by_error(pair.map(|(name, value)| Tracked::Variable { name, value })))
    }
}

impl<'a> Iter<'a> {
    fn ended_by_error(&mut self, item: Result<Tracked<'a>, Malformed>) -> Result<Tracked<'a>, Malformed> {
        if item.is_err() {
            self.entries = Entries(Reader::new(b""));
            self.variables = Reader::new(b"");
        }
        item
    }
}

pub(crate) fn read_variable<'a>(block: &mut Reader<'a>) -> Result<(&'a [u8], &'a [u8]), Malformed> {
    let name = block.lenenc_bytes("tracked variable's name cut short")?;
    let value = block.lenenc_bytes("tracked variable's value cut short")?;
    Ok((name, value))
}

fn entry(kind: u8, block: &[u8]) -> Result<Tracked<'_>, Malformed> {
    let mut reader = Reader::new(block);
    Ok(match kind {
        SCHEMA => Tracked::Schema(reader.lenenc_bytes("tracked schema cut short")?),
        // The block is the character itself, without the length that all others have.
        STATE_CHANGE => Tracked::StateChanged(block.ends_with(b"1")),
        GTIDS => {
            // 0 is the only encoding there is: text.
            if reader.u8("encoding of tracked GTIDs missing")? != 0 {
                return Ok(Tracked::Unknown { kind, data: block });
            }
            Tracked::Gtids(reader.lenenc_bytes("tracked GTIDs cut short")?)
        }
        CHARACTERISTICS => {
            Tracked::TransactionCharacteristics(reader.lenenc_bytes("transaction characteristics cut short")?)
        }
        STATE => Tracked::TransactionState(reader.lenenc_bytes("transaction state cut short")?),
        _ => Tracked::Unknown { kind, data: block },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(bytes: &[u8]) -> Vec<Tracked<'_>> {
        SessionTrack::parse(bytes).unwrap().iter().map(Result::unwrap).collect()
    }

    #[test]
    fn every_kind_is_read() {
        let bytes = b"\x00\x0f\x0aautocommit\x03OFF\x01\x04\x03app\x02\x011\x03\x05\x00\x03u:1\x04\x01\x00\
\x05\x09\x08T_______\x63\x02zz";
        assert_eq!(
            all(bytes),
            [
                Tracked::Variable { name: b"autocommit", value: b"OFF" },
                Tracked::Schema(b"app"),
                Tracked::StateChanged(true),
                Tracked::Gtids(b"u:1"),
                Tracked::TransactionCharacteristics(b""),
                Tracked::TransactionState(b"T_______"),
                Tracked::Unknown { kind: 99, data: b"zz" },
            ]
        );
    }

    #[test]
    fn mariadb_tells_several_variables_in_one_entry() {
        let pair = |name, value| Tracked::Variable { name, value };
        assert_eq!(all(b"\x00\x08\x01a\x011\x01b\x012"), [pair(b"a", b"1"), pair(b"b", b"2")]);
    }

    #[test]
    fn nothing_follows_an_error() {
        let bytes = b"\x00\x03\x01a\x05\x01\x04\x03app";
        assert!(SessionTrack::parse(bytes).is_err());
        let items: Vec<_> = SessionTrack(bytes).iter().collect();
        assert_eq!(items.len(), 1);
        assert!(items[0].is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_no_harm(bytes: Vec<u8>) {
            let parsed = SessionTrack::parse(&bytes);
            let items: Vec<_> = SessionTrack(&bytes).iter().collect();
            prop_assert_eq!(parsed.is_ok(), items.iter().all(Result::is_ok));
        }
    }
}
