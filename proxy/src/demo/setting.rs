//! Where the demonstration listens, and the configuration it serves with.

use std::fmt::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use sandbox::Cluster;

use super::error::DemoError;
use crate::config::{Address, Config, Level};

/// How long a read waits for a fresh replica, in microseconds: about as long as a replica needs to apply a write here, so
/// that waits that succeed and waits that end at the primary are both seen.
pub(super) const TIMEOUT_US: u32 = 2_000;

/// How far the admin API's port is from the first endpoint's: 6480 beside 6446.
const ADMIN_OFFSET: u16 = 34;

/// What a first port may be raised by when it is taken.
const OTHER_PORTS: u16 = 1_000;

/// The ports of the demonstration.
pub(super) struct Setting {
    first: u16,
}

impl Setting {
    /// The first endpoint listens on `first`, the others behind it. At most [`crate::cli::DEMO_PORT_MAX`].
    pub(super) fn new(first: u16) -> Self {
        Self { first }
    }

    /// The endpoints: their levels, which are their names, and ports.
    pub(super) fn endpoints(&self) -> [(Level, u16); 3] {
        [(Level::Eventual, self.first), (Level::Session, self.first + 1), (Level::Global, self.first + 2)]
    }

    /// The address of an endpoint's port.
    pub(super) fn address(port: u16) -> Address {
        Address::Tcp { host: Ipv4Addr::LOCALHOST.to_string(), port }
    }

    /// The port of the admin API.
    pub(super) fn admin_port(&self) -> u16 {
        self.first + ADMIN_OFFSET
    }

    /// Finds out before anything is started whether every port can be had.
    pub(super) fn check_ports(&self) -> Result<(), DemoError> {
        let ports = self.endpoints().map(|(_, port)| port);
        for port in ports.into_iter().chain([self.admin_port()]) {
            if let Err(source) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
                let advice = match self.first.checked_add(OTHER_PORTS) {
                    Some(port) if port <= crate::cli::DEMO_PORT_MAX => port,
                    _ => crate::cli::DEMO_PORT,
                };
                return Err(DemoError::PortTaken { port, source, advice });
            }
        }
        Ok(())
    }

    /// The configuration for this cluster, as a person would write it.
    pub(super) fn config(&self, cluster: &Cluster) -> Result<Config, DemoError> {
        Ok(Config::parse(&self.text(cluster), Path::new("demo.toml"))?)
    }

    fn text(&self, cluster: &Cluster) -> String {
        let mut text = format!(
            "[cluster]\nmonitor_user = \"{}\"\nmonitor_password = \"{}\"\n\
             # Everything is on this machine.\ntls = \"disabled\"\nconsistency_timeout_us = {TIMEOUT_US}\n",
            sandbox::MONITOR_USER,
            sandbox::MONITOR_PASSWORD,
        );
        for server in cluster.servers() {
            let (name, address) = (server.name(), server.address());
            // Writing to a String does not fail.
            let _ = write!(text, "\n[[node]]\nname = \"{name}\"\naddress = \"{address}\"\n");
        }
        for (level, port) in self.endpoints() {
            let (level, address) = (level.as_str(), Self::address(port));
            let _ = write!(
                text,
                "\n[[endpoint]]\nname = \"{level}\"\nlisten = \"{address}\"\nconsistency = \"{level}\"\n"
            );
        }
        let _ = write!(text, "\n[admin]\nlisten = \"{}\"\n", Self::address(self.admin_port()));
        text
    }
}
