//! What the proxy answers itself: TIDEMARK statements, CONNECTION_ID(), KILL, PING.

use gtid::{Flavor, Position};
use sql::{KillKind, Shown, SslStatus, TidemarkCommand};
use wire::rows::{Column, ColumnType, write_text_result};

use super::decide::NoNode;
use super::kill::kill;
use super::{End, Session};
use crate::cluster::snapshot::Health;
use crate::config::{Level, OnTimeout};
use crate::error::ClientError;
use crate::relay::Command;

type Row = Vec<Option<Vec<u8>>>;

/// ER_PARSE_ERROR.
const PARSE_ERROR: u16 = 1064;

impl Session {
    /// A TIDEMARK statement.
    pub(super) async fn answer_own(&mut self, command: &mut Command, text: &[u8]) -> Result<(), End> {
        let parsed = sql::tidemark_command(text, self.dialect);
        let outcome = match parsed {
            Ok(TidemarkCommand::SetConsistency(level)) => self.set_consistency(level),
            Ok(TidemarkCommand::SetConsistencyTimeoutUs(timeout)) => self.set_timeout(timeout),
            Ok(TidemarkCommand::SetOnTimeout(what)) => self.set_on_timeout(what),
            Ok(TidemarkCommand::SetPosition(token)) => self.set_position(token),
            Ok(TidemarkCommand::Show(what)) => return self.show(command, what).await,
            Err(what) => Err(ClientError::new(PARSE_ERROR, b"42000", format!("Tidemark: {what}"))),
        };
        match outcome {
            Ok(()) => self.answer_ok(command).await,
            Err(error) => self.refuse(command, &error).await,
        }
    }

    fn set_consistency(&mut self, level: Option<sql::Level>) -> Result<(), ClientError> {
        let level = level.map(Level::from);
        if let Some(level) = level {
            self.instance.cluster.snapshot().can_serve(level).map_err(ClientError::own)?;
        }
        self.overrides.consistency = level;
        Ok(())
    }

    fn set_timeout(&mut self, timeout: Option<u32>) -> Result<(), ClientError> {
        self.overrides.timeout_us = timeout;
        Ok(())
    }

    fn set_on_timeout(&mut self, what: Option<sql::OnTimeout>) -> Result<(), ClientError> {
        self.overrides.on_timeout = what.map(OnTimeout::from);
        Ok(())
    }

    /// From now on this session reads nothing older than the token.
    fn set_position(&mut self, token: &[u8]) -> Result<(), ClientError> {
        let position = Position::from_token(token)
            .map_err(|error| ClientError::own(format!("this is no position token: {error}")))?;
        if !position.is_empty() && position.flavor() != self.flavor {
            return Err(ClientError::own("the position is one of the other family of servers"));
        }
        let proven = {
            let snapshot = self.instance.cluster.snapshot();
            let high = snapshot.primary().and_then(|primary| primary.high.as_ref());
            high.is_some_and(|high| high.position.surely_has(&position))
        };
        self.needs.raise(&position, proven);
        Ok(())
    }

    async fn show(&mut self, command: &mut Command, what: Shown) -> Result<(), End> {
        match what {
            Shown::Nodes => {
                let columns = ["node", "address", "role", "health", "lag_ms", "position", "drained"];
                self.answer_rows(command, &columns, &self.rows_of_nodes()).await
            }
            Shown::Endpoints => {
                let columns = [
                    "endpoint",
                    "listen",
                    "mode",
                    "consistency",
                    "consistency_timeout_us",
                    "on_timeout",
                    "clients",
                ];
                self.answer_rows(command, &columns, &self.rows_of_endpoints()).await
            }
            Shown::Sessions => {
                let columns = ["id", "user", "host", "endpoint", "seconds", "running_on"];
                self.answer_rows(command, &columns, &self.rows_of_sessions()).await
            }
            Shown::Route => {
                let rows: Vec<Row> = self
                    .last
                    .iter()
                    .map(|last| {
                        let waited = last.waited.as_micros().to_string();
                        row([
                            self.node_name(last.node),
                            last.role.as_str().into(),
                            last.reason.as_str().into(),
                            waited,
                        ])
                    })
                    .collect();
                self.answer_rows(command, &["node", "role", "reason", "waited_us"], &rows).await
            }
            Shown::Position => match self.position_token().await {
                Ok(token) => self.answer_rows(command, &["position"], &[row([token])]).await,
                Err(NoNode::Refused(error)) => self.refuse(command, &error).await,
                Err(NoNode::Ended(end)) => Err(end),
            },
            Shown::Status => {
                let rows = self.rows_of_status();
                self.answer_rows(command, &["name", "value"], &rows).await
            }
        }
    }

