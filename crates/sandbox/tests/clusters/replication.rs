//! A started cluster is one: it replicates in every arrangement offered, and its accounts and certificates work.

use std::process::Command;

use crate::engines::{PATIENCE, cluster, on_each_engine, options, rows};
use sandbox::{Cluster, ClusterOptions, Engine, Family, LoginPlugin, ReplicaLog, Role, Server};

on_each_engine!(
    replicates_to_every_replica,
    starts_without_transactions_of_its_own,
    replicas_without_updates_in_their_log_replicate,
    replicas_without_a_log_replicate,
    replicates_by_offset_without_gtid,
    serves_without_tls,
    takes_arguments_and_a_directory,
    logs_accounts_in_over_tcp_and_verified_tls,
    makes_accounts_of_every_kind,
    refuses_writes_on_replicas,
    tells_null_from_text,
);

fn replicates_to_every_replica(engine: Engine) {
    let cluster = cluster(options(engine).replicas(3));
    let names: Vec<&str> = cluster.servers().iter().map(Server::name).collect();
    assert_eq!(names, ["db1", "db2", "db3", "db4"]);
    assert!(cluster.replicas().iter().all(|replica| replica.role() == Role::Replica));
    insert_and_compare(&cluster);
    for replica in cluster.replicas() {
        let status = replica.replication_status().unwrap().unwrap();
        assert!(status.io_running && status.sql_running, "{status:?}");
        assert_eq!(status.source_port, cluster.primary().port());
        assert_eq!(replica.position().unwrap(), cluster.primary().position().unwrap());
    }
    assert_eq!(cluster.primary().replication_status().unwrap(), None);
}

/// One row reaches every replica.
fn insert_and_compare(cluster: &Cluster) {
    cluster.primary().sql("INSERT INTO app.t (text) VALUES ('über')").unwrap();
    cluster.wait_caught_up(PATIENCE).unwrap();
    for server in cluster.servers() {
        assert_eq!(server.value("SELECT text FROM app.t").unwrap(), "über", "{}", server.name());
    }
}

fn starts_without_transactions_of_its_own(engine: Engine) {
    let cluster = Cluster::start(options(engine).replicas(1)).unwrap();
    for server in cluster.servers() {
        assert_eq!(server.sql(position_sql(engine)).unwrap(), [[Some(String::new())]], "{}", server.name());
    }
}

fn position_sql(engine: Engine) -> &'static str {
    match engine.family() {
        Family::Mysql => "SELECT @@GLOBAL.gtid_executed",
        Family::Mariadb => "SELECT @@GLOBAL.gtid_current_pos",
    }
}

fn replicas_without_updates_in_their_log_replicate(engine: Engine) {
    let cluster = cluster(options(engine).replica_log(0, ReplicaLog::OwnOnly));
    insert_and_compare(&cluster);
    let updates = |server: &Server| server.value(logs_updates_sql(engine)).unwrap();
    assert_eq!(updates(&cluster.replicas()[0]), "0");
    assert_eq!(updates(&cluster.replicas()[1]), "1");
}

fn logs_updates_sql(engine: Engine) -> &'static str {
    match engine.family() {
        Family::Mysql => "SELECT @@log_replica_updates",
        Family::Mariadb => "SELECT @@log_slave_updates",
    }
}

fn replicas_without_a_log_replicate(engine: Engine) {
    let cluster = cluster(options(engine).replicas(1).replica_logs(ReplicaLog::Off));
    assert_eq!(cluster.replicas()[0].value("SELECT @@log_bin").unwrap(), "0");
    insert_and_compare(&cluster);
}

fn replicates_by_offset_without_gtid(engine: Engine) {
    let cluster = cluster(options(engine).replicas(1).gtid(false));
    insert_and_compare(&cluster);
    if engine.family() == Family::Mysql {
        assert_eq!(cluster.primary().value("SELECT @@gtid_mode").unwrap(), "OFF");
    }
}

fn serves_without_tls(engine: Engine) {
    let cluster = cluster(options(engine).replicas(1).tls(false));
    insert_and_compare(&cluster);
    let refused = verifying_client(&cluster, sandbox::APP_USER, sandbox::APP_PASSWORD).output().unwrap();
    assert!(!refused.status.success());
}

