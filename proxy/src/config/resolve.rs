//! From the file as written to the configuration as used: every rule that a type alone does not carry.
//!
//! It goes on after a mistake, so that one run tells them all.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use toml::Spanned;

use super::address::Address;
use super::choice::{Mode, OnTimeout, TlsMode, UnknownWord};
use super::error::{ConfigError, Problems};
use super::file::{AdminFile, ClusterFile, ConfigFile, EndpointFile, NodeFile, TlsFile};
use super::model::{
    AdminConfig, ClusterConfig, Config, EndpointConfig, EndpointTls, NodeConfig, TlsIdentity,
};
use super::network::Network;
use super::secret::Secret;
use super::secret_file;
use super::settings::{self, Settings};

/// The most threads that `workers` may ask for.
const WORKERS: RangeInclusive<usize> = 1..=1024;
/// Allowed values of `max_connections`; 10 000 unless the file says otherwise.
const MAX_CONNECTIONS: RangeInclusive<u32> = 1..=1_000_000;
const MAX_CONNECTIONS_DEFAULT: u32 = 10_000;
/// The most nodes: sets of nodes are 64 bits wide where a statement is routed.
const NODES_MAX: usize = 64;
/// The longest name of a node or endpoint, in bytes: names become labels of metrics.
const NAME_MAX: usize = 64;

/// Validates a file; `folder` is what its relative paths start from.
pub(super) fn resolve(
    file: ConfigFile,
    folder: &Path,
    mut problems: Problems<'_>,
) -> Result<Config, ConfigError> {
    let mut resolver = Resolver { folder, problems: &mut problems, notices: Vec::new() };
    let config = resolver.config(file);
    match config {
        Some(config) if problems.is_empty() => Ok(config),
        _ => Err(problems.into_error()),
    }
}

struct Resolver<'a, 'text> {
    folder: &'a Path,
    problems: &'a mut Problems<'text>,
    notices: Vec<String>,
}

impl Resolver<'_, '_> {
    fn config(&mut self, file: ConfigFile) -> Option<Config> {
        if let Some(shared) = &file.shared {
            self.problems.add(shared.span(), "[shared] is not available in this version", "remove [shared]");
        }
        let timeout = self.number(
            "consistency_timeout_us",
            file.cluster.consistency_timeout_us.as_ref(),
            &settings::CONSISTENCY_TIMEOUT_US,
        );
        let defaults = Settings {
            consistency_timeout_us: timeout.unwrap_or(Settings::default().consistency_timeout_us),
            read_weight: vec![None; file.node.len()],
            ..Settings::default()
        };
        let nodes = self.nodes(&file.node);
        let endpoints = self.endpoints(&file.endpoint, &file.node, &defaults);
        let cluster = self.cluster(file.cluster);
        let tls = self.endpoint_tls(file.tls);
        let admin = file.admin.map(|admin| self.admin(&admin, &file.endpoint));
        Some(Config {
            cluster: cluster?,
            nodes: nodes?,
            endpoints: endpoints?,
            tls: tls?,
            admin: match admin {
                Some(admin) => Some(admin?),
                None => None,
            },
            notices: std::mem::take(&mut self.notices),
        })
    }

    fn cluster(&mut self, file: ClusterFile) -> Option<ClusterConfig> {
        if file.monitor_user.get_ref().is_empty() {
            self.problems.add(
                file.monitor_user.span(),
                "monitor_user is empty",
                "name the account that watches the nodes",
            );
        }
        let tls: TlsMode = self.word(file.tls.as_ref())?;
        let tls_ca = file.tls_ca.as_ref().and_then(|path| self.existing("tls_ca", path));
        let verifies = matches!(tls, TlsMode::VerifyCa | TlsMode::VerifyIdentity);
        if let (true, None, Some(mode)) = (verifies, &file.tls_ca, &file.tls) {
            self.problems.add(
                mode.span(),
                format!("tls = \"{tls}\" needs the certificates to verify with"),
                "add tls_ca",
            );
        }
        if !verifies && tls_ca.is_some() {
            self.notices.push(format!("tls_ca has no effect with tls = \"{tls}\""));
        }
        let workers = match &file.workers {
            Some(workers) => Some(self.number("workers", Some(workers), &WORKERS)?),
            None => None,
        };
        let monitor_user = file.monitor_user.get_ref().clone();
        Some(ClusterConfig {
            monitor_password: self.monitor_password(file)?,
            monitor_user,
            tls,
            tls_ca,
            workers,
        })
    }

