//! Tidemark: an endpoint for each level.

use std::fmt::Write;
use std::path::Path;

use sandbox::{MONITOR_PASSWORD, MONITOR_USER};

use super::{Doors, Node, Party, Place, THREADS, free_address};
use crate::error::Result;

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
    let mut text = format!(
        "[cluster]\nmonitor_user = \"{MONITOR_USER}\"\nmonitor_password = \"{MONITOR_PASSWORD}\"\n\
         tls = \"disabled\"\nworkers = {THREADS}\n"
    );
    for (name, address) in nodes {
        let _ = write!(text, "[[node]]\nname = \"{name}\"\naddress = \"{address}\"\n");
    }
    for (level, door) in Level::ALL.into_iter().zip(doors) {
        let level = level.as_str();
        let _ = write!(
            text,
            "[[endpoint]]\nname = \"{level}\"\nlisten = \"{door}\"\nconsistency = \"{level}\"\n"
        );
    }
    let config = place.write("tidemark.toml", &text)?;
    let arguments = ["run".to_owned(), "--config".to_owned(), config.display().to_string()];
    let process = place.run(program, &arguments)?;
    Ok(Party { name: "tidemark", doors: Doors::Levels(doors), process: Some(process) })
}
