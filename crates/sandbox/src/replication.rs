//! Slowing, stopping and following replication, in each family's words.

use std::time::Duration;

use crate::{Error, Family, Result, Server, mariadb, mysql};

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

    /// Whether ordinary writes are refused. On MySQL this is `super_read_only` as well, so that root's are refused, too.
    pub fn set_read_only(&self, on: bool) -> Result<()> {
        let value = if on { "ON" } else { "OFF" };
        // Switching super_read_only on switches read_only on, and switching read_only off switches both off.
        let variable = match (self.engine().family(), on) {
            (Family::Mysql, true) => "super_read_only",
            (Family::Mysql, false) | (Family::Mariadb, _) => "read_only",
        };
        self.sql(&format!("SET GLOBAL {variable} = {value}")).map(drop)
    }

    /// Replicates from `primary`, from the first event of its binary log that is missing here.
    pub(crate) fn follow(&self, primary: &Self, gtid: bool) -> Result<()> {
        let statements = match self.engine().family() {
            Family::Mysql => mysql::follow_sql(primary.port(), gtid),
            Family::Mariadb => mariadb::follow_sql(primary.port(), gtid),
        };
        self.sql(&statements).map(drop)
    }

    /// Waits until this server has applied what `primary` has committed by now.
    pub(crate) fn wait_for(&self, primary: &Self, gtid: bool, limit: Duration) -> Result<()> {
        let condition = if gtid { self.gtid_wait(primary)? } else { self.offset_wait(primary)? };
        let statement = condition.replace("LIMIT", &limit.as_secs_f64().ceil().to_string());
        // The server's own wait ends first; the client's limit is for a server that does not answer.
        let rows = self.query_within(&statement, limit + Duration::from_secs(5))?;
        match rows.into_iter().next().and_then(|row| row.into_values().into_iter().next()) {
            // Both kinds of wait answer NULL if replication does not run, and -1 or 1 when the time is over.
            Some(Some(answer)) if answer == "-1" || (gtid && answer == "1") => {
                Err(Error::Timeout { what: format!("{} catching up", self.name()), limit })
            }
            Some(Some(_)) => Ok(()),
            _ => Err(Error::Answer {
                server: self.name().to_owned(),
                answer: "replication does not run: see its error log".to_owned(),
            }),
        }
    }

    fn gtid_wait(&self, primary: &Self) -> Result<String> {
        let position = primary.position()?;
        Ok(match self.engine().family() {
            Family::Mysql => format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{position}', LIMIT)"),
            Family::Mariadb => format!("SELECT MASTER_GTID_WAIT('{position}', LIMIT)"),
        })
    }

    fn offset_wait(&self, primary: &Self) -> Result<String> {
        let (show, wait) = match self.engine().family() {
            Family::Mysql => ("SHOW BINARY LOG STATUS", "SOURCE_POS_WAIT"),
            Family::Mariadb => ("SHOW MASTER STATUS", "MASTER_POS_WAIT"),
        };
        let rows = primary.query(show)?;
        let status = rows.first().and_then(|row| Some((row.get("File")?, row.get("Position")?)));
        let (file, offset) = status.ok_or_else(|| Error::Answer {
            server: primary.name().to_owned(),
            answer: format!("nothing for {show}"),
        })?;
        Ok(format!("SELECT {wait}('{file}', {offset}, LIMIT)"))
    }
}
