//! The configuration: read, understood, checked.
//!
//! A TOML file becomes [`Config`], in which nothing can be wrong any more, or a [`ConfigError`] that names the line of
//! each mistake and what to write instead. What can change while serving is in [`Settings`], and nowhere else.
//! Absent on purpose: a global configuration, the roles of nodes (they are discovered), and includes.

mod address;
mod choice;
mod diff;
#[cfg(test)]
mod documents;
mod error;
mod file;
mod model;
mod network;
mod patch;
mod resolve;
mod schema;
mod secret;
mod secret_file;
mod settings;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use zeroize::Zeroizing;

pub use address::Address;
pub use choice::{Compression, GlobalScope, Level, Mode, OnTimeout, Pool, TlsMode};
pub use diff::{Change, Effect};
pub use error::ConfigError;
pub use model::{AdminConfig, ClusterConfig, Config, EndpointConfig, EndpointTls, NodeConfig, TlsIdentity};
pub use network::Network;
pub use patch::SettingsPatch;
pub use schema::schema;
pub use secret::Secret;
pub use secret_file::read_secret;
pub use settings::{Settings, SettingsError};

/// The longest file read, in bytes. Ten thousand endpoints fit.
const FILE_LENGTH_MAX: u64 = 4 * 1024 * 1024;

impl Config {
    /// Reads and validates a file.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let unreadable = |why: String| ConfigError::Unreadable { path: path.to_owned(), why };
        let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
        let mut text = Zeroizing::new(String::new());
        let length = file
            .take(FILE_LENGTH_MAX + 1)
            .read_to_string(&mut text)
            .map_err(|error| unreadable(error.to_string()))?;
        if u64::try_from(length).is_ok_and(|length| length > FILE_LENGTH_MAX) {
            return Err(unreadable(format!("longer than {FILE_LENGTH_MAX} bytes")));
        }
        Self::parse(&text, path)
    }

    /// Validates a text as if it stood in the file `origin`: messages name it, relative paths start from its folder.
    ///
    /// Files and the environment variable that the text names are read.
    pub fn parse(text: &str, origin: &Path) -> Result<Self, ConfigError> {
        let mut problems = error::Problems::new(origin.to_owned(), text);
        match toml::from_str::<file::ConfigFile>(text) {
            Ok(file) => resolve::resolve(file, origin.parent().unwrap_or(Path::new("")), problems),
            Err(error) => {
                problems.add_syntax(&error);
                Err(problems.into_error())
            }
        }
    }
}
