//! One server of a cluster: where it is, and its life as a process.

use std::{
    fs,
    io::Read,
    net::{Ipv4Addr, SocketAddr},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use crate::{
    Engine, Error, Family, Result, account,
    command::tail,
    options::{ClusterOptions, ReplicaLog},
    placement::Placement,
    ports,
    process::Process,
    programs::Programs,
    template,
};

/// A server under load on a busy machine takes some seconds to start, and more to recover after a kill.
const START_LIMIT: Duration = Duration::from_secs(120);
/// How long an orderly shutdown may take before the server is killed.
const STOP_LIMIT: Duration = Duration::from_secs(20);
/// How often a starting server is asked for its greeting.
const POLL: Duration = Duration::from_millis(10);
/// Ports drawn before a start is given up; each is free at the moment it is drawn.
const PORT_ATTEMPTS: usize = 5;
/// The socket address's `sun_path` holds 108 bytes with its final zero.
const SOCKET_PATH_LIMIT: usize = 107;

/// What a server was when its cluster was started; [`Cluster::promote`](crate::Cluster::promote) does not change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Takes the writes.
    Primary,
    /// Follows the primary, read-only.
    Replica,
}

/// A server of a [`Cluster`](crate::Cluster). All methods take `&self`: it may be shared among threads.
#[derive(Debug)]
pub struct Server {
    name: String,
    engine: Engine,
    programs: Programs,
    placement: Placement,
    /// All arguments but the ports and whether it is read-only.
    arguments: Vec<String>,
    port: u16,
    /// What was last asked for, so that a promoted server is still writable after a restart.
    read_only: AtomicBool,
    process: Mutex<Option<Process>>,
}

impl Server {
    /// Makes the data directory and starts the server on a port of its own.
    pub(crate) fn create(
        options: &ClusterOptions,
        programs: &Programs,
        template: &Path,
        placement: Placement,
    ) -> Result<Self> {
        let socket = placement.socket();
        if socket.as_os_str().len() > SOCKET_PATH_LIMIT {
            return Err(Error::Machine(format!(
                "the path of the socket {} is longer than {SOCKET_PATH_LIMIT} bytes: use a shorter directory",
                socket.display()
            )));
        }
        fs::create_dir(&placement.directory).map_err(Error::file("cannot create", &placement.directory))?;
        account::hand_over(&placement.directory, 0o700)?;
        template::copy(template, &placement.data())?;
        let mut server = Self {
            name: placement.name(),
            engine: options.engine,
            programs: programs.clone(),
            arguments: placement.arguments(options, programs),
            read_only: AtomicBool::new(placement.is_replica()),
            placement,
            port: 0,
            process: Mutex::new(None),
        };
        let mut attempts = 0;
        loop {
            attempts += 1;
            server.port = ports::free();
            match server.start() {
                Err(Error::Start { .. }) if attempts < PORT_ATTEMPTS && server.lost_its_port() => {}
                outcome => return outcome.map(|()| server),
            }
        }
    }

    fn read_only_options(&self) -> Vec<String> {
        let value = if self.read_only.load(Ordering::Relaxed) { "ON" } else { "OFF" };
        let mut options = vec![format!("--read-only={value}")];
        if self.engine.family() == Family::Mysql {
            options.push(format!("--super-read-only={value}"));
        }
        options
    }

    /// What [`set_read_only`](Self::set_read_only) made of it; restarts keep it.
    pub(crate) fn remember_read_only(&self, on: bool) {
        self.read_only.store(on, Ordering::Relaxed);
    }

    /// Whether it keeps a binary log that others can follow.
    pub(crate) fn has_binary_log(&self) -> bool {
        self.placement.log != ReplicaLog::Off
    }

    fn lost_its_port(&self) -> bool {
        self.log_tail().contains("Address already in use")
    }

    /// `db1` is the first primary; `db2`, `db3`, ... its replicas.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it was when the cluster was started.
    #[must_use]
    pub fn role(&self) -> Role {
        if self.placement.is_replica() { Role::Replica } else { Role::Primary }
    }

