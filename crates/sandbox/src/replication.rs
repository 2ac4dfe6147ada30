//! Slowing, stopping and following replication, in each family's words.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{Error, Family, Result, Server, mariadb, mysql};

/// How often a state that no statement can wait for is looked at.
const POLL: Duration = Duration::from_millis(20);

/// What a replica says of its replication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplicationStatus {
    /// Whether it is connected to its primary and fetches.
    pub io_running: bool,
    /// Whether it applies.
    pub sql_running: bool,
    /// How late the last applied transaction was; `None` while replication does not run.
    pub seconds_behind: Option<u64>,
    /// The port of the primary it follows.
    pub source_port: u16,
    /// Why fetching or applying stopped, if an error stopped it; empty otherwise.
    pub last_error: String,
}

impl Server {
    /// The position as the server says it: what it has executed, be it as primary or as replica. MySQL: the GTID set; MariaDB:
    /// one position per domain. Empty on a fresh server.
    pub fn position(&self) -> Result<String> {
        let variable = match self.engine().family() {
            Family::Mysql => "REPLACE(@@GLOBAL.gtid_executed, '\\n', '')",
            Family::Mariadb => "@@GLOBAL.gtid_current_pos",
        };
        self.value(&format!("SELECT {variable}"))
    }

    /// The state of replication; `None` on a server that follows nobody.
    pub fn replication_status(&self) -> Result<Option<ReplicationStatus>> {
        let (show, threads, source) = match self.engine().family() {
            Family::Mysql => ("SHOW REPLICA STATUS", "Replica", "Source"),
            Family::Mariadb => ("SHOW SLAVE STATUS", "Slave", "Master"),
        };
        let rows = self.query(show)?;
        Ok(rows.first().map(|row| {
            let runs = |thread: &str| row.get(&format!("{threads}_{thread}_Running")) == Some("Yes");
            let text = |column: &str| row.get(column).unwrap_or_default();
            ReplicationStatus {
                io_running: runs("IO"),
                sql_running: runs("SQL"),
                seconds_behind: row
                    .get(&format!("Seconds_Behind_{source}"))
                    .and_then(|seconds| seconds.parse().ok()),
                source_port: text(&format!("{source}_Port")).parse().unwrap_or_default(),
                last_error: [text("Last_IO_Error"), text("Last_SQL_Error")].concat(),
            }
        }))
    }

    /// Stops applying; events are still fetched.
    pub fn stop_sql_thread(&self) -> Result<()> {
        self.replica_statement("STOP", " SQL_THREAD")
    }

    /// Applies again.
    pub fn start_sql_thread(&self) -> Result<()> {
        self.replica_statement("START", " SQL_THREAD")
    }

    /// Stops fetching; what was fetched is still applied.
    pub fn stop_io_thread(&self) -> Result<()> {
        self.replica_statement("STOP", " IO_THREAD")
    }

    /// Fetches again.
    pub fn start_io_thread(&self) -> Result<()> {
        self.replica_statement("START", " IO_THREAD")
    }

    /// Stops fetching and applying.
    pub fn stop_replica(&self) -> Result<()> {
        self.replica_statement("STOP", "")
    }

    /// Fetches and applies again.
    pub fn start_replica(&self) -> Result<()> {
        self.replica_statement("START", "")
    }

    fn replica_statement(&self, verb: &str, threads: &str) -> Result<()> {
        let noun = match self.engine().family() {
            Family::Mysql => "REPLICA",
            Family::Mariadb => "SLAVE",
        };
        self.sql(&format!("{verb} {noun}{threads}")).map(drop)
    }

    /// Applies every transaction so many seconds after it was committed on the primary; 0 ends that. Replication runs
    /// afterwards.
    pub fn set_delay(&self, seconds: u32) -> Result<()> {
        let statements = match self.engine().family() {
            Family::Mysql => format!(
                "STOP REPLICA SQL_THREAD; CHANGE REPLICATION SOURCE TO SOURCE_DELAY={seconds}; START REPLICA SQL_THREAD"
            ),
            // MariaDB changes nothing while either thread runs.
            Family::Mariadb => format!("STOP SLAVE; CHANGE MASTER TO MASTER_DELAY={seconds}; START SLAVE"),
        };
        self.sql(&statements).map(drop)
    }

