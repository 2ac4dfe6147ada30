//! One server process: started, signalled, waited for.

use std::{
    fs::File,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::{Error, Result, command::name};

/// How often an ending process is looked at.
const POLL: Duration = Duration::from_millis(5);

/// A running (or just ended) child process.
#[derive(Debug)]
pub(crate) struct Process(Child);

impl Process {
    /// Starts `command`, its output going to the file `output`.
    ///
    /// The process gets a group of its own: Ctrl-C in a terminal is for the program that runs the cluster, which then stops its
    /// servers itself.
    pub(crate) fn start(mut command: Command, output: &Path) -> Result<Self> {
        let file = File::create(output).map_err(Error::file("cannot create", output))?;
        let errors = file.try_clone().map_err(Error::file("cannot share", output))?;
        let program = name(&command);
        let command = command.process_group(0).stdin(Stdio::null()).stdout(file).stderr(errors);
        command.spawn().map(Self).map_err(|source| Error::Spawn { program, source })
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Whether it has not ended, by itself or by anybody's signal.
    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }

    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        let pid = self.id();
        let target = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let sent = target.map_or(Err(rustix::io::Errno::SRCH), |target| kill_process(target, signal));
        sent.map_err(|source| Error::Signal { pid, source: source.into() })
    }

    /// Stops it, and returns when all of its threads stand still: on a busy machine some go on for a while.
    pub(crate) fn stop(&self) -> Result<()> {
        self.signal(Signal::STOP)?;
        let pid = self.id();
        let Some(target) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(()) };
        // How it ended, if it has, is for its owner to see.
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
        let stopped = waitid(WaitId::Pid(target), options);
        stopped.map(drop).map_err(|source| Error::Signal { pid, source: source.into() })
    }

    /// Kills it and waits until it is gone. Works on stopped processes, too.
    pub(crate) fn kill(&mut self) -> Result<()> {
        let pid = self.id();
        let killed = self.0.kill().and_then(|()| self.0.wait());
        killed.map(drop).map_err(|source| Error::Signal { pid, source })
    }

    /// Asks it to end, and kills it after `limit`.
    pub(crate) fn terminate(&mut self, limit: Duration) -> Result<()> {
        if self.is_running() {
            self.signal(Signal::CONT)?;
            self.signal(Signal::TERM)?;
        }
        let start = Instant::now();
        while self.is_running() {
            if start.elapsed() > limit {
                return self.kill();
            }
            thread::sleep(POLL);
        }
        Ok(())
    }
}

impl Drop for Process {
    /// A server never outlives its owner.
    fn drop(&mut self) {
        if self.is_running() {
            let _gone = self.kill();
        }
    }
}
