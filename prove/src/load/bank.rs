//! The clients of the bank: they move money between accounts, and look whether it is all there.

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use tokio::time::sleep;

use super::connect::{Door, Line, patiently};
use super::{Log, REST, Shared};
use crate::chance::Chance;
use crate::history::Read;

/// Accounts, and what is in each at first.
const ACCOUNTS: u64 = 8;
const EACH: u64 = 1_000_000;

/// What is in all of them together.
pub(crate) const TOTAL: u64 = ACCOUNTS * EACH;

/// Of a hundred operations, so many are transfers.
const TRANSFERS: u64 = 35;

/// Money moved at a time, at most.
const MOST: u64 = 100;

/// The table with its rows, as statements for the primary.
pub(super) fn prepare() -> String {
    let rows: Vec<String> = (0..ACCOUNTS).map(|account| format!("({account}, {EACH})")).collect();
    format!(
        "DROP TABLE IF EXISTS app.accounts;\n\
         CREATE TABLE app.accounts (id INT PRIMARY KEY, balance INT UNSIGNED NOT NULL);\n\
         INSERT INTO app.accounts VALUES {};\n",
        rows.join(", ")
    )
}

/// One client.
#[derive(Debug)]
pub(crate) struct Banker {
    line: Line,
    chance: Chance,
}

impl Banker {
    pub(crate) fn new(door: Door, chance: Chance) -> Self {
        Self { line: Line::new(door), chance }
    }

    pub(super) fn session(&self) -> Option<u32> {
        self.line.session()
    }

    pub(super) async fn work(&mut self, shared: &Shared, log: &mut Log) {
        if self.chance.percent(TRANSFERS) {
            self.transfer(shared, log).await;
        } else {
            self.look(shared, log).await;
        }
        sleep(self.chance.up_to(shared.rest * 4)).await;
    }

    async fn transfer(&mut self, shared: &Shared, log: &mut Log) {
        let Some(held) = self.line.held(shared).await else { return };
        // Always in this order: so there are no deadlocks.
        let low = self.chance.below(ACCOUNTS - 1);
        let high = low + 1 + self.chance.below(ACCOUNTS - 1 - low);
        let amount = 1 + self.chance.below(MOST);
        let (take, give) = if self.chance.percent(50) { ("-", "+") } else { ("+", "-") };
        let statements = [
            "BEGIN".to_owned(),
            format!("UPDATE accounts SET balance = balance {take} {amount} WHERE id = {low}"),
            format!("UPDATE accounts SET balance = balance {give} {amount} WHERE id = {high}"),
            "COMMIT".to_owned(),
        ];
        log.transfers.push(held.who.level);
        for statement in &statements {
            if let Err(failure) = patiently(held.connection.query_drop(statement)).await {
                log.failed(held.who.level, || format!("{}, {statement}: {}", held.who, failure.text()));
                // With it the transaction, if it is open.
                self.line.end();
                return sleep(REST).await;
            }
        }
    }

    async fn look(&mut self, shared: &Shared, log: &mut Log) {
        let alone = self.chance.percent(50);
        let Some(held) = self.line.held(shared).await else { return };
        let who = held.who;
        let begin = shared.now();
        let outcome = if alone {
            patiently(sum(&mut held.connection)).await.map(|(node, sum)| (node, Box::from([sum]), None))
        } else {
            patiently(account_by_account(&mut held.connection)).await
        };
        match outcome {
            Ok((node, values, again)) => {
                let end = shared.now();
                log.looks.push(Read { who, begin, end, node, values, again });
            }
            Err(failure) => {
                log.failed(who.level, || format!("{who}, a look at the accounts: {}", failure.text()));
                self.line.end();
                sleep(REST).await;
            }
        }
    }
}

async fn sum(connection: &mut Conn) -> Result<(u32, u32), mysql_async::Error> {
    let text = "SELECT @@server_id, CAST(SUM(balance) AS UNSIGNED) FROM accounts";
    connection.query_first(text).await?.ok_or_else(nothing)
}

type Looked = (u32, Box<[u32]>, Option<Box<[u32]>>);

/// One statement for each account, in one snapshot; then all of them in one statement, in the same.
async fn account_by_account(connection: &mut Conn) -> Result<Looked, mysql_async::Error> {
    connection.query_drop("START TRANSACTION READ ONLY").await?;
    let mut values = Vec::new();
    let mut node = 0;
    for account in 0..ACCOUNTS {
        let text = format!("SELECT @@server_id, balance FROM accounts WHERE id = {account}");
        let (server, balance): (u32, u32) = connection.query_first(text).await?.ok_or_else(nothing)?;
        node = server;
        values.push(balance);
    }
    let again: Vec<u32> = connection.query("SELECT balance FROM accounts ORDER BY id").await?;
    connection.query_drop("COMMIT").await?;
    Ok((node, values.into(), Some(again.into())))
}

fn nothing() -> mysql_async::Error {
    mysql_async::Error::Other("no row came".into())
}
