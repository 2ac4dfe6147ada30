//! A proxy that splits transactions before a cluster, a schema in it, and clients that ask where their statements ran.

use sandbox::{Cluster, Engine, Family};
use wire::{Capabilities, Status};

use crate::harness::client::Client;
use crate::harness::clusters::{caught_up, schema, shared};
use crate::harness::login::Account;
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::stream::Target;
use crate::harness::wait::until;

pub(super) const READ_COMMITTED: &str = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";

pub(super) struct Stage<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) proxy: Proxy,
    pub(super) schema: String,
}

impl Stage<'static> {
    /// With a cluster that nobody stops.
    pub(super) fn new(engine: Engine) -> Self {
        Self::on(shared(engine))
    }
}

impl<'a> Stage<'a> {
    /// With endpoints for each level that split, one that reads on the primary, too, and one that does not split; and a
    /// table `t` of one row.
    pub(super) fn on(cluster: &'a Cluster) -> Self {
        // A busy machine changes no route: reads wait for a replica, however long that takes.
        let patient = |level: &str, more: &str| {
            format!("consistency = \"{level}\"\nconsistency_timeout_us = 0\nmax_lag_ms = 0\n{more}")
        };
        let split = "transaction_split = true\n";
        let proxy = Setup::of(cluster)
            .endpoint("session", &patient("session", split))
            .endpoint("global", &patient("global", split))
            .endpoint("eventual", &patient("eventual", split))
            .endpoint(
                "primary",
                &patient("session", &format!("{split}read_weight = {{ db1 = 1, db2 = 0, db3 = 0 }}")),
            )
            .endpoint("whole", &patient("session", ""))
            .start();
        let schema = schema(cluster);
        let table = format!(
            "CREATE TABLE {schema}.t (id INT PRIMARY KEY, v INT); INSERT INTO {schema}.t VALUES (1, 1)"
        );
        cluster.current_primary().sql(&table).unwrap();
        caught_up(cluster);
        Self { cluster, proxy, schema }
    }

    pub(super) fn account(&self) -> Account {
        Account::app().schema(&self.schema).with(Capabilities::MULTI_STATEMENTS)
    }

    /// A client of an endpoint.
    pub(super) fn at(&self, endpoint: &str) -> Client {
        self.account().connect(&self.proxy.target(endpoint)).unwrap()
    }

    /// A client of an endpoint whose statements have a snapshot each.
    pub(super) fn committed_at(&self, endpoint: &str) -> Client {
        let mut client = self.at(endpoint);
        client.run(READ_COMMITTED);
        client
    }

    /// A client of the primary itself.
    pub(super) fn direct(&self) -> Client {
        self.account().connect(&Target::Tcp(self.cluster.current_primary().address())).unwrap()
    }

    /// Runs a statement on the primary; procedures' bodies hold semicolons.
    pub(super) fn on_primary(&self, text: &str) {
        self.direct().run(text);
        caught_up(self.cluster);
    }

    /// Waits until so many transactions of this stage's clients are open on the servers. Those look at them every 100 ms
    /// only, and show what they saw.
    #[track_caller]
    pub(super) fn until_open(&self, count: u32) {
        until("the number of open transactions", || self.open() == count);
    }

    fn open(&self) -> u32 {
        let question = format!(
            "SELECT COUNT(*) FROM information_schema.innodb_trx JOIN information_schema.processlist \
             ON trx_mysql_thread_id = id WHERE db = '{}'",
            self.schema
        );
        self.cluster
            .servers()
            .iter()
            .map(|server| server.value(&question).unwrap().parse::<u32>().unwrap())
            .sum()
    }
}

/// The name of the isolation level's variable.
pub(super) fn isolation(engine: Engine) -> &'static str {
    if engine.family() == Family::Mysql { "transaction_isolation" } else { "tx_isolation" }
}

/// Runs each statement and compares the role of the node it ran on; then shows all that went elsewhere. In all of them
/// the client is in a transaction.
#[track_caller]
pub(super) fn expect(client: &mut Client, cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (role, text) in cases {
        let reply = client.query(text);
        let in_transaction = client.status.contains(Status::IN_TRANS);
        let route = client.route();
        if route.role != *role || reply.error().is_some() || !in_transaction {
            wrong += &format!("{text}\n    {route:?} {:?} {:?}, not {role}\n", reply.error(), client.status);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Whether a transaction that begins with this is split. It is over then.
pub(super) fn splits(client: &mut Client, begin: &str) -> bool {
    client.run(begin);
    assert!(client.status.contains(Status::IN_TRANS), "{begin}: {:?}", client.status);
    client.run("SELECT v FROM t");
    assert!(client.status.contains(Status::IN_TRANS), "{begin}: {:?}", client.status);
    let route = client.route();
    client.run("ROLLBACK AND NO CHAIN NO RELEASE");
    match (route.role.as_str(), route.reason.as_str()) {
        ("replica", "split") => true,
        ("primary", _) => false,
        _ => panic!("{begin}: {route:?}"),
    }
}
