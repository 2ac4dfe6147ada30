//! Server status flags (the servers' SERVER_STATUS_* constants), sent with every OK and EOF packet.

use std::ops::BitOr;

/// A set of server status flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Status(
    /// The flags as they stand in the packet.
    pub u16,
);

impl Status {
    /// A transaction is open.
    pub const IN_TRANS: Status = Status(0x0001);
    /// autocommit is on.
    pub const AUTOCOMMIT: Status = Status(0x0002);
    /// Another result of the same command follows.
    pub const MORE_RESULTS_EXISTS: Status = Status(0x0008);
    /// SERVER_QUERY_NO_GOOD_INDEX_USED.
    pub const NO_GOOD_INDEX_USED: Status = Status(0x0010);
    /// SERVER_QUERY_NO_INDEX_USED.
    pub const NO_INDEX_USED: Status = Status(0x0020);
    /// A read-only cursor was opened; rows come with COM_STMT_FETCH.
    pub const CURSOR_EXISTS: Status = Status(0x0040);
    /// The cursor's last row has been sent.
    pub const LAST_ROW_SENT: Status = Status(0x0080);
    /// The current schema was dropped.
    pub const DB_DROPPED: Status = Status(0x0100);
    /// sql_mode has NO_BACKSLASH_ESCAPES.
    pub const NO_BACKSLASH_ESCAPES: Status = Status(0x0200);
    /// A prepared statement was prepared anew and has other columns now.
    pub const METADATA_CHANGED: Status = Status(0x0400);
    /// SERVER_QUERY_WAS_SLOW.
    pub const QUERY_WAS_SLOW: Status = Status(0x0800);
    /// The result set holds OUT parameters of CALL.
    pub const PS_OUT_PARAMS: Status = Status(0x1000);
    /// The open transaction is READ ONLY.
    pub const IN_TRANS_READONLY: Status = Status(0x2000);
    /// The OK packet carries session state information.
    pub const SESSION_STATE_CHANGED: Status = Status(0x4000);
    /// sql_mode has ANSI_QUOTES (MariaDB only).
    pub const ANSI_QUOTES: Status = Status(0x8000);

    /// The flags of a session rather than of a statement: those that hold until something changes them.
    #[must_use]
    pub const fn lasting(self) -> Status {
        Status(
            self.0
                & (Status::IN_TRANS.0
                    | Status::AUTOCOMMIT.0
                    | Status::NO_BACKSLASH_ESCAPES.0
                    | Status::IN_TRANS_READONLY.0
                    | Status::ANSI_QUOTES.0),
        )
    }

    /// Whether all flags of `other` are set.
    #[inline]
    pub const fn contains(self, other: Status) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags and those of `other`.
    #[inline]
    pub const fn union(self, other: Status) -> Status {
        Status(self.0 | other.0)
    }

    /// These flags less those of `other`.
    #[inline]
    pub const fn without(self, other: Status) -> Status {
        Status(self.0 & !other.0)
    }
}

impl BitOr for Status {
    type Output = Status;
    fn bitor(self, other: Status) -> Status {
        self.union(other)
    }
}
