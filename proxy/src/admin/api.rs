//! What can be asked for over HTTP, and changed.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::reply::{Refused, json};
use super::status::{observed, obstacles, status};
use crate::config::SettingsPatch;
use crate::live::Live;
use crate::observe::metrics;
use crate::session::Card;

/// The longest body of a change, in bytes: the weights of 64 nodes with long names take a tenth of it.
const BODY_LIMIT: usize = 64 * 1024;

/// How long a client may take to send it.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// The most sessions that are listed, the oldest first.
const SESSIONS_LIMIT: usize = 10_000;

type Shared = State<Arc<Live>>;

/// `GET /api/status`
pub(super) async fn get_status(State(live): Shared) -> Response {
    json(StatusCode::OK, &status(&live))
}

/// `GET /metrics`
pub(super) async fn get_metrics(State(live): Shared) -> Response {
    let text = observed(&live, metrics);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

/// `GET /healthz`: the process answers.
pub(super) async fn get_healthz() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: every endpoint can serve, else 503 with what is missing.
pub(super) async fn get_readyz(State(live): Shared) -> Response {
    let obstacles = obstacles(&live, &live.instance.cluster.snapshot());
    if obstacles.is_empty() {
        return "ready\n".into_response();
    }
    (StatusCode::SERVICE_UNAVAILABLE, obstacles.join("\n") + "\n").into_response()
}

/// The answer to `PATCH /api/endpoints/NAME`.
#[derive(Serialize)]
struct Changed {
    name: String,
    settings: SettingsPatch,
}

/// `PATCH /api/endpoints/NAME`
pub(super) async fn patch_endpoint(
    State(live): Shared,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, Refused> {
    let body = json_body(request).await?;
    let wrong = |what: &dyn std::fmt::Display| {
        let text = format!("the body is not a change of settings: {what}; see docs/admin.md");
        Refused::new(StatusCode::BAD_REQUEST, text)
    };
    // Fields could also be given by their places in a list, which nobody means.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(wrong(&"it is no JSON object"));
    }
    let patch: SettingsPatch = serde_json::from_slice(&body).map_err(|error| wrong(&error))?;
    let settings = live.set(&name, &patch)?;
    Ok(json(StatusCode::OK, &Changed { name, settings }))
}

/// The answer to a change of the rotation.
#[derive(Serialize)]
struct Rotated {
    name: String,
    drained: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// `POST /api/nodes/NAME/drain`
pub(super) async fn post_drain(State(live): Shared, Path(name): Path<String>) -> Result<Response, Refused> {
    let node = live.drain(&name, true)?;
    let is_primary = live.instance.cluster.snapshot().primary == Some(node);
    let note = is_primary
        .then_some("it is the primary and goes on taking writes; promote another node to move them");
    Ok(json(StatusCode::OK, &Rotated { name, drained: true, note }))
}

/// `POST /api/nodes/NAME/undrain`
pub(super) async fn post_undrain(State(live): Shared, Path(name): Path<String>) -> Result<Response, Refused> {
    live.drain(&name, false)?;
    Ok(json(StatusCode::OK, &Rotated { name, drained: false, note: None }))
}

/// The answer to `GET /api/sessions`.
#[derive(Serialize)]
struct Sessions {
    /// How many there are, listed or not.
    total: usize,
    sessions: Vec<SessionStatus>,
}

#[derive(Serialize)]
struct SessionStatus {
    id: u32,
    user: String,
    client: String,
    endpoint: String,
    seconds: u64,
    /// The node on which its statement runs now, and the connection's id there.
    running_on: Option<String>,
    thread: Option<u32>,
}

/// `GET /api/sessions`
pub(super) async fn get_sessions(State(live): Shared) -> Response {
    let cards = live.instance.registry.all();
    let snapshot = live.instance.cluster.snapshot();
    let describe = |card: &Arc<Card>| {
        let running = card.running();
        SessionStatus {
            id: card.id,
            user: String::from_utf8_lossy(&card.user()).into_owned(),
            client: card.peer.to_string(),
            endpoint: card.endpoint.clone(),
            seconds: card.since.elapsed().as_secs(),
            running_on: running.and_then(|(node, _)| Some(snapshot.node(node)?.name.to_string())),
            thread: running.map(|(_, thread)| thread),
        }
    };
    let sessions = cards.iter().take(SESSIONS_LIMIT).map(describe).collect();
    json(StatusCode::OK, &Sessions { total: cards.len(), sessions })
}

/// The answer to `POST /api/reload`.
#[derive(Serialize)]
struct Reloaded {
    applied: Vec<String>,
    needs_restart: Vec<String>,
}

/// `POST /api/reload`: as SIGHUP.
pub(super) async fn post_reload(State(live): Shared) -> Result<Response, Refused> {
    // Files are read, which may take long on a network file system.
    let reload = tokio::task::spawn_blocking(move || live.reload());
    let reloaded = reload.await.map_err(|error| {
        Refused::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the reload broke: {error}"))
    })??;
    let crate::live::Reloaded { applied, needs_restart } = reloaded;
    Ok(json(StatusCode::OK, &Reloaded { applied, needs_restart }))
}

/// No such path.
pub(super) async fn not_found() -> Refused {
    let text = "there is no such path; see / for the console, /api/status, /api/sessions, /metrics, /healthz, /readyz";
    Refused::new(StatusCode::NOT_FOUND, text)
}

/// A path that is there, asked in another way.
pub(super) async fn wrong_method() -> Refused {
    let text = "this path takes another method: PATCH /api/endpoints/NAME, POST /api/nodes/NAME/drain, \
                POST /api/nodes/NAME/undrain, POST /api/reload, GET for the rest";
    Refused::new(StatusCode::METHOD_NOT_ALLOWED, text)
}

async fn json_body(request: Request) -> Result<axum::body::Bytes, Refused> {
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/json") {
        let text = "the body must be JSON; send Content-Type: application/json";
        return Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    read(request.into_body()).await
}

async fn read(body: Body) -> Result<axum::body::Bytes, Refused> {
    match tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, BODY_LIMIT)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => {
            let text = format!("the body is longer than {BODY_LIMIT} bytes or broke off; send less");
            Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, text))
        }
        Err(_) => {
            let text = format!("the body did not come within {} s", BODY_TIMEOUT.as_secs());
            Err(Refused::new(StatusCode::REQUEST_TIMEOUT, text))
        }
    }
}
