//! The statements for the proxy itself: TIDEMARK SHOW and TIDEMARK SET.

use crate::dialect::Dialect;
use crate::hint::Level;
use crate::lexer::{Gated, Lexer};
use crate::token::Tok;
use crate::words::Kw;

/// A statement that the proxy answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TidemarkCommand<'a> {
    /// TIDEMARK SHOW ...
    Show(Shown),
    /// TIDEMARK SET consistency = 'global'; `None`, as below, for DEFAULT: what the endpoint says.
    SetConsistency(Option<Level>),
    /// TIDEMARK SET consistency_timeout_us = 5000: microseconds, 0 to [`MAX_TIMEOUT_US`]; 0 waits for ever.
    SetConsistencyTimeoutUs(Option<u32>),
    /// TIDEMARK SET on_timeout = 'error'
    SetOnTimeout(Option<OnTimeout>),
    /// TIDEMARK SET position = 'token': the token as written, not empty and without quotes.
    SetPosition(&'a [u8]),
}

/// What TIDEMARK SHOW shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The nodes, their roles and positions.
    Nodes,
    /// The endpoints and their settings.
    Endpoints,
    /// The sessions on all nodes.
    Sessions,
    /// Where this session's last statement went, and why.
    Route,
    /// The token of what this session wrote and saw.
    Position,
    /// Counters of the proxy.
    Status,
}

/// What happens to a read when no replica is fresh in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnTimeout {
    /// The primary serves it.
    Primary,
    /// The client gets an error.
    Error,
    /// A replica serves it as it is.
    Stale,
}

/// The longest `consistency_timeout_us` that can be set, in microseconds.
pub const MAX_TIMEOUT_US: u32 = 1_000_000;

const USAGE: &str = "write TIDEMARK SHOW NODES | ENDPOINTS | SESSIONS | ROUTE | POSITION | STATUS, or TIDEMARK SET \
                     consistency | consistency_timeout_us | on_timeout | position = value";
const USAGE_SHOW: &str = "write TIDEMARK SHOW NODES, ENDPOINTS, SESSIONS, ROUTE, POSITION or STATUS";
const USAGE_SET: &str =
    "write TIDEMARK SET consistency, consistency_timeout_us, on_timeout or position, then = and a value";
const USAGE_CONSISTENCY: &str = "write TIDEMARK SET consistency = 'eventual', 'session', 'global' or DEFAULT";
const USAGE_TIMEOUT: &str = "write TIDEMARK SET consistency_timeout_us = a whole number of microseconds from 0 to 1000000 (0 waits for ever), or DEFAULT";
const USAGE_ON_TIMEOUT: &str = "write TIDEMARK SET on_timeout = 'primary', 'error', 'stale' or DEFAULT";
const USAGE_POSITION: &str =
    "write TIDEMARK SET position = 'token', with a token that TIDEMARK SHOW POSITION gave";
const USAGE_END: &str = "write one TIDEMARK statement, and nothing behind it";

/// Reads a statement that [`crate::classify`] called [`crate::Kind::Tidemark`].
///
/// Case does not matter, comments and trailing `;` are read over, and quotes around values can be left out. The error is a
/// text for the client that says what to write instead.
pub fn tidemark_command(sql: &[u8], dialect: Dialect) -> Result<TidemarkCommand<'_>, &'static str> {
    let mut lexer = Lexer::new(sql, dialect, Gated::Executed);
    lexer.skip_semicolons();
    if !lexer.take(Kw::Tidemark) {
        return Err(USAGE);
    }
    let command = if lexer.take(Kw::Show) {
        show(&mut lexer)?
    } else if lexer.take(Kw::Set) {
        set(&mut lexer)?
    } else {
        return Err(USAGE);
    };
    lexer.skip_semicolons();
    if lexer.next().kind != Tok::End {
        return Err(USAGE_END);
    }
    Ok(command)
}

fn show<'a>(lexer: &mut Lexer<'a>) -> Result<TidemarkCommand<'a>, &'static str> {
    let word = lexer.next();
    let shown = match lexer.keyword(word) {
        Kw::Nodes => Shown::Nodes,
        Kw::Endpoints => Shown::Endpoints,
        Kw::Sessions => Shown::Sessions,
        Kw::Route => Shown::Route,
        Kw::Position => Shown::Position,
        Kw::Status => Shown::Status,
        _ => return Err(USAGE_SHOW),
    };
    Ok(TidemarkCommand::Show(shown))
}

fn set<'a>(lexer: &mut Lexer<'a>) -> Result<TidemarkCommand<'a>, &'static str> {
    let name = lexer.next().bytes(lexer.sql);
    let equals = lexer.next();
    if equals.kind != Tok::Assign && equals.bytes(lexer.sql) != b"=" {
        return Err(USAGE_SET);
    }
    let value = value(lexer);
    let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
    if is("consistency") {
        or_default(value, Level::from_name).map(TidemarkCommand::SetConsistency).ok_or(USAGE_CONSISTENCY)
    } else if is("consistency_timeout_us") {
        or_default(value, timeout_us).map(TidemarkCommand::SetConsistencyTimeoutUs).ok_or(USAGE_TIMEOUT)
    } else if is("on_timeout") {
        or_default(value, on_timeout).map(TidemarkCommand::SetOnTimeout).ok_or(USAGE_ON_TIMEOUT)
    } else if is("position") {
        let plain = !value.is_empty() && value.iter().all(u8::is_ascii_graphic);
        let quoted = value.iter().any(|b| matches!(b, b'\'' | b'"' | b'`' | b'\\'));
        if plain && !quoted { Ok(TidemarkCommand::SetPosition(value)) } else { Err(USAGE_POSITION) }
    } else {
        Err(USAGE_SET)
    }
}

/// The value, `Some(None)` for the word DEFAULT, `None` for what is neither.
fn or_default<T>(text: &[u8], read: impl FnOnce(&[u8]) -> Option<T>) -> Option<Option<T>> {
    if text.eq_ignore_ascii_case(b"DEFAULT") { Some(None) } else { read(text).map(Some) }
}

/// The text of a value: the inside of quotes, or everything up to the `;` or the end of the tokens.
fn value<'a>(lexer: &mut Lexer<'a>) -> &'a [u8] {
    let first = lexer.peek();
    if matches!(first.kind, Tok::Str | Tok::Quoted) {
        lexer.next();
        let text = first.bytes(lexer.sql);
        return text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    }
    let mut end = first.start;
    while !matches!(lexer.peek().kind, Tok::Semicolon | Tok::End) {
        end = lexer.next().end;
    }
    lexer.sql.get(first.start..end).unwrap_or_default()
}

fn timeout_us(digits: &[u8]) -> Option<u32> {
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value: u32 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (value <= MAX_TIMEOUT_US).then_some(value)
}

fn on_timeout(name: &[u8]) -> Option<OnTimeout> {
    let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
    match () {
        () if is("primary") => Some(OnTimeout::Primary),
        () if is("error") => Some(OnTimeout::Error),
        () if is("stale") => Some(OnTimeout::Stale),
        () => None,
    }
}