    /// The password from the one place that gives it.
    fn monitor_password(&mut self, file: ClusterFile) -> Option<Secret> {
        const ONE: &str =
            "give exactly one of monitor_password, monitor_password_file and monitor_password_env";
        match (file.monitor_password, file.monitor_password_file, file.monitor_password_env) {
            (Some(secret), None, None) => Some(secret.into_inner()),
            (None, Some(path), None) => self.secret_file("monitor_password_file", &path),
            (None, None, Some(variable)) => self.secret_variable(&variable),
            (None, None, None) => {
                self.problems.add(file.monitor_user.span(), "monitor_user has no password", ONE);
                None
            }
            (_, path, variable) => {
                let second = variable.or(path).map_or(file.monitor_user.span(), |second| second.span());
                self.problems.add(second, "there is more than one password for monitor_user", ONE);
                None
            }
        }
    }

    fn secret_variable(&mut self, variable: &Spanned<String>) -> Option<Secret> {
        use std::os::unix::ffi::OsStringExt;
        match std::env::var_os(variable.get_ref()) {
            Some(value) => Some(Secret::new(value.into_vec())),
            None => {
                let what = format!("the environment has no variable {}", variable.get_ref());
                self.problems.add(
                    variable.span(),
                    what,
                    "set it before the start, or use monitor_password_file",
                );
                None
            }
        }
    }

    fn secret_file(&mut self, key: &str, path: &Spanned<String>) -> Option<Secret> {
        let full = self.folder.join(path.get_ref());
        match secret_file::read(&full) {
            Ok((secret, exposed)) => {
                if exposed {
                    let path = full.display();
                    self.notices.push(format!(
                        "every user of this machine can read the {key} {path}: run chmod 600 {path}"
                    ));
                }
                Some(secret)
            }
            Err(why) => {
                self.problems.add(path.span(), format!("{key} {}: {why}", full.display()), "");
                None
            }
        }
    }

    fn nodes(&mut self, files: &[NodeFile]) -> Option<Vec<NodeConfig>> {
        if files.is_empty() {
            self.problems.add(
                0..0,
                "there is no node",
                "add a [[node]] with name and address for each server",
            );
            return None;
        }
        if let Some(file) = files.get(NODES_MAX) {
            self.problems.add(
                file.name.span(),
                format!("there are {} nodes", files.len()),
                format!("keep to {NODES_MAX}"),
            );
        }
        let mut complete = Vec::with_capacity(files.len());
        for (index, file) in files.iter().enumerate() {
            let earlier = files.get(..index).unwrap_or_default();
            let name = self.name("node", &file.name, earlier.iter().map(|node| node.name.get_ref()));
            let address = self.address(&file.address);
            self.unique(
                "address",
                &file.address,
                earlier.iter().map(|node| (&node.name, node.address.get_ref())),
            );
            if let Some(Address::Tcp { port: 0, .. }) = address {
                self.problems.add(
                    file.address.span(),
                    "a node cannot have port 0",
                    "write the port of the server, such as 3306",
                );
            }
            complete.push(name.zip(address).map(|(name, address)| NodeConfig { name, address }));
        }
        complete.into_iter().collect()
    }