    /// What this session has written and seen. What it saw last has no position of its own: the primary's bounds it.
    async fn position_token(&mut self) -> Result<String, NoNode> {
        if let Some(reign) = self.instance.cluster.snapshot().reign() {
            self.needs.under(reign);
        }
        if self.needs.unknown || self.needs.seen != crate::route::Seen::Covered {
            self.learn(Level::Session).await?;
        }
        self.needs.position().to_token().map_err(|error| NoNode::Refused(ClientError::own(error.to_string())))
    }

    fn rows_of_nodes(&self) -> Vec<Row> {
        let snapshot = self.instance.cluster.snapshot();
        let describe = |node: &crate::cluster::snapshot::Node| {
            let health = match &node.health {
                Health::Up => "up".to_owned(),
                Health::Down(why) => format!("down: {why}"),
            };
            let lag = node.lag.map(|lag| lag.as_millis().to_string());
            let mut cells =
                row([node.name.to_string(), node.address.to_string(), node.role.as_str().to_owned(), health]);
            cells.push(lag.map(String::into_bytes));
            cells.extend(row([node.low.to_string(), yes_no(node.drained)]));
            cells
        };
        snapshot.nodes.iter().map(describe).collect()
    }

    fn rows_of_endpoints(&self) -> Vec<Row> {
        let describe = |endpoint: &std::sync::Arc<crate::endpoint::Endpoint>| {
            let settings = endpoint.settings.load();
            row([
                endpoint.name.clone(),
                endpoint.listen.to_string(),
                endpoint.mode.as_str().to_owned(),
                settings.consistency.as_str().to_owned(),
                settings.consistency_timeout_us.to_string(),
                settings.on_timeout.as_str().to_owned(),
                endpoint.counters.clients().to_string(),
            ])
        };
        self.instance.endpoints.iter().map(describe).collect()
    }

    /// The sessions of the same account: what others do is not this one's business.
    fn rows_of_sessions(&self) -> Vec<Row> {
        let cards = self.instance.registry.all();
        let own = cards.iter().filter(|card| card.user() == self.account.user);
        own.map(|card| {
            let running = card.running().map(|(node, _)| self.node_name(node).into_bytes());
            let mut cells = row([
                card.id.to_string(),
                String::from_utf8_lossy(&card.user()).into_owned(),
                card.peer.to_string(),
                card.endpoint.clone(),
                card.since.elapsed().as_secs().to_string(),
            ]);
            cells.push(running);
            cells
        })
        .collect()
    }

    fn rows_of_status(&self) -> Vec<Row> {
        let settings = self.endpoint.settings.load();
        let level = self.overrides.consistency.unwrap_or(settings.consistency);
        let timeout = self.overrides.timeout_us.unwrap_or(settings.consistency_timeout_us);
        let on_timeout = self.overrides.on_timeout.unwrap_or(settings.on_timeout);
        let pinned = self.pins.reason().map_or("no", crate::route::Reason::as_str);
        vec![
            row(["version", env!("CARGO_PKG_VERSION")]),
            row(["connection_id", &self.id.to_string()]),
            row(["endpoint", &self.endpoint.name]),
            row(["mode", self.endpoint.mode.as_str()]),
            row(["consistency", level.as_str()]),
            row(["consistency_timeout_us", &timeout.to_string()]),
            row(["on_timeout", on_timeout.as_str()]),
            row(["in_transaction", &yes_no(self.in_transaction())]),
            row(["pinned", pinned]),
            row(["tls", &yes_no(self.client.is_tls())]),
        ]
    }

