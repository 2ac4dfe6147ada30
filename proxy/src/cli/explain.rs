//! Arguments of `tidemark explain`.

use std::ffi::OsString;

use clap::Args;

/// What to explain, and how.
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// The sql_mode of the session, such as ANSI_QUOTES,NO_BACKSLASH_ESCAPES
    #[arg(long, value_name = "MODE", default_value = "", hide_default_value = true)]
    pub sql_mode: String,
    /// One JSON object a line: sql, target (replica, primary, previous or proxy), reason, kind
    #[arg(long)]
    pub json: bool,
    /// The statement, in any bytes; without it, statements are read from standard input, one per line. One that begins
    /// with a hyphen stands behind --
    pub sql: Option<OsString>,
}
