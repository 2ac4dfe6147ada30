//! What a server's settings say about it: the facts sessions need, and whether it can serve the levels that look at
//! positions.
//!
//! Each shortcoming is told together with the setting, statement or privilege that ends it.

use std::collections::HashMap;
use std::sync::Arc;

use gtid::Flavor;
use wire::capability::Capabilities;
use wire::rows::TextResult;
use wire::wanted::{TransactionWanted, Wanted, WantedVariables};

use super::said::Said;
use super::snapshot::Facts;
use super::version::Version;

/// Asks for every setting that is looked at here; a server leaves out those it does not have.
pub(super) const VARIABLES: &str = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_uuid', 'server_id', 'read_only', \
     'super_read_only', 'gtid_mode', 'log_bin', 'log_replica_updates', 'log_slave_updates', 'binlog_order_commits', \
     'replica_preserve_commit_order', 'slave_preserve_commit_order', 'replica_parallel_workers', \
     'slave_parallel_workers', 'slave_parallel_threads', 'slave_parallel_mode', 'session_track_schema', \
     'session_track_state_change', 'session_track_gtids', 'session_track_transaction_info', \
     'session_track_system_variables', 'sql_mode')";

/// A server's settings by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables(HashMap<String, String>);

impl Variables {
    /// Reads the answer to [`VARIABLES`].
    pub(super) fn read(answer: &TextResult) -> Self {
        let text = |value: &Option<Vec<u8>>| {
            String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned()
        };
        let pair = |row: &Vec<Option<Vec<u8>>>| match row.as_slice() {
            [name, value, ..] => Some((text(name).to_ascii_lowercase(), text(value))),
            _ => None,
        };
        Self(answer.rows.iter().filter_map(pair).collect())
    }

    fn get(&self, names: &[&str]) -> &str {
        names.iter().find_map(|name| self.0.get(*name)).map_or("", String::as_str)
    }

    fn is_on(&self, names: &[&str]) -> bool {
        matches!(self.get(names).to_ascii_uppercase().as_str(), "ON" | "1" | "YES" | "TRUE")
    }

    /// How the server names itself to its replicas.
    pub(super) fn identity(&self, flavor: Flavor) -> String {
        let name = if flavor == Flavor::Mysql { "server_uuid" } else { "server_id" };
        self.get(&[name]).to_owned()
    }

    /// Whether ordinary accounts may write.
    pub(super) fn writable(&self) -> bool {
        !self.is_on(&["read_only"]) && !self.is_on(&["super_read_only"])
    }

    /// Whether what the server applies as a replica stands in its own binary log, too.
    pub(super) fn logs_updates(&self) -> bool {
        self.is_on(&["log_bin"]) && self.is_on(&["log_replica_updates", "log_slave_updates"])
    }

    /// Whether MySQL numbers its transactions; MariaDB always does.
    pub(super) fn has_gtids(&self, flavor: Flavor) -> bool {
        flavor == Flavor::Mariadb || self.get(&["gtid_mode"]).eq_ignore_ascii_case("ON")
    }

    fn default_wanted(&self) -> Wanted {
        Wanted {
            schema: self.is_on(&["session_track_schema"]),
            state_change: self.is_on(&["session_track_state_change"]),
            gtids: !matches!(self.get(&["session_track_gtids"]).to_ascii_uppercase().as_str(), "" | "OFF"),
            transaction: match self.get(&["session_track_transaction_info"]).to_ascii_uppercase().as_str() {
                "STATE" => TransactionWanted::State,
                "CHARACTERISTICS" => TransactionWanted::Characteristics,
                _ => TransactionWanted::Off,
            },
            variables: WantedVariables::parse(self.get(&["session_track_system_variables"]).as_bytes()),
        }
    }
}

/// What the connection itself showed of the server.
#[derive(Clone, Debug)]
pub(super) struct Greeted {
    /// The version text.
    pub(super) version: String,
    /// What the protocol can do there.
    pub(super) capabilities: Capabilities,
    /// The default collation's id.
    pub(super) collation: u16,
}

