//! Statements, run as root over the server's socket by its own command line client.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use crate::{Error, Family, Result, Server, command::check, xml_rows};

/// Long enough for any statement of a test; a stopped server would be waited for without end.
const LIMIT: Duration = Duration::from_secs(60);

/// One row: the columns' names and values in their order, NULL as `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    columns: Vec<(String, Option<String>)>,
}

impl Row {
    pub(crate) fn push(&mut self, name: String, value: Option<String>) {
        self.columns.push((name, value));
    }

    /// The value of the column of that name, in any case; `None` if it is NULL or there is no such column.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.columns.iter().find(|(column, _)| column.eq_ignore_ascii_case(name))?.1.as_deref()
    }

    /// The values alone.
    #[must_use]
    pub fn into_values(self) -> Vec<Option<String>> {
        self.columns.into_iter().map(|(_, value)| value).collect()
    }
}

impl Server {
    /// Runs statements as root, separated by semicolons, and returns the rows of all of them, NULL as `None`.
    ///
    /// The first refused statement ends the run with [`Error::Sql`]. Bytes that are not UTF-8 come out as replacement
    /// characters.
    pub fn sql(&self, statements: &str) -> Result<Vec<Vec<Option<String>>>> {
        Ok(self.query(statements)?.into_iter().map(Row::into_values).collect())
    }

    /// Like [`sql`](Self::sql), with the columns' names.
    pub fn query(&self, statements: &str) -> Result<Vec<Row>> {
        self.query_within(statements, LIMIT)
    }

    /// The first value of the first row.
    pub fn value(&self, statement: &str) -> Result<String> {
        let first = self.sql(statement)?.into_iter().next().and_then(|row| row.into_iter().next().flatten());
        first.ok_or_else(|| Error::Answer {
            server: self.name().to_owned(),
            answer: format!("no value for {statement}"),
        })
    }

    /// Like [`query`](Self::query), with a limit other than a minute.
    pub fn query_within(&self, statements: &str, limit: Duration) -> Result<Vec<Row>> {
        if !self.is_running() {
            return Err(Error::NotRunning { server: self.name().to_owned() });
        }
        let output = self.run_client(statements, limit)?;
        if output.status.code() == Some(TIMEOUT_STATUS) {
            return Err(Error::Timeout { what: format!("a statement on {}", self.name()), limit });
        }
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(refusal(self.name(), &text)
                .map_or_else(|| check(format!("the client of {}", self.name()), &output).err(), Some)
                .unwrap_or_else(|| Error::Answer {
                    server: self.name().to_owned(),
                    answer: text.into_owned(),
                }));
        }
        Ok(xml_rows::parse(&String::from_utf8_lossy(&output.stdout)))
    }

    fn run_client(&self, statements: &str, limit: Duration) -> Result<Output> {
        let failed = |source| Error::Spawn { program: "timeout".to_owned(), source };
        // Over the socket, with or without TLS on the server: MariaDB's client from 11.4 on insists on it unless told not to.
        let without_tls = match self.engine().family() {
            Family::Mysql => "--ssl-mode=DISABLED",
            Family::Mariadb => "--skip-ssl",
        };
        // timeout(1) rather than a wait of our own: it also ends the client should this process end first.
        let mut child = Command::new("timeout")
            .arg("--kill-after=1")
            .arg(format!("{:.3}", limit.as_secs_f64()))
            .arg(self.client_program())
            .args(["--no-defaults", "--user=root", "--xml", "--comments", "--default-character-set=utf8mb4"])
            .arg(format!("--socket={}", self.socket().display()))
            .arg(without_tls)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let stdin = child.stdin.take();
        thread::scope(|scope| {
            // A client that stops reading says why on its standard error.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(statements.as_bytes())));
            child.wait_with_output()
        })
        .map_err(failed)
    }
}

/// The exit status by which timeout(1) says that the limit passed.
const TIMEOUT_STATUS: i32 = 124;

/// Reads the client's `ERROR 1290 (HY000) at line 1: The server ...`.
fn refusal(server: &str, text: &str) -> Option<Error> {
    let rest = text.lines().find_map(|line| line.strip_prefix("ERROR "))?;
    let (code, rest) = rest.split_once(" (")?;
    let (sqlstate, rest) = rest.split_once(')')?;
    let (_, message) = rest.split_once(": ")?;
    Some(Error::Sql {
        server: server.to_owned(),
        code: code.parse().ok()?,
        sqlstate: sqlstate.to_owned(),
        message: message.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_read_from_the_clients_text() {
        let text =
            "mysql: [Warning] something\nERROR 1290 (HY000) at line 1: The server is running: read-only\n";
        let Some(Error::Sql { code, sqlstate, message, .. }) = refusal("db1", text) else {
            panic!("not read")
        };
        assert_eq!(
            (code, sqlstate.as_str(), message.as_str()),
            (1290, "HY000", "The server is running: read-only")
        );
        assert!(refusal("db1", "Segmentation fault\n").is_none());
    }
}
