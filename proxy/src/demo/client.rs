//! One client of the load: a connection to an endpoint, or to the primary itself.
//!
//! It speaks with the code the proxy uses towards the servers. A driver of somebody else's would prove more about the
//! protocol, which is what the driver tests are for; here it would only make the program larger.

use std::time::Duration;

use wire::capability::Capabilities;

use crate::backend::control::{ask, rows};
use crate::backend::login::{LoginRequest, login};
use crate::backend::{BackendError, Secret};
use crate::config::{Address, TlsMode};
use crate::transport::Channel;
use crate::transport::tls::ServerTls;

/// utf8mb4_general_ci, which both families know by this number.
const COLLATION: u16 = 45;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection that is logged in as the application's account.
pub(super) struct Client {
    channel: Channel,
}

impl Client {
    pub(super) async fn connect(address: &Address) -> Result<Self, BackendError> {
        let tls =
            ServerTls::new(TlsMode::Disabled, None).map_err(|error| BackendError::Tls(error.to_string()))?;
        let secret = Secret::from_password(sandbox::APP_PASSWORD.as_bytes());
        let request = LoginRequest {
            user: sandbox::APP_USER.as_bytes(),
            secret: &secret,
            schema: Some(b"app"),
            collation: COLLATION,
            capabilities: Capabilities(0),
            extended: 0,
            attributes: None,
            compression: None,
        };
        let logged_in = login(address, &tls, request).await?;
        Ok(Self { channel: logged_in.channel })
    }

    /// Writes `version` into the row.
    pub(super) async fn write(&mut self, row: u32, version: u64) -> Result<(), BackendError> {
        let sql = format!("UPDATE tide SET version = {version} WHERE id = {row}");
        ask(&mut self.channel, &sql, PATIENCE).await.map(drop)
    }

    /// Reads the row's version; `None` when the row is not there.
    pub(super) async fn read(&mut self, row: u32) -> Result<Option<u64>, BackendError> {
        let sql = format!("SELECT version FROM tide WHERE id = {row}");
        let rows = rows(ask(&mut self.channel, &sql, PATIENCE).await?);
        let value = rows.into_iter().next().and_then(|row| row.into_iter().next().flatten());
        Ok(value.and_then(|value| String::from_utf8(value).ok()?.parse().ok()))
    }
}