fn takes_arguments_and_a_directory(engine: Engine) {
    let directory = std::env::temp_dir().join(format!("tidemark-arguments-{engine}-{}", std::process::id()));
    let options: ClusterOptions = options(engine)
        .replicas(1)
        .directory(&directory)
        .server_argument("--max-connections=77")
        .server_argument_on("db2", "--max-connections=88");
    let cluster = Cluster::start(options).unwrap();
    assert_eq!(cluster.directory(), directory);
    assert_eq!(cluster.primary().value("SELECT @@max_connections").unwrap(), "77");
    assert_eq!(cluster.replicas()[0].value("SELECT @@max_connections").unwrap(), "88");
    let occupied = Cluster::start(ClusterOptions::new(engine).directory(&directory));
    assert!(occupied.is_err(), "a directory in use was taken");
    cluster.stop();
    assert!(!directory.exists());
}

fn logs_accounts_in_over_tcp_and_verified_tls(engine: Engine) {
    let cluster = Cluster::start(options(engine).replicas(0)).unwrap();
    for (user, password) in [
        (sandbox::APP_USER, sandbox::APP_PASSWORD),
        (sandbox::MONITOR_USER, sandbox::MONITOR_PASSWORD),
        (sandbox::REPLICATION_USER, sandbox::REPLICATION_PASSWORD),
    ] {
        let output = verifying_client(&cluster, user, password)
            .args([
                "--batch",
                "--skip-column-names",
                "-e",
                "SELECT CURRENT_USER(); SHOW STATUS LIKE 'Ssl_cipher'",
            ])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{user}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(text.starts_with(&format!("{user}@%\n")) && text.contains("TLS_"), "{text}");
    }
    let wrong =
        verifying_client(&cluster, sandbox::APP_USER, "wrong").args(["-e", "SELECT 1"]).output().unwrap();
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("ERROR 1045"));
}

fn makes_accounts_of_every_kind(engine: Engine) {
    let cluster = Cluster::start(options(engine).replicas(1)).unwrap();
    for (user, plugin, password) in [
        ("sha2", LoginPlugin::CachingSha2, "secret"),
        ("sha2empty", LoginPlugin::CachingSha2, ""),
        ("native", LoginPlugin::Native, "secret"),
        ("nativeempty", LoginPlugin::Native, ""),
        ("ed25519", LoginPlugin::Ed25519, "secret"),
    ] {
        let made = cluster.create_account(user, plugin, password);
        if !plugin.exists_on(engine) {
            assert!(made.is_err());
            continue;
        }
        made.unwrap();
        let output = verifying_client(&cluster, user, password).args(["-e", "USE app"]).output().unwrap();
        assert!(output.status.success(), "{user}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(cluster.replicas()[0].position().unwrap(), cluster.primary().position().unwrap());
}

/// The engine's client, over TCP, insisting on the servers' certificate.
fn verifying_client(cluster: &Cluster, user: &str, password: &str) -> Command {
    let primary = cluster.primary();
    let mut client = Command::new(primary.client_program());
    client.args(["--no-defaults", "--protocol=tcp", "--host=127.0.0.1"]).args([
        format!("--port={}", primary.port()),
        format!("--user={user}"),
        format!("--password={password}"),
        format!("--ssl-ca={}", cluster.certificate_authority().display()),
    ]);
    client.arg(match primary.engine().family() {
        Family::Mysql => "--ssl-mode=VERIFY_IDENTITY",
        Family::Mariadb => "--ssl-verify-server-cert",
    });
    client
}

fn refuses_writes_on_replicas(engine: Engine) {
    let cluster = cluster(options(engine).replicas(1));
    let mut client = Command::new(cluster.primary().client_program());
    client
        .args(["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", "--user=app", "--password=apppw"])
        .args([
            format!("--port={}", cluster.replicas()[0].port()),
            format!("--ssl-ca={}", cluster.certificate_authority().display()),
        ]);
    let output = client.args(["-e", "INSERT INTO app.t (text) VALUES ('x')"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("ERROR 1290"), "{text}");
    assert_eq!(rows(&cluster.replicas()[0]), 0);
}

fn tells_null_from_text(engine: Engine) {
    let cluster = Cluster::start(options(engine).replicas(0)).unwrap();
    let primary = cluster.primary();
    let values = primary.sql("SELECT NULL, 'NULL', '', '<a> & \"b\"\n'; SELECT 2").unwrap();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(values, [vec![None, text("NULL"), text(""), text("<a> & \"b\"\n")], vec![text("2")]]);
    assert_eq!(primary.query("SELECT 1 AS One").unwrap()[0].get("one"), Some("1"));
    assert_eq!(primary.sql("SELECT * FROM app.absent").unwrap_err().sql_code(), Some(1146));
    let large = "x".repeat(1_000_000);
    assert_eq!(primary.value(&format!("SELECT '{large}'")).unwrap(), large);
}
