//! `tidemark run`: from a configuration to a serving proxy, and its end.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::MissedTickBehavior;

use crate::admin::{self, AdminListener};
use crate::backend::Secret;
use crate::cluster::Cluster;
use crate::cluster::snapshot::{Node, Snapshot};
use crate::config::{Config, Level};
use crate::endpoint::Endpoint;
use crate::frontend::{Accounts, Hashes, RsaKey};
use crate::instance::Instance;
use crate::listener::Listener;
use crate::live::Live;
use crate::observe::NodeConnections;
use crate::runtime::{self, Workers};
use crate::session::{Ending, Registry};
use crate::transport::tls::{ServerTls, acceptor};

/// How long the nodes have to answer before the endpoints open without those that have not.
const FIRST_ANSWERS: Duration = Duration::from_secs(5);

/// How long sessions have to end their transactions when the proxy is asked to stop.
const DRAIN: Duration = Duration::from_secs(30);

/// How often it is looked whether the clients of long statements are still there.
const LOOK: Duration = Duration::from_secs(1);

/// Why the proxy does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The configuration cannot be put into force.
    #[error("{0}")]
    Setting(String),
    /// The system refuses something.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl ServeError {
    fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }

    fn setting(error: impl std::fmt::Display) -> Self {
        Self::Setting(error.to_string())
    }

    /// 2 when the configuration must be changed, 1 when something failed.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Setting(_) => ExitCode::from(2),
            Self::System { .. } => ExitCode::from(1),
        }
    }
}

/// Serves until asked to stop by SIGTERM or SIGINT.
///
/// # Errors
/// When it cannot begin to serve.
pub fn serve(config: Config) -> Result<(), ServeError> {
    let runtime = runtime::control().map_err(ServeError::system("cannot start the control thread"))?;
    runtime.block_on(async {
        let running = Running::start(config).await?;
        running.until_stopped().await
    })
}

/// A serving proxy.
pub struct Running {
    /// Its parts.
    pub instance: Arc<Instance>,
    /// What can be changed in it.
    pub live: Arc<Live>,
    listeners: Vec<tokio::task::JoinHandle<()>>,
    admin: Option<tokio::task::JoinHandle<()>>,
}

impl Running {
    /// Starts everything, on the current runtime and on new worker threads. The endpoints are open when this returns.
    ///
    /// # Errors
    /// See [`ServeError`].
    pub async fn start(config: Config) -> Result<Self, ServeError> {
        for notice in config.notices() {
            tracing::warn!("{notice}");
        }
        let server_tls = ServerTls::new(config.cluster.tls, config.cluster.tls_ca.as_deref())
            .map_err(ServeError::setting)?;
        let identity =
            config.tls.identity.as_ref().map(|identity| (identity.cert.as_path(), identity.key.as_path()));
        let acceptor = acceptor(identity).map_err(ServeError::setting)?;
        let rsa = RsaKey::generate().map_err(ServeError::setting)?;
        let cluster = Cluster::start(&config, server_tls.clone());
        first_answers(&cluster).await;
        report(&cluster.snapshot());

        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = config.cluster.workers.unwrap_or(cores);
        let endpoints: Vec<_> = config
            .endpoints
            .iter()
            .map(|endpoint| Arc::new(Endpoint::new(endpoint.clone(), config.nodes.len(), threads)))
            .collect();
        for endpoint in &endpoints {
            refuse_what_cannot_be_kept(endpoint, &cluster.snapshot())?;
        }
        let monitor = Secret::from_password(config.cluster.monitor_password.expose());
        let instance = Arc::new(Instance {
            cluster,
            connections: NodeConnections::new(config.nodes.len()),
            endpoints,
            server_tls,
            compression: config.cluster.compression,
            acceptor,
            require_tls: config.tls.require,
            rsa,
            accounts: Accounts::default(),
            hashes: Hashes::new(config.cluster.monitor_user.clone(), monitor),
            registry: Registry::default(),
            next_id: AtomicU32::new(1),
        });

        let workers = Workers::start(threads, &instance)
            .map_err(ServeError::system("cannot start the worker threads"))?;
        let admin = match config.admin.clone() {
            Some(admin) => {
                let what = format!("[admin]: cannot listen on {}", admin.listen);
                let listener = AdminListener::bind(&admin.listen).map_err(ServeError::system(what))?;
                Some((admin, listener))
            }
            None => None,
        };
        let mut listeners = Vec::new();
        for endpoint in &instance.endpoints {
            let what = format!("endpoint {}: cannot listen on {}", endpoint.name, endpoint.listen);
            let listener = Listener::bind(Arc::clone(endpoint)).map_err(ServeError::system(what))?;
            let settings = endpoint.settings.load();
            tracing::info!(endpoint = endpoint.name, listen = %endpoint.listen, mode = endpoint.mode.as_str(),
                consistency = settings.consistency.as_str(), "endpoint open");
            listeners.push(tokio::spawn(listener.serve(workers.clone())));
        }
        listeners.push(tokio::spawn(wake_who_waits_in_vain(Arc::clone(&instance))));
        listeners.push(tokio::spawn(wake_who_waits_long(Arc::clone(&instance))));
        let live = Arc::new(Live::new(Arc::clone(&instance), config));
        let admin = admin.map(|(config, listener)| {
            tracing::info!(listen = %config.listen, "console, API and metrics");
            tokio::spawn(listener.serve(admin::router(Arc::clone(&live), &config)))
        });
        Ok(Self { instance, live, listeners, admin })
    }

