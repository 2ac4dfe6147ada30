//! A program that ends when this one does, however that comes.
//!
//! A shell starts it and waits for the end of a pipe that only this process holds: should this process be killed, the
//! kernel closes the pipe, and the shell ends the program.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::error::{Error, Result};

const SCRIPT: &str = r#"
trap '' HUP INT TERM
"$@" </dev/null >/dev/null 2>"$LOG" &
echo $!
exec >/dev/null
while read -r _; do :; done
kill -KILL $! 2>/dev/null
wait
"#;

/// Lines of its output that an error tells.
const TOLD: usize = 20;

/// A running program. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Guarded {
    shell: Child,
    pipe: Option<ChildStdin>,
    pid: u32,
    log: PathBuf,
}

impl Guarded {
    /// Starts a program with these arguments; what it writes goes to the file `log`.
    pub(crate) fn start(program: &Path, arguments: &[String], log: PathBuf) -> Result<Self> {
        let what = || format!("cannot start {}", program.display());
        File::create(&log).map_err(Error::system(format!("cannot create {}", log.display())))?;
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT, "guard"])
            .arg(program)
            .args(arguments)
            .env("LOG", &log)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(Error::system(what()))?;
        let pipe = shell.stdin.take();
        let mut number = String::new();
        if let Some(told) = shell.stdout.take() {
            BufReader::new(told).read_line(&mut number).map_err(Error::system(what()))?;
        }
        let pid = number.trim().parse().map_err(|_| Error::Conversation(what()))?;
        Ok(Self { shell, pipe, pid, log })
    }

    /// The program's number.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// The end of what it wrote.
    pub(crate) fn log(&self) -> String {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines.get(lines.len().saturating_sub(TOLD)..).unwrap_or_default().join("\n")
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        drop(self.pipe.take());
        let _ended = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_ends_with_its_owner() {
        let log = std::env::temp_dir().join(format!("tidemark-bench-guard-{}", std::process::id()));
        let script = "echo told >&2; exec sleep 60".to_owned();
        let program = Guarded::start(Path::new("sh"), &["-c".to_owned(), script], log.clone()).unwrap();
        let process = PathBuf::from(format!("/proc/{}", program.pid()));
        assert!(process.exists());
        for _ in 0..500 {
            if program.log() == "told" {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(program.log(), "told");
        drop(program);
        assert!(!process.exists());
        fs::remove_file(log).unwrap();
    }
}
