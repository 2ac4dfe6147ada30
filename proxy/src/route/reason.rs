//! Why a statement ran where it ran: a fixed list, shown by `explain`, the metrics and `TIDEMARK SHOW ROUTE`.

/// The reason of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// By its text alone.
    Statement(sql::Reason),
    /// A transaction is open there.
    Transaction,
    /// A read in a transaction that is not open anywhere yet.
    Split,
    /// The session does not commit by itself, so that the next statement begins a transaction.
    AutocommitOff,
    /// No replica is in rotation.
    NoReplica,
    /// No replica had applied enough when the consistency timeout was over.
    Timeout,
    /// The same, and the settings ask for the stale answer.
    Stale,
    /// A replica answered that it is read only.
    ReadOnlyRefused,
    /// The replica was lost before it answered.
    NodeLost,
    /// Temporary tables exist on that connection.
    PinnedTemporaryTable,
    /// Locks are held on that connection.
    PinnedLock,
    /// User variables with values that cannot be moved.
    PinnedUserVariable,
    /// Other state that cannot be moved, or is not known to be movable.
    PinnedSessionState,
    /// An XA transaction.
    PinnedXa,
    /// An open cursor, or data sent ahead for a statement.
    PinnedStatement,
}

/// The reasons that are not the statement's own, in the order of their index.
const OWN: [Reason; 14] = [
    Reason::Transaction,
    Reason::Split,
    Reason::AutocommitOff,
    Reason::NoReplica,
    Reason::Timeout,
    Reason::Stale,
    Reason::ReadOnlyRefused,
    Reason::NodeLost,
    Reason::PinnedTemporaryTable,
    Reason::PinnedLock,
    Reason::PinnedUserVariable,
    Reason::PinnedSessionState,
    Reason::PinnedXa,
    Reason::PinnedStatement,
];

impl Reason {
    /// How many reasons there are.
    pub const COUNT: usize = OWN.len() + sql::Reason::ALL.len();

    /// All of them, in the order of [`Self::index`].
    pub fn all() -> impl Iterator<Item = Self> {
        OWN.into_iter().chain(sql::Reason::ALL.iter().map(|reason| Self::Statement(*reason)))
    }

    /// A number below [`Self::COUNT`], different for every reason.
    pub fn index(self) -> usize {
        match self {
            Self::Statement(reason) => OWN.len() + reason.index(),
            own => OWN.iter().position(|reason| *reason == own).unwrap_or(0),
        }
    }

    /// Whether it binds a session to one connection.
    pub fn pins(self) -> bool {
        matches!(
            self,
            Self::PinnedTemporaryTable
                | Self::PinnedLock
                | Self::PinnedUserVariable
                | Self::PinnedSessionState
                | Self::PinnedXa
                | Self::PinnedStatement
        )
    }

    /// The label used in metrics and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Statement(reason) => reason.as_str(),
            Self::Transaction => "in_transaction",
            Self::Split => "split",
            Self::AutocommitOff => "autocommit_off",
            Self::NoReplica => "no_replica",
            Self::Timeout => "timeout",
            Self::Stale => "stale",
            Self::ReadOnlyRefused => "read_only_refused",
            Self::NodeLost => "node_lost",
            Self::PinnedTemporaryTable => "pinned_temporary_table",
            Self::PinnedLock => "pinned_lock",
            Self::PinnedUserVariable => "pinned_user_variable",
            Self::PinnedSessionState => "pinned_session_state",
            Self::PinnedXa => "pinned_xa",
            Self::PinnedStatement => "pinned_statement",
        }
    }
}
