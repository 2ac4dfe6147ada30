//! What sort of statement it is, as far as a session has to know.

use crate::reason::labels;

labels! {
    /// The sort of a statement.
    Kind {
        /// SELECT, TABLE, VALUES, WITH ... SELECT, parenthesised and set operations.
        Select => "select",
        /// SHOW, DESCRIBE of a table, HELP.
        Show => "show",
        /// INSERT
        Insert => "insert",
        /// UPDATE
        Update => "update",
        /// DELETE
        Delete => "delete",
        /// REPLACE
        Replace => "replace",
        /// LOAD DATA, LOAD XML
        Load => "load",
        /// CREATE, ALTER, DROP, RENAME, TRUNCATE, privileges, accounts
        Ddl => "ddl",
        /// CALL
        Call => "call",
        /// DO
        Do => "do",
        /// HANDLER
        Handler => "handler",
        /// BEGIN, START TRANSACTION
        Begin => "begin",
        /// START TRANSACTION READ ONLY
        BeginReadOnly => "begin_read_only",
        /// COMMIT
        Commit => "commit",
        /// ROLLBACK of the whole transaction
        Rollback => "rollback",
        /// SAVEPOINT, RELEASE SAVEPOINT, ROLLBACK TO
        Savepoint => "savepoint",
        /// SET [SESSION | GLOBAL] TRANSACTION
        SetTransaction => "set_transaction",
        /// SET of session or user variables, SET NAMES, SET CHARACTER SET
        SetSession => "set_session",
        /// SET with a GLOBAL or PERSIST part, SET PASSWORD, SET DEFAULT ROLE, SET RESOURCE GROUP
        SetGlobal => "set_global",
        /// SET ROLE
        SetRole => "set_role",
        /// USE
        Use => "use",
        /// LOCK TABLES, FLUSH TABLES WITH READ LOCK, LOCK INSTANCE, BACKUP STAGE
        LockTables => "lock_tables",
        /// UNLOCK TABLES, UNLOCK INSTANCE
        UnlockTables => "unlock_tables",
        /// XA
        Xa => "xa",
        /// PREPARE
        PrepareText => "prepare_text",
        /// EXECUTE, EXECUTE IMMEDIATE
        ExecuteText => "execute_text",
        /// DEALLOCATE PREPARE, DROP PREPARE
        DeallocateText => "deallocate_text",
        /// KILL
        Kill => "kill",
        /// EXPLAIN, DESCRIBE or ANALYZE of a statement
        Explain => "explain",
        /// Everything that administers a server: FLUSH, RESET, PURGE, CHANGE, INSTALL, ANALYZE TABLE ...
        Admin => "admin",
        /// BEGIN NOT ATOMIC and the like
        Compound => "compound",
        /// GET DIAGNOSTICS, SIGNAL, RESIGNAL
        Diagnostics => "diagnostics",
        /// TIDEMARK ..., for the proxy itself
        Tidemark => "tidemark",
        /// More than one statement
        Multi => "multi",
        /// Comments and space
        Empty => "empty",
        /// Not understood
        Unknown => "unknown",
    }
}