    fn endpoints(
        &mut self,
        files: &[EndpointFile],
        nodes: &[NodeFile],
        defaults: &Settings,
    ) -> Option<Vec<EndpointConfig>> {
        if files.is_empty() {
            self.problems.add(0..0, "there is no endpoint", "add an [[endpoint]] with name and listen");
            return None;
        }
        let mut complete = Vec::with_capacity(files.len());
        for (index, file) in files.iter().enumerate() {
            let earlier = files.get(..index).unwrap_or_default();
            let name =
                self.name("endpoint", &file.name, earlier.iter().map(|endpoint| endpoint.name.get_ref()));
            self.unique(
                "listen",
                &file.listen,
                earlier.iter().map(|other| (&other.name, other.listen.get_ref())),
            );
            complete.push(self.endpoint(file, name, nodes, defaults));
        }
        complete.into_iter().collect()
    }

    fn endpoint(
        &mut self,
        file: &EndpointFile,
        name: Option<String>,
        nodes: &[NodeFile],
        defaults: &Settings,
    ) -> Option<EndpointConfig> {
        let listen = self.address(&file.listen);
        let mode = self.word(file.mode.as_ref());
        let allow = self.allow(file);
        let pool = self.word(file.pool.as_ref());
        let max_connections = match &file.max_connections {
            Some(number) => self.number("max_connections", Some(number), &MAX_CONNECTIONS),
            None => Some(MAX_CONNECTIONS_DEFAULT),
        };
        let settings = self.settings(file, nodes, defaults);
        let endpoint = EndpointConfig {
            name: name?,
            listen: listen?,
            mode: mode?,
            allow: allow?,
            max_connections: max_connections?,
            pool: pool?,
            settings: settings?,
        };
        self.notice_without_effect(&endpoint, file);
        Some(endpoint)
    }

    fn settings(&mut self, file: &EndpointFile, nodes: &[NodeFile], defaults: &Settings) -> Option<Settings> {
        let consistency = self.word(file.consistency.as_ref());
        let on_timeout = self.word(file.on_timeout.as_ref());
        let timeout = self.number_or(
            "consistency_timeout_us",
            file.consistency_timeout_us.as_ref(),
            &settings::CONSISTENCY_TIMEOUT_US,
            defaults.consistency_timeout_us,
        );
        let max_lag = self.number_or(
            "max_lag_ms",
            file.max_lag_ms.as_ref(),
            &settings::MAX_LAG_MS,
            defaults.max_lag_ms,
        );
        let min_replicas = self.number_or(
            "min_replicas",
            file.min_replicas.as_ref(),
            &settings::MIN_REPLICAS,
            defaults.min_replicas,
        );
        let read_weight = self.read_weight(file, nodes);
        Some(Settings {
            consistency: consistency?,
            consistency_timeout_us: timeout?,
            on_timeout: on_timeout?,
            read_weight: read_weight?,
            max_lag_ms: max_lag?,
            min_replicas: min_replicas?,
            transaction_split: file.transaction_split.unwrap_or(defaults.transaction_split),
            primary_fallback: file.primary_fallback.unwrap_or(defaults.primary_fallback),
        })
    }

    fn read_weight(&mut self, file: &EndpointFile, nodes: &[NodeFile]) -> Option<Vec<Option<u16>>> {
        let mut weights = vec![None; nodes.len()];
        let mut complete = true;
        for (name, weight) in &file.read_weight {
            let value = self.number("read_weight", Some(weight), &settings::READ_WEIGHT);
            complete &= value.is_some();
            match nodes.iter().position(|node| node.name.get_ref() == name.get_ref()) {
                Some(index) => {
                    if let Some(slot) = weights.get_mut(index) {
                        *slot = value;
                    }
                }
                None => {
                    let names: Vec<&str> = nodes.iter().map(|node| node.name.get_ref().as_str()).collect();
                    let what = format!("read_weight names \"{}\", which is no node", name.get_ref());
                    self.problems.add(name.span(), what, format!("the nodes are {}", names.join(", ")));
                    complete = false;
                }
            }
        }
        complete.then_some(weights)
    }

