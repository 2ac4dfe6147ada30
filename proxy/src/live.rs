//! What can be changed while the proxy serves: the settings of an endpoint, the rotation, and the file read anew.
//!
//! Used by the admin API and by SIGHUP. A change is made whole or not at all, and is in force for the next statement of
//! every session, because a session loads its endpoint's settings and the nodes for each statement.
//!
//! Deliberately absent: anything that needs a restart. A reload tells what of a new file does, and leaves it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::cluster::snapshot::{NodeId, Snapshot};
use crate::config::{Change, Config, ConfigError, Effect, Settings, SettingsError, SettingsPatch};
use crate::endpoint::Endpoint;
use crate::instance::Instance;

/// The running program as an operator sees it.
pub struct Live {
    /// Its parts.
    pub instance: Arc<Instance>,
    /// When it began to serve.
    pub since: Instant,
    stopping: AtomicBool,
    /// The configuration at start, with the live settings of the file as it was last read. Held while a change is made,
    /// so that changes come one after the other.
    running: Mutex<Config>,
}

/// Why a change was not made. The texts are meant for whoever asked for it.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// Nothing has this name.
    #[error("no {what} is called \"{name}\"; there are {known}")]
    Unknown {
        /// Endpoint or node.
        what: &'static str,
        /// The name that was given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A setting cannot have this value.
    #[error("{0}")]
    Setting(#[from] SettingsError),
    /// A node cannot keep what the level promises.
    #[error("endpoint {endpoint}: {why}; or keep to consistency = \"eventual\"")]
    Promise {
        /// The endpoint.
        endpoint: String,
        /// Which nodes, and what to change there.
        why: String,
    },
    /// The new file has mistakes.
    #[error("{0}\nnothing was changed")]
    Config(#[from] ConfigError),
}

/// What a reload did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// In force now.
    pub applied: Vec<String>,
    /// In the file, but in force only after a restart.
    pub needs_restart: Vec<String>,
}

impl Live {
    /// The program that serves this configuration.
    pub fn new(instance: Arc<Instance>, config: Config) -> Self {
        Self {
            instance,
            since: Instant::now(),
            stopping: AtomicBool::new(false),
            running: Mutex::new(config),
        }
    }

    /// The program has been asked to stop.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Whether it has been asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// The settings of an endpoint in the form in which they can be sent back.
    pub fn settings_of(&self, endpoint: &Endpoint) -> SettingsPatch {
        endpoint.settings.load().to_patch(&self.lock().nodes)
    }

    /// Changes settings of an endpoint. Returns all of its settings.
    ///
    /// # Errors
    /// When there is no such endpoint, a value is out of its range, or a node cannot keep the level.
    pub fn set(&self, name: &str, patch: &SettingsPatch) -> Result<SettingsPatch, ChangeError> {
        let endpoint = self.endpoint(name)?;
        let running = self.lock();
        let settings = endpoint.settings.load().apply(patch, &running.nodes)?;
        can_be_kept(name, &settings, &self.instance.cluster.snapshot())?;
        let answer = settings.to_patch(&running.nodes);
        endpoint.settings.store(Arc::new(settings));
        drop(running);
        let change = serde_json::to_string(patch).unwrap_or_default();
        tracing::info!(endpoint = name, %change, "settings changed");
        Ok(answer)
    }

    /// Takes a node out of the reads, or puts it back.
    ///
    /// # Errors
    /// When there is no such node.
    pub fn drain(&self, name: &str, drained: bool) -> Result<NodeId, ChangeError> {
        let cluster = &self.instance.cluster;
        let node = cluster.node_id(name.as_bytes()).ok_or_else(|| ChangeError::Unknown {
            what: "node",
            name: name.to_owned(),
            known: list(cluster.snapshot().nodes.iter().map(|node| &*node.name)),
        })?;
        if drained {
            cluster.drain(node);
        } else {
            cluster.undrain(node);
        }
        Ok(node)
    }

    /// Reads the file anew, and puts into force what differs from the file as it was last read. What was changed
    /// by other means on an endpoint whose part of the file is the same stays as it is.
    ///
    /// # Errors
    /// When the file has mistakes, or asks for a level that a node cannot keep. Nothing is changed then.
    pub fn reload(&self) -> Result<Reloaded, ChangeError> {
        let mut running = self.lock();
        let new = Config::load(running.origin())?;
        let changes = Config::diff(&running, &new);
        let snapshot = self.instance.cluster.snapshot();
        for change in &changes {
            if let Effect::Live { endpoint, settings } = &change.effect
                && let Some(endpoint) = self.instance.endpoints.get(*endpoint)
            {
                can_be_kept(&endpoint.name, settings, &snapshot)?;
            }
        }
        let mut reloaded = Reloaded::default();
        for Change { text, effect } in changes {
            match effect {
                Effect::Live { endpoint: index, settings } => {
                    if let Some(part) = running.endpoints.get_mut(index) {
                        part.settings = settings.clone();
                    }
                    if let Some(endpoint) = self.instance.endpoints.get(index) {
                        endpoint.settings.store(Arc::new(settings));
                    }
                    tracing::info!("reload: {text}");
                    reloaded.applied.push(text);
                }
                Effect::Restart => {
                    tracing::warn!("reload: {text}; in force after a restart");
                    reloaded.needs_restart.push(text);
                }
            }
        }
        if reloaded == Reloaded::default() {
            tracing::info!("reload: the file has not changed");
        }
        Ok(reloaded)
    }

    fn endpoint(&self, name: &str) -> Result<&Arc<Endpoint>, ChangeError> {
        let endpoints = &self.instance.endpoints;
        endpoints.iter().find(|endpoint| endpoint.name == name).ok_or_else(|| ChangeError::Unknown {
            what: "endpoint",
            name: name.to_owned(),
            known: list(endpoints.iter().map(|endpoint| endpoint.name.as_str())),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Config> {
        // Each assignment to it is whole in itself.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn can_be_kept(endpoint: &str, settings: &Settings, snapshot: &Snapshot) -> Result<(), ChangeError> {
    snapshot
        .can_serve(settings.consistency)
        .map_err(|why| ChangeError::Promise { endpoint: endpoint.to_owned(), why })
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