    async fn until_stopped(self) -> Result<(), ServeError> {
        let mut terminate =
            signal(SignalKind::terminate()).map_err(ServeError::system("cannot watch for SIGTERM"))?;
        let mut interrupt =
            signal(SignalKind::interrupt()).map_err(ServeError::system("cannot watch for SIGINT"))?;
        let mut hangup =
            signal(SignalKind::hangup()).map_err(ServeError::system("cannot watch for SIGHUP"))?;
        loop {
            tokio::select! {
                _ = terminate.recv() => {
                    tracing::info!("SIGTERM: draining");
                    break;
                }
                _ = interrupt.recv() => {
                    tracing::info!("SIGINT: draining");
                    break;
                }
                _ = hangup.recv() => self.reload().await,
            }
        }
        self.stop(DRAIN).await;
        Ok(())
    }

    /// Reads the file anew; whatever is wrong with it, the proxy goes on as before.
    async fn reload(&self) {
        let live = Arc::clone(&self.live);
        let reload = tokio::task::spawn_blocking(move || live.reload());
        match reload.await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::error!("SIGHUP: {error}"),
            Err(error) => tracing::error!(%error, "SIGHUP: the reload broke"),
        }
    }

    /// Takes no more clients, lets the sessions end their transactions, and ends those that have not after `limit`.
    pub async fn stop(self, limit: Duration) {
        self.live.stop();
        for listener in &self.listeners {
            listener.abort();
        }
        let registry = &self.instance.registry;
        end_all(registry, Ending::Drained);
        let deadline = Instant::now() + limit;
        while !registry.is_empty() && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        if !registry.is_empty() {
            tracing::warn!(sessions = registry.len(), "these have not ended in time and are closed");
            end_all(registry, Ending::Killed);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        if let Some(admin) = &self.admin {
            admin.abort();
        }
        tracing::info!("stopped");
    }
}

/// A node that froze sends nothing any more, not even the end of its connections. Sessions whose statement runs there are
/// woken, so that reads go elsewhere.
async fn wake_who_waits_in_vain(instance: Arc<Instance>) {
    let mut changes = instance.cluster.changes();
    while changes.changed().await.is_ok() {
        let snapshot = instance.cluster.snapshot().clone();
        if snapshot.nodes.iter().all(Node::is_up) {
            continue;
        }
        for card in instance.registry.all() {
            let node = card.running().and_then(|(node, _)| snapshot.node(node));
            if node.is_some_and(|node| !node.is_up()) {
                card.wake.ring();
            }
        }
    }
}

/// A client that leaves while its statement runs is noticed then, so that its node is, too: a server ends some statements
/// whose client has left, and lets go of what the connection held.
async fn wake_who_waits_long(instance: Arc<Instance>) {
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        instance.registry.look();
    }
}

fn end_all(registry: &Registry, ending: Ending) {
    registry.all().iter().for_each(|card| card.end(ending));
}

/// Waits until every node has answered or failed once, so that the first client finds the roles known.
async fn first_answers(cluster: &Cluster) {
    let deadline = Instant::now() + FIRST_ANSWERS;
    while Instant::now() < deadline {
        {
            let snapshot = cluster.snapshot();
            if snapshot.nodes.iter().all(|node| node.tried) && snapshot.primary.is_some() {
                return;
            }
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn report(snapshot: &Snapshot) {
    for node in &snapshot.nodes {
        let version = node.facts.as_ref().map_or("unknown", |facts| facts.version.as_str());
        tracing::info!(node = %node.name, address = %node.address, role = node.role.as_str(), version, health = ?node.health, "node");
    }
    if snapshot.primary.is_none() {
        tracing::warn!("no node is primary; what needs one waits for it, failover_hold_ms at most");
    }
}

/// An endpoint does not open when it could not keep its promise.
fn refuse_what_cannot_be_kept(endpoint: &Endpoint, snapshot: &Snapshot) -> Result<(), ServeError> {
    let level: Level = endpoint.settings.load().consistency;
    snapshot.can_serve(level).map_err(|why| {
        ServeError::Setting(format!(
            "endpoint {} does not start: {why}; or use consistency = \"eventual\"",
            endpoint.name
        ))
    })
}