    fn allow(&mut self, file: &EndpointFile) -> Option<Vec<Network>> {
        let Some(allow) = &file.allow else { return Some(Vec::new()) };
        if allow.get_ref().is_empty() {
            self.problems.add(allow.span(), "allow lists nobody", "leave it out to let everybody connect");
            return None;
        }
        let networks: Vec<Option<Network>> = allow
            .get_ref()
            .iter()
            .map(|text| match text.get_ref().parse() {
                Ok(network) => Some(network),
                Err(error) => {
                    self.add_sentence(text.span(), &format!("{error}"));
                    None
                }
            })
            .collect();
        networks.into_iter().collect()
    }

    /// Settings that are kept but change nothing yet, or nothing here.
    fn notice_without_effect(&mut self, endpoint: &EndpointConfig, file: &EndpointFile) {
        let name = &endpoint.name;
        if let Some(pool) = &file.pool
            && pool.get_ref() != "off"
        {
            let pool = pool.get_ref();
            self.notices.push(format!(
                "endpoint {name}: pool = \"{pool}\" is accepted but has no effect in this version"
            ));
        }
        if endpoint.settings.transaction_split {
            self.notices.push(format!(
                "endpoint {name}: transaction_split = true is accepted but has no effect in this version"
            ));
        }
        if endpoint.mode == Mode::ReadOnly
            && !endpoint.settings.primary_fallback
            && let Some(action) = &file.on_timeout
            && endpoint.settings.on_timeout == OnTimeout::Primary
        {
            self.notices.push(format!(
                "endpoint {name}: on_timeout = \"{}\" gives an error with mode = \"read-only\", unless \
                 primary_fallback = true",
                action.get_ref()
            ));
        }
        if endpoint.settings.primary_fallback && endpoint.mode == Mode::ReadWrite {
            self.notices.push(format!(
                "endpoint {name}: primary_fallback has no effect with mode = \"read-write\", whose reads may always \
                 use the primary"
            ));
        }
    }

    fn endpoint_tls(&mut self, file: Option<TlsFile>) -> Option<EndpointTls> {
        let Some(file) = file else { return Some(EndpointTls::default()) };
        let require = file.require.unwrap_or(false);
        let identity = match (&file.cert, &file.key) {
            (None, None) => None,
            (Some(cert), Some(key)) => {
                let cert = self.existing("cert", cert);
                let key = self.existing("key", key);
                Some(TlsIdentity { cert: cert?, key: key? })
            }
            (Some(alone), None) => {
                self.problems.add(alone.span(), "cert stands without its key", "add key, or remove cert");
                return None;
            }
            (None, Some(alone)) => {
                self.problems.add(
                    alone.span(),
                    "key stands without its certificate",
                    "add cert, or remove key",
                );
                return None;
            }
        };
        Some(EndpointTls { identity, require })
    }

    fn admin(&mut self, file: &AdminFile, endpoints: &[EndpointFile]) -> Option<AdminConfig> {
        let listen = self.address(&file.listen);
        self.unique(
            "listen",
            &file.listen,
            endpoints.iter().map(|other| (&other.name, other.listen.get_ref())),
        );
        let token = file.token_file.as_ref().map(|path| self.token(path));
        if let (Some(listen), None) = (&listen, &token)
            && !listen.is_local()
        {
            let what = format!("the admin API on {listen} could be changed by anybody who reaches it");
            self.problems.add(file.listen.span(), what, "add token_file, or listen on 127.0.0.1");
            return None;
        }
        let token = match token {
            Some(token) => Some(token?),
            None => None,
        };
        Some(AdminConfig { listen: listen?, token })
    }

    fn token(&mut self, path: &Spanned<String>) -> Option<Secret> {
        let token = self.secret_file("token_file", path)?;
        if token.expose().is_empty() {
            self.problems.add(path.span(), "token_file is empty", "put a long random text on its first line");
            return None;
        }
        Some(token)
    }

