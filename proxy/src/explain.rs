//! `tidemark explain`: where a statement would go, and why, without a server.
//!
//! It shows what the classifier says of the text alone: a session outside a transaction, in autocommit, on a read-write
//! endpoint. Lines do not influence each other: state comes from the servers, and there is none here.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;

use serde::{Serialize, Serializer};

use crate::cli::ExplainArgs;

/// The longest line read, in bytes: the largest statement a server takes (the upper limit of `max_allowed_packet`).
const LINE_MAX: u64 = 1024 * 1024 * 1024;

/// Room for lines in and out, in bytes: thousands of short statements per system call.
const BUFFER: usize = 64 * 1024;

/// What is said of one statement. Its fields, in their order, are the JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Explanation<'a> {
    /// The statement. Bytes that are not UTF-8 are shown as replacement characters.
    #[serde(serialize_with = "lossy")]
    pub sql: &'a [u8],
    /// `replica`, `primary`, `previous` or `proxy`.
    pub target: &'static str,
    /// Why, from the fixed list that the metrics and the console use.
    pub reason: &'static str,
    /// What sort of statement it is.
    pub kind: &'static str,
}

fn lossy<S: Serializer>(sql: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(sql))
}

/// Explains the text of one command, which may hold several statements, as the proxy would treat it.
pub fn explain(sql: &[u8], dialect: sql::Dialect) -> Explanation<'_> {
    let classified = sql::classify(sql, dialect);
    Explanation {
        sql,
        target: classified.target.as_str(),
        reason: classified.reason.as_str(),
        kind: classified.kind.as_str(),
    }
}

impl Explanation<'_> {
    /// Writes one line: JSON, or columns for people.
    fn write(&self, json: bool, output: &mut impl Write) -> io::Result<()> {
        if json {
            serde_json::to_writer(&mut *output, self)?;
            return output.write_all(b"\n");
        }
        // A statement can hold line ends and terminal sequences; here it is one line of text.
        let sql = String::from_utf8_lossy(self.sql).replace(char::is_control, " ");
        writeln!(output, "{:<8} {:<21} {:<16} {sql}", self.target, self.reason, self.kind)
    }
}

/// Does what the arguments say: explains the statement given, or each line of `input`, and writes to `output`.
///
/// A reader that goes away, such as `head`, ends it without an error.
pub fn run(args: &ExplainArgs, input: impl Read, output: impl Write) -> io::Result<()> {
    let mut dialect = sql::Dialect::from_sql_mode(args.sql_mode.as_bytes());
    dialect.multi_statements = true;
    (dialect.flavor, dialect.version) = crate::cluster::dialect_of(&args.server_version);
    let mut output = BufWriter::with_capacity(BUFFER, output);
    let result = match &args.sql {
        Some(sql) => explain(sql.as_bytes(), dialect).write(args.json, &mut output),
        None => lines(input, dialect, args.json, &mut output),
    };
    match result.and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // Not to be written once more when the buffer is dropped.
            let _ = output.into_parts();
            Ok(())
        }
        result => result,
    }
}

