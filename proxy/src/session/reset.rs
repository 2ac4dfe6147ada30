//! COM_RESET_CONNECTION and COM_CHANGE_USER: the session begins anew, but its position in the log survives both.

use std::time::Duration;

use gtid::Flavor;
use wire::ChangeUser;
use wire::command::CommandCode;
use wire::rows::QueryOutcome;
use wire::status::Status;

use super::changes::is_system_schema;
use super::decide::Overrides;
use super::insert_id::InsertId;
use super::pins::Pins;
use super::split::Split;
use super::temporary::Temporary;
use super::{End, Session};
use crate::backend::control;
use crate::backend::state::{Shared, State};
use crate::error::ClientError;
use crate::frontend::{FrontendError, change_user};
use crate::relay::Command;

/// How many refused COM_CHANGE_USER a session of MariaDB survives.
const REFUSED_CHANGES: u8 = 3;

/// How long a node may take to reset a connection: it may have a large transaction to roll back.
const RESET_TIMEOUT: Duration = Duration::from_secs(60);

impl Session {
    /// COM_RESET_CONNECTION.
    pub(super) async fn reset_connection(&mut self, command: &mut Command) -> Result<(), End> {
        self.reset_connections().await;
        self.take_default_character_set();
        self.answer_ok(command).await
    }

    /// Resets every connection of the session. One that cannot be is replaced when it is needed next.
    async fn reset_connections(&mut self) {
        self.have_all_back();
        let connections = self.backends.take_all();
        self.status = if self.default_autocommit { Status::AUTOCOMMIT } else { Status::default() };
        for mut connection in connections {
            match control::command(&mut connection.channel, CommandCode::ResetConnection, b"", RESET_TIMEOUT)
                .await
            {
                Ok(outcomes) => {
                    if let Some(QueryOutcome::Ok(ok)) = outcomes.last() {
                        self.status = ok.status;
                    }
                    connection.was_reset();
                    self.backends.put(Box::new(connection));
                }
                Err(error) => {
                    tracing::warn!(session = self.id, %error, "a connection could not be reset and is closed");
                }
            }
        }
        self.begin_anew(self.state.schema.clone());
    }

    /// MySQL gives a reset session the server's own character set, not the one the client logged in with (MariaDB keeps
    /// the latter); connections made from now on must have it too.
    fn take_default_character_set(&mut self) {
        if self.flavor == Flavor::Mysql {
            let snapshot = self.instance.cluster.snapshot();
            if let Some(facts) = snapshot.nodes.iter().find_map(|node| node.facts.as_ref()) {
                self.account.collation = facts.collation;
                self.dialect.charset = sql::Charset::from_collation_id(facts.collation);
            }
        }
    }

    /// Lets the client prove itself as another account. The old connections are closed when it succeeds.
    pub(super) async fn change_user(&mut self, command: &mut Command) -> Result<(), End> {
        if !command.whole {
            // What follows would be taken for the client's answers.
            return Err(End::Told(ClientError::malformed("a COM_CHANGE_USER of more than 1 MiB")));
        }
        let payload = command.payload(&self.client).to_vec();
        command.consume(&mut self.client);
        let request = match ChangeUser::parse(&payload, self.capabilities) {
            Ok(request) => request,
            Err(error) => return Err(End::Told(ClientError::malformed(error))),
        };
        let (changed, sequence) = change_user(
            &mut self.client,
            &request,
            self.account.nonce,
            (self.capabilities, self.extended),
            self.peer,
            &self.endpoint,
            &self.instance,
        )
        .await;
        let (account, connection) = match changed {
            Ok(changed) => changed,
            // MariaDB lets a session go on as who it was, but without its state, three times; MySQL closes it.
            Err(FrontendError::Refused(error))
                if self.flavor == Flavor::Mariadb && self.refused_changes < REFUSED_CHANGES =>
            {
                self.refused_changes += 1;
                self.reset_connections().await;
                return self.write_error(&error, sequence).await;
            }
            Err(FrontendError::Refused(error)) => {
                self.write_error(&error, sequence).await?;
                return Err(End::Told(error).told());
            }
            Err(_) => return Err(End::ClientGone),
        };
        self.have_all_back();
        for old in self.backends.take_all() {
            old.quit().await;
        }
        self.home = Some(connection.node);
        self.status = connection.status;
        self.backends.put(Box::new(connection));
        self.begin_anew(account.schema.clone());
        self.card.belongs_to(&account.user);
        // Statements are read in the new login's character set.
        self.default_dialect.charset = sql::Charset::from_collation_id(account.collation);
        self.dialect.charset = self.default_dialect.charset;
        self.account = account;
        self.write_ok(sequence).await
    }

    /// Everything that a new session has not got is gone, the levels it had chosen included: a pool hands the connection to
    /// somebody else. What was written and seen stays.
    fn begin_anew(&mut self, schema: Option<Box<[u8]>>) {
        self.in_system_schema = schema.as_deref().is_some_and(is_system_schema);
        self.state = Shared::new(State { schema, ..State::default() });
        self.pins = Pins::default();
        self.temporary = Temporary::default();
        self.tied_by.clear();
        self.unasked = None;
        self.prepared.clear();
        self.transaction = None;
        self.split = Split::default();
        self.next_transaction_on = None;
        self.insert_id = InsertId::default();
        self.autocommit = self.default_autocommit;
        self.previous = None;
        self.wanted = self.default_wanted.clone();
        self.dialect = self.default_dialect;
        self.overrides = Overrides::default();
    }
}
