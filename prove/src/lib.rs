//! Checks what the consistency levels promise: real clients, through real proxies, on real clusters that are broken on
//! purpose.
//!
//! The order in which it goes: `run` starts a `scene` (servers, proxies, and the network between them), and lets the
//! clients of `load` work on a `stage` while a `fault` strikes. What they noted, a `history`, is judged by `check`, which
//! knows of nothing else. `report` is the table at the end. What the promises cost is the business of `measure`.
//!
//! The clients use a driver that others wrote, and the servers' word on who answered (`@@server_id`): what is checked has
//! no part in the check. Deliberately absent: lossy failover. What a cluster has lost, no proxy can show.

pub mod broken;
pub mod chance;
pub mod check;
pub mod driver;
pub mod error;
pub mod fault;
pub mod history;
mod keep;
pub mod load;
pub mod measure;
pub mod report;
pub mod run;
pub mod scene;
mod stage;
pub mod tally;