    /// SELECT CONNECTION_ID(): the id of the greeting, whatever the nodes call the session.
    pub(super) async fn answer_connection_id(
        &mut self,
        command: &mut Command,
        text: &[u8],
    ) -> Result<(), End> {
        let name = self.connection_id_column(text);
        let kind = match self.flavor {
            Flavor::Mysql => ColumnType::UnsignedBigInt,
            Flavor::Mariadb => ColumnType::UnsignedInt,
        };
        let id = self.id.to_string();
        self.answer_columns(command, &[(&name, kind)], &[row([id])]).await
    }

    fn connection_id_column(&self, text: &[u8]) -> String {
        let name = sql::connection_id_column(text, self.dialect).unwrap_or_default();
        String::from_utf8_lossy(&name).into_owned()
    }

    /// What is prepared in place of SELECT CONNECTION_ID(): the servers would tell their own ids.
    pub(super) fn connection_id_statement(&self, text: &[u8]) -> Vec<u8> {
        let name = self.connection_id_column(text).replace('`', "``");
        // As wide as servers say that an id is.
        format!("SELECT CAST({:010} AS UNSIGNED) AS `{name}`", self.id).into_bytes()
    }

    /// SHOW STATUS LIKE 'Ssl_version' and the like: of the client's own connection.
    pub(super) async fn answer_ssl_status(
        &mut self,
        command: &mut Command,
        status: SslStatus,
    ) -> Result<(), End> {
        let (version, cipher) = self.client.tls_session().unwrap_or_default();
        let value = match status {
            SslStatus::Version => version.to_owned(),
            SslStatus::Cipher => cipher,
        };
        let cells = row([status.name().to_owned(), value]);
        self.answer_rows(command, &["Variable_name", "Value"], &[cells]).await
    }

    /// KILL of a session of this proxy.
    pub(super) async fn answer_kill(
        &mut self,
        command: &mut Command,
        kind: KillKind,
        id: u64,
    ) -> Result<(), End> {
        if id == u64::from(self.id) {
            let error = ClientError::killed(self.flavor, kind);
            return match kind {
                KillKind::Query => self.refuse(command, &error).await,
                KillKind::Connection => Err(End::Told(error)),
            };
        }
        match kill(&self.instance, &self.account, kind, id).await {
            Ok(()) => self.answer_ok(command).await,
            Err(error) => self.refuse(command, &error).await,
        }
    }

    async fn answer_rows(
        &mut self,
        command: &mut Command,
        columns: &[&str],
        rows: &[Row],
    ) -> Result<(), End> {
        let columns: Vec<Column<'_>> = columns.iter().map(|name| (*name, ColumnType::Text)).collect();
        self.answer_columns(command, &columns, rows).await
    }

    async fn answer_columns(
        &mut self,
        command: &mut Command,
        columns: &[Column<'_>],
        rows: &[Row],
    ) -> Result<(), End> {
        let mut out = Vec::new();
        let written = write_text_result(
            &mut out,
            &mut 1,
            columns,
            rows,
            self.status,
            (self.capabilities, self.extended),
        );
        written.map_err(|error| End::Told(ClientError::own(error.to_string())))?;
        command.consume(&mut self.client);
        self.client.write(&out).await.map_err(|_| End::ClientGone)
    }
}

fn row<const N: usize>(cells: [impl Into<String>; N]) -> Row {
    cells.into_iter().map(|cell| Some(cell.into().into_bytes())).collect()
}

fn yes_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}
