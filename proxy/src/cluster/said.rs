//! What a server says about itself and about whom it follows: plain values, read from the answers to `SHOW`.
//!
//! Facts: the manuals' "SHOW REPLICA STATUS" (MySQL 8.0.22 renamed its columns from Master and Slave; 8.4 removed the
//! old statement) and "SHOW ALL SLAVES STATUS" (MariaDB).

use std::time::Duration;

use gtid::{Flavor, Position};
use wire::rows::TextResult;

use crate::config::Address;

/// One server's word on the roles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Said {
    /// How it names itself to the others: `@@server_uuid` (MySQL) or `@@server_id` (MariaDB), as text.
    pub(super) identity: String,
    /// Whether ordinary accounts may write to it.
    pub(super) writable: bool,
    /// Whom it is set up to follow; `None` when the monitor account may not ask.
    pub(super) sources: Option<Vec<Source>>,
}

impl Said {
    /// The sources it is known to have.
    pub(super) fn sources(&self) -> &[Source] {
        self.sources.as_deref().unwrap_or_default()
    }
}

/// A server that another one is set up to replicate from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Source {
    /// The source's identity; `None` until the replica has reached it once.
    pub(super) identity: Option<String>,
    /// Where the replica looks for it.
    pub(super) host: String,
    /// And at which port.
    pub(super) port: u16,
    /// Whether a replication thread is at work or tries to be. A replica that was promoted by stopping both keeps the
    /// settings and follows nobody.
    pub(super) running: bool,
    /// Whether MariaDB replicates by GTID there; always true for MySQL, which knows what it executed in any case.
    pub(super) by_gtid: bool,
    /// Settings that make the replica leave something out, as `NAME=VALUE`.
    pub(super) filters: Vec<String>,
}

impl Source {
    /// Whether it is the server at this address, by the words of the settings.
    pub(super) fn is_at(&self, address: &Address) -> bool {
        matches!(address, Address::Tcp { host, port } if host.eq_ignore_ascii_case(&self.host) && *port == self.port)
    }

    /// Where it is, for messages.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

/// Columns that hold replication filters, in both families.
const FILTERS: [&str; 10] = [
    "Replicate_Do_DB",
    "Replicate_Ignore_DB",
    "Replicate_Do_Table",
    "Replicate_Ignore_Table",
    "Replicate_Wild_Do_Table",
    "Replicate_Wild_Ignore_Table",
    "Replicate_Rewrite_DB",
    "Replicate_Ignore_Server_Ids",
    "Replicate_Do_Domain_Ids",
    "Replicate_Ignore_Domain_Ids",
];

/// Reads the answer to `SHOW REPLICA STATUS` under any of its names: one row per channel.
pub(super) fn sources(status: &TextResult) -> Vec<Source> {
    (0..status.rows.len()).map(|row| source(status, row)).collect()
}

/// How late the server says it is, over all channels: seconds, or nothing while it does not know.
pub(super) fn behind(status: &TextResult) -> Option<Duration> {
    let seconds = |row: usize| {
        let value = ["Seconds_Behind_Source", "Seconds_Behind_Master"]
            .iter()
            .find_map(|name| status.value(row, name))?;
        std::str::from_utf8(value).ok()?.parse().ok()
    };
    (0..status.rows.len()).filter_map(seconds).max().map(Duration::from_secs)
}

/// Everything it was sent, over all channels, executed or not; nothing of a channel that replicates without GTIDs. `None`
/// when that cannot be read.
pub(super) fn received(status: &TextResult, flavor: Flavor) -> Option<Position> {
    let column = if flavor == Flavor::Mysql { "Retrieved_Gtid_Set" } else { "Gtid_IO_Pos" };
    let mut all = Position::empty(flavor);
    for row in 0..status.rows.len() {
        let text = status.value(row, column).unwrap_or_default();
        all.merge(&Position::parse(flavor, text).ok()?).ok()?;
    }
    Some(all)
}

fn source(status: &TextResult, row: usize) -> Source {
    let text = |names: &[&str]| {
        let value = names.iter().find_map(|name| status.value(row, name)).unwrap_or_default();
        String::from_utf8_lossy(value).into_owned()
    };
    // MariaDB has no UUIDs in this sense; 0 and the empty text stand for "never connected".
    let named_by: &[&str] = if has_uuids(status) {
        &["Source_UUID", "Master_UUID"]
    } else {
        &["Source_Server_Id", "Master_Server_Id"]
    };
    let identity = Some(text(named_by)).filter(|identity| !identity.is_empty() && identity != "0");
    let io = text(&["Replica_IO_Running", "Slave_IO_Running"]);
    let sql = text(&["Replica_SQL_Running", "Slave_SQL_Running"]);
    Source {
        identity,
        host: text(&["Source_Host", "Master_Host"]),
        port: text(&["Source_Port", "Master_Port"]).parse().unwrap_or_default(),
        running: io != "No" || sql != "No",
        by_gtid: status.value(row, "Using_Gtid").is_none_or(|using| !using.eq_ignore_ascii_case(b"No")),
        filters: FILTERS
            .iter()
            .filter_map(|name| Some((name, status.value(row, name)?)))
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}={}", String::from_utf8_lossy(value)))
            .collect(),
    }
}

