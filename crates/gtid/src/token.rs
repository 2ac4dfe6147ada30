//! A position as a token: what `TIDEMARK SHOW POSITION` gives and `TIDEMARK SET position` takes, so that another
//! session or another instance can go on from it.
//!
//! ```text
//! m1:3e11fa47-71ca-11e1-9e33-c80aa9429562:17       MySQL, version 1
//! a1:0-1-16,7-1-3                                  MariaDB, version 1
//! ```
//! Printable, without spaces or quotes, and readable by whoever has to debug with it. It is no secret and not signed:
//! the worst a forged one does is to make its own session wait.

use std::fmt;

use crate::error::ParseError;
use crate::position::{Flavor, Position};

/// The longest token, in bytes.
pub const MAX_TOKEN_BYTES: usize = 64 * 1024;

/// Bytes of the flavour and version in front of the position.
const PREFIX_BYTES: usize = 3;

/// Why a token could not be made or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenError {
    /// Longer than [`MAX_TOKEN_BYTES`].
    TooLong {
        /// Its length in bytes.
        bytes: usize,
    },
    /// It does not start with a flavour and version this program knows.
    UnknownVersion,
    /// The position in it cannot be read; the offset counts from the start of the token.
    Position(ParseError),
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes } => {
                write!(f, "a position token of {bytes} bytes is longer than the {MAX_TOKEN_BYTES} allowed")
            }
            Self::UnknownVersion => f.write_str(
                "not a position token of this version: it starts with m1: (MySQL) or a1: (MariaDB), \
                 as TIDEMARK SHOW POSITION prints it",
            ),
            Self::Position(error) => write!(f, "unreadable position token {error}"),
        }
    }
}

impl std::error::Error for TokenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Position(error) => Some(error),
            Self::TooLong { .. } | Self::UnknownVersion => None,
        }
    }
}

impl Position {
    /// The token of this position.
    ///
    /// # Errors
    /// When it would be longer than [`MAX_TOKEN_BYTES`].
    pub fn to_token(&self) -> Result<String, TokenError> {
        let token = match self.flavor() {
            Flavor::Mysql => format!("m1:{self}"),
            Flavor::Mariadb => format!("a1:{self}"),
        };
        if token.len() > MAX_TOKEN_BYTES {
            return Err(TokenError::TooLong { bytes: token.len() });
        }
        Ok(token)
    }

    /// Reads a token. Whether its flavour is the cluster's is for the caller to check.
    ///
    /// # Errors
    /// When it is too long, of another version, or its position cannot be read.
    pub fn from_token(token: &[u8]) -> Result<Self, TokenError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(TokenError::TooLong { bytes: token.len() });
        }
        let (prefix, text) = token.split_at_checked(PREFIX_BYTES).ok_or(TokenError::UnknownVersion)?;
        let flavor = match prefix {
            b"m1:" => Flavor::Mysql,
            b"a1:" => Flavor::Mariadb,
            _ => return Err(TokenError::UnknownVersion),
        };
        Self::parse(flavor, text).map_err(|error| {
            TokenError::Position(ParseError { offset: error.offset + PREFIX_BYTES, ..error })
        })
    }
}
