//! From the file as written to the configuration as used: every rule that a type alone does not carry.
//!
//! It goes on after a mistake, so that one run tells them all.

mod cluster;
mod endpoint;
mod value;

use std::path::Path;

use toml::Spanned;

use super::error::{ConfigError, Problems};
use super::file::{AdminFile, ConfigFile, EndpointFile, TlsFile};
use super::model::{AdminConfig, Config, EndpointTls, TlsIdentity};
use super::secret::Secret;
use super::settings::{self, Settings};

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
            origin: self.problems.file().to_owned(),
            notices: std::mem::take(&mut self.notices),
        })
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
}
