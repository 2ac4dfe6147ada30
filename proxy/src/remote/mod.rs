//! Commands that talk to a running instance over its admin API: `status`, `set`, `drain`, `undrain`.
//!
//! They know no more than the API tells anybody, and print what it says is wrong as it says it.

mod client;
mod report;

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use hyper::Method;
use serde::Deserialize;

use crate::admin::status::Status;
use crate::cli::{AdminArgs, DrainArgs, NoAdmin, SetArgs, StatusArgs};
use crate::config::SettingsPatch;
use crate::runtime;
use client::{Answer, Unreachable};

pub(crate) use client::ask;

/// Why a command has not done what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// It is not known whom to ask.
    #[error("{0}")]
    NoAdmin(#[from] NoAdmin),
    /// Nobody answers.
    #[error("{0}")]
    Unreachable(#[from] Unreachable),
    /// The instance says no.
    #[error("{text}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What it says.
        text: String,
    },
    /// The answer is not one of this API.
    #[error("{admin} answers something else than this version of Tidemark does: {why}")]
    Strange {
        /// The address.
        admin: String,
        /// What is strange.
        why: String,
    },
    /// The answer cannot be printed, or the system gives no event queue.
    #[error("{0}")]
    System(#[from] io::Error),
}

impl RemoteError {
    /// 2 when the command must be written otherwise, 1 when something failed.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::NoAdmin(_) | Self::Refused { status: 400 | 401 | 403 | 404 | 422, .. } => ExitCode::from(2),
            _ => ExitCode::from(1),
        }
    }
}

/// `tidemark status`.
///
/// # Errors
/// See [`RemoteError`].
pub fn status(args: &StatusArgs, mut out: impl Write) -> Result<(), RemoteError> {
    let (admin, body) = request(&args.admin, Method::GET, "/api/status", None)?;
    if args.json {
        return Ok(out.write_all(&body)?);
    }
    let status: Status = read(&admin, &body)?;
    Ok(write!(out, "{}", report::Report(&status))?)
}

/// What a change of settings is answered with.
#[derive(Deserialize)]
struct Changed {
    name: String,
    settings: SettingsPatch,
}

/// `tidemark set`.
///
/// # Errors
/// See [`RemoteError`].
pub fn set(args: &SetArgs, mut out: impl Write) -> Result<(), RemoteError> {
    let path = format!("/api/endpoints/{}", encoded(&args.endpoint));
    let change = serde_json::to_vec(&args.patch()).map_err(io::Error::from)?;
    let (admin, body) = request(&args.admin, Method::PATCH, &path, Some(change))?;
    let Changed { name, settings } = read(&admin, &body)?;
    Ok(write!(
        out,
        "endpoint {name}, from the next statement of every session on:\n{}",
        report::Settings(&settings)
    )?)
}

/// What a change of the rotation is answered with.
#[derive(Deserialize)]
struct Rotated {
    name: String,
    drained: bool,
    note: Option<String>,
}

/// `tidemark drain` and `tidemark undrain`.
///
/// # Errors
/// See [`RemoteError`].
pub fn drain(args: &DrainArgs, drained: bool, mut out: impl Write) -> Result<(), RemoteError> {
    let verb = if drained { "drain" } else { "undrain" };
    let path = format!("/api/nodes/{}/{verb}", encoded(&args.node));
    let (admin, body) = request(&args.admin, Method::POST, &path, None)?;
    let Rotated { name, drained, note } = read(&admin, &body)?;
    let what = if drained { "takes no more reads" } else { "takes reads again" };
    writeln!(out, "{name} {what}")?;
    if let Some(note) = note {
        writeln!(out, "{note}")?;
    }
    Ok(())
}

fn request(
    args: &AdminArgs,
    method: Method,
    path: &str,
    body: Option<Vec<u8>>,
) -> Result<(impl fmt::Display, Vec<u8>), RemoteError> {
    let (address, token) = args.target()?;
    let answer = runtime::control()?.block_on(ask(&address, token.as_ref(), method, path, body))?;
    match answer {
        Answer { status: 200, body } => Ok((address, body)),
        Answer { status, body } => Err(RemoteError::Refused { status, text: refusal(status, &body) }),
    }
}

#[derive(Deserialize)]
struct ErrorBody {
    error: String,
}

fn refusal(status: u16, body: &[u8]) -> String {
    match serde_json::from_slice(body) {
        Ok(ErrorBody { error }) => error,
        Err(_) => format!("the instance answers with HTTP status {status}"),
    }
}

fn read<'a, T: Deserialize<'a>>(admin: &impl fmt::Display, body: &'a [u8]) -> Result<T, RemoteError> {
    serde_json::from_slice(body)
        .map_err(|error| RemoteError::Strange { admin: admin.to_string(), why: error.to_string() })
}

/// A name as a part of a path.
fn encoded(name: &str) -> String {
    let mut path = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path += &format!("%{byte:02X}");
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_part_of_the_path() {
        assert_eq!(encoded("db-1_a"), "db-1_a");
        assert_eq!(encoded("../x?y é"), "..%2Fx%3Fy%20%C3%A9");
    }

    #[test]
    fn a_refusal_is_told_in_the_instance_s_words() {
        assert_eq!(refusal(404, br#"{"error": "no node is called \"x\""}"#), "no node is called \"x\"");
        assert_eq!(refusal(502, b"<html>"), "the instance answers with HTTP status 502");
    }
}
