//! The statements, and what their lines are marked with.
//!
//! A line is one statement. Empty lines and lines that begin with `-- ` say nothing to a server. In front of the statement
//! stand any number of marks, each `WORD: ` or `WORD(WHAT): `:
//!
//! - `mysql`, `mariadb`: for this family alone;
//! - `raw`: the statement has escapes, `\n`, `\t`, `\r`, `\0`, `\\` and `\xHH`, for bytes that cannot stand in a line;
//! - `then`: SHOW WARNINGS must not come between the line before and this one, which asks about it;
//! - `session`: a new session begins; `session(found_rows)`, `session(no_schema)`, `session(single)`: logged in with
//!   CLIENT_FOUND_ROWS, without a schema, without CLIENT_MULTI_STATEMENTS;
//! - `other`: said in a second session, which lives as long as the first;
//! - `text(REASON)`: not prepared in the pass that prepares;
//! - `any(REASON)`: the values in the rows may differ, and whether an index was used; the number of rows may not;
//! - `some(REASON)`: the rows may differ, and their number;
//! - `free(REASON)`: errors' texts and the info of OK may differ, as far as they name what is never the same twice;
//! - `known(DIFFERENCE because REASON)`: the proxy differs from the server in this, and in nothing else; `known_text` and
//!   `known_binary`: in that pass only.

use std::path::PathBuf;
use std::{env, fs};

use sandbox::Family;

use super::tables;

/// What may differ without being looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Free {
    #[default]
    Nothing,
    /// The values in rows, and whether an index was used.
    Values,
    /// The rows and their number.
    Rows,
    /// The words of errors and of OK.
    Words,
}

/// How the session of a line logs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Login {
    Ordinary,
    FoundRows,
    NoSchema,
    Single,
}

/// A statement and its marks.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) file: String,
    pub(super) number: usize,
    pub(super) statement: Vec<u8>,
    /// A new session begins.
    pub(super) session: Option<Login>,
    /// Said in the second session.
    pub(super) other: bool,
    /// Asks about the line before.
    pub(super) then: bool,
    /// Not prepared.
    pub(super) text_only: bool,
    pub(super) free: Free,
    /// How the proxy is known to differ: in text, and prepared.
    pub(super) known: [Option<String>; 2],
}

impl Line {
    /// An unmarked line.
    pub(super) fn new(file: &str, number: usize, statement: &[u8]) -> Self {
        Self {
            file: file.to_owned(),
            number,
            statement: statement.to_vec(),
            session: None,
            other: false,
            then: false,
            text_only: false,
            free: Free::Nothing,
            known: [None, None],
        }
    }

    /// None where the line is no statement, or one for the other family.
    fn parse(file: &str, number: usize, text: &[u8], family: Family) -> Option<Self> {
        if text.is_empty() || text.starts_with(b"-- ") {
            return None;
        }
        let mut line = Self::new(file, number, b"");
        let (mut rest, mut raw) = (text, false);
        while let Some((word, what, after)) = mark(rest) {
            match word {
                "mysql" if family != Family::Mysql => return None,
                "mariadb" if family != Family::Mariadb => return None,
                "mysql" | "mariadb" => {}
                "raw" => raw = true,
                "then" => line.then = true,
                "other" => line.other = true,
                "text" => line.text_only = true,
                "session" => {
                    line.session = Some(match what {
                        "" => Login::Ordinary,
                        "found_rows" => Login::FoundRows,
                        "no_schema" => Login::NoSchema,
                        "single" => Login::Single,
                        _ => panic!("{file}:{number}: no session is called {what}"),
                    });
                }
                "any" => line.free = Free::Values,
                "some" => line.free = Free::Rows,
                "free" => line.free = Free::Words,
                "known" => line.known = [known(what), known(what)],
                "known_text" => line.known[0] = known(what),
                "known_binary" => line.known[1] = known(what),
                _ => unreachable!("a word of `mark`"),
            }
            let bare = ["mysql", "mariadb", "raw", "then", "other", "session"].contains(&word);
            assert!(bare || !what.is_empty(), "{file}:{number}: {word} without a reason");
            rest = after;
        }
        line.statement = if raw { unescape(rest) } else { rest.to_vec() };
        Some(line)
    }

    /// Where it stands, and what it says.
    pub(super) fn place(&self) -> String {
        let shown = &self.statement[..self.statement.len().min(400)];
        format!("{}:{}: {}", self.file, self.number, String::from_utf8_lossy(shown))
    }
}