/// Explains every line that is not blank.
fn lines(input: impl Read, dialect: sql::Dialect, json: bool, output: &mut impl Write) -> io::Result<()> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let mut line = Vec::new();
    for number in 1_u64.. {
        // Whoever writes a line and waits for its answer gets it; a file is answered in large pieces.
        if input.buffer().is_empty() {
            output.flush()?;
        }
        line.clear();
        if (&mut input).take(LINE_MAX + 1).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let sql = line.strip_suffix(b"\n").unwrap_or(&line);
        let sql = sql.strip_suffix(b"\r").unwrap_or(sql);
        if u64::try_from(sql.len()).is_ok_and(|length| length > LINE_MAX) {
            return Err(io::Error::other(format!("line {number} is longer than {LINE_MAX} bytes")));
        }
        if !sql.trim_ascii().is_empty() {
            explain(sql, dialect).write(json, output)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use serde_json::{Value, json};

    use super::*;

    fn args(sql: Option<&str>, sql_mode: &str, json: bool) -> ExplainArgs {
        let server_version = String::new();
        ExplainArgs { sql: sql.map(OsString::from), sql_mode: sql_mode.to_owned(), server_version, json }
    }

    fn output(args: &ExplainArgs, input: &[u8]) -> String {
        let mut output = Vec::new();
        run(args, input, &mut output).unwrap();
        String::from_utf8(output).unwrap()
    }

    fn objects(args: &ExplainArgs, input: &[u8]) -> Vec<Value> {
        output(args, input).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn each_line_is_one_object_with_its_keys_in_order() {
        let args = args(None, "", true);
        assert_eq!(
            output(&args, b"SELECT 1\n"),
            "{\"sql\":\"SELECT 1\",\"target\":\"replica\",\"reason\":\"read\",\"kind\":\"select\"}\n"
        );
        let targets: Vec<Value> =
            objects(&args, b"SELECT 1\nINSERT INTO t VALUES (1)\r\nSELECT FOUND_ROWS()")
                .into_iter()
                .map(|object| object["target"].clone())
                .collect();
        assert_eq!(targets, [json!("replica"), json!("primary"), json!("previous")]);
    }

    #[test]
    fn blank_lines_are_skipped_and_comments_are_not() {
        let objects = objects(&args(None, "", true), b"\n  \t\r\n-- nothing\n\nSELECT 1\n\n");
        let kinds: Vec<&Value> = objects.iter().map(|object| &object["kind"]).collect();
        assert_eq!(kinds, [&json!("empty"), &json!("select")]);
    }

    #[test]
    fn bytes_that_are_no_utf8_survive() {
        let objects = objects(&args(None, "", true), b"SELECT '\xe9\xff'\nSELECT \"\x01\"\n");
        assert_eq!(objects[0]["sql"], "SELECT '\u{fffd}\u{fffd}'");
        assert_eq!(objects[0]["target"], "replica");
        assert_eq!(objects[1]["sql"], "SELECT \"\u{1}\"");
    }

    #[test]
    fn a_text_of_several_statements_is_one_packet() {
        let one = |sql: &str| objects(&args(Some(sql), "", true), b"not read\n");
        assert_eq!(one("SELECT 1; SELECT 2").len(), 1);
        assert_eq!(one("SELECT 1; SELECT 2")[0]["target"], "replica");
        assert_eq!(one("SELECT 1;\nDELETE FROM t")[0]["target"], "primary");
        assert_eq!(one("")[0]["kind"], "empty");
    }

    #[test]
    fn the_sql_mode_is_heeded() {
        // With ANSI_QUOTES the text in double quotes is a name, and what follows it a call.
        let sql = Some("SELECT \"f\"(1)");
        let target = |mode: &str| objects(&args(sql, mode, true), b"")[0]["target"].clone();
        assert_eq!(target("ansi_quotes"), "primary");
        // Without a backslash escape the string ends earlier, and FOR UPDATE stands outside.
        let sql = Some(r"SELECT 'a\' FOR UPDATE -- '");
        let reason = |mode: &str| objects(&args(sql, mode, true), b"")[0]["reason"].clone();
        assert_eq!(reason("NO_BACKSLASH_ESCAPES"), "locking_read");
        assert_ne!(reason(""), "locking_read");
    }

    #[test]
    fn text_is_one_line_whatever_the_statement_holds() {
        let text = output(&args(Some("SELECT 1,\n'\x1b[31m'"), "", false), b"");
        assert_eq!(text, "replica  read                  select           SELECT 1, ' [31m'\n");
    }

    /// Accepts some bytes, then says that nobody reads any more.
    struct Gone(usize);

    impl Write for Gone {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.0.min(bytes.len()) {
                0 => Err(io::ErrorKind::BrokenPipe.into()),
                some => {
                    self.0 -= some;
                    Ok(some)
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_goes_away_is_no_failure() {
        let input = b"SELECT 1\n".repeat(10_000);
        for room in [0, 100, 100_000] {
            run(&args(None, "", true), input.as_slice(), Gone(room)).unwrap();
        }
    }

    #[test]
    fn a_line_is_answered_before_the_next_is_read() {
        /// Hands out one line at a time, and insists that the earlier ones were answered.
        struct Dialogue<'a>(u32, &'a std::cell::RefCell<Vec<u8>>);
        impl Read for Dialogue<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let answered = self.1.borrow().iter().filter(|byte| **byte == b'\n').count();
                assert_eq!(answered, self.0 as usize);
                self.0 += 1;
                if self.0 > 3 { Ok(0) } else { b"SELECT 1\n".as_slice().read(buffer) }
            }
        }
        struct Shared<'a>(&'a std::cell::RefCell<Vec<u8>>);
        impl Write for Shared<'_> {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.borrow_mut().write(bytes)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let answers = std::cell::RefCell::new(Vec::new());
        run(&args(None, "", false), Dialogue(0, &answers), Shared(&answers)).unwrap();
    }
}
