//! What concerns all servers, and each of them: `[cluster]` and `[[node]]`.

use std::ops::RangeInclusive;

use toml::Spanned;

use super::Resolver;
use crate::config::address::Address;
use crate::config::choice::{Compression, TlsMode};
use crate::config::file::{ClusterFile, NodeFile};
use crate::config::model::{ClusterConfig, NodeConfig};
use crate::config::secret::Secret;

/// Allowed values of `workers`.
const WORKERS: RangeInclusive<usize> = 1..=1024;
/// The most nodes: sets of nodes are 64 bits wide where a statement is routed.
const NODES_MAX: usize = 64;

impl Resolver<'_, '_> {
    pub(super) fn cluster(&mut self, file: ClusterFile) -> Option<ClusterConfig> {
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
        let compression: Compression = self.word(file.compression.as_ref())?;
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
            compression,
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

    pub(super) fn nodes(&mut self, files: &[NodeFile]) -> Option<Vec<NodeConfig>> {
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
}