/// The part of a mark before its reason.
fn known(what: &str) -> Option<String> {
    let (difference, _) = what.split_once(" because ").expect("known(DIFFERENCE because REASON)");
    Some(difference.to_owned())
}

const MARKS: [&str; 13] = [
    "mysql",
    "mariadb",
    "raw",
    "then",
    "other",
    "text",
    "session",
    "any",
    "some",
    "free",
    "known",
    "known_text",
    "known_binary",
];

/// The mark at the beginning, what stands in its parentheses, and what follows it.
fn mark(text: &[u8]) -> Option<(&'static str, &str, &[u8])> {
    let length = text.iter().position(|byte| !byte.is_ascii_lowercase() && *byte != b'_')?;
    let word = MARKS.into_iter().find(|word| word.as_bytes() == &text[..length])?;
    let rest = &text[length..];
    if let Some(rest) = rest.strip_prefix(b": ") {
        return Some((word, "", rest));
    }
    let rest = rest.strip_prefix(b"(")?;
    let end = rest.windows(3).position(|window| window == b"): ")?;
    Some((word, std::str::from_utf8(&rest[..end]).ok()?, &rest[end + 3..]))
}

fn unescape(text: &[u8]) -> Vec<u8> {
    let mut bytes = text.iter().copied();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        out.push(match bytes.next() {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'0') => 0,
            Some(b'\\') => b'\\',
            Some(b'x') => {
                let mut digit = || bytes.next().and_then(|byte| char::from(byte).to_digit(16));
                let (high, low) = (digit().expect("\\xHH"), digit().expect("\\xHH"));
                u8::try_from(high * 16 + low).unwrap()
            }
            other => panic!("no escape: {other:?} in {}", text.escape_ascii()),
        });
    }
    out
}

/// The conversations of a family: the files by name, and those that tables make.
pub(super) fn conversations(family: Family) -> Vec<Vec<Line>> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/differential/corpus");
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut all: Vec<Vec<Line>> = files
        .iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            let text = fs::read(path).unwrap();
            let lines = text.split(|byte| *byte == b'\n').enumerate();
            lines.filter_map(|(index, line)| Line::parse(&name, index + 1, line, family)).collect()
        })
        .collect();
    all.push(tables::lines());
    let only = env::var("TIDEMARK_DIFFERENTIAL").unwrap_or_default();
    all.retain(|lines| only.split(',').any(|part| lines[0].file.contains(part)));
    all
}

/// Whether the whole corpus runs, so that it can be counted.
pub(super) fn is_whole() -> bool {
    env::var_os("TIDEMARK_DIFFERENTIAL").is_none()
}

#[test]
fn lines_are_read_as_they_are_marked() {
    let read = |text: &str| Line::parse("x.sql", 1, text.as_bytes(), Family::Mysql);
    assert!(read("").is_none() && read("-- words").is_none() && read("mariadb: SELECT 1").is_none());
    assert_eq!(read("mysql: SELECT 1").unwrap().statement, b"SELECT 1");
    assert_eq!(read("raw: SELECT\\n1\\x00\\\\").unwrap().statement, b"SELECT\n1\0\\");
    let line = read("session(found_rows): then: any(the clock): SELECT NOW()").unwrap();
    assert_eq!((line.session, line.then, line.free), (Some(Login::FoundRows), true, Free::Values));
    let line = read("known_text(warnings: 1 / 0 because it forgets): SELECT ': '").unwrap();
    assert_eq!(line.known, [Some("warnings: 1 / 0".to_owned()), None]);
    assert_eq!(line.statement, b"SELECT ': '");
    assert_eq!(read("unknown: SELECT 1").unwrap().statement, b"unknown: SELECT 1");
}

/// It must not become smaller unnoticed; what is said twice counts once.
#[test]
fn the_corpus_is_large() {
    for family in [Family::Mysql, Family::Mariadb] {
        let all = conversations(family);
        let written = all.iter().flatten().filter(|line| line.file.contains('.'));
        let mut distinct: Vec<&[u8]> = written.map(|line| line.statement.as_slice()).collect();
        let written = distinct.len();
        distinct.sort_unstable();
        distinct.dedup();
        let made = all.iter().flatten().count() - written;
        eprintln!("{family:?}: {written} written out, {} distinct, and {made} from tables", distinct.len());
        assert!(!is_whole() || distinct.len() >= 2_550 && made >= 700);
    }
}