    /// Whether ordinary writes are refused, also after a restart. On MySQL this is `super_read_only` as well, so that root's
    /// are refused, too.
    pub fn set_read_only(&self, on: bool) -> Result<()> {
        let value = if on { "ON" } else { "OFF" };
        // Switching super_read_only on switches read_only on, and switching read_only off switches both off.
        let variable = match (self.engine().family(), on) {
            (Family::Mysql, true) => "super_read_only",
            (Family::Mysql, false) | (Family::Mariadb, _) => "read_only",
        };
        self.sql(&format!("SET GLOBAL {variable} = {value}"))?;
        self.remember_read_only(on);
        Ok(())
    }

    /// Replicates from `primary`, whatever it did before.
    pub(crate) fn follow(&self, primary: &Self, gtid: bool) -> Result<()> {
        let statements = match self.engine().family() {
            Family::Mysql => mysql::follow_sql(primary.port(), gtid),
            Family::Mariadb => mariadb::follow_sql(primary.port(), gtid, self.has_binary_log()),
        };
        self.stop_replica()?;
        self.sql(&statements).map(drop)
    }

    /// Forgets whom it followed.
    pub(crate) fn follow_nobody(&self) -> Result<()> {
        self.stop_replica()?;
        self.replica_statement("RESET", " ALL")
    }

    /// Waits until it is connected to the primary it follows, and applies.
    pub(crate) fn wait_replicating(&self, limit: Duration) -> Result<()> {
        let begin = Instant::now();
        loop {
            let status = self.replication_status()?;
            match status {
                Some(status) if status.io_running && status.sql_running => return Ok(()),
                Some(status) if begin.elapsed() > limit => {
                    let what = format!("replication on {} ({})", self.name(), status.last_error);
                    return Err(Error::Timeout { what, limit });
                }
                Some(_) => thread::sleep(POLL),
                None => return Err(self.unexpected("it follows no primary")),
            }
        }
    }

    /// Waits until this server has applied what `primary` has committed by now.
    pub(crate) fn wait_for(&self, primary: &Self, gtid: bool, limit: Duration) -> Result<()> {
        let position = if gtid { primary.position()? } else { primary.file_and_offset()? };
        let wait = match (self.engine().family(), gtid) {
            (Family::Mysql, true) => format!("WAIT_FOR_EXECUTED_GTID_SET('{position}'"),
            (Family::Mysql, false) => format!("SOURCE_POS_WAIT({position}"),
            (Family::Mariadb, true) => format!("MASTER_GTID_WAIT('{position}'"),
            (Family::Mariadb, false) => format!("MASTER_POS_WAIT({position}"),
        };
        // The server's own wait ends first; the client's limit is for a server that does not answer.
        let statement = format!("SELECT {wait}, {})", limit.as_secs_f64().ceil());
        let rows = self.query_within(&statement, limit + Duration::from_secs(5))?;
        let answer = rows.into_iter().next().and_then(|row| row.into_values().into_iter().next().flatten());
        // When the time is over the waits for a GTID answer 1 (MySQL) or -1 (MariaDB), those for an offset -1; a positive
        // number is the count of events waited for.
        match answer.as_deref() {
            Some("-1") => Err(self.did_not_catch_up(limit)),
            Some("1") if gtid => Err(self.did_not_catch_up(limit)),
            Some(_) => Ok(()),
            None => Err(self.unexpected("replication does not run")),
        }
    }

    /// The error of a replica that took too long, with what it says of itself and what runs on it.
    fn did_not_catch_up(&self, limit: Duration) -> Error {
        let running = "SELECT GROUP_CONCAT(ID, ' ', USER, ' ', TIME, ' s ', IFNULL(STATE, ''), ': ', INFO SEPARATOR '; ') \
                       FROM information_schema.PROCESSLIST WHERE INFO IS NOT NULL AND ID <> CONNECTION_ID()";
        let status = self.replication_status();
        let running = self.value(running);
        Error::Timeout {
            what: format!("catching up on {} ({status:?}; it runs {running:?})", self.name()),
            limit,
        }
    }

    /// `'binlog.000001', 157`: where the next event goes.
    fn file_and_offset(&self) -> Result<String> {
        let show = match self.engine().family() {
            Family::Mysql => "SHOW BINARY LOG STATUS",
            Family::Mariadb => "SHOW MASTER STATUS",
        };
        let rows = self.query(show)?;
        let position =
            rows.first().and_then(|row| Some(format!("'{}', {}", row.get("File")?, row.get("Position")?)));
        position.ok_or_else(|| self.unexpected("it has no binary log"))
    }

    fn unexpected(&self, answer: &str) -> Error {
        Error::Answer { server: self.name().to_owned(), answer: answer.to_owned() }
    }
}
