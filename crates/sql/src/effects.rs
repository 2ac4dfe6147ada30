//! What a statement may leave behind, as a set.
//!
//! The routing decision needs one answer; the session needs to know what to remember and when to pin. Each member says
//! "may", never "will": the server's session trackers have the last word.

use std::ops::{BitOr, BitOrAssign};

/// A set of effects.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Effects(u64);

macro_rules! effects {
    ($($(#[$doc:meta])* $name:ident = $bit:expr,)*) => {
        impl Effects {
            $($(#[$doc])* pub const $name: Effects = Effects(1 << $bit);)*

            /// Every member with its name, for output and tests.
            pub const ALL: &'static [(&'static str, Effects)] = &[$((stringify!($name), Effects::$name),)*];
        }
    };
}

effects! {
    /// A position may be moved by it: DML, DDL, COMMIT, CALL, XA, implicit commits, whatever is unknown.
    MAY_COMMIT = 0,
    /// An ERR does not prove that nothing was committed: CALL, multi-statement packets, XA, DDL, LOAD, unknown. A plain
    /// single DML statement is not in it.
    MAY_COMMIT_THEN_FAIL = 1,
    /// CREATE TEMPORARY TABLE as a statement of its own.
    CREATES_TEMPORARY_TABLE = 2,
    /// DROP TABLE or DROP TEMPORARY TABLE: may remove a temporary table.
    DROPS_TEMPORARY = 3,
    /// GET_LOCK is called.
    TAKES_LOCK = 4,
    /// RELEASE_LOCK is called: one lock less, perhaps.
    RELEASES_LOCK = 5,
    /// RELEASE_ALL_LOCKS is called.
    RELEASES_ALL_LOCKS = 6,
    /// LOCK TABLES, FLUSH TABLES ... WITH READ LOCK, FLUSH TABLES ... FOR EXPORT, BACKUP STAGE, BACKUP LOCK.
    LOCKS_TABLES = 7,
    /// UNLOCK TABLES, BACKUP UNLOCK, BACKUP STAGE END.
    UNLOCKS_TABLES = 8,
    /// LOCK INSTANCE FOR BACKUP.
    LOCKS_INSTANCE = 9,
    /// UNLOCK INSTANCE.
    UNLOCKS_INSTANCE = 10,
    /// `SET @v`, `@v := x`, `INTO @v`, and what a stored function or procedure may do. Triggers are not seen here.
    SETS_USER_VARIABLE = 11,
    /// `@v` is read. With [`crate::Target::Replica`] this is a condition: only if every user variable of the session has
    /// a literal value that can be replayed there.
    READS_USER_VARIABLE = 12,
    /// SET of a session variable, SET NAMES, SET CHARACTER SET.
    SETS_SESSION_VARIABLE = 13,
    /// SET of any session_track_* variable, on which the proxy itself depends.
    SETS_TRACKERS = 14,
    /// SET of sql_log_bin, gtid_next, pseudo_* and the like: positions no longer describe what this session writes.
    SETS_LOG_BIN = 15,
    /// SQL_CALC_FOUND_ROWS: the following FOUND_ROWS() belongs to the same connection.
    CALC_FOUND_ROWS = 16,
    /// LAST_INSERT_ID(), `@@last_insert_id`, `@@identity`.
    USES_LAST_INSERT_ID = 17,
    /// The statement is exactly SELECT CONNECTION_ID(), in some spelling and perhaps with an alias: the proxy answers.
    CONNECTION_ID = 18,
    /// KILL in some form.
    KILLS = 19,
    /// Runs text that cannot be seen here (CALL, EXECUTE, stored functions, compound statements, what is unknown): all
    /// that a session can do may be done by it, temporary tables and locks included.
    OPAQUE = 20,
    /// SET TRANSACTION READ ONLY without SESSION or GLOBAL, START TRANSACTION READ ONLY: the next or this transaction.
    READ_ONLY_TRANSACTION = 21,
    /// SET TRANSACTION READ WRITE without SESSION or GLOBAL, START TRANSACTION READ WRITE.
    READ_WRITE_TRANSACTION = 22,
    /// START TRANSACTION WITH CONSISTENT SNAPSHOT: freshness must be settled before it runs.
    CONSISTENT_SNAPSHOT = 23,
    /// COMMIT or ROLLBACK with AND CHAIN: a new transaction begins at once.
    CHAINS_TRANSACTION = 24,
    /// COMMIT or ROLLBACK with RELEASE: the server closes the connection.
    RELEASES_CONNECTION = 25,
    /// A PREPARE, EXECUTE or DEALLOCATE as SQL text.
    PREPARED_TEXT = 26,
    /// HANDLER ... OPEN: a handle that lives on this connection.
    OPENS_HANDLER = 27,
    /// XA START, XA BEGIN: the session is in an XA transaction from now on.
    BEGINS_XA = 28,
    /// XA PREPARE, XA COMMIT, XA ROLLBACK: the session is in none any more, or was in none.
    ENDS_XA = 29,
    /// Tables may be read besides what is asked of the previous statement. Set with [`crate::Target::Previous`] only.
    READS_TABLES = 30,
    /// HANDLER ... CLOSE: one handle less.
    CLOSES_HANDLER = 31,
    /// LAST_INSERT_ID with a value, SET of `last_insert_id` or `identity`: what the next LAST_INSERT_ID() gives no OK packet
    /// tells.
    SETS_LAST_INSERT_ID = 32,
    /// FOUND_ROWS(), ROW_COUNT(), `@@warning_count`, SHOW WARNINGS, GET DIAGNOSTICS: what the statement before left is asked for.
    LOOKS_BACK = 33,
}

impl Effects {
    /// No effect at all.
    pub const NONE: Effects = Effects(0);

    /// What has to be assumed of text that is not understood.
    pub const UNKNOWN: Effects = Effects(
        Effects::MAY_COMMIT.0
            | Effects::MAY_COMMIT_THEN_FAIL.0
            | Effects::OPAQUE.0
            | Effects::SETS_USER_VARIABLE.0,
    );

    /// Whether all of `other` is in here.
    pub const fn contains(self, other: Effects) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is in here.
    pub const fn intersects(self, other: Effects) -> bool {
        self.0 & other.0 != 0
    }

    /// Both sets together.
    #[must_use]
    pub const fn union(self, other: Effects) -> Effects {
        Effects(self.0 | other.0)
    }

    /// This set without `other`.
    #[must_use]
    pub const fn without(self, other: Effects) -> Effects {
        Effects(self.0 & !other.0)
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for Effects {
    type Output = Effects;
    fn bitor(self, other: Effects) -> Effects {
        self.union(other)
    }
}

impl BitOrAssign for Effects {
    fn bitor_assign(&mut self, other: Effects) {
        *self = self.union(other);
    }
}

impl std::fmt::Debug for Effects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set()
            .entries(Effects::ALL.iter().filter(|(_, e)| self.contains(*e)).map(|(name, _)| name))
            .finish()
    }
}
