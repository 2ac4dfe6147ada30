//! The proxy as a process: the program itself, with a configuration of its own, before the relays.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sandbox::{MONITOR_PASSWORD, MONITOR_USER};

use super::clock::Clock;
use crate::error::{Error, Result};
use crate::history::Level;

/// How long the program may take to open its endpoints.
const START_LIMIT: Duration = Duration::from_secs(30);

/// Lines of the log that are told when it does not.
const SHOWN: usize = 20;

/// Starts the program and tells its number; ends it when the checker has ended, however that came.
const GUARD: &str = r#"
"$@" </dev/null >/dev/null 2>"$LOG" &
echo $!
exec >/dev/null
while read -r _; do :; done
kill -KILL $! 2>/dev/null
wait
"#;

/// How a proxy is to be started.
#[derive(Debug, Clone)]
pub(crate) struct Plan<'a> {
    /// The program.
    pub(crate) program: &'a Path,
    /// One letter, for reports.
    pub(crate) name: char,
    /// What the endpoints say beside their level.
    pub(crate) endpoint: &'a str,
    /// Names and addresses of the nodes.
    pub(crate) nodes: Vec<(String, SocketAddr)>,
    /// The rule it shall leave out, if it can.
    pub(crate) sabotage: Option<&'a str>,
    /// The clock it shall see.
    pub(crate) clock: Option<&'a Clock>,
}

/// A proxy that serves. Dropping it kills it.
#[derive(Debug)]
pub struct Proxy {
    guard: Child,
    pipe: Option<ChildStdin>,
    name: char,
    directory: PathBuf,
}

impl Proxy {
    /// Starts it in a directory that must be there, and waits until it serves.
    pub(crate) fn start(plan: &Plan<'_>, directory: &Path) -> Result<Self> {
        let directory = directory.join(format!("proxy-{}", plan.name));
        fs::create_dir_all(&directory).map_err(Error::system("cannot create a directory"))?;
        let config = directory.join("tidemark.toml");
        fs::write(&config, text(plan, &directory))
            .map_err(Error::system("cannot write the configuration"))?;
        let mut command = Command::new("sh");
        command.args(["-c", GUARD, "guard"]).arg(plan.program).args(["run", "--config"]).arg(&config);
        command.env("LOG", directory.join("log")).env_remove("TIDEMARK_SABOTAGE");
        if let Some(rule) = plan.sabotage {
            command.env("TIDEMARK_SABOTAGE", rule);
        }
        if let Some(clock) = plan.clock {
            command.envs(clock.environment());
        }
        let mut guard = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(Error::system("cannot start the proxy"))?;
        if let Some(told) = guard.stdout.take() {
            // The number itself is of no use here; that it is told means that the program was started.
            let mut number = String::new();
            BufReader::new(told).read_line(&mut number).map_err(Error::system("cannot start the proxy"))?;
        }
        let pipe = guard.stdin.take();
        let proxy = Self { guard, pipe, name: plan.name, directory };
        proxy.wait_open(plan.program)?;
        Ok(proxy)
    }

    fn wait_open(&self, program: &Path) -> Result<()> {
        let begin = Instant::now();
        while !Level::OFFERED.iter().all(|level| UnixStream::connect(self.socket(*level)).is_ok()) {
            if begin.elapsed() > START_LIMIT {
                let log = self.log();
                let lines: Vec<&str> = log.lines().collect();
                let last = lines.len().saturating_sub(SHOWN);
                let log = lines.get(last..).unwrap_or_default().join("\n");
                return Err(Error::Proxy { program: program.to_owned(), log });
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Its letter.
    #[must_use]
    pub fn name(&self) -> char {
        self.name
    }

    /// Where it serves a level.
    #[must_use]
    pub fn socket(&self, level: Level) -> PathBuf {
        self.directory.join(level.as_str())
    }

    /// All that it has said.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.directory.join("log")).unwrap_or_default()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            let _ = pipe.flush();
        }
        let _ended = self.guard.wait();
    }
}

fn text(plan: &Plan<'_>, directory: &Path) -> String {
    let mut text = format!(
        "[cluster]\nmonitor_user = \"{MONITOR_USER}\"\nmonitor_password = \"{MONITOR_PASSWORD}\"\ntls = \"disabled\"\n"
    );
    for (name, address) in &plan.nodes {
        text += &format!("[[node]]\nname = \"{name}\"\naddress = \"{address}\"\n");
    }
    for level in Level::OFFERED {
        let name = level.as_str();
        text += &format!(
            "[[endpoint]]\nname = \"{name}\"\nlisten = \"unix:{}\"\nconsistency = \"{name}\"\n{}\n",
            directory.join(name).display(),
            plan.endpoint
        );
    }
    text
}
