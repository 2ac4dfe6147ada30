//! Networks that lose packets or connections between proxies and nodes.

use std::thread;

use sandbox::MONITOR_USER;

use super::Fault;
use crate::error::Result;
use crate::scene::{Relay, Scene};

impl Fault {
    /// One proxy, or both, do not reach a node: silently, or with a refusal.
    pub(super) fn break_link(&self, scene: &Scene) -> Result<()> {
        let node = self.any_node(scene);
        let links: Vec<&Relay> = if self.all {
            scene.links.iter().filter_map(|links| links.get(node)).collect()
        } else {
            scene.links.first().and_then(|links| links.get(node)).into_iter().collect()
        };
        let silently = self.variant.is_multiple_of(2);
        links.iter().for_each(|link| if silently { link.stall() } else { link.close() });
        thread::sleep(self.lasts);
        links.iter().for_each(|link| link.heal());
        Ok(())
    }

    /// All connections to a node, or to all nodes, are reset; new ones can be made at once. Several times.
    pub(super) fn cut_connections(&self, scene: &Scene) -> Result<()> {
        let only = self.any_node(scene);
        for _ in 0..3 {
            for links in &scene.links {
                links
                    .iter()
                    .enumerate()
                    .filter(|(node, _)| self.all || *node == only)
                    .for_each(|(_, link)| link.cut());
            }
            thread::sleep(self.lasts / 3);
        }
        Ok(())
    }

    /// The proxies' own connections to one node, or to all nodes, are killed by the servers. Several times.
    pub(super) fn cut_watchers(&self, scene: &Scene) -> Result<()> {
        let servers = scene.cluster.servers();
        let only = self.any_node(scene);
        for _ in 0..3 {
            for server in servers
                .iter()
                .enumerate()
                .filter(|(node, _)| self.all || *node == only)
                .map(|(_, server)| server)
            {
                for row in server.query("SHOW PROCESSLIST")? {
                    if row.get("User") == Some(MONITOR_USER)
                        && let Some(id) = row.get("Id")
                    {
                        // It may have ended by itself.
                        let _ = server.sql(&format!("KILL {id}"));
                    }
                }
            }
            thread::sleep(self.lasts / 3);
        }
        Ok(())
    }
}
