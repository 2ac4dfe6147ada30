//! The instance as an operator meets it over HTTP: the API under `/api/`, the console at `/`, the metrics.
//!
//! It runs on the control thread and reads counters and snapshots, so that nothing asked here makes a statement wait.
//! What it may change is in [`crate::live`].
//!
//! Deliberately absent: TLS (listen on loopback or a UNIX socket, or put a proxy for HTTP in front), accounts, and
//! buttons on the console: it shows, the API and the command line change.

mod api;
mod console;
mod guard;
mod ready;
mod reply;
mod serve;
pub mod status;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, patch, post};

use crate::config::AdminConfig;
use crate::live::Live;
use guard::Guard;

pub use serve::AdminListener;

/// Every path.
pub fn router(live: Arc<Live>, config: &AdminConfig) -> Router {
    Router::new()
        .route("/", get(console::get_console))
        .route("/api/status", get(api::get_status))
        .route("/api/sessions", get(api::get_sessions))
        .route("/api/endpoints/{name}", patch(api::patch_endpoint))
        .route("/api/nodes/{name}/drain", post(api::post_drain))
        .route("/api/nodes/{name}/undrain", post(api::post_undrain))
        .route("/api/reload", post(api::post_reload))
        .route("/metrics", get(api::get_metrics))
        .route("/healthz", get(api::get_healthz))
        .route("/readyz", get(api::get_readyz))
        .fallback(api::not_found)
        .method_not_allowed_fallback(api::wrong_method)
        .layer(from_fn_with_state(Guard::new(config), guard::guard))
        .with_state(live)
}

#[cfg(test)]
mod tests;
