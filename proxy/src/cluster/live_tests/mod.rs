//! The cluster against real servers: roles, positions, waits, failures. Each test starts its own.

mod failures;
mod positions;
mod roles;

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sandbox::{ClusterOptions, Engine};
use tokio::sync::oneshot;

use super::monitor::{Connection, Monitor};
use super::{Cluster, Node, NodeId, Snapshot};
use crate::config::{Config, TlsMode};
use crate::transport::tls::ServerTls;

/// Both families, as the package manager has them.
const ENGINES: [Engine; 2] = [Engine::Mysql, Engine::Mariadb];

/// Longer than anything here takes on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(30);

const PRIMARY: NodeId = NodeId(0);
const FIRST: NodeId = NodeId(1);
const SECOND: NodeId = NodeId(2);

/// Servers, and what the proxy knows of them. The watchers run on a thread of their own, as in the program.
struct Live {
    servers: sandbox::Cluster,
    cluster: Arc<Cluster>,
    stop: Option<oneshot::Sender<()>>,
    control: Option<JoinHandle<()>>,
}

impl Live {
    fn start(options: ClusterOptions) -> Self {
        let _ = tracing_subscriber::fmt().with_test_writer().with_env_filter("tidemark=debug").try_init();
        let servers = sandbox::Cluster::start(options).unwrap();
        servers
            .primary()
            .sql("CREATE TABLE app.t (id INT PRIMARY KEY, v BIGINT); INSERT INTO app.t VALUES (1, 0)")
            .unwrap();
        servers.wait_caught_up(PATIENCE).unwrap();
        let config = config(&servers);
        let (stop, stopped) = oneshot::channel();
        let (hand_over, cluster) = mpsc::channel();
        let control = std::thread::spawn(move || {
            runtime().block_on(async {
                let tls = ServerTls::new(TlsMode::Preferred, None).unwrap();
                let cluster = Cluster::start(&config, tls);
                hand_over.send(Arc::clone(&cluster)).unwrap();
                let _ = stopped.await;
                cluster.shutdown().await;
            });
        });
        let cluster = cluster.recv().unwrap();
        Self { servers, cluster, stop: Some(stop), control: Some(control) }
    }

    fn standard(engine: Engine) -> Self {
        let live = Self::start(ClusterOptions::new(engine));
        live.settled();
        live
    }

    /// Waits until all nodes are up and the replicas follow the primary.
    fn settled(&self) {
        self.until("all follow", |snapshot| {
            snapshot.primary().is_some() && snapshot.nodes.iter().all(|node| node.follows)
        });
    }

    fn until(&self, what: &str, condition: impl Fn(&Snapshot) -> bool) {
        let begin = Instant::now();
        while !condition(&self.cluster.snapshot()) {
            assert!(begin.elapsed() < PATIENCE, "{what}: {:#?}", **self.cluster.snapshot());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn node(&self, id: NodeId) -> Node {
        self.cluster.snapshot().node(id).unwrap().clone()
    }

    /// A connection of the application, past the proxy.
    async fn connect(&self, id: NodeId) -> Connection {
        let text = format!(
            "[cluster]\nmonitor_user = \"{}\"\nmonitor_password = \"{}\"\n[[node]]\nname = \"x\"\naddress = \"x:1\"\n\
             [[endpoint]]\nname = \"app\"\nlisten = \"127.0.0.1:0\"\n",
            sandbox::APP_USER,
            sandbox::APP_PASSWORD
        );
        let config = Config::parse(&text, Path::new("test.toml")).unwrap();
        let tls = ServerTls::new(TlsMode::Preferred, None).unwrap();
        Monitor::new(&config.cluster, tls).connect(&self.node(id).address).await.unwrap()
    }

    /// Writes directly on the primary.
    fn write(&self) {
        self.servers.current_primary().sql("UPDATE app.t SET v = v + 1 WHERE id = 1").unwrap();
    }

    fn value(&self, id: NodeId) -> u64 {
        self.servers.servers()[id.index()].value("SELECT v FROM app.t WHERE id = 1").unwrap().parse().unwrap()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(control) = self.control.take() {
            let ended = control.join();
            assert!(ended.is_ok() || std::thread::panicking());
        }
    }
}

/// A thread's runtime, as the program's threads have them.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn config(servers: &sandbox::Cluster) -> Config {
    let nodes: String = servers
        .servers()
        .iter()
        .map(|server| format!("[[node]]\nname = \"{}\"\naddress = \"{}\"\n", server.name(), server.address()))
        .collect();
    let text = format!(
        "[cluster]\nmonitor_user = \"{}\"\nmonitor_password = \"{}\"\n{nodes}\
         [[endpoint]]\nname = \"app\"\nlisten = \"127.0.0.1:0\"\n",
        sandbox::MONITOR_USER,
        sandbox::MONITOR_PASSWORD
    );
    Config::parse(&text, Path::new("test.toml")).unwrap()
}
