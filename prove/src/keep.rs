//! What is kept of an act in which a promise was broken: all that clients noted, and what the proxies said.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::load::Log;
use crate::scene::Scene;

/// Writes it into a directory, under names that begin with `name`.
pub(crate) fn keep(directory: &Path, name: &str, scene: &Scene, log: &Log) -> Result<()> {
    fs::create_dir_all(directory).map_err(Error::system("cannot create a directory"))?;
    let write = |suffix: &str, text: String| {
        fs::write(directory.join(format!("{name}-{suffix}")), text)
            .map_err(Error::system("cannot keep a file"))
    };
    write("operations", operations(log))?;
    scene.proxies.iter().try_for_each(|proxy| write(&format!("proxy-{}.log", proxy.name()), proxy.log()))
}

/// One line for each operation, in the order in which they began: nanoseconds first.
fn operations(log: &Log) -> String {
    let reads = log.history.reads.iter().chain(&log.looks).map(|read| (read.begin, format!("{read:?}")));
    let writes = log.history.writes.iter().map(|write| (write.begin, format!("{write:?}")));
    let lists = log.lists.iter().map(|transaction| (transaction.begin, format!("{transaction:?}")));
    let mut lines: Vec<(u64, String)> = reads.chain(writes).chain(lists).collect();
    lines.sort();
    lines.into_iter().fold(String::new(), |mut text, (begin, line)| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{begin} {line}");
        text
    })
}
