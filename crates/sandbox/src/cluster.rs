//! A primary and its replicas.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use crate::{
    Error, ReplicaLog, Result, Server, account, cache, guard::Guard, keys, options::ClusterOptions,
    placement::Placement, programs::Programs, template,
};

/// A fresh replica has only a connection to make, and retries that every second.
const FIRST_CONNECT_LIMIT: Duration = Duration::from_secs(60);

/// A running cluster. Dropping it stops the servers and removes its directory, unless the environment variable
/// `TIDEMARK_SANDBOX_KEEP` is set.
#[derive(Debug)]
pub struct Cluster {
    // Dropped in this order: the servers end, then the guard has only the directory left to remove.
    servers: Vec<Server>,
    _guard: Guard,
    directory: PathBuf,
    /// Whether the files stay after the cluster.
    keep: bool,
    gtid: bool,
    /// Index into `servers`.
    current_primary: AtomicUsize,
}

impl Cluster {
    /// Starts the servers and returns when every replica follows the primary.
    pub fn start(options: ClusterOptions) -> Result<Self> {
        let programs = Programs::find(options.engine)?;
        let template = template::ensure(options.engine, &programs)?;
        let directory = create_directory(options.directory.as_deref())?;
        let keep = env::var_os("TIDEMARK_SANDBOX_KEEP").is_some_and(|value| !value.is_empty());
        let guard = Guard::start(&directory, keep)?;
        account::hand_over(&directory, 0o700)?;
        let servers = start_servers(&options, &programs, &template, &directory)?;
        let current_primary = AtomicUsize::new(0);
        let cluster = Self { servers, _guard: guard, directory, keep, gtid: options.gtid, current_primary };
        let primary = cluster.primary();
        at_once(cluster.replicas(), |replica| {
            replica.follow(primary, options.gtid)?;
            replica.wait_replicating(FIRST_CONNECT_LIMIT)
        })?;
        Ok(cluster)
    }

    /// The server that was started as primary.
    #[must_use]
    pub fn primary(&self) -> &Server {
        &self.servers[0]
    }

    /// The servers that were started as replicas.
    #[must_use]
    pub fn replicas(&self) -> &[Server] {
        &self.servers[1..]
    }

    /// All servers, the primary first.
    #[must_use]
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// The directory everything lies in.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The certificate of the authority that signed the servers' certificate, readable by the cluster's owner.
    #[must_use]
    pub fn certificate_authority(&self) -> PathBuf {
        self.primary().data_directory().join(keys::CA)
    }

    /// The server that takes the writes now: [`primary`](Self::primary) until another one was promoted.
    #[must_use]
    pub fn current_primary(&self) -> &Server {
        &self.servers[self.current_primary.load(Ordering::Acquire)]
    }

    pub(crate) fn set_current_primary(&self, server: &Server) {
        if let Some(index) = self.servers.iter().position(|known| known.name() == server.name()) {
            self.current_primary.store(index, Ordering::Release);
        }
    }

    pub(crate) fn uses_gtid(&self) -> bool {
        self.gtid
    }

    /// Waits until every other server has applied what the current primary has committed by now. All must run.
    pub fn wait_caught_up(&self, limit: Duration) -> Result<()> {
        let primary = self.current_primary();
        at_once(&self.servers, |server| {
            if server.name() == primary.name() { Ok(()) } else { server.wait_for(primary, self.gtid, limit) }
        })
    }

    /// Stops the servers and removes the directory; the same as dropping the cluster.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // An orderly shutdown of MySQL takes seconds; data that is removed next needs none. What does not end is killed when
        // the process handles are dropped.
        let end = if self.keep { Server::terminate } else { Server::kill9 };
        let _ended = at_once(&self.servers, end);
    }
}

fn start_servers(
    options: &ClusterOptions,
    programs: &Programs,
    template: &Path,
    directory: &Path,
) -> Result<Vec<Server>> {
    let logs = [&[ReplicaLog::Full], options.replica_logs.as_slice()].concat();
    let placements: Vec<Placement> = (1..)
        .zip(logs)
        .map(|(number, log)| Placement { number, directory: directory.join(format!("db{number}")), log })
        .collect();
    thread::scope(|scope| {
        let starting: Vec<_> = placements
            .into_iter()
            .map(|placement| scope.spawn(|| Server::create(options, programs, template, placement)))
            .collect();
        starting.into_iter().map(join).collect()
    })
}

/// Does the same to several servers at the same time; the first error counts.
fn at_once(servers: &[Server], work: impl Fn(&Server) -> Result<()> + Sync) -> Result<()> {
    thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = servers.iter().map(|server| scope.spawn(move || work(server))).collect();
        let outcomes: Vec<Result<()>> = running.into_iter().map(join).collect();
        outcomes.into_iter().collect()
    })
}

fn join<T>(thread: thread::ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The cluster's directory: the one asked for, which must be absent or empty, or a new one among the temporary files.
fn create_directory(wanted: Option<&Path>) -> Result<PathBuf> {
    let path = wanted.map_or_else(unused, Path::to_owned);
    let path = std::path::absolute(&path).map_err(Error::file("cannot resolve", &path))?;
    account::check_reachable(&path)?;
    if let Some(parent) = path.parent() {
        cache::create(parent)?;
    }
    match fs::create_dir(&path) {
        Err(_) if wanted.is_some() && is_empty(&path) => Ok(path),
        Err(_) if path.is_dir() => {
            Err(Error::Machine(format!("{} is not empty: choose another directory", path.display())))
        }
        Err(source) => Err(Error::file("cannot create", path)(source)),
        Ok(()) => Ok(path),
    }
}

/// A name among the temporary files. A process of the same number may have been killed before it could remove its own.
fn unused() -> PathBuf {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("tidemark-{}-{number}", process::id()));
        if !path.exists() {
            return path;
        }
    }
}

fn is_empty(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}
