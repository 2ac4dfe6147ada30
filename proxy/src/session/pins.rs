//! What keeps a session on its primary connection: state that lives there and cannot be moved.

use sql::{Effects, Kind};

use crate::route::Reason;

/// The causes that are in force.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pins {
    temporary_table: bool,
    locks: u32,
    tables_locked: bool,
    instance_locked: bool,
    xa: bool,
    other: bool,
    /// Statements prepared as text live on the primary connection. They do not keep reads from replicas, but the
    /// connection cannot be replaced without the client noticing.
    prepared_text: bool,
    /// User variables with values that only the server knows: likewise, except for the reads that use them.
    pub(super) opaque_variables: bool,
}

impl Pins {
    /// The first cause in force.
    pub(super) fn reason(self) -> Option<Reason> {
        let causes = [
            (self.temporary_table, Reason::PinnedTemporaryTable),
            (self.locks > 0 || self.tables_locked || self.instance_locked, Reason::PinnedLock),
            (self.xa, Reason::PinnedXa),
            (self.other, Reason::PinnedSessionState),
        ];
        causes.into_iter().find(|(holds, _)| *holds).map(|(_, reason)| reason)
    }

    /// Whether a new connection could not take the place of the primary one unnoticed.
    pub(super) fn hold_the_connection(self) -> bool {
        self.reason().is_some() || self.prepared_text || self.opaque_variables
    }

    /// A statement has succeeded on the primary connection. `told` says that the server reported a change of state
    /// that none of its other reports explains.
    pub(super) fn note(&mut self, effects: Effects, kind: Kind, text: &[u8], told: bool) {
        let has = |effect| effects.contains(effect);
        self.temporary_table |= has(Effects::CREATES_TEMPORARY_TABLE);
        if has(Effects::TAKES_LOCK) {
            self.locks = self.locks.saturating_add(1);
        }
        if has(Effects::RELEASES_LOCK) {
            self.locks = self.locks.saturating_sub(1);
        }
        if has(Effects::RELEASES_ALL_LOCKS) {
            self.locks = 0;
        }
        self.tables_locked =
            (self.tables_locked || has(Effects::LOCKS_TABLES)) && !has(Effects::UNLOCKS_TABLES);
        self.instance_locked =
            (self.instance_locked || has(Effects::LOCKS_INSTANCE)) && !has(Effects::UNLOCKS_INSTANCE);
        if kind == Kind::Xa {
            self.xa = !ends_xa(text);
        }
        self.prepared_text |= has(Effects::PREPARED_TEXT);
        self.other |= effects.intersects(Effects::SETS_LOG_BIN | Effects::OPENS_HANDLER);
        self.other |= told && has(Effects::OPAQUE);
    }
}

/// Whether an XA statement leaves the session without an XA transaction.
fn ends_xa(text: &[u8]) -> bool {
    let mut words = text.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let first = words.next().is_some_and(|word| word.eq_ignore_ascii_case(b"XA"));
    let verbs: [&[u8]; 4] = [b"PREPARE", b"COMMIT", b"ROLLBACK", b"RECOVER"];
    first && words.next().is_some_and(|word| verbs.iter().any(|verb| word.eq_ignore_ascii_case(verb)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_pins_until_it_is_released() {
        let mut pins = Pins::default();
        pins.note(Effects::TAKES_LOCK, Kind::Select, b"", false);
        pins.note(Effects::TAKES_LOCK, Kind::Select, b"", false);
        pins.note(Effects::RELEASES_LOCK, Kind::Select, b"", false);
        assert_eq!(pins.reason(), Some(Reason::PinnedLock));
        pins.note(Effects::RELEASES_ALL_LOCKS, Kind::Select, b"", false);
        assert_eq!(pins.reason(), None);
        pins.note(Effects::LOCKS_TABLES, Kind::LockTables, b"", false);
        assert_eq!(pins.reason(), Some(Reason::PinnedLock));
        pins.note(Effects::UNLOCKS_TABLES, Kind::UnlockTables, b"", false);
        assert_eq!(pins.reason(), None);
    }

    #[test]
    fn xa_pins_from_start_to_its_end() {
        let mut pins = Pins::default();
        for text in [&b"XA START 'a'"[..], b"xa  begin 'a'", b"XA END 'a'", b"/* x */ XA COMMIT 'a'"] {
            pins.note(Effects::NONE, Kind::Xa, text, false);
            assert_eq!(pins.reason(), Some(Reason::PinnedXa), "{}", String::from_utf8_lossy(text));
        }
        pins.note(Effects::NONE, Kind::Xa, b"XA\n COMMIT 'a'", false);
        assert_eq!(pins.reason(), None);
    }

    #[test]
    fn a_procedure_that_changed_something_unknown_pins() {
        let mut pins = Pins::default();
        pins.note(Effects::UNKNOWN, Kind::Call, b"", false);
        assert_eq!(pins.reason(), None);
        pins.note(Effects::UNKNOWN, Kind::Call, b"", true);
        assert_eq!(pins.reason(), Some(Reason::PinnedSessionState));
    }
}
