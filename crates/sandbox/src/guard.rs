//! The process that cleans up after a program that could not.
//!
//! A destructor does not run when a program is killed, aborts or is interrupted. The kernel's parent death signal
//! (`setpriv --pdeathsig`) does not do either: it is sent when the *thread* that started the server ends, and test runners end
//! threads all the time; and it removes no directory. So a shell waits for the end of a pipe whose other end only this process
//! holds: however the process ends, the kernel closes it. The guard then ends the servers of the cluster and removes its
//! directory. It knows them by their data directory in `/proc`, which no other process has in its command line, so that a
//! process number used again by somebody else is never signalled.
//!
//! It has a process group of its own: what interrupts or kills the whole group of its parent does not reach it.

use std::{
    io::Write,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
};

use crate::{Error, Result};

/// Reads the directory and whether to keep it, then waits for the pipe's end. If the files are kept, servers get ten seconds
/// for an orderly shutdown, and stopped ones are continued so that they see the signal; else there is nothing to shut down
/// for, and they are killed at once.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
IFS= read -r directory || exit 0
IFS= read -r keep || exit 0
while read -r _; do :; done
servers() {
    printf '%s\n' "--datadir=$directory/" | grep -lFf - /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3
}
signal() {
    for pid in $(servers); do kill -s "$1" "$pid" 2>/dev/null; done
}
tries=0
if [ "$keep" = keep ]; then
    signal TERM
    signal CONT
    while [ -n "$(servers)" ] && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
fi
while [ -n "$(servers)" ] && [ $tries -lt 200 ]; do signal KILL; sleep 0.1; tries=$((tries + 1)); done
[ "$keep" = keep ] && exit
# A program that was copying files into it when the process ended may still do so for a moment.
tries=0
while rm -rf -- "$directory"; [ -e "$directory" ] && [ $tries -lt 200 ]; do sleep 0.1; tries=$((tries + 1)); done
"#;

/// The guard of one cluster's directory.
#[derive(Debug)]
pub(crate) struct Guard {
    shell: Child,
    /// Closed to set the guard off.
    pipe: Option<ChildStdin>,
}

impl Guard {
    /// Starts guarding `directory`; with `keep` only the servers go, not the files.
    pub(crate) fn start(directory: &Path, keep: bool) -> Result<Self> {
        let failed = |source| Error::Spawn { program: "sh".to_owned(), source };
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT, "sandbox-guard"])
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let mut pipe = shell.stdin.take();
        let order = format!("{}\n{}\n", directory.display(), if keep { "keep" } else { "remove" });
        if let Some(pipe) = pipe.as_mut() {
            pipe.write_all(order.as_bytes()).map_err(failed)?;
        }
        Ok(Self { shell, pipe })
    }
}

impl Drop for Guard {
    /// Sets the guard off and waits: when it returns, servers and directory are gone.
    fn drop(&mut self) {
        drop(self.pipe.take());
        let _ended = self.shell.wait();
    }
}
