//! Why there is no demonstration.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::config::ConfigError;
use crate::serve::ServeError;

/// Each kind says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// No server program is on this machine.
    #[error(
        "neither MySQL nor MariaDB is on this machine: install a server (on Debian: apt-get install mariadb-server \
         openssl), or run make demo in the source tree, which installs one"
    )]
    NoServer,
    /// Something else listens where an endpoint should.
    #[error(
        "port {port} of 127.0.0.1 is taken ({source}): stop what listens there, perhaps another demonstration \
         (ss -ltnp shows it), or choose other ports, as in: tidemark demo --port {advice}"
    )]
    PortTaken {
        /// The port.
        port: u16,
        /// What the system said.
        source: io::Error,
        /// A first port that would do.
        advice: u16,
    },
    /// The directory for the servers' data holds something.
    #[error("{} is not an empty directory: name one that is empty or does not exist yet", .0.display())]
    DirectoryInUse(PathBuf),
    /// The cluster does not start or does not do what it is told.
    #[error(transparent)]
    Sandbox(#[from] sandbox::Error),
    /// The configuration made for the cluster is refused.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The proxy does not start.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The operating system refuses something.
    #[error("the system refuses: {0}")]
    System(io::Error),
}

impl DemoError {
    /// 2 when the command line must be changed, 1 when something failed.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::DirectoryInUse(_) => ExitCode::from(2),
            Self::Serve(error) => error.exit_code(),
            _ => ExitCode::from(1),
        }
    }
}

/// Refuses a directory that would not be the cluster's alone, since it is removed in the end.
pub(super) fn check_empty(directory: &Path) -> Result<(), DemoError> {
    let usable = match directory.read_dir() {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if usable { Ok(()) } else { Err(DemoError::DirectoryInUse(directory.to_owned())) }
}
