//! The page: docs/benchmarks.md, with the picture beside it.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::picture::svg;
use crate::results::Results;

/// The directory of the pages, seen from the repository's root.
const DOCS: &str = "docs";

/// What stands around the figures.
#[derive(Debug)]
pub(crate) struct Circumstances {
    /// How to run it again.
    pub(crate) command: String,
    /// The day.
    pub(crate) day: String,
    /// The machine.
    pub(crate) machine: String,
    /// Who was measured, in which version.
    pub(crate) versions: Vec<String>,
    /// Workloads: name and meaning.
    pub(crate) workloads: Vec<(String, String)>,
    /// Connections, where a workload has no number of its own.
    pub(crate) connections: usize,
    /// Rounds.
    pub(crate) rounds: u32,
    /// Seconds of each round.
    pub(crate) seconds: u64,
}

/// Looks whether they can be written, before anything is measured.
pub(crate) fn check() -> Result<()> {
    let there = fs::metadata(DOCS).and_then(|docs| match docs.is_dir() {
        true => Ok(()),
        false => Err(std::io::ErrorKind::NotADirectory.into()),
    });
    there.map_err(Error::system(format!("no directory {DOCS} here: run this in the root of the repository")))
}

/// Writes page and picture below the current directory, which must be the repository's root.
pub(crate) fn write(results: &Results, circumstances: &Circumstances) -> Result<()> {
    put("benchmarks.svg", &svg(results))?;
    put("benchmarks.md", &page(results, circumstances))
}

/// Writes a file beside the pages.
pub(crate) fn put(name: &str, text: &str) -> Result<()> {
    let path = Path::new(DOCS).join(name);
    fs::write(&path, text).map_err(Error::system(format!("cannot write {}", path.display())))
}

fn page(results: &Results, circumstances: &Circumstances) -> String {
    let Circumstances { command, day, machine, connections, rounds, seconds, .. } = circumstances;
    let list = |items: Vec<String>| items.iter().map(|item| format!("- {item}\n")).collect::<String>();
    let versions = list(circumstances.versions.clone());
    let named = circumstances.workloads.iter();
    let workloads = list(named.map(|(name, meaning)| format!("`{name}`: {meaning}")).collect());
    let loads = results.loads_table().markdown();
    let mut text = format!(
        "\
# What a statement costs

`{command}` on {day}, on {machine}; load, proxies and servers together, over loopback:

{versions}
![Processor time of the proxy for each statement, against HAProxy](benchmarks.svg)

The load is a closed loop of {connections} connections where nothing else is said: each sends its next statement when the last
one is answered. It ran against each target in turn, {rounds} rounds of {seconds} s; a ratio is the median of the ratios within a
round, everything else the median of the rounds. *CPU* is user and system time of the proxy's process for each statement, as
the kernel counts it. Since everything shares the processors, statements per second and latencies say how all of it fares
together, not how much a proxy could do; the processor time is the proxy's own. Latencies are those of a turn: a statement,
all statements of a transaction, or a whole connection. *none* is the load on the servers themselves.

HAProxy passes bytes on in TCP mode and reads nothing of them: the load tells it by the port what may go to a replica, and
sends it everything else to the primary. MySQL Router, where it is listed, is used likewise. Tidemark reads every statement,
and all of the load goes through one port, at the level `session` where no other is named. All proxies have two threads.

{workloads}
{loads}"
    );
    for (heading, table, about) in [
        (
            "What the levels cost",
            results.levels_table(),
            "The load `mixed` against the same at `eventual`, which waits for nothing; latencies are those of reads.",
        ),
        (
            "Memory",
            results.memory_table(),
            "Resident memory of the process, before and after clients came that logged in, read one row and are silent. What the \
             kernel holds for their sockets is not in it.",
        ),
    ] {
        if !table.is_empty() {
            text += &format!("\n## {heading}\n\n{about}\n\n{}", table.markdown());
        }
    }
    let given_up = results.given_up();
    if !given_up.is_empty() {
        text += &format!("\n{}", list(given_up));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_how_it_came_about() {
        let circumstances = Circumstances {
            command: "make bench".to_owned(),
            day: "1 May 2026".to_owned(),
            machine: "2 processors".to_owned(),
            versions: vec!["haproxy 1".to_owned()],
            workloads: vec![("point-text".to_owned(), "one row".to_owned())],
            connections: 64,
            rounds: 5,
            seconds: 3,
        };
        let page = page(&Results::default(), &circumstances);
        for part in
            ["`make bench` on 1 May 2026", "- haproxy 1\n", "`point-text`: one row", "5 rounds of 3 s"]
        {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("## Memory"));
    }
}
