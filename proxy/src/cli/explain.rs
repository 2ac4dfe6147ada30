//! Arguments of `tidemark explain`.

use std::ffi::OsString;

use clap::Args;

/// What to explain, and how.
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// The sql_mode of the session, such as ANSI_QUOTES,NO_BACKSLASH_ESCAPES
    #[arg(long, value_name = "MODE", default_value = "", hide_default_value = true)]
    pub sql_mode: String,
    /// The servers' version as they tell it, such as 8.4.3 or 10.11.19-MariaDB: which family it is, and which functions
    /// are built in. Without it, MySQL with those that all versions have
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true, value_parser = server_version)]
    pub server_version: String,
    /// One JSON object a line: sql, target (replica, primary, previous or proxy), reason, kind
    #[arg(long)]
    pub json: bool,
    /// The statement, in any bytes; without it, statements are read from standard input, one per line. One that begins
    /// with a hyphen stands behind --
    pub sql: Option<OsString>,
}

/// A text that begins with two numbers, as servers' versions do; or nothing.
fn server_version(text: &str) -> Result<String, String> {
    let mut parts = text.split(['.', '-']);
    let mut is_number = || parts.next().is_some_and(|part| part.parse::<u16>().is_ok());
    if text.is_empty() || (is_number() && is_number()) {
        Ok(text.to_owned())
    } else {
        Err("give it as SELECT VERSION() does, such as 8.4.3 or 10.11.19-MariaDB".to_owned())
    }
}