/// What is known of a server, with its shortcomings.
///
/// `lacks_grant`: the statement that gives the monitor account what it lacks.
pub(super) fn facts(
    greeted: &Greeted,
    flavor: Flavor,
    variables: &Variables,
    said: &Said,
    lacks_grant: Option<String>,
) -> Facts {
    let mut shortcomings = shortcomings(Version::parse(&greeted.version), flavor, variables, said);
    if let Some(grant) = lacks_grant {
        shortcomings.push(format!("its replication cannot be followed: {grant}"));
    }
    Facts {
        version: greeted.version.clone(),
        flavor,
        capabilities: greeted.capabilities,
        server_uuid: variables.identity(flavor),
        trackable: Arc::from("*"),
        default_wanted: variables.default_wanted(),
        collation: greeted.collation,
        sql_mode: variables.get(&["sql_mode"]).to_owned(),
        shortcomings,
    }
}

/// Why a position of this server does not prove what it should.
fn shortcomings(version: Version, flavor: Flavor, variables: &Variables, said: &Said) -> Vec<String> {
    let mut found = Vec::new();
    let oldest = Version::oldest(flavor);
    if version < oldest {
        found.push(format!("its version {version} is too old: {flavor} {oldest} or newer is needed"));
    }
    match flavor {
        Flavor::Mysql => mysql(variables, said, &mut found),
        Flavor::Mariadb => mariadb(variables, said, &mut found),
    }
    for filter in said.sources().iter().flat_map(|source| &source.filters) {
        found.push(format!(
            "it leaves out part of what it replicates ({filter}): remove the filter, a position says nothing about what is left out"
        ));
    }
    found
}

fn mysql(variables: &Variables, said: &Said, found: &mut Vec<String>) {
    if !variables.has_gtids(Flavor::Mysql) {
        found.push(format!(
            "gtid_mode is {}: set gtid_mode = ON and enforce_gtid_consistency = ON on every server",
            variables.get(&["gtid_mode"])
        ));
    }
    if !variables.is_on(&["binlog_order_commits"]) {
        found.push("transactions may become visible in another order than they are logged: SET PERSIST binlog_order_commits = ON".to_owned());
    }
    let workers: u64 =
        variables.get(&["replica_parallel_workers", "slave_parallel_workers"]).parse().unwrap_or(0);
    let order = ["replica_preserve_commit_order", "slave_preserve_commit_order"];
    if workers > 1 && !variables.is_on(&order) && !said.sources().is_empty() {
        found.push(format!(
            "{workers} workers apply transactions out of order: STOP REPLICA SQL_THREAD; \
             SET PERSIST replica_preserve_commit_order = ON; START REPLICA SQL_THREAD"
        ));
    }
}

fn mariadb(variables: &Variables, said: &Said, found: &mut Vec<String>) {
    if said.writable && said.sources().is_empty() && !variables.is_on(&["log_bin"]) {
        found.push("it has no binary log: start it with log_bin".to_owned());
    }
    if said.sources().iter().any(|source| !source.by_gtid) {
        found.push(
            "it replicates by file and offset: STOP SLAVE; CHANGE MASTER TO MASTER_USE_GTID = slave_pos; START SLAVE".to_owned(),
        );
    }
}

/// What to grant so that replication can be followed; `account` as `CURRENT_USER()` names it.
pub(super) fn missing_privilege(flavor: Flavor, account: Option<&[u8]>) -> String {
    let account = String::from_utf8_lossy(account.unwrap_or_default()).into_owned();
    let (user, host) = account.rsplit_once('@').unwrap_or((&account, "%"));
    let privileges = match flavor {
        Flavor::Mysql => "REPLICATION CLIENT",
        Flavor::Mariadb => "SLAVE MONITOR, BINLOG MONITOR",
    };
    format!("GRANT {privileges} ON *.* TO '{user}'@'{host}'")
}
