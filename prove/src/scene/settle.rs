//! Making everything whole: all servers run, follow the primary through their relays and have what it has, and every
//! proxy uses all of them.

use std::thread;
use std::time::{Duration, Instant};

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use sandbox::{Family, Server};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::{CATCH_UP_LIMIT, Relay, Scene};
use crate::error::{Error, Result};
use crate::history::Level;
use crate::load::{Door, Place};

/// How long proxies may take to use all nodes again. A login that a node refused is not tried there again for 5 s.
const LIMIT: Duration = Duration::from_secs(30);

/// One look at one node.
const LOOK: Duration = Duration::from_secs(2);

impl Scene {
    /// Mends whatever is still broken, and waits until everything is in use.
    pub(crate) fn settle(&self, clients: &Handle) -> Result<()> {
        self.links.iter().flatten().chain(&self.feeds).for_each(Relay::heal);
        for server in self.cluster.servers() {
            server.start()?;
            server.resume()?;
        }
        for replica in self.replicas() {
            self.mend_replication(replica)?;
        }
        self.cluster.wait_caught_up(CATCH_UP_LIMIT)?;
        self.wait_used(clients)
    }

    fn mend_replication(&self, replica: &Server) -> Result<()> {
        let status = replica.replication_status()?;
        let port = self.feed(replica).map(|feed| feed.address().port());
        match status {
            Some(status) if Some(status.source_port) == port => {
                if is_delayed(replica)? {
                    replica.set_delay(0)?;
                }
                if !status.io_running || !status.sql_running {
                    replica.start_replica()?;
                }
                Ok(())
            }
            _ => {
                // It was down, or something else, while the primary changed.
                self.cluster.rejoin(replica)?;
                self.follow_through_relay(replica)
            }
        }
    }

    /// Waits until every node answers through every proxy.
    fn wait_used(&self, clients: &Handle) -> Result<()> {
        let begin = Instant::now();
        let mut missing: Vec<(usize, u32)> =
            (0..self.proxies.len()).flat_map(|proxy| [1, 2, 3].map(|node| (proxy, node))).collect();
        loop {
            missing.retain(|(proxy, node)| !clients.block_on(self.uses(*proxy, *node)));
            if missing.is_empty() {
                return Ok(());
            }
            if begin.elapsed() > LIMIT {
                return Err(Error::NotSettled(format!("(proxy, node) {missing:?} after {LIMIT:?}")));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether a new session of a proxy gets to a node. One that a restarted server does not know tells it its password by
    /// that, and others are let in by what the server then knows.
    async fn uses(&self, proxy: usize, node: u32) -> bool {
        let Some(proxy) = self.proxies.get(proxy) else { return true };
        let door = Door {
            place: Place::Socket(proxy.socket(Level::Session)),
            level: Level::Session,
            proxy: proxy.name(),
        };
        let look = async {
            let mut connection = Conn::new(door.options()).await?;
            connection.query_first(format!("/* tidemark: node=db{node} */ SELECT @@server_id")).await
        };
        let answer: Result<Result<Option<u32>, _>, _> = timeout(LOOK, look).await;
        matches!(answer, Ok(Ok(Some(server))) if server == node)
    }
}

/// Whether it applies everything late, by its own word.
fn is_delayed(replica: &Server) -> Result<bool> {
    let show = match replica.engine().family() {
        Family::Mysql => "SHOW REPLICA STATUS",
        Family::Mariadb => "SHOW SLAVE STATUS",
    };
    let rows = replica.query(show)?;
    Ok(rows.first().and_then(|row| row.get("SQL_Delay")).is_some_and(|seconds| seconds != "0"))
}