    /// The engine it runs.
    #[must_use]
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Its TCP address, the same over all restarts.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// The port of [`address`](Self::address).
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its UNIX socket. Its directory is open to the servers' account and to root alone.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.placement.socket()
    }

    /// Its error log.
    #[must_use]
    pub fn error_log(&self) -> PathBuf {
        self.placement.error_log()
    }

    /// Its data directory.
    #[must_use]
    pub fn data_directory(&self) -> PathBuf {
        self.placement.data()
    }

    /// The engine's own command line client, to connect to this server or to something before it.
    #[must_use]
    pub fn client_program(&self) -> &Path {
        &self.programs.client
    }

    /// The process's number while it runs (also while it is paused).
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        let mut process = self.process();
        let process = process.as_mut()?;
        process.is_running().then(|| process.id())
    }

    /// Whether the process exists (it may be paused).
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.pid().is_some()
    }

    /// Starts it, if it does not run, and waits until it greets. Replication resumes by itself.
    pub fn start(&self) -> Result<()> {
        let mut process = self.process();
        if process.as_mut().is_some_and(Process::is_running) {
            return Ok(());
        }
        let mut command = Command::new(&self.programs.server);
        command.args(&self.arguments);
        command.args([format!("--port={}", self.port), format!("--report-port={}", self.port)]);
        command.args(self.read_only_options());
        let started = process.insert(Process::start(command, &self.placement.directory.join("output"))?);
        let outcome = self.wait_for_greeting(started);
        if outcome.is_err() {
            *process = None;
        }
        outcome
    }

    /// An orderly shutdown; a server that does not end in 20 seconds is killed.
    pub fn terminate(&self) -> Result<()> {
        self.process().take().map_or(Ok(()), |mut process| process.terminate(STOP_LIMIT))
    }

    /// `kill -9`: no shutdown at all. What was committed is in the operating system's hands and survives.
    pub fn kill9(&self) -> Result<()> {
        self.process().take().map_or(Ok(()), |mut process| process.kill())
    }

    /// An orderly shutdown, if it runs, and a start.
    pub fn restart(&self) -> Result<()> {
        self.terminate()?;
        self.start()
    }

    /// Stops the process where it stands: connections stay open and are not answered.
    pub fn pause(&self) -> Result<()> {
        match self.process().as_ref() {
            Some(process) => process.stop(),
            None => Err(Error::NotRunning { server: self.name.clone() }),
        }
    }

    /// Lets a paused process go on.
    pub fn resume(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        match self.process().as_ref() {
            Some(process) => process.signal(signal),
            None => Err(Error::NotRunning { server: self.name.clone() }),
        }
    }

    fn process(&self) -> MutexGuard<'_, Option<Process>> {
        // A panic in another thread leaves the process as it is.
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A server that sends its first packet accepts logins.
    fn wait_for_greeting(&self, process: &mut Process) -> Result<()> {
        let begin = Instant::now();
        loop {
            if greets(&self.socket()) {
                return Ok(());
            }
            let reason = if !process.is_running() {
                "it ended".to_owned()
            } else if begin.elapsed() > START_LIMIT {
                format!("no greeting after {} s", START_LIMIT.as_secs())
            } else {
                thread::sleep(POLL);
                continue;
            };
            return Err(Error::Start { server: self.name.clone(), reason, log: self.log_tail() });
        }
    }

    fn log_tail(&self) -> String {
        let mut text = String::new();
        for file in [self.placement.directory.join("output"), self.error_log()] {
            text.push_str(&String::from_utf8_lossy(&fs::read(file).unwrap_or_default()));
        }
        tail(&text)
    }
}

fn greets(socket: &Path) -> bool {
    let Ok(mut stream) = UnixStream::connect(socket) else { return false };
    if stream.set_read_timeout(Some(Duration::from_secs(5))).is_err() {
        return false;
    }
    let mut first_byte = [0];
    stream.read_exact(&mut first_byte).is_ok()
}
