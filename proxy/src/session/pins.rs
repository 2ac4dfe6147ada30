//! What keeps a session on its primary connection: state that lives there and cannot be moved.

use sql::Effects;

use crate::route::Reason;

/// The causes that are in force.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pins {
    temporary_table: bool,
    locks: u32,
    /// A lock was taken and perhaps not released: which one RELEASE_LOCK meant is not known. Reads may leave the
    /// connection, but it must not be replaced.
    held_locks: bool,
    tables_locked: bool,
    instance_locked: bool,
    /// Handles that are open. Those that a server closes with their table count on.
    handlers: u32,
    xa: bool,
    other: bool,
    in_doubt: bool,
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
            (self.other || self.in_doubt || self.handlers > 0, Reason::PinnedSessionState),
        ];
        causes.into_iter().find(|(holds, _)| *holds).map(|(_, reason)| reason)
    }

    /// Whether a new connection could not take the place of the primary one unnoticed.
    pub(super) fn hold_the_connection(self) -> bool {
        self.reason().is_some() || self.prepared_text || self.opaque_variables || self.held_locks
    }

    /// A statement has succeeded on the primary connection. `changed`: the server said that it changed the session's
    /// state, and nothing else that it said explains that. Of a statement whose doings cannot be seen it may be anything.
    /// `several`: it was more than one statement, and each effect may be that of many.
    pub(super) fn note(&mut self, effects: Effects, changed: bool, several: bool) {
        let has = |effect| effects.contains(effect);
        self.temporary_table |= has(Effects::CREATES_TEMPORARY_TABLE);
        if has(Effects::TAKES_LOCK) {
            self.locks = self.locks.saturating_add(1);
            self.held_locks = true;
        }
        if has(Effects::RELEASES_LOCK) {
            self.locks = self.locks.saturating_sub(1);
        }
        if has(Effects::RELEASES_ALL_LOCKS) {
            self.locks = 0;
            self.held_locks = false;
        }
        self.tables_locked =
            (self.tables_locked || has(Effects::LOCKS_TABLES)) && !has(Effects::UNLOCKS_TABLES);
        self.instance_locked =
            (self.instance_locked || has(Effects::LOCKS_INSTANCE)) && !has(Effects::UNLOCKS_INSTANCE);
        self.xa = (self.xa || has(Effects::BEGINS_XA)) && !has(Effects::ENDS_XA);
        self.prepared_text |= has(Effects::PREPARED_TEXT);
        if several {
            self.other |= has(Effects::OPENS_HANDLER);
        } else {
            self.handlers = self.handlers.saturating_add(u32::from(has(Effects::OPENS_HANDLER)));
            self.handlers = self.handlers.saturating_sub(u32::from(has(Effects::CLOSES_HANDLER)));
        }
        self.other |= has(Effects::SETS_LOG_BIN);
        self.other |= changed && has(Effects::OPAQUE);
    }

    /// All temporary tables that statements of their own have made are dropped.
    pub(super) fn no_temporary_tables(&mut self) {
        self.temporary_table = false;
    }

    /// A trigger has changed something in the session: a user variable, or a temporary table.
    pub(super) fn note_trigger(&mut self) {
        self.opaque_variables = true;
        self.other = true;
    }

    /// A statement whose doings cannot be seen has failed half way. What it left behind the next reply on its connection
    /// tells: an error has no room for it.
    pub(super) fn note_failure(&mut self) {
        self.in_doubt = true;
    }

    /// That next reply has come. `changed`: it tells of a change of state, which is the failed statement's.
    pub(super) fn clear_doubt(&mut self, changed: bool) {
        self.other |= self.in_doubt && changed;
        self.in_doubt = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(pins: &mut Pins, effects: Effects) -> Option<Reason> {
        pins.note(effects, false, false);
        pins.reason()
    }

    #[test]
    fn a_lock_pins_until_it_is_released() {
        let mut pins = Pins::default();
        note(&mut pins, Effects::TAKES_LOCK);
        note(&mut pins, Effects::TAKES_LOCK);
        assert_eq!(note(&mut pins, Effects::RELEASES_LOCK), Some(Reason::PinnedLock));
        assert_eq!(note(&mut pins, Effects::RELEASES_LOCK), None);
        assert!(pins.hold_the_connection(), "it may have been another lock that was released");
        note(&mut pins, Effects::RELEASES_ALL_LOCKS);
        assert!(!pins.hold_the_connection());
        assert_eq!(note(&mut pins, Effects::LOCKS_TABLES), Some(Reason::PinnedLock));
        assert_eq!(note(&mut pins, Effects::UNLOCKS_TABLES), None);
    }

    #[test]
    fn xa_pins_from_its_beginning_to_its_end() {
        let mut pins = Pins::default();
        assert_eq!(note(&mut pins, Effects::BEGINS_XA), Some(Reason::PinnedXa));
        assert_eq!(note(&mut pins, Effects::NONE), Some(Reason::PinnedXa));
        assert_eq!(note(&mut pins, Effects::ENDS_XA), None);
    }

    #[test]
    fn handlers_pin_until_the_last_is_closed() {
        let mut pins = Pins::default();
        note(&mut pins, Effects::OPENS_HANDLER);
        note(&mut pins, Effects::OPENS_HANDLER);
        assert_eq!(note(&mut pins, Effects::CLOSES_HANDLER), Some(Reason::PinnedSessionState));
        assert_eq!(note(&mut pins, Effects::CLOSES_HANDLER), None);
    }

    #[test]
    fn a_procedure_that_failed_pins_until_the_server_has_spoken() {
        let mut pins = Pins::default();
        pins.note_failure();
        assert_eq!(pins.reason(), Some(Reason::PinnedSessionState));
        pins.clear_doubt(false);
        assert_eq!(pins.reason(), None);
        pins.note_failure();
        pins.clear_doubt(true);
        assert_eq!(pins.reason(), Some(Reason::PinnedSessionState));
    }

    #[test]
    fn a_procedure_that_changed_something_pins() {
        let mut pins = Pins::default();
        assert_eq!(note(&mut pins, Effects::UNKNOWN), None);
        pins.note(Effects::UNKNOWN, true, false);
        assert_eq!(pins.reason(), Some(Reason::PinnedSessionState));
    }
}
