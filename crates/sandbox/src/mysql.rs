//! What is MySQL's own: its options, its initial data and its replication statements.

use std::{fs, path::Path, process::Command};

use crate::{
    APP_PASSWORD, APP_USER, Error, MONITOR_PASSWORD, MONITOR_USER, REPLICATION_PASSWORD, REPLICATION_USER,
    Result, account,
    command::run,
    options::{ClusterOptions, ReplicaLog},
    placement::Placement,
    programs::Programs,
};

/// A log this small still suffices, and initialising with a smaller one takes longer.
const REDO_LOG: &str = "--innodb-redo-log-capacity=64M";

/// Statements run while the data directory is made: accounts and schemas. One per line, as the server reads them.
pub(crate) fn accounts_sql() -> String {
    let create = |user: &str, password: &str, privileges: &str, option: &str| {
        format!(
            "CREATE USER {user}@'%' IDENTIFIED WITH caching_sha2_password BY '{password}';\n\
             GRANT {privileges} ON *.* TO {user}@'%'{option};\n"
        )
    };
    [
        create(APP_USER, APP_PASSWORD, "ALL", " WITH GRANT OPTION"),
        create(MONITOR_USER, MONITOR_PASSWORD, "REPLICATION CLIENT, PROCESS, SELECT", ""),
        create(REPLICATION_USER, REPLICATION_PASSWORD, "REPLICATION SLAVE", ""),
        "CREATE DATABASE app;\nCREATE DATABASE sbtest;\n".to_owned(),
    ]
    .concat()
}

/// Makes a data directory with the accounts and schemas.
pub(crate) fn initialise(programs: &Programs, data: &Path) -> Result<()> {
    let script = data.with_extension("sql");
    fs::write(&script, accounts_sql()).map_err(Error::file("cannot write", &script))?;
    account::hand_over(&script, 0o644)?;
    run(Command::new(&programs.server)
        .args(program_options(programs))
        .args(["--initialize-insecure", "--skip-log-bin", REDO_LOG])
        .args([
            "--innodb-flush-method=nosync",
            "--innodb-flush-log-at-trx-commit=2",
            "--innodb-doublewrite=OFF",
        ])
        .arg(format!("--datadir={}", data.display()))
        .arg(format!("--init-file={}", script.display())))?;
    // Every copy must make its own server_uuid.
    let uuid = data.join("auto.cnf");
    match fs::remove_file(&uuid) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::file("cannot remove", uuid)(error))
        }
        _ => Ok(()),
    }
}

/// Options every run of the program needs, wherever it was unpacked. Must come first: `--no-defaults` is only read there.
fn program_options(programs: &Programs) -> Vec<String> {
    let usr = programs.usr.display();
    let mut options = vec![
        "--no-defaults".to_owned(),
        format!("--basedir={usr}"),
        format!("--lc-messages-dir={usr}/share/mysql"),
        format!("--character-sets-dir={usr}/share/mysql/charsets"),
        format!("--plugin-dir={usr}/lib/mysql/plugin"),
        // No statement may write files: the accounts' passwords are no secrets.
        "--secure-file-priv=NULL".to_owned(),
    ];
    options.extend(account::server_options());
    options
}

/// The options of one server of a cluster, the port left out.
pub(crate) fn server_options(
    programs: &Programs,
    options: &ClusterOptions,
    placement: &Placement,
) -> Vec<String> {
    let mut all = program_options(programs);
    all.extend(
        [
            "--mysqlx=OFF",
            "--enforce-gtid-consistency=ON",
            "--sync-binlog=0",
            "--relay-log=relay",
            "--skip-replica-start=OFF",
            "--table-open-cache=400",
            REDO_LOG,
            "--innodb-log-buffer-size=4M",
            "--innodb-doublewrite=OFF",
            "--innodb-buffer-pool-load-at-startup=OFF",
            "--innodb-buffer-pool-dump-at-shutdown=OFF",
        ]
        .map(str::to_owned),
    );
    let on = |on: bool| if on { "ON" } else { "OFF" };
    all.push(format!("--gtid-mode={}", on(options.gtid)));
    all.push(format!("--performance-schema={}", on(options.performance_schema)));

    if !options.tls {
        all.push("--tls-version=".to_owned());
    }
    match placement.log {
        ReplicaLog::Full => {
            all.extend(["--log-bin=binlog".to_owned(), "--log-replica-updates=ON".to_owned()])
        }
        ReplicaLog::OwnOnly => {
            all.extend(["--log-bin=binlog".to_owned(), "--log-replica-updates=OFF".to_owned()])
        }
        ReplicaLog::Off => all.push("--skip-log-bin".to_owned()),
    }
    all
}

/// Makes a server follow the primary at `port`: from what it has, or without GTIDs from the beginning.
pub(crate) fn follow_sql(port: u16, gtid: bool) -> String {
    let position =
        if gtid { "SOURCE_AUTO_POSITION=1" } else { "SOURCE_LOG_FILE='binlog.000001', SOURCE_LOG_POS=4" };
    format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='{REPLICATION_USER}', \
         SOURCE_PASSWORD='{REPLICATION_PASSWORD}', {position}, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=100000, \
         SOURCE_HEARTBEAT_PERIOD=1, SOURCE_SSL=0, GET_SOURCE_PUBLIC_KEY=1; START REPLICA"
    )
}
