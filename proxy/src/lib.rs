//! Tidemark, a MySQL proxy: reads and writes split over a primary and its replicas, with a chosen promise about
//! freshness.
//!
//! The modules stand in the order a statement travels: `listener`, `transport`, `frontend`, `session`, `route`,
//! `backend`, `relay`. Beside the road stand `cluster`, `config`, `admin` and `observe`; see ARCHITECTURE.md.

pub mod backend;
pub mod frontend;
pub mod listener;
pub mod relay;
pub mod route;
pub mod session;
pub mod transport;

pub mod admin;
pub mod cluster;
pub mod config;
pub mod observe;

mod alarm;
pub mod bell;
pub mod endpoint;
pub mod error;
pub mod instance;
pub mod live;
pub mod runtime;
pub mod serve;

pub mod check;
pub mod cli;
pub mod demo;
pub mod explain;
pub mod remote;
pub mod table;
