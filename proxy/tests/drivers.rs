//! What applications use: the drivers of several languages and the servers' own clients, each with its defaults, on
//! clusters of both families. The programs are in `tests/drivers`; `scripts/install-deps.sh test` installs the drivers.
#![cfg(test)]

#[allow(dead_code, reason = "each theme uses a part of it")]
mod harness;

use std::path::{Path, PathBuf};
use std::process::Command;

use harness::clusters::{schema, shared};
use harness::on_every_engine;
use harness::proxy::Setup;
use harness::stream::Target;
use sandbox::Engine;

on_every_engine!(
    pymysql,
    mysql_connector_python,
    mysqlclient,
    node_mysql2,
    go_sql_driver,
    rust_mysql_async,
    rust_sqlx,
    client_of_mysql,
    client_of_mariadb,
    client_of_mariadb_11,
);

/// Runs a program against a fresh schema on an endpoint whose reads see what any connection wrote: the programs look from
/// one connection at what another one did.
#[track_caller]
fn check(engine: Engine, program: &Path, arguments: &[&str]) {
    assert!(
        program.exists() || !program.is_absolute(),
        "{} is missing: scripts/install-deps.sh test installs it",
        program.display()
    );
    let cluster = shared(engine);
    let proxy = Setup::of(cluster).endpoint("app", "consistency = \"global\"").start();
    let Target::Tcp(address) = proxy.target("app") else { panic!("the endpoint is on TCP") };
    let output = Command::new(program)
        .args(arguments)
        .env("DB_HOST", address.ip().to_string())
        .env("DB_PORT", address.port().to_string())
        .env("DB_USER", sandbox::APP_USER)
        .env("DB_PASSWORD", sandbox::APP_PASSWORD)
        .env("DB_SCHEMA", schema(cluster))
        .env("NODE_PATH", installed().join("node/node_modules"))
        .output()
        .unwrap_or_else(|error| {
            panic!("{}: {error}: scripts/install-deps.sh test installs it", program.display())
        });
    assert!(
        output.status.success(),
        "{} {arguments:?}: {}\n{}{}",
        program.display(),
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}

/// The programs' sources.
fn source(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/drivers");
    root.join(path).display().to_string()
}

/// Where the drivers were installed: beside what cargo builds for this test, `TARGET/drivers`.
fn installed() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_tidemark"));
    program.ancestors().nth(2).unwrap().join("drivers")
}

fn python(engine: Engine, driver: &str) {
    check(engine, &installed().join("python/bin/python"), &[&source("python/steps.py"), driver]);
}

fn pymysql(engine: Engine) {
    python(engine, "pymysql");
}

fn mysql_connector_python(engine: Engine) {
    python(engine, "connector");
}

fn mysqlclient(engine: Engine) {
    python(engine, "mysqlclient");
}

fn node_mysql2(engine: Engine) {
    check(engine, Path::new("node"), &[&source("node/steps.js")]);
}

fn go_sql_driver(engine: Engine) {
    check(engine, &installed().join("go/steps"), &[]);
}

fn rust_mysql_async(engine: Engine) {
    check(engine, &installed().join("rust/debug/drivers"), &["mysql_async"]);
}

fn rust_sqlx(engine: Engine) {
    check(engine, &installed().join("rust/debug/drivers"), &["sqlx"]);
}

/// The command line client that comes with a server.
fn client(engine: Engine, of: Engine) {
    let cluster = shared(of);
    let program = cluster.primary().client_program().display().to_string();
    check(engine, Path::new("sh"), &[&source("client/steps.sh"), &program]);
}

fn client_of_mysql(engine: Engine) {
    client(engine, Engine::Mysql);
}

fn client_of_mariadb(engine: Engine) {
    client(engine, Engine::Mariadb);
}

fn client_of_mariadb_11(engine: Engine) {
    client(engine, Engine::Mariadb11);
}
