//! The API without a server behind it: nodes that nobody answers for, and a router that is asked directly.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response, StatusCode, header};
use hyper::Method;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::{AdminListener, router};
use crate::backend::Secret;
use crate::cluster::Cluster;
use crate::cluster::snapshot::{NodeId, Role};
use crate::config::{self, Address, AdminConfig, Config, Level, TlsMode};
use crate::endpoint::Endpoint;
use crate::frontend::{Accounts, Hashes, RsaKey};
use crate::instance::Instance;
use crate::live::Live;
use crate::observe::NodeConnections;
use crate::remote::ask;
use crate::route::{Outcome, Reason};
use crate::session::Registry;
use crate::transport::tls::{ServerTls, acceptor};

const FILE: &str = r#"
[cluster]
monitor_user = "m"
monitor_password = "pw"
[[node]]
name = "db1"
address = "unix:/nowhere/db1"
[[node]]
name = "db2"
address = "unix:/nowhere/db2"
[[endpoint]]
name = "app"
listen = "127.0.0.1:1"
[[endpoint]]
name = "reports"
listen = "127.0.0.1:2"
mode = "read-only"
max_lag_ms = 5
[admin]
listen = "127.0.0.1:3"
"#;

/// A file of its own for each test.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tidemark-admin-{}-{name}.toml", std::process::id()));
        std::fs::write(&path, FILE).unwrap();
        Self(path)
    }

    fn write(&self, text: &str) {
        std::fs::write(&self.0, text).unwrap();
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The running program that a file describes, without threads and listeners. Wants a runtime.
fn live(path: &Path) -> Arc<Live> {
    let config = Config::load(path).unwrap();
    let server_tls = ServerTls::new(TlsMode::Disabled, None).unwrap();
    let nodes = config.nodes.len();
    let endpoints =
        config.endpoints.iter().map(|part| Arc::new(Endpoint::new(part.clone(), nodes, 1))).collect();
    let instance = Instance {
        cluster: Cluster::start(&config, server_tls.clone()),
        compression: crate::config::Compression::Client,
        connections: NodeConnections::new(nodes),
        endpoints,
        server_tls,
        acceptor: acceptor(None).unwrap(),
        require_tls: false,
        rsa: RsaKey::generate().unwrap(),
        accounts: Accounts::default(),
        hashes: Hashes::new("m".to_owned(), Secret::from_password(b"pw")),
        registry: Registry::default(),
        next_id: AtomicU32::new(1),
    };
    Arc::new(Live::new(Arc::new(instance), config))
}

struct Api {
    file: File,
    live: Arc<Live>,
    router: Router,
}

impl Api {
    fn new(name: &str) -> Self {
        Self::with_token(name, None)
    }

    fn with_token(name: &str, token: Option<&str>) -> Self {
        let file = File::new(name);
        let live = live(&file.0);
        let listen = "127.0.0.1:3".parse().unwrap();
        let token = token.map(|token| config::Secret::new(token.as_bytes().to_vec()));
        let router = router(Arc::clone(&live), &AdminConfig { listen, token });
        Self { file, live, router }
    }

    async fn ask(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn request(&self, method: Method, path: &str, body: &str) -> (u16, String) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "127.0.0.1:3")
            .header(header::CONTENT_TYPE, "application/json");
        let response = self.ask(request.body(Body::from(body.to_owned())).unwrap()).await;
        (response.status().as_u16(), text(response).await)
    }

    async fn get(&self, path: &str) -> (u16, String) {
        self.request(Method::GET, path, "").await
    }

    async fn post(&self, path: &str) -> (u16, Value) {
        let (status, text) = self.request(Method::POST, path, "").await;
        (status, serde_json::from_str(&text).unwrap())
    }

    async fn patch(&self, endpoint: &str, body: &str) -> (u16, Value) {
        let path = format!("/api/endpoints/{endpoint}");
        let (status, text) = self.request(Method::PATCH, &path, body).await;
        (status, serde_json::from_str(&text).unwrap())
    }

    async fn status(&self) -> Value {
        let (status, text) = self.get("/api/status").await;
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    /// A change that must be refused with this status and these words, and leave everything as it was.
    #[track_caller]
    fn refused(&self, answer: (u16, Value), status: u16, words: &str) {
        let error = answer.1["error"].as_str().unwrap_or_default();
        assert!(answer.0 == status && error.contains(words), "{answer:?} and not {status} {words}");
        assert_eq!(**self.endpoint(0).settings.load(), self.endpoint(0).config.settings);
    }

    fn endpoint(&self, index: usize) -> &Endpoint {
        &self.live.instance.endpoints[index]
    }
}

async fn text(response: Response<Body>) -> String {
    String::from_utf8(to_bytes(response.into_body(), 1 << 24).await.unwrap().to_vec()).unwrap()
}

#[tokio::test]
async fn the_status_shows_nodes_settings_and_counters() {
    let api = Api::new("status");
    let counters = &api.endpoint(0).counters;
    counters.statement(NodeId(1), Role::Replica, Reason::Transaction);
    counters.outcome(Level::Session, Outcome::Waited);
    counters.waited(Level::Session, Duration::from_micros(300));
    assert!(counters.client_came(10));
    let open = api.live.instance.connections.opened(NodeId(1));
    let status = api.status().await;
    let [db1, db2] = [&status["nodes"][0], &status["nodes"][1]];
    assert_eq!([&db1["name"], &db1["address"]], ["db1", "unix:/nowhere/db1"]);
    assert_eq!([&db1["role"], &db1["health"]], ["unknown", "down"]);
    assert!(db1["why"].is_string() && db1["lag_ms"].is_null() && db1["version"].is_null());
    assert_eq!(db2["connections"], json!({ "active": 0, "idle": 1 }));
    let app = &status["endpoints"][0];
    assert_eq!([&app["name"], &app["listen"], &app["mode"]], ["app", "127.0.0.1:1", "read-write"]);
    assert_eq!(
        app["settings"],
        json!({
            "consistency": "eventual", "global_scope": "cluster", "consistency_timeout_us": 10000,
            "on_timeout": "primary", "read_weight": { "db1": null, "db2": null }, "max_lag_ms": 30000, "min_replicas": 1,
            "transaction_split": false, "primary_fallback": false, "failover_hold_ms": 10000
        })
    );
    assert_eq!(
        app["counters"]["statements"],
        json!([{ "node": "db2", "role": "replica", "reason": "in_transaction", "count": 1 }])
    );
    assert_eq!(app["counters"]["outcomes"]["session"]["waited"], 1);
    assert_eq!(app["counters"]["waits"]["session"]["sum_us"], 300);
    assert_eq!(app["counters"]["clients"], 1);
    drop(open);
    assert_eq!(api.status().await["nodes"][1]["connections"]["idle"], 0);
}

#[tokio::test]
async fn a_patch_changes_what_it_names() {
    let api = Api::new("patch");
    let (status, body) =
        api.patch("app", r#"{"consistency_timeout_us": 0, "read_weight": {"db2": 7}}"#).await;
    assert_eq!((status, &body["name"]), (200, &json!("app")));
    assert_eq!(body["settings"]["consistency_timeout_us"], 0);
    assert_eq!(body["settings"]["read_weight"], json!({ "db1": null, "db2": 7 }));
    let settings = api.endpoint(0).settings.load();
    assert_eq!((settings.consistency_timeout_us, &settings.read_weight[..]), (0, &[None, Some(7)][..]));
    let (_, body) = api.patch("app", r#"{"read_weight": {"db2": null}, "on_timeout": "error"}"#).await;
    assert_eq!(body["settings"]["read_weight"]["db2"], Value::Null);
    assert_eq!(body["settings"]["on_timeout"], "error");
    assert_eq!(api.endpoint(1).settings.load().consistency_timeout_us, 10_000);
}

#[tokio::test]
async fn a_patch_that_cannot_be_made_changes_nothing_and_says_what_to_write() {
    let api = Api::new("refused");
    let app = |body: &'static str| api.patch("app", body);
    api.refused(app(r#"{"consistency": "strong"}"#).await, 400, r#"write "eventual", "session" or "global""#);
    api.refused(app(r#"{"lag": 1}"#).await, 400, "unknown field `lag`");
    api.refused(app("{").await, 400, "not a change of settings");
    api.refused(app(r#"["global", "proxy", 0]"#).await, 400, "it is no JSON object");
    api.refused(
        app(r#"{"max_lag_ms": 1, "consistency_timeout_us": 1000001}"#).await,
        422,
        "from 0 to 1000000",
    );
    api.refused(app(r#"{"read_weight": {"db9": 1}}"#).await, 422, "the nodes are db1, db2");
    api.refused(api.patch("nope", "{}").await, 404, "there are app, reports");
    let long = format!("{{\"read_weight\": {{\"{}\": 1}}}}", "x".repeat(100_000));
    api.refused(api.patch("app", &long).await, 413, "send less");
    let plain = Request::patch("/api/endpoints/app").header(header::CONTENT_TYPE, "text/plain");
    let response = api.ask(plain.body(Body::from(r#"{"max_lag_ms": 1}"#)).unwrap()).await;
    let answer = (response.status().as_u16(), serde_json::from_str(&text(response).await).unwrap());
    api.refused(answer, 415, "Content-Type: application/json");
}

#[tokio::test]
async fn a_node_is_drained_and_put_back() {
    let api = Api::new("drain");
    let drained = || api.live.instance.cluster.snapshot().nodes[1].drained;
    assert_eq!(api.post("/api/nodes/db2/drain").await, (200, json!({ "name": "db2", "drained": true })));
    assert!(drained());
    assert_eq!(api.status().await["nodes"][1]["drained"], true);
    assert_eq!(api.post("/api/nodes/db2/undrain").await, (200, json!({ "name": "db2", "drained": false })));
    assert!(!drained());
    api.refused(api.post("/api/nodes/db9/drain").await, 404, "there are db1, db2");
}

#[tokio::test]
async fn a_reload_takes_what_the_file_changes_and_keeps_what_it_does_not() {
    let api = Api::new("reload");
    assert_eq!(api.post("/api/reload").await, (200, json!({ "applied": [], "needs_restart": [] })));
    assert_eq!(api.patch("app", r#"{"max_lag_ms": 77}"#).await.0, 200);
    api.file.write(&FILE.replace("max_lag_ms = 5", "max_lag_ms = 6").replace("127.0.0.1:1", "127.0.0.1:9"));
    let wanted = json!({
        "applied": ["endpoint reports: max_lag_ms 5 -> 6"],
        "needs_restart": ["endpoint app: listen changed"]
    });
    assert_eq!(api.post("/api/reload").await, (200, wanted));
    let max_lag_ms = |index: usize| api.endpoint(index).settings.load().max_lag_ms;
    assert_eq!((max_lag_ms(0), max_lag_ms(1)), (77, 6));
    // What is in force is not applied again; what waits for a restart is told again.
    let again = json!({ "applied": [], "needs_restart": ["endpoint app: listen changed"] });
    assert_eq!(api.post("/api/reload").await, (200, again));
    api.file.write(&FILE.replace("max_lag_ms = 5", "max_lag = 7"));
    let (status, body) = api.post("/api/reload").await;
    let error = body["error"].as_str().unwrap();
    assert!(
        status == 422 && error.contains("unknown key max_lag") && error.ends_with("nothing was changed"),
        "{error}"
    );
    assert_eq!(max_lag_ms(1), 6);
}

#[tokio::test]
async fn without_the_token_nothing_changes() {
    let api = Api::with_token("token", Some("s3cret"));
    api.refused(api.patch("app", r#"{"max_lag_ms": 1}"#).await, 401, "Authorization: Bearer");
    api.refused(api.post("/api/nodes/db2/drain").await, 401, "token_file");
    api.refused(api.post("/api/reload").await, 401, "token_file");
    assert_eq!(api.get("/api/status").await.0, 200);
    let request = Request::post("/api/nodes/db2/drain").header(header::AUTHORIZATION, "Bearer s3cret");
    assert_eq!(api.ask(request.body(Body::empty()).unwrap()).await.status(), StatusCode::OK);
    assert!(api.live.instance.cluster.snapshot().nodes[1].drained);
}

#[tokio::test]
async fn no_foreign_name_and_no_foreign_page_gets_in() {
    let api = Api::new("foreign");
    let get = Request::get("/api/status").header(header::HOST, "evil.example:3");
    assert_eq!(api.ask(get.body(Body::empty()).unwrap()).await.status(), StatusCode::FORBIDDEN);
    let post = Request::post("/api/nodes/db2/drain")
        .header(header::HOST, "127.0.0.1:3")
        .header(header::ORIGIN, "http://evil.example");
    assert_eq!(api.ask(post.body(Body::empty()).unwrap()).await.status(), StatusCode::FORBIDDEN);
    assert!(!api.live.instance.cluster.snapshot().nodes[1].drained);
}

#[tokio::test]
async fn paths_and_methods_that_are_not_there_are_answered_in_json() {
    let api = Api::new("paths");
    api.refused(api.post("/api/nothing").await, 404, "/api/status");
    api.refused(api.post("/api/status").await, 405, "PATCH /api/endpoints/NAME");
}

#[tokio::test]
async fn it_is_alive_and_not_ready() {
    let api = Api::new("ready");
    assert_eq!(api.get("/healthz").await, (200, "ok\n".to_owned()));
    let (status, text) = api.get("/readyz").await;
    assert_eq!(status, 503);
    assert!(
        text.contains("endpoint app: no node is primary") && text.contains("endpoint reports: no replica")
    );
    api.live.stop();
    assert!(api.get("/readyz").await.1.contains("the proxy is stopping"));
}

#[tokio::test]
async fn every_metric_of_the_interface_is_there() {
    let api = Api::new("metrics");
    let counters = &api.endpoint(0).counters;
    counters.statement(NodeId(0), Role::Primary, Reason::Statement(sql::Reason::Write));
    let (status, text) = api.get("/metrics").await;
    assert_eq!(status, 200);
    for line in [
        r#"tidemark_statements_total{endpoint="app",node="db1",role="primary",reason="write"} 1"#,
        r#"tidemark_consistency_wait_seconds_bucket{endpoint="app",level="session",le="+Inf"} 0"#,
        r#"tidemark_consistency_wait_seconds_sum{endpoint="app",level="global"} 0"#,
        r#"tidemark_consistency_wait_seconds_count{endpoint="reports",level="eventual"} 0"#,
        r#"tidemark_consistency_outcomes_total{endpoint="app",level="global",outcome="stale"} 0"#,
        r#"tidemark_node_up{node="db1"} 0"#,
        r#"tidemark_node_role{node="db1",role="unknown"} 1"#,
        r#"tidemark_node_role{node="db1",role="primary"} 0"#,
        r#"tidemark_client_connections{endpoint="app"} 0"#,
        r#"tidemark_backend_connections{node="db2",state="active"} 0"#,
        r#"tidemark_backend_connections{node="db2",state="idle"} 0"#,
        r#"tidemark_pins_total{endpoint="app",reason="pinned_lock"} 0"#,
        "# TYPE tidemark_node_lag_seconds gauge",
        "# TYPE tidemark_probe_round_trip_seconds gauge",
        "tidemark_failovers_total 0",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} is not in\n{text}");
    }
}

#[tokio::test]
async fn the_console_is_a_page_that_loads_nothing() {
    let api = Api::new("console");
    let get = Request::get("/").header(header::HOST, "localhost:3");
    let response = api.ask(get.body(Body::empty()).unwrap()).await;
    let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'; style-src 'nonce-"), "{policy}");
    let page = text(response).await;
    for words in
        ["db1", "db2", "endpoint app: no node is primary", "eventual", "session", "global", "reports"]
    {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("src=") && !page.contains("://"), "something is loaded");
}

/// Asks as the commands do.
async fn ask_as_command(
    address: &Address,
    token: Option<&str>,
    method: Method,
    path: &str,
    body: Option<Vec<u8>>,
) -> (u16, Vec<u8>) {
    let token = token.map(|token| config::Secret::new(token.as_bytes().to_vec()));
    let answer = ask(address, token.as_ref(), method, path, body).await.unwrap();
    (answer.status, answer.body)
}

/// Serves a router on a UNIX socket for as long as the answer lives.
fn serve(api: &Api, name: &str) -> (Address, tokio::task::JoinHandle<()>, PathBuf) {
    let path = std::env::temp_dir().join(format!("tidemark-admin-{}-{name}.sock", std::process::id()));
    let address: Address = format!("unix:{}", path.display()).parse().unwrap();
    let listener = AdminListener::bind(&address).unwrap();
    (address, tokio::spawn(listener.serve(api.router.clone())), path)
}

#[tokio::test]
async fn the_commands_and_the_listener_understand_each_other() {
    let api = Api::with_token("socket", Some("s3cret"));
    let (address, task, path) = serve(&api, "socket");
    let (status, body) = ask_as_command(&address, None, Method::GET, "/api/status", None).await;
    assert_eq!((status, body.starts_with(b"{")), (200, true));
    let change = Some(br#"{"max_lag_ms": 3}"#.to_vec());
    let patch = |token| ask_as_command(&address, token, Method::PATCH, "/api/endpoints/app", change.clone());
    assert_eq!(patch(None).await.0, 401);
    assert_eq!(patch(Some("s3cret")).await.0, 200);
    assert_eq!(api.endpoint(0).settings.load().max_lag_ms, 3);
    task.abort();
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn a_head_without_end_is_refused_and_the_listener_goes_on() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let api = Api::new("head");
    let (address, task, path) = serve(&api, "head");
    let mut client = tokio::net::UnixStream::connect(&path).await.unwrap();
    let _ = client.write_all(format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(100_000)).as_bytes()).await;
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer).await;
    assert!(answer.starts_with(b"HTTP/1.1 431") || answer.is_empty(), "{}", String::from_utf8_lossy(&answer));
    assert_eq!(ask_as_command(&address, None, Method::GET, "/healthz", None).await.0, 200);
    task.abort();
    std::fs::remove_file(path).unwrap();
}