    fn name<'b>(
        &mut self,
        what: &str,
        name: &Spanned<String>,
        mut earlier: impl Iterator<Item = &'b String>,
    ) -> Option<String> {
        let text = name.get_ref();
        let valid = (1..=NAME_MAX).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !valid {
            let instead = format!("use 1 to {NAME_MAX} letters, digits, _ and -");
            self.problems.add(name.span(), format!("\"{text}\" is not a name for a {what}"), instead);
            return None;
        }
        if earlier.any(|other| other == text) {
            self.problems.add(name.span(), format!("there are two {what}s called \"{text}\""), "rename one");
            return None;
        }
        Some(text.clone())
    }

    fn address(&mut self, text: &Spanned<String>) -> Option<Address> {
        match text.get_ref().parse() {
            Ok(address) => Some(address),
            Err(error) => {
                self.add_sentence(text.span(), &format!("{error}"));
                None
            }
        }
    }

    /// Refuses an address that an earlier entry has. Port 0 means any free port, so two of them differ.
    fn unique<'b>(
        &mut self,
        key: &str,
        text: &Spanned<String>,
        mut earlier: impl Iterator<Item = (&'b Spanned<String>, &'b String)>,
    ) {
        let Ok(address) = text.get_ref().to_ascii_lowercase().parse::<Address>() else { return };
        if let Address::Tcp { port: 0, .. } = address {
            return;
        }
        let same = |other: &str| other.to_ascii_lowercase().parse() == Ok(address.clone());
        if let Some((name, _)) = earlier.find(|(_, other)| same(other)) {
            let what = format!("{key} \"{}\" is that of \"{}\" already", text.get_ref(), name.get_ref());
            self.problems.add(text.span(), what, "give each its own");
        }
    }

    /// A path that must exist by now, so that a slip is told with its line and not at the first connection.
    fn existing(&mut self, key: &str, path: &Spanned<String>) -> Option<PathBuf> {
        let full = self.folder.join(path.get_ref());
        match std::fs::File::open(&full) {
            Ok(_) => Some(full),
            Err(error) => {
                self.problems.add(path.span(), format!("{key} {}: {error}", full.display()), "");
                None
            }
        }
    }

    fn word<T>(&mut self, word: Option<&Spanned<String>>) -> Option<T>
    where
        T: Default + std::str::FromStr<Err = UnknownWord>,
    {
        let Some(word) = word else { return Some(T::default()) };
        match word.get_ref().parse() {
            Ok(value) => Some(value),
            Err(error) => {
                let what = format!("unknown {} \"{}\"", error.what, error.word);
                self.problems.add(word.span(), what, error.instead());
                None
            }
        }
    }

    fn number<T>(&mut self, key: &str, number: Option<&Spanned<i64>>, range: &RangeInclusive<T>) -> Option<T>
    where
        T: TryFrom<i64> + PartialOrd + std::fmt::Display,
    {
        let number = number?;
        match settings::in_range(key, *number.get_ref(), range) {
            Ok(value) => Some(value),
            Err(error) => {
                self.problems.add(number.span(), format!("{}: {}", error.key, error.what), error.instead);
                None
            }
        }
    }

    fn number_or<T>(
        &mut self,
        key: &str,
        number: Option<&Spanned<i64>>,
        range: &RangeInclusive<T>,
        default: T,
    ) -> Option<T>
    where
        T: TryFrom<i64> + PartialOrd + std::fmt::Display,
    {
        if number.is_none() { Some(default) } else { self.number(key, number, range) }
    }

    /// Notes an error whose text already holds its remedy behind a semicolon.
    fn add_sentence(&mut self, place: std::ops::Range<usize>, sentence: &str) {
        let (what, instead) = sentence.rsplit_once("; ").unwrap_or((sentence, ""));
        self.problems.add(place, what, instead);
    }
}
