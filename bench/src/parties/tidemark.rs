//! Tidemark: an endpoint for each level.

use std::fmt::Write;
use std::path::Path;

use sandbox::{MONITOR_PASSWORD, MONITOR_USER};

use super::{Doors, Node, Party, Place, THREADS, free_address};
use crate::error::Result;
use crate::guarded::Guarded;

/// The levels of consistency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Eventual,
    Session,
    Global,
}

impl Level {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Eventual, Self::Session, Self::Global];

    /// Its name in the configuration.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Eventual => "eventual",
            Self::Session => "session",
            Self::Global => "global",
        }
    }

    pub(super) fn index(self) -> usize {
        match self {
            Self::Eventual => 0,
            Self::Session => 1,
            Self::Global => 2,
        }
    }
}

pub(super) fn start(program: &Path, nodes: &[Node], place: &Place) -> Result<Party> {
    let doors = Level::ALL.map(|_| free_address());
    let endpoints = Level::ALL.into_iter().zip(doors).map(|(level, door)| {
        let level = level.as_str();
        format!("name = \"{level}\"\nlisten = \"{door}\"\nconsistency = \"{level}\"\n")
    });
    let process = serve(program, nodes, place, endpoints)?;
    Ok(Party { name: "tidemark", doors: Doors::Levels(doors), process: Some(process) })
}

/// With a single endpoint, at the level `session`, and these settings.
pub(super) fn start_one(program: &Path, nodes: &[Node], place: &Place, settings: &str) -> Result<Party> {
    let door = free_address();
    let endpoint = format!("name = \"one\"\nlisten = \"{door}\"\nconsistency = \"session\"\n{settings}");
    let process = serve(program, nodes, place, [endpoint])?;
    Ok(Party { name: "tidemark", doors: Doors::Together(door), process: Some(process) })
}

fn serve(
    program: &Path,
    nodes: &[Node],
    place: &Place,
    endpoints: impl IntoIterator<Item = String>,
) -> Result<Guarded> {
    let mut text = format!(
        "[cluster]\nmonitor_user = \"{MONITOR_USER}\"\nmonitor_password = \"{MONITOR_PASSWORD}\"\n\
         tls = \"disabled\"\nworkers = {THREADS}\n"
    );
    for (name, address) in nodes {
        let _ = write!(text, "[[node]]\nname = \"{name}\"\naddress = \"{address}\"\n");
    }
    for endpoint in endpoints {
        let _ = writeln!(text, "[[endpoint]]\n{endpoint}");
    }
    let config = place.write("tidemark.toml", &text)?;
    let arguments = ["run".to_owned(), "--config".to_owned(), config.display().to_string()];
    place.run(program, &arguments)
}
