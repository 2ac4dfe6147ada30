//! What can go wrong when a cluster is installed, started or driven.

use std::{io, path::PathBuf, time::Duration};

/// The result of everything in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Each kind names what was attempted, so that the text alone says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory operation failed.
    #[error("{what} {}: {source}", path.display())]
    File {
        /// The attempt, as in "cannot create".
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// A program could not be started at all.
    #[error("cannot run {program}: {source}")]
    Spawn {
        /// The program's name.
        program: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// A program ran and failed.
    #[error("{program} failed ({status}): {output}")]
    Program {
        /// The program's name.
        program: String,
        /// Its exit status, in words.
        status: String,
        /// The end of what it wrote.
        output: String,
    },
    /// A signal could not be delivered.
    #[error("cannot signal process {pid}: {source}")]
    Signal {
        /// The process.
        pid: u32,
        /// The operating system's answer.
        source: io::Error,
    },
    /// The server's programs are not on this machine yet.
    #[error("{engine} is not installed: {advice}")]
    NotInstalled {
        /// The engine's name.
        engine: &'static str,
        /// What to run.
        advice: String,
    },
    /// This machine lacks something that only its owner can change.
    #[error("{0}")]
    Machine(String),
    /// A server stopped or stayed silent while starting.
    #[error("{server} did not start: {reason}\n{log}")]
    Start {
        /// The server's name.
        server: String,
        /// What was seen.
        reason: String,
        /// The end of its error log.
        log: String,
    },
    /// A server that must be running is not.
    #[error("{server} is not running")]
    NotRunning {
        /// The server's name.
        server: String,
    },
    /// A server refused a statement.
    #[error("{server}: error {code} ({sqlstate}): {message}")]
    Sql {
        /// The server's name.
        server: String,
        /// The server's error number, as in 1290 (`ER_OPTION_PREVENTS_STATEMENT`).
        code: u16,
        /// The five characters of the SQLSTATE.
        sqlstate: String,
        /// The server's text.
        message: String,
    },
    /// Something took longer than it was given.
    #[error("{what} took longer than {} ms", limit.as_millis())]
    Timeout {
        /// The attempt.
        what: String,
        /// The time it was given.
        limit: Duration,
    },
    /// A server answered with something this crate cannot read.
    #[error("{server}: unexpected answer: {answer}")]
    Answer {
        /// The server's name.
        server: String,
        /// The answer, or what is missing from it.
        answer: String,
    },
}

impl Error {
    /// For `map_err` on file operations.
    pub(crate) fn file(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }

    /// The server's error number, if a server refused a statement.
    #[must_use]
    pub fn sql_code(&self) -> Option<u16> {
        match self {
            Self::Sql { code, .. } => Some(*code),
            _ => None,
        }
    }
}