fn has_uuids(status: &TextResult) -> bool {
    status.columns.iter().any(|column| {
        column.eq_ignore_ascii_case("Source_UUID") || column.eq_ignore_ascii_case("Master_UUID")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(cells: &[(&str, &str)]) -> TextResult {
        TextResult {
            columns: cells.iter().map(|(name, _)| (*name).to_owned()).collect(),
            rows: vec![cells.iter().map(|(_, value)| Some(value.as_bytes().to_vec())).collect()],
            ..TextResult::default()
        }
    }

    #[test]
    fn reads_the_words_of_all_versions() {
        let new = table(&[
            ("Source_Host", "db1"),
            ("Source_Port", "3306"),
            ("Source_UUID", "3e11fa47-71ca-11e1-9e33-c80aa9429562"),
            ("Source_Server_Id", "1"),
            ("Replica_IO_Running", "Connecting"),
            ("Replica_SQL_Running", "No"),
            ("Replicate_Do_DB", ""),
        ]);
        let old = table(&[
            ("Master_Host", "db1"),
            ("Master_Port", "3306"),
            ("Master_UUID", "3e11fa47-71ca-11e1-9e33-c80aa9429562"),
            ("Slave_IO_Running", "Yes"),
            ("Slave_SQL_Running", "Yes"),
        ]);
        assert_eq!(sources(&new), sources(&old));
        assert_eq!(sources(&new)[0].place(), "db1:3306");
        assert!(sources(&new)[0].filters.is_empty());
    }

    #[test]
    fn a_source_never_reached_has_no_identity() {
        let mysql = table(&[("Source_UUID", ""), ("Source_Server_Id", "0")]);
        assert_eq!(sources(&mysql)[0].identity, None);
        let mariadb = table(&[("Master_Server_Id", "0"), ("Using_Gtid", "No")]);
        assert_eq!(sources(&mariadb)[0].identity, None);
        assert!(!sources(&mariadb)[0].by_gtid);
        let mariadb = table(&[("Master_Server_Id", "7"), ("Using_Gtid", "Slave_Pos")]);
        assert_eq!(sources(&mariadb)[0].identity.as_deref(), Some("7"));
    }

    #[test]
    fn what_was_received_is_the_sum_of_all_channels() {
        let mut status = table(&[("Gtid_IO_Pos", "0-1-7"), ("Retrieved_Gtid_Set", "")]);
        status.rows.push(vec![Some(b"3-4-5".to_vec()), None]);
        assert_eq!(received(&status, Flavor::Mariadb).unwrap().to_string(), "0-1-7,3-4-5");
        assert!(received(&status, Flavor::Mysql).unwrap().is_empty());
        assert_eq!(received(&table(&[("Gtid_IO_Pos", "?")]), Flavor::Mariadb), None);
        let set = "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5";
        assert_eq!(received(&table(&[("Retrieved_Gtid_Set", set)]), Flavor::Mysql).unwrap().to_string(), set);
    }

    #[test]
    fn stopped_threads_and_filters_are_seen() {
        let status = table(&[
            ("Slave_IO_Running", "No"),
            ("Slave_SQL_Running", "No"),
            ("Replicate_Wild_Do_Table", "app.%"),
        ]);
        let source = &sources(&status)[0];
        assert!(!source.running);
        assert_eq!(source.filters, ["Replicate_Wild_Do_Table=app.%"]);
    }
}
