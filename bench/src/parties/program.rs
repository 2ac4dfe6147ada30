//! Where the programs are, and which versions of them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};

/// Where system programs are that are not on everybody's path.
const SYSTEM: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// The programs that are measured.
#[derive(Debug)]
pub(crate) struct Programs {
    pub(crate) tidemark: PathBuf,
    pub(crate) haproxy: PathBuf,
    pub(crate) router: Option<PathBuf>,
    pub(crate) proxysql: Option<PathBuf>,
}

impl Programs {
    /// Finds them. What is given is taken; MySQL Router and ProxySQL are left out if they are not there, and that is told.
    pub(crate) fn find(
        tidemark: Option<PathBuf>,
        router: Option<PathBuf>,
        proxysql: Option<PathBuf>,
    ) -> Result<Self> {
        let optional = |given: Option<PathBuf>, name: &str, option: &str| {
            let found = given.map_or_else(|| Ok(on_path(name)), |path| existing(path).map(Some));
            if matches!(found, Ok(None)) {
                println!("{name} is not on the path and is left out: {option} PATH would name it");
            }
            found
        };
        Ok(Self {
            tidemark: existing(tidemark.unwrap_or_else(beside_this))?,
            haproxy: on_path("haproxy").ok_or(Error::Missing {
                program: "haproxy".to_owned(),
                advice: "run scripts/install-deps.sh bench",
            })?,
            router: optional(router, "mysqlrouter", "--router")?,
            proxysql: optional(proxysql, "proxysql", "--proxysql")?,
        })
    }

    /// A line for each that says which version it is.
    pub(crate) fn versions(&self) -> Vec<String> {
        let asked = [
            (Some(&self.tidemark), "--version"),
            (Some(&self.haproxy), "-v"),
            (self.router.as_ref(), "--version"),
            (self.proxysql.as_ref(), "--version"),
        ];
        asked.into_iter().filter_map(|(program, flag)| version(program?, flag)).collect()
    }
}

fn version(program: &Path, flag: &str) -> Option<String> {
    let output = Command::new(program).arg(flag).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(|line| line.trim().to_owned())
}

/// Cargo puts the programs of a workspace into one directory.
fn beside_this() -> PathBuf {
    let this = env::current_exe().unwrap_or_default();
    this.with_file_name("tidemark")
}

fn existing(path: PathBuf) -> Result<PathBuf> {
    if path.is_file() {
        return Ok(path);
    }
    Err(Error::Missing {
        program: path.display().to_string(),
        advice: "`make bench` builds what it measures; --tidemark, --router and --proxysql name other programs",
    })
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let directories = env::split_paths(&path).chain(SYSTEM.map(PathBuf::from));
    directories.map(|directory| directory.join(name)).find(|program| program.is_file())
}
