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
    mysql_connector_python_pure,
    mysqlclient,
    mariadb_connector_python,
    asyncmy,
    sqlalchemy_pymysql,
    sqlalchemy_asyncmy,
    django,
    node_mysql2,
    node_mariadb,
    sequelize,
    typeorm,
    php_mysqli,
    php_pdo,
    java_mariadb,
    c_libmariadb,
    perl_dbd_mysql,
    perl_dbd_mariadb,
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
        .env("DB_COMPRESS", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1")
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

fn python(engine: Engine, program: &str, arguments: &[&str]) {
    let program = source(&format!("python/{program}"));
    check(engine, &installed().join("python/bin/python"), &[&[program.as_str()], arguments].concat());
}

fn pymysql(engine: Engine) {
    python(engine, "steps.py", &["pymysql"]);
}

fn mysql_connector_python(engine: Engine) {
    python(engine, "steps.py", &["connector"]);
}

fn mysql_connector_python_pure(engine: Engine) {
    python(engine, "steps.py", &["connector_pure"]);
}

fn mysqlclient(engine: Engine) {
    python(engine, "steps.py", &["mysqlclient"]);
}

fn mariadb_connector_python(engine: Engine) {
    python(engine, "steps.py", &["mariadb"]);
}

fn asyncmy(engine: Engine) {
    python(engine, "steps.py", &["asyncmy"]);
}

fn sqlalchemy_pymysql(engine: Engine) {
    python(engine, "orm_sqlalchemy.py", &["pymysql"]);
}

fn sqlalchemy_asyncmy(engine: Engine) {
    python(engine, "orm_sqlalchemy.py", &["asyncmy"]);
}

fn django(engine: Engine) {
    python(engine, "orm_django.py", &[]);
}

fn node_mysql2(engine: Engine) {
    check(engine, Path::new("node"), &[&source("node/mysql2.js")]);
}

fn node_mariadb(engine: Engine) {
    check(engine, Path::new("node"), &[&source("node/mariadb.js")]);
}

fn sequelize(engine: Engine) {
    check(engine, Path::new("node"), &[&source("node/orm_sequelize.js")]);
}

fn typeorm(engine: Engine) {
    let family = if engine == Engine::Mariadb { "mariadb" } else { "mysql" };
    check(engine, Path::new("node"), &[&source("node/orm_typeorm.js"), family]);
}

fn php_mysqli(engine: Engine) {
    check(engine, Path::new("php"), &[&source("php/steps.php"), "mysqli"]);
}

fn php_pdo(engine: Engine) {
    check(engine, Path::new("php"), &[&source("php/steps.php"), "pdo"]);
}

fn java_mariadb(engine: Engine) {
    let path = format!("{}:/usr/share/java/mariadb-java-client.jar", installed().join("java").display());
    check(engine, Path::new("java"), &["-Dfile.encoding=UTF-8", "-cp", &path, "Steps"]);
}

fn c_libmariadb(engine: Engine) {
    check(engine, &installed().join("c/steps"), &[]);
}

fn perl_dbd_mysql(engine: Engine) {
    check(engine, Path::new("perl"), &[&source("perl/steps.pl"), "mysql"]);
}

fn perl_dbd_mariadb(engine: Engine) {
    check(engine, Path::new("perl"), &[&source("perl/steps.pl"), "MariaDB"]);
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
