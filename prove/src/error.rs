//! What can go wrong beside a broken promise: the checker itself cannot do its work.

use std::io;
use std::path::PathBuf;

/// A failure of the checker, not of what it checks.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A cluster cannot be started, broken or mended.
    #[error("the cluster: {0}")]
    Cluster(#[from] sandbox::Error),
    /// The system refused something.
    #[error("{what}: {source}")]
    System {
        /// What was to be done.
        what: String,
        /// Why it cannot be done.
        source: io::Error,
    },
    /// The proxy does not serve.
    #[error("the proxy {} does not serve: {log}", program.display())]
    Proxy {
        /// The program.
        program: PathBuf,
        /// The end of what it said.
        log: String,
    },
    /// The cluster is mended, but the proxies do not use all of it again.
    #[error("not all nodes take reads again: {0}")]
    NotSettled(String),
    /// A statement that prepares the run was refused.
    #[error("the tables cannot be made: {0}")]
    Prepare(#[from] mysql_async::Error),
}

impl Error {
    /// For `map_err`: what was to be done.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }

    /// For `map_err`: a task was awaited that had panicked or was stopped.
    pub(crate) fn ended(error: tokio::task::JoinError) -> Self {
        Self::system("a client ended before its time")(io::Error::other(error))
    }
}

/// What the parts of the checker return.
pub type Result<T, E = Error> = std::result::Result<T, E>;
