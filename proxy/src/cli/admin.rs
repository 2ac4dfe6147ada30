//! Arguments of the commands that talk to a running instance, and how that instance is found.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::config::{Address, Config, ConfigError, Secret, SettingsError, SettingsPatch, read_secret};

/// Which instance to talk to.
#[derive(Debug, Clone, Args)]
pub struct AdminArgs {
    /// The configuration file of the instance, whose [admin] section says where it listens
    #[arg(long, short, value_name = "FILE", default_value = "tidemark.toml")]
    pub config: PathBuf,
    /// Where the instance listens for HTTP, instead of what the configuration says: host:port or unix:/path
    #[arg(long, value_name = "ADDRESS")]
    pub admin: Option<Address>,
    /// A file whose first line is the token for changes; with --admin only, else the configuration names it
    #[arg(long, value_name = "FILE", requires = "admin")]
    pub token_file: Option<PathBuf>,
}

/// Why it is not known which instance to talk to. All are mistakes of usage or configuration.
#[derive(Debug, thiserror::Error)]
pub enum NoAdmin {
    /// The configuration cannot be used.
    #[error("{0}\nor name the instance with --admin")]
    Config(#[from] ConfigError),
    /// The configuration has no admin API.
    #[error("{} has no [admin] section; add one with listen, or name the instance with --admin", .0.display())]
    NoSection(PathBuf),
    /// The token cannot be read.
    #[error("{}: {why}; name the file that holds the token with --token-file", path.display())]
    Token {
        /// The file.
        path: PathBuf,
        /// The system's words.
        why: String,
    },
}

impl AdminArgs {
    /// The address of the instance and the token for changes.
    pub fn target(&self) -> Result<(Address, Option<Secret>), NoAdmin> {
        if let Some(address) = &self.admin {
            let token = self.token_file.as_deref().map(token).transpose()?;
            return Ok((address.clone(), token));
        }
        match Config::load(&self.config)?.admin {
            Some(admin) => Ok((admin.listen, admin.token)),
            None => Err(NoAdmin::NoSection(self.config.clone())),
        }
    }
}

fn token(path: &Path) -> Result<Secret, NoAdmin> {
    read_secret(path).map_err(|error| NoAdmin::Token { path: path.to_owned(), why: error.to_string() })
}

/// What to show.
#[derive(Debug, Clone, Args)]
pub struct StatusArgs {
    /// The instance.
    #[command(flatten)]
    pub admin: AdminArgs,
    /// The answer of the admin API as it is
    #[arg(long)]
    pub json: bool,
}

/// What to change.
#[derive(Debug, Clone, Args)]
pub struct SetArgs {
    /// The instance.
    #[command(flatten)]
    pub admin: AdminArgs,
    /// The endpoint
    pub endpoint: String,
    /// Settings, such as consistency=global or read_weight.db2=50; read_weight.db2=default brings the default back
    #[arg(value_name = "KEY=VALUE", required = true, value_parser = assignment)]
    pub assignments: Vec<SettingsPatch>,
}

impl SetArgs {
    /// All assignments as one change; of two for the same key the last counts.
    pub fn patch(&self) -> SettingsPatch {
        self.assignments.iter().cloned().reduce(SettingsPatch::and_then).unwrap_or_default()
    }
}

fn assignment(text: &str) -> Result<SettingsPatch, SettingsError> {
    SettingsPatch::from_assignments(&[text])
}

/// Which node.
#[derive(Debug, Clone, Args)]
pub struct DrainArgs {
    /// The instance.
    #[command(flatten)]
    pub admin: AdminArgs,
    /// The node
    pub node: String,
}
