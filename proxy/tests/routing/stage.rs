//! A proxy before the shared cluster, a schema in it, and clients that ask where their statements ran.

use sandbox::{Cluster, Engine};
use wire::Capabilities;

use crate::harness::client::Client;
use crate::harness::clusters::{caught_up, schema, shared};
use crate::harness::login::Account;
use crate::harness::proxy::{Proxy, Setup};

/// Sees its own writes, and waits for a replica rather than to go to the primary: a busy machine changes no route.
pub(super) const SESSION: &str = "consistency = \"session\"\nconsistency_timeout_us = 1000000";

pub(super) struct Stage {
    pub(super) cluster: &'static Cluster,
    pub(super) proxy: Proxy,
    pub(super) schema: String,
}

impl Stage {
    /// With an endpoint `rw`, and a table `t` of one row.
    pub(super) fn new(engine: Engine) -> Self {
        let cluster = shared(engine);
        let proxy = Setup::of(cluster).endpoint("rw", SESSION).start();
        let schema = schema(cluster);
        let table = format!(
            "CREATE TABLE {schema}.t (id INT PRIMARY KEY, v INT); INSERT INTO {schema}.t VALUES (1, 1)"
        );
        cluster.primary().sql(&table).unwrap();
        caught_up(cluster);
        Self { cluster, proxy, schema }
    }

    /// A client in the schema.
    pub(super) fn client(&self) -> Client {
        self.account().connect(&self.proxy.target("rw")).unwrap()
    }

    pub(super) fn account(&self) -> Account {
        Account::app().schema(&self.schema).with(Capabilities::MULTI_STATEMENTS)
    }

    /// A client of the primary itself, in another schema.
    pub(super) fn at_primary(&self) -> Client {
        let target = crate::harness::stream::Target::Tcp(self.cluster.primary().address());
        Account::app().schema("app").connect(&target).unwrap()
    }

    /// Ends all that the proxy's clients have open on the primary.
    pub(super) fn cut_off(&self, at_primary: &mut Client) {
        let open = format!(
            "SELECT id FROM information_schema.processlist WHERE user = 'app' AND db = '{}'",
            self.schema
        );
        for id in at_primary.rows(&open).into_iter().flatten().flatten() {
            // It may have gone by itself.
            at_primary.query(format!("KILL {id}"));
        }
        let begun = std::time::Instant::now();
        while !at_primary.rows(&open).is_empty() {
            assert!(begun.elapsed().as_secs() < 10, "they are still there");
        }
        // The list forgets them before the proxy has the end of the stream.
        std::thread::sleep(std::time::Duration::from_millis(30));
    }

    /// Runs statements on the primary, as the application would: procedures' bodies hold semicolons.
    pub(super) fn on_primary(&self, text: &str) {
        let primary = crate::harness::stream::Target::Tcp(self.cluster.primary().address());
        let mut client = self.account().connect(&primary).unwrap();
        client.run(text);
        caught_up(self.cluster);
    }
}

/// Runs a statement, whether it fails or not, and tells the role of the node and the reason.
pub(super) fn route_of(client: &mut Client, text: impl AsRef<[u8]>) -> (String, String) {
    client.query(text);
    let route = client.route();
    (route.role, route.reason)
}

/// Runs each statement and compares the role of the node it ran on; then shows all that went elsewhere.
pub(super) fn expect(client: &mut Client, cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (role, text) in cases {
        let error = client.query(text).error();
        let route = client.route();
        if route.role != *role || error.is_some() {
            wrong += &format!("{text}\n    {route:?} {error:?}, not {role}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
