//! `tidemark check`: is the file right, and can every node do what it asks for?

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::cluster::{Inspected, Inspection, Role, inspect};
use crate::config::{Config, ConfigError, EndpointConfig, Mode};
use crate::runtime;
use crate::table::Align::Left;
use crate::table::{Table, printable, shortened};
use crate::transport::tls::ServerTls;

/// The longest position that is shown, in characters.
const POSITION_LIMIT: usize = 60;

/// Why the check could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The file has mistakes.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// The certificates it names cannot be used.
    #[error("{0}")]
    Tls(String),
    /// The system gives no event queue, or takes no output.
    #[error("{0}")]
    System(#[from] io::Error),
}

impl CheckError {
    /// 2 when the file must be changed, 1 when something failed.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Config(_) | Self::Tls(_) => ExitCode::from(2),
            Self::System(_) => ExitCode::from(1),
        }
    }
}

/// Checks a file and every node in it. Returns 0 when everything that the file asks for can be served, else 1.
///
/// # Errors
/// See [`CheckError`].
pub fn run(path: &std::path::Path, mut out: impl Write) -> Result<ExitCode, CheckError> {
    let config = Config::load(path)?;
    let tls = ServerTls::new(config.cluster.tls, config.cluster.tls_ca.as_deref())
        .map_err(|error| CheckError::Tls(error.to_string()))?;
    let nodes = runtime::control()?.block_on(inspect(&config, tls));
    let findings = Findings::new(&config, &nodes);
    write!(out, "{}\n{findings}", table(&nodes))?;
    Ok(if findings.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn table(nodes: &[Inspection]) -> Table {
    let mut table = Table::new(&[
        ("NODE", Left),
        ("ADDRESS", Left),
        ("VERSION", Left),
        ("ROLE", Left),
        ("SOURCE", Left),
        ("LEVELS", Left),
        ("POSITION", Left),
    ]);
    for node in nodes {
        let place = [node.name.clone(), node.address.to_string()];
        let said = match &node.outcome {
            Ok(said) => [
                said.version.clone(),
                said.role.as_str().to_owned(),
                said.sources.join(","),
                levels(said),
                shortened(&said.position.to_string(), POSITION_LIMIT),
            ],
            Err(_) => ["-", "-", "-", "none", "-"].map(str::to_owned),
        };
        table.row(place.into_iter().chain(said));
    }
    table
}

fn levels(said: &Inspected) -> String {
    let names: Vec<&str> = said.levels.iter().map(|level| level.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(",") }
}

/// What is to be said beside the table.
#[derive(Debug, Default)]
struct Findings {
    /// The file asks for it, and it cannot be had.
    failures: Vec<String>,
    /// It works, and yet.
    notes: Vec<String>,
}

impl Findings {
    fn new(config: &Config, nodes: &[Inspection]) -> Self {
        let mut findings = Self { failures: Vec::new(), notes: config.notices().to_vec() };
        for node in nodes {
            findings.node(config, node);
        }
        let has = |role| {
            nodes.iter().any(|node| node.outcome.as_ref().is_ok_and(|said: &Inspected| said.role == role))
        };
        let all_answer = nodes.iter().all(|node| node.outcome.is_ok());
        for endpoint in &config.endpoints {
            findings.endpoint(endpoint, has(Role::Primary), has(Role::Replica), all_answer);
        }
        findings
    }

    fn node(&mut self, config: &Config, node: &Inspection) {
        let name = &node.name;
        let said = match &node.outcome {
            Ok(said) => said,
            Err(why) => return self.failures.push(format!("{name}: {why}")),
        };
        let wanting: Vec<&str> = config
            .endpoints
            .iter()
            .filter(|endpoint| !said.levels.contains(&endpoint.settings.consistency))
            .map(|endpoint| endpoint.name.as_str())
            .collect();
        let needed = if wanting.is_empty() {
            String::new()
        } else {
            format!(" (needed by endpoint {})", wanting.join(", "))
        };
        let list = if wanting.is_empty() { &mut self.notes } else { &mut self.failures };
        list.extend(said.shortcomings.iter().map(|what| format!("{name}: {what}{needed}")));
        self.notes.extend(said.warnings.iter().map(|what| format!("{name}: {what}")));
    }

    fn endpoint(
        &mut self,
        endpoint: &EndpointConfig,
        has_primary: bool,
        has_replica: bool,
        all_answer: bool,
    ) {
        let name = &endpoint.name;
        // Who makes another node writable while the primary is only out of reach has two.
        let missing = if all_answer { "no node" } else { "no node that answers" };
        let first =
            if all_answer { "" } else { "bring back those that do not answer; if none of them is it, " };
        match endpoint.mode {
            Mode::ReadWrite if !has_primary => self.failures.push(format!(
                "endpoint {name}: {missing} is primary, and writes have nowhere to go; {first}list the server that the \
                 others replicate from (SOURCE) as a [[node]], or, if there is none any more, promote one of them"
            )),
            Mode::ReadOnly if !has_replica && !endpoint.settings.primary_fallback => self.failures.push(
                format!("endpoint {name}: {missing} is a replica; {first}add one, or set primary_fallback = true"),
            ),
            _ => {}
        }
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "to fix: {}", printable(failure))?;
        }
        for note in &self.notes {
            writeln!(f, "note: {}", printable(note))?;
        }
        if self.failures.is_empty() {
            writeln!(f, "ready: every endpoint can serve at its level")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use gtid::{Flavor, Position};

    use super::*;
    use crate::config::Level;

    const FILE: &str = "[cluster]\nmonitor_user = \"m\"\nmonitor_password = \"\"\n\
        [[node]]\nname = \"db1\"\naddress = \"a:1\"\n[[node]]\nname = \"db2\"\naddress = \"b:1\"\n\
        [[endpoint]]\nname = \"app\"\nlisten = \"127.0.0.1:1\"\nconsistency = \"LEVEL\"\nmode = \"MODE\"\n";

    fn config(level: &str, mode: &str) -> Config {
        let text = FILE.replace("LEVEL", level).replace("MODE", mode);
        Config::parse(&text, Path::new("t.toml")).unwrap()
    }

    fn node(name: &str, role: Role, shortcoming: Option<&str>) -> Inspection {
        Inspection {
            name: name.to_owned(),
            address: "a:1".parse().unwrap(),
            outcome: Ok(Inspected {
                version: "8.4.0".to_owned(),
                flavor: Flavor::Mysql,
                role,
                position: Position::empty(Flavor::Mysql),
                server_uuid: String::new(),
                sources: Vec::new(),
                levels: if shortcoming.is_none() { Level::ALL.to_vec() } else { vec![Level::Eventual] },
                shortcomings: shortcoming.map(str::to_owned).into_iter().collect(),
                warnings: Vec::new(),
            }),
        }
    }

    fn check(level: &str, mode: &str, nodes: &[Inspection]) -> (usize, String) {
        let findings = Findings::new(&config(level, mode), nodes);
        (findings.failures.len(), findings.to_string())
    }

    #[test]
    fn a_shortcoming_fails_only_who_needs_the_level() {
        let nodes = [node("db1", Role::Primary, None), node("db2", Role::Replica, Some("gtid_mode is OFF"))];
        let (failures, text) = check("eventual", "read-write", &nodes);
        assert_eq!((failures, text.contains("note: db2: gtid_mode is OFF")), (0, true), "{text}");
        let (failures, text) = check("session", "read-write", &nodes);
        let wanted = "to fix: db2: gtid_mode is OFF (needed by endpoint app)";
        assert_eq!((failures, text.contains(wanted)), (1, true), "{text}");
    }

    #[test]
    fn an_endpoint_needs_its_kind_of_node() {
        let replicas = [node("db1", Role::Replica, None), node("db2", Role::Replica, None)];
        assert_eq!(check("eventual", "read-only", &replicas).0, 0);
        let (failures, text) = check("eventual", "read-write", &replicas);
        assert_eq!((failures, text.contains("no node is primary")), (1, true), "{text}");
        let primary = [node("db1", Role::Primary, None)];
        assert_eq!(check("eventual", "read-only", &primary).0, 1);
    }

    #[test]
    fn a_node_that_cannot_be_asked_is_a_failure_and_shows_in_the_table() {
        let lost = Inspection {
            name: "db2".to_owned(),
            address: "b:1".parse().unwrap(),
            outcome: Err("connection refused".to_owned()),
        };
        let nodes = [node("db1", Role::Primary, None), lost];
        let (failures, text) = check("eventual", "read-write", &nodes);
        assert_eq!((failures, text.contains("to fix: db2: connection refused")), (1, true), "{text}");
        assert!(
            table(&nodes).to_string().lines().any(|line| line.starts_with("db2") && line.contains("none"))
        );
    }
}
