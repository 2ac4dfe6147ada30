//! `tidemark status`, `set`, `drain`, `undrain` and `check`, as processes.

use std::fs;
use std::path::Path;
use std::process::Command;

use sandbox::{Cluster, Engine};
use serde_json::Value;

use crate::harness::clusters;
use crate::harness::proxy::{Proxy, Setup};

/// The exit code, standard output and standard error of a command.
fn tidemark(config: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tidemark"))
        .args(arguments)
        .arg("--config")
        .arg(config)
        .env_remove("TIDEMARK_LOG")
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn start(cluster: &Cluster) -> Proxy {
    Setup::of(cluster).endpoint("app", "consistency = \"session\"").admin("").start()
}

#[test]
fn status_shows_nodes_and_endpoints() {
    let proxy = start(clusters::shared(Engine::Mariadb));
    let (code, out, _) = tidemark(&proxy.config(), &["status"]);
    assert_eq!(code, 0);
    let line = |name: &str| out.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert!(line("db1").contains("primary") && line("db2").contains("replica"), "{out}");
    assert!(line("app").contains("session"), "{out}");
    let (code, out, _) = tidemark(&proxy.config(), &["status", "--json"]);
    let status: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, status["primary"].as_str()), (0, Some("db1")));
}

#[test]
fn set_and_drain_change_the_running_instance() {
    let proxy = start(clusters::shared(Engine::Mariadb));
    let run = |arguments: &[&str]| tidemark(&proxy.config(), arguments);
    let (code, out, error) = run(&["set", "app", "consistency_timeout_us=123", "read_weight.db2=5"]);
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(out.contains("consistency_timeout_us=123\n") && out.contains("read_weight.db2=5\n"), "{out}");
    let status = || serde_json::from_str::<Value>(&run(&["status", "--json"]).1).unwrap();
    assert_eq!(status()["endpoints"][0]["settings"]["consistency_timeout_us"], 123);
    assert_eq!(run(&["drain", "db2"]), (0, "db2 takes no more reads\n".to_owned(), String::new()));
    assert_eq!(status()["nodes"][1]["drained"], true);
    assert!(run(&["status"]).1.contains("up, drained"));
    assert_eq!(run(&["undrain", "db2"]).0, 0);
    assert_eq!(status()["nodes"][1]["drained"], false);
    let (code, out, _) = run(&["drain", "db1"]);
    assert!(code == 0 && out.contains("it is the primary and goes on taking writes"), "{out}");
}

#[test]
fn a_command_that_cannot_be_obeyed_says_so_by_its_exit_code() {
    let proxy = start(clusters::shared(Engine::Mariadb));
    let run = |arguments: &[&str]| tidemark(&proxy.config(), arguments);
    let (code, _, error) = run(&["drain", "db9"]);
    assert!(code == 2 && error.contains("there are db1, db2, db3"), "{code} {error}");
    let (code, _, error) = run(&["set", "app", "max_lag_ms=-1"]);
    assert!(code == 2 && error.contains("from 0 to"), "{code} {error}");
    let (code, _, error) = tidemark(&proxy.config().with_file_name("none.toml"), &["status"]);
    assert!(code == 2 && error.contains("--admin"), "{code} {error}");
    let config = proxy.config().with_file_name("other.toml");
    fs::write(&config, fs::read_to_string(proxy.config()).unwrap().replace("/admin\"", "/nobody\"")).unwrap();
    let (code, _, error) = tidemark(&config, &["status"]);
    assert!(code == 1 && error.contains("no instance answers on unix:"), "{code} {error}");
}

#[test]
fn check_tells_what_each_node_can_serve() {
    let cluster = clusters::own(Engine::Mariadb);
    let proxy = start(&cluster);
    let (code, out, error) = tidemark(&proxy.config(), &["check"]);
    assert_eq!(code, 0, "{out}{error}");
    let line = |name: &str| out.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    assert!(line("db1").contains("primary") && line("db1").contains("eventual,session,global"), "{out}");
    assert!(line("db2").contains("replica") && out.contains("ready: every endpoint can serve"), "{out}");

    let replica = &cluster.replicas()[0];
    replica.sql("STOP SLAVE; CHANGE MASTER TO MASTER_USE_GTID = no; START SLAVE").unwrap();
    let (code, out, _) = tidemark(&proxy.config(), &["check"]);
    assert_eq!(code, 1, "{out}");
    assert!(
        out.contains("to fix: db2: ")
            && out.contains("MASTER_USE_GTID = slave_pos")
            && out.contains("(needed by endpoint app)"),
        "{out}"
    );
    let config = proxy.config().with_file_name("eventual.toml");
    let text = fs::read_to_string(proxy.config()).unwrap();
    fs::write(&config, text.replace("\"session\"", "\"eventual\"")).unwrap();
    let (code, out, _) = tidemark(&config, &["check"]);
    assert!(code == 0 && out.contains("note: db2: "), "{out}");

    cluster.replicas()[1].kill9().unwrap();
    let (code, out, _) = tidemark(&config, &["check"]);
    assert!(code == 1 && out.contains("to fix: db3: "), "{out}");
    let again = cluster.primary().address().to_string().replace("127.0.0.1", "localhost");
    let twice = text
        .replace("[[endpoint]]", &format!("[[node]]\nname = \"again\"\naddress = \"{again}\"\n[[endpoint]]"));
    fs::write(&config, twice).unwrap();
    let (code, out, _) = tidemark(&config, &["check"]);
    assert!(code == 1 && out.contains("to fix: again: ") && out.contains("server_id) as db1"), "{out}");
    assert!(!out.contains("read_only = ON"), "{out}");

    cluster.primary().kill9().unwrap();
    fs::write(&config, &text).unwrap();
    let (code, out, _) = tidemark(&config, &["check"]);
    assert!(
        code == 1 && out.contains("no node that answers is primary") && out.contains("bring back"),
        "{out}"
    );

    fs::write(&config, text.replace("consistency", "consistence")).unwrap();
    let (code, _, error) = tidemark(&config, &["check"]);
    assert!(code == 2 && error.contains("eventual.toml:") && error.contains("write consistency"), "{error}");
}
