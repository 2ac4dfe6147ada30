//! What is wrong with a configuration, where, and what to write instead.
//!
//! No text here ever contains a line of the file: it might hold the password.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("{}: {why}; name the file with --config", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's words, or that it is too long or not UTF-8.
        why: String,
    },
    /// The file was read and has mistakes: all that could be found at once, in the order of the file.
    #[error("{}", lines(.0))]
    Invalid(Vec<Problem>),
}

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as it was named.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub what: String,
    /// What to write instead; empty when `what` says it.
    pub instead: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file.display(), self.line, self.column, self.what)?;
        if !self.instead.is_empty() {
            write!(f, "; {}", self.instead)?;
        }
        Ok(())
    }
}

fn lines(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    lines.join("\n")
}

/// Collects the mistakes of one file.
pub(super) struct Problems<'a> {
    file: PathBuf,
    text: &'a str,
    found: Vec<Problem>,
}

impl<'a> Problems<'a> {
    pub(super) fn new(file: PathBuf, text: &'a str) -> Self {
        Self { file, text, found: Vec::new() }
    }

    /// Notes a mistake at a place of the text.
    pub(super) fn add(&mut self, place: Range<usize>, what: impl Into<String>, instead: impl Into<String>) {
        let (line, column) = line_and_column(self.text, place.start);
        self.found.push(Problem {
            file: self.file.clone(),
            line,
            column,
            what: what.into(),
            instead: instead.into(),
        });
    }

    /// Notes what the TOML reader refused.
    pub(super) fn add_syntax(&mut self, error: &toml::de::Error) {
        let message = error.message().trim().replace('\n', "; ");
        let place = error.span().unwrap_or(0..0);
        let source = self.text.get(place.clone()).unwrap_or_default();
        let (what, instead) = unknown_key(&message)
            .or_else(|| missing_key(&message))
            .or_else(|| wrong_type(&message, source))
            .unwrap_or((message, String::new()));
        self.add(place, what, instead);
    }

    /// The file.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Whether nothing was wrong.
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The mistakes in the order of the file.
    pub(super) fn into_error(mut self) -> ConfigError {
        self.found.sort_by_key(|problem| (problem.line, problem.column));
        ConfigError::Invalid(self.found)
    }
}

/// Line and column, both from 1, of a byte offset.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.get(line_start..).unwrap_or("").chars().count() + 1;
    (line, column)
}

/// Turns serde's "unknown field `a`, expected one of `b`, `c`" into what a person needs to know.
fn unknown_key(message: &str) -> Option<(String, String)> {
    let rest = message.strip_prefix("unknown field ")?;
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let key = quoted.next()?;
    let known: Vec<&str> = quoted.collect();
    let nearest = known.iter().min_by_key(|name| strsim::damerau_levenshtein(key, name));
    let instead = match nearest {
        // A third of the letters wrong is a slip; more is another word.
        Some(name) if strsim::damerau_levenshtein(key, name) * 3 <= name.len() => format!("write {name}"),
        _ => format!("the keys here are {}", known.join(", ")),
    };
    Some((format!("unknown key {key}"), instead))
}

/// The same for "missing field `a`".
fn missing_key(message: &str) -> Option<(String, String)> {
    let key = message.strip_prefix("missing field `")?.strip_suffix('`')?;
    let instead = if key == "cluster" { "add [cluster]".to_owned() } else { format!("add {key}") };
    Some((format!("{key} is missing"), instead))
}

/// The same for "invalid type: a, expected b"; `source` is the text of the value or the header of its table.
fn wrong_type(message: &str, source: &str) -> Option<(String, String)> {
    let (found, expected) = message.strip_prefix("invalid type: ")?.split_once(", expected ")?;
    let wanted = match expected {
        "a string" => "text in quotes",
        "a boolean" => "true or false",
        "i64" => "a whole number without quotes",
        "a sequence" if source.starts_with('[') && !source.starts_with("[[") => {
            let header = source.lines().next().unwrap_or_default().trim_end();
            return Some((format!("{header} may stand more than once"), format!("write [{header}]")));
        }
        "a sequence" => "a list in [ ]",
        "a map" => "a table in { }",
        other => other,
    };
    let found = found.split_once(' ').map_or(found, |(kind, _)| kind);
    Some((format!("a value of type {found} cannot stand here"), format!("write {wanted}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_from_one_and_in_characters() {
        let text = "ab\nçd = é\n";
        assert_eq!(line_and_column(text, 0), (1, 1));
        assert_eq!(line_and_column(text, 3), (2, 1));
        assert_eq!(line_and_column(text, text.find('é').unwrap()), (2, 6));
        assert_eq!(line_and_column(text, text.len()), (3, 1));
        assert_eq!(line_and_column(text, 999), (3, 1));
    }

    #[test]
    fn a_slip_is_told_from_another_word() {
        let message = "unknown field `max_lag`, expected one of `name`, `max_lag_ms`";
        assert_eq!(unknown_key(message).unwrap().1, "write max_lag_ms");
        let message = "unknown field `colour`, expected one of `name`, `max_lag_ms`";
        assert_eq!(unknown_key(message).unwrap().1, "the keys here are name, max_lag_ms");
        assert_eq!(unknown_key("missing field `name`"), None);
    }
}
