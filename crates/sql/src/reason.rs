//! Why a statement goes where it goes: a fixed list, used as a metric label, in `explain` and on the console.

macro_rules! labels {
    ($(#[$enum_doc:meta])* $enum:ident { $($(#[$doc:meta])* $name:ident => $label:literal,)* }) => {
        $(#[$enum_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $enum { $($(#[$doc])* $name,)* }

        impl $enum {
            /// Every member, in the order of [`Self::index`].
            pub const ALL: &'static [$enum] = &[$($enum::$name,)*];

            /// The name in snake_case. It is a stable label.
            pub const fn as_str(self) -> &'static str {
                match self { $($enum::$name => $label,)* }
            }

            /// The place in [`Self::ALL`], for arrays of counters.
            pub const fn index(self) -> usize {
                self as usize
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use labels;

labels! {
    /// Why a statement has its [`crate::Target`].
    Reason {
        /// A read that is known to be safe on a replica.
        Read => "read",
        /// SHOW, DESCRIBE or information_schema about schema objects.
        MetadataRead => "metadata_read",
        /// INSERT, UPDATE, DELETE, REPLACE, also behind WITH.
        Write => "write",
        /// DDL, privileges and other statements that change definitions.
        Definition => "definition",
        /// FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE.
        LockingRead => "locking_read",
        /// INTO OUTFILE, INTO DUMPFILE, INTO @v.
        Into => "into",
        /// A call of something that is not a built-in function.
        UnknownFunction => "unknown_function",
        /// GET_LOCK and its family.
        LockFunction => "lock_function",
        /// NEXT VALUE FOR, NEXTVAL, SETVAL, LASTVAL, PREVIOUS VALUE FOR.
        Sequence => "sequence",
        /// LAST_INSERT_ID() and its variables.
        LastInsertId => "last_insert_id",
        /// FOUND_ROWS(), ROW_COUNT(), SHOW WARNINGS: about the previous statement.
        PreviousResult => "previous_result",
        /// A user variable is set.
        UserVariable => "user_variable",
        /// SET of session state, USE, SET ROLE.
        SessionState => "session_state",
        /// State of one server: SHOW STATUS, functions and statements about replication, files and processes.
        ServerState => "server_state",
        /// performance_schema, sys, mysql, and the rest of information_schema.
        SystemSchema => "system_schema",
        /// A variable that is global, about replication, or not known.
        GlobalVariable => "global_variable",
        /// BEGIN, START TRANSACTION.
        Transaction => "transaction",
        /// START TRANSACTION READ ONLY.
        ReadOnlyTransaction => "read_only_transaction",
        /// COMMIT, ROLLBACK, SAVEPOINT, SET TRANSACTION.
        TransactionControl => "transaction_control",
        /// XA in any form.
        Xa => "xa",
        /// CREATE TEMPORARY TABLE, DROP TEMPORARY TABLE.
        TemporaryTable => "temporary_table",
        /// LOCK TABLES, UNLOCK TABLES, FLUSH TABLES WITH READ LOCK, backup locks.
        LockTables => "lock_tables",
        /// CALL.
        Call => "call",
        /// LOAD DATA, LOAD XML.
        Load => "load",
        /// HANDLER.
        Handler => "handler",
        /// PREPARE, EXECUTE, DEALLOCATE as SQL text.
        Prepare => "prepare",
        /// KILL.
        Kill => "kill",
        /// A comment asked for it.
        Hint => "hint",
        /// CONNECTION_ID() inside a larger statement: it must be the same at every call.
        ConnectionId => "connection_id",
        /// BEGIN NOT ATOMIC and other statements with statements inside.
        Compound => "compound",
        /// Several statements of which at least one is not a safe read.
        MultiStatement => "multi_statement",
        /// Nothing but comments and space.
        Empty => "empty",
        /// The proxy itself answers.
        Proxy => "proxy",
        /// Not understood.
        Unknown => "unknown",
    }
}
