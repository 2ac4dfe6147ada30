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
     'slave_parallel_workers', 'session_track_schema', \
     'session_track_state_change', 'session_track_gtids', 'session_track_transaction_info', \
     'session_track_system_variables', 'sql_mode', 'init_connect', 'max_connections')";

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
    /// Likewise MariaDB's own capabilities.
    pub(super) extended: u32,
    /// The default collation's id.
    pub(super) collation: u16,
}

/// What the server was asked besides its settings.
#[derive(Clone, Debug)]
pub(super) struct Grounds<'a> {
    /// Its role and sources.
    pub(super) said: &'a Said,
    /// The state of its binary log.
    pub(super) log_status: Option<&'a TextResult>,
    /// The statement that gives the monitor account what it lacks.
    pub(super) lacks_grant: Option<String>,
}

/// What is known of a server, with its shortcomings.
pub(super) fn facts(greeted: &Greeted, flavor: Flavor, variables: &Variables, grounds: Grounds<'_>) -> Facts {
    Facts {
        version: greeted.version.clone(),
        release: Version::parse(&greeted.version).to_dialect(),
        flavor,
        capabilities: greeted.capabilities,
        extended: greeted.extended,
        server_uuid: variables.identity(flavor),
        trackable: Arc::from("*"),
        default_wanted: variables.default_wanted(),
        collation: greeted.collation,
        sql_mode: variables.get(&["sql_mode"]).to_owned(),
        max_connections: variables.get(&["max_connections"]).parse().unwrap_or(usize::MAX),
        has_init_connect: !variables.get(&["init_connect"]).is_empty(),
        shortcomings: shortcomings(Version::parse(&greeted.version), flavor, variables, grounds),
    }
}

/// Why a position of this server does not prove what it should.
fn shortcomings(
    version: Version,
    flavor: Flavor,
    variables: &Variables,
    grounds: Grounds<'_>,
) -> Vec<String> {
    let mut found = Vec::new();
    let oldest = Version::oldest(flavor);
    if version < oldest {
        found.push(format!("its version {version} is too old: {flavor} {oldest} or newer is needed"));
    }
    match flavor {
        Flavor::Mysql => mysql(variables, grounds.said, &mut found),
        Flavor::Mariadb => mariadb(variables, grounds.said, &mut found),
    }
    for filter in grounds.said.sources().iter().flat_map(|source| &source.filters) {
        found.push(format!("it applies only a part of what it replicates: remove the filter {filter}"));
    }
    for name in ["Binlog_Do_DB", "Binlog_Ignore_DB"] {
        if let Some(value) =
            grounds.log_status.and_then(|status| status.value(0, name)).filter(|value| !value.is_empty())
        {
            let value = String::from_utf8_lossy(value);
            found.push(format!("it leaves writes out of its binary log: remove the filter {name}={value}"));
        }
    }
    if let Some(grant) = grounds.lacks_grant {
        found.push(format!("its replication cannot be followed: {grant}"));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::said::Source;

    fn table(rows: &[(&str, &str)]) -> TextResult {
        let cell = |text: &str| Some(text.as_bytes().to_vec());
        TextResult {
            columns: vec!["Variable_name".to_owned(), "Value".to_owned()],
            rows: rows.iter().map(|(name, value)| vec![cell(name), cell(value)]).collect(),
            ..TextResult::default()
        }
    }

    const SOUND: [(&str, &str); 7] = [
        ("gtid_mode", "ON"),
        ("log_bin", "ON"),
        ("log_replica_updates", "ON"),
        ("binlog_order_commits", "ON"),
        ("replica_parallel_workers", "4"),
        ("replica_preserve_commit_order", "ON"),
        ("server_uuid", "u"),
    ];

    fn source(filters: &[&str], by_gtid: bool) -> Source {
        Source {
            identity: None,
            host: "h".to_owned(),
            port: 1,
            running: true,
            by_gtid,
            filters: filters.iter().map(|text| (*text).to_owned()).collect(),
        }
    }

    /// The shortcomings of a replica whose settings are sound but for these.
    fn found(flavor: Flavor, version: &str, changed: &[(&str, &str)], source: Source) -> Vec<String> {
        let mut variables = Variables::read(&table(&SOUND));
        variables.0.extend(Variables::read(&table(changed)).0);
        let said = Said { identity: "u".to_owned(), writable: false, sources: Some(vec![source]) };
        let greeted = Greeted {
            version: version.to_owned(),
            capabilities: Capabilities::default(),
            extended: 0,
            collation: 255,
        };
        let grounds = Grounds { said: &said, log_status: None, lacks_grant: None };
        facts(&greeted, flavor, &variables, grounds).shortcomings
    }

    #[track_caller]
    fn check(found: &[String], fix: &str) {
        assert!(matches!(found, [only] if only.contains(fix)), "{found:?}");
    }

    #[test]
    fn a_sound_replica_has_none() {
        assert!(found(Flavor::Mysql, "8.4.1", &[], source(&[], true)).is_empty());
        assert!(found(Flavor::Mariadb, "10.6.1-MariaDB", &[], source(&[], true)).is_empty());
    }

    #[test]
    fn each_comes_with_its_fix() {
        let mysql = |changed: &[(&str, &str)]| found(Flavor::Mysql, "8.4.1", changed, source(&[], true));
        check(&mysql(&[("gtid_mode", "OFF_PERMISSIVE")]), "gtid_mode = ON");
        check(&mysql(&[("binlog_order_commits", "OFF")]), "binlog_order_commits = ON");
        check(&mysql(&[("replica_preserve_commit_order", "OFF")]), "replica_preserve_commit_order = ON");
        check(&found(Flavor::Mysql, "5.7.44", &[], source(&[], true)), "8.0.0 or newer");
        check(&found(Flavor::Mariadb, "10.5.2-MariaDB", &[], source(&[], true)), "10.6.0 or newer");
        check(
            &found(Flavor::Mariadb, "11.8.2-MariaDB", &[], source(&[], false)),
            "MASTER_USE_GTID = slave_pos",
        );
        check(
            &found(Flavor::Mysql, "9.0.0", &[], source(&["Replicate_Do_DB=a"], true)),
            "remove the filter Replicate_Do_DB=a",
        );
        let alone = [("replica_preserve_commit_order", "OFF"), ("replica_parallel_workers", "1")];
        assert!(mysql(&alone).is_empty());
    }

    #[test]
    fn the_grant_names_the_account_as_the_server_does() {
        assert_eq!(
            missing_privilege(Flavor::Mariadb, Some(b"watch@10.%")),
            "GRANT SLAVE MONITOR, BINLOG MONITOR ON *.* TO 'watch'@'10.%'"
        );
    }

    #[test]
    fn what_clients_are_told_by_default_is_read_from_the_server() {
        let wanted = Variables::read(&table(&[
            ("session_track_schema", "ON"),
            ("session_track_gtids", "OWN_GTID"),
            ("session_track_transaction_info", "STATE"),
            ("session_track_system_variables", "time_zone"),
        ]))
        .default_wanted();
        assert!(wanted.schema && wanted.gtids && !wanted.state_change);
        assert_eq!(wanted.transaction, TransactionWanted::State);
        assert!(wanted.variables.contains(b"TIME_ZONE") && !wanted.variables.contains(b"autocommit"));
    }
}
