//! What the proxy says of its own doing: how a statement was routed, who is connected, what was counted.

use super::client::Client;

/// How the session's last statement was routed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) node: String,
    pub(crate) role: String,
    pub(crate) reason: String,
    pub(crate) waited_us: u64,
}

impl Client {
    /// TIDEMARK SHOW ROUTE.
    pub(crate) fn route(&mut self) -> Route {
        let rows = self.rows("TIDEMARK SHOW ROUTE");
        let mut cells = rows.into_iter().next().expect("no statement was routed yet").into_iter().flatten();
        let mut next = || cells.next().expect("a column is missing");
        Route { node: next(), role: next(), reason: next(), waited_us: next().parse().expect("microseconds") }
    }

    /// The ids of the sessions of this account, by TIDEMARK SHOW SESSIONS.
    pub(crate) fn sessions(&mut self) -> Vec<u32> {
        let rows = self.rows("TIDEMARK SHOW SESSIONS").into_iter();
        rows.filter_map(|row| row.into_iter().next()??.parse().ok()).collect()
    }
}
