//! What can go wrong while measuring; each text says what to do.

use std::io;

/// A failure of the measurement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A cluster cannot be started or driven.
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
    /// A program that is measured is not there.
    #[error("{program} is not there: {advice}")]
    Missing {
        /// The program.
        program: String,
        /// What to do.
        advice: &'static str,
    },
    /// A proxy does not serve.
    #[error("{name} does not serve ({reason}); the end of what it said:\n{log}")]
    Silent {
        /// The proxy.
        name: &'static str,
        /// What was seen.
        reason: String,
        /// The end of what it said.
        log: String,
    },
    /// A statement of the load was refused.
    #[error("error {code}: {message}, in answer to: {statement}")]
    Refused {
        /// The server's error number.
        code: u16,
        /// The server's words.
        message: String,
        /// The beginning of the statement, or "the login".
        statement: String,
    },
    /// Something went wrong in the middle of a measurement.
    #[error("{what}: {source}; the end of what the proxy said:\n{log}")]
    During {
        /// Which.
        what: String,
        /// What went wrong.
        source: Box<Error>,
        /// The end of what the proxy said.
        log: String,
    },
    /// Other programs use the processors.
    #[error("other programs use {percent:.0} % of the processors: stop them, or leave out --write-docs")]
    Busy {
        /// How much of all processors.
        percent: f64,
    },
    /// A reply that the load does not understand, or none.
    #[error("the conversation cannot be followed: {0}")]
    Conversation(String),
}

impl Error {
    /// For `map_err`: what was to be done.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }

    /// For `map_err`: bytes that make no sense.
    pub(crate) fn conversation(error: impl ToString) -> Self {
        Self::Conversation(error.to_string())
    }

    /// The server's error number, if a server refused something.
    pub(crate) fn code(&self) -> Option<u16> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }
}

/// What the parts of the program return.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;
