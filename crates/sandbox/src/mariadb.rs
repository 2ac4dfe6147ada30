//! What is MariaDB's own: its options, its initial data and its replication statements.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    APP_PASSWORD, APP_USER, Error, MONITOR_PASSWORD, MONITOR_USER, REPLICATION_PASSWORD, REPLICATION_USER,
    Result, account,
    command::{check, name},
    keys,
    options::{ClusterOptions, ReplicaLog},
    placement::Placement,
    programs::Programs,
};

const REDO_LOG: &str = "--innodb-log-file-size=16M";

/// The scripts that make the system tables, under the names of 11.x and of 10.x.
const SYSTEM_SCRIPTS: [[&str; 2]; 4] = [
    ["mariadb_system_tables.sql", "mysql_system_tables.sql"],
    ["mariadb_performance_tables.sql", "mysql_performance_tables.sql"],
    ["mariadb_system_tables_data.sql", "mysql_system_tables_data.sql"],
    ["mariadb_sys_schema.sql", "mysql_sys_schema.sql"],
];

/// Statements run while the data directory is made: accounts and schemas. One per line, as the server reads them.
///
/// The application's account may do everything but ignore `read_only`: on MySQL `super_read_only` stops every account, and a
/// write sent to a replica by mistake must fail here as it does there.
pub(crate) fn accounts_sql() -> String {
    let create = |user: &str, password: &str, privileges: &str, option: &str| {
        format!(
            "CREATE USER {user}@'%' IDENTIFIED BY '{password}';\nGRANT {privileges} ON *.* TO {user}@'%'{option};\n"
        )
    };
    [
        "FLUSH PRIVILEGES;\n".to_owned(),
        create(APP_USER, APP_PASSWORD, "ALL", " WITH GRANT OPTION"),
        format!("REVOKE READ ONLY ADMIN ON *.* FROM {APP_USER}@'%';\n"),
        create(MONITOR_USER, MONITOR_PASSWORD, "REPLICATION CLIENT, SLAVE MONITOR, PROCESS, SELECT", ""),
        create(REPLICATION_USER, REPLICATION_PASSWORD, "REPLICATION SLAVE", ""),
        "CREATE DATABASE app;\nCREATE DATABASE sbtest;\n".to_owned(),
    ]
    .concat()
}

/// Makes a data directory with the system tables, accounts and schemas.
///
/// This does what `mariadb-install-db` does, without that script: it would start the system's server, not an unpacked one.
/// Root has no password; its socket lies in a directory that is closed to others.
pub(crate) fn initialise(programs: &Programs, data: &Path) -> Result<()> {
    fs::create_dir(data).map_err(Error::file("cannot create", data))?;
    account::hand_over(data, 0o700)?;
    let mut sql =
        "CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n".to_owned();
    for names in SYSTEM_SCRIPTS {
        let path = existing(&programs.usr.join("share"), names)?;
        sql.push_str(&fs::read_to_string(&path).map_err(Error::file("cannot read", path))?);
    }
    // The account root@HOSTNAME would be one more without a password; the scripts mark its lines.
    let mut sql: String = sql
        .lines()
        .filter(|line| !line.contains("@current_hostname"))
        .flat_map(|line| [line, "\n"])
        .collect();
    sql.push_str("USE mysql;\n");
    sql.push_str(&accounts_sql());
    let mut command = Command::new(&programs.server);
    command
        .args(program_options(programs))
        .args(["--bootstrap", REDO_LOG, "--innodb-flush-method=nosync", "--innodb-doublewrite=0"])
        .args(["--enforce-storage-engine=", "--max-allowed-packet=8M", "--net-buffer-length=16K"])
        .arg(format!("--datadir={}", data.display()));
    feed(&mut command, &sql)
}

/// Runs a program with `input` as its standard input.
fn feed(command: &mut Command, input: &str) -> Result<()> {
    let program = name(command);
    let failed = |source| Error::Spawn { program: program.clone(), source };
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        // A program that stops reading has said why on its standard error; the broken pipe itself tells nothing.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
        child.wait_with_output()
    });
    check(program.clone(), &output.map_err(failed)?)
}

fn existing(share: &Path, names: [&str; 2]) -> Result<PathBuf> {
    ["mariadb", "mysql"]
        .iter()
        .flat_map(|directory| names.map(|name| share.join(directory).join(name)))
        .find(|path| path.exists())
        .ok_or_else(|| Error::Machine(format!("{} holds no {}", share.display(), names.join(" or "))))
}

/// Options every run of the program needs, wherever it was unpacked. Must come first: `--no-defaults` is only read there.
fn program_options(programs: &Programs) -> Vec<String> {
    let usr = &programs.usr;
    let mut options = vec!["--no-defaults".to_owned(), format!("--basedir={}", usr.display())];
    for share in ["mariadb", "mysql"] {
        let share = usr.join("share").join(share);
        if share.join("english").is_dir() {
            options.push(format!("--lc-messages-dir={}", share.display()));
        }
        if share.join("charsets").is_dir() {
            options.push(format!("--character-sets-dir={}", share.join("charsets").display()));
        }
    }
    options.push(format!("--plugin-dir={}", plugin_directory(usr).display()));
    options.extend(account::server_options());
    options
}

fn plugin_directory(usr: &Path) -> PathBuf {
    let new = usr.join("lib/mariadb/plugin");
    if new.is_dir() { new } else { usr.join("lib/mysql/plugin") }
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
            "--gtid-domain-id=0",
            "--gtid-strict-mode=1",
            "--binlog-format=ROW",
            "--sync-binlog=0",
            "--relay-log=relay",
            "--skip-slave-start=0",
            "--table-open-cache=400",
            REDO_LOG,
            "--innodb-doublewrite=0",
            "--key-buffer-size=1M",
            "--aria-pagecache-buffer-size=1M",
        ]
        .map(str::to_owned),
    );
    all.push(format!("--performance-schema={}", u8::from(options.performance_schema)));

    if options.tls {
        for (option, file) in [("ca", keys::CA), ("cert", keys::CERTIFICATE), ("key", keys::KEY)] {
            all.push(format!("--ssl-{option}={}", placement.data().join(file).display()));
        }
    } else {
        // 11.4 and newer make themselves a certificate unless told not to.
        all.push("--skip-ssl".to_owned());
    }
    match placement.log {
        ReplicaLog::Full => all.extend(["--log-bin=binlog".to_owned(), "--log-slave-updates=1".to_owned()]),
        ReplicaLog::OwnOnly => {
            all.extend(["--log-bin=binlog".to_owned(), "--log-slave-updates=0".to_owned()])
        }
        ReplicaLog::Off => all.push("--skip-log-bin".to_owned()),
    }
    all
}

/// Makes a server follow the primary at `port`: from what it has, or without GTIDs from the beginning.
///
/// `MASTER_DEMOTE_TO_SLAVE` counts what a former primary wrote itself (10.10 and newer); without a binary log it is an error.
pub(crate) fn follow_sql(port: u16, gtid: bool, has_binary_log: bool) -> String {
    let position = match (gtid, has_binary_log) {
        (true, true) => "MASTER_USE_GTID=slave_pos, MASTER_DEMOTE_TO_SLAVE=1",
        (true, false) => "MASTER_USE_GTID=slave_pos",
        (false, _) => "MASTER_USE_GTID=no, MASTER_LOG_FILE='binlog.000001', MASTER_LOG_POS=4",
    };
    format!(
        "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='{REPLICATION_USER}', \
         MASTER_PASSWORD='{REPLICATION_PASSWORD}', {position}, MASTER_CONNECT_RETRY=1, MASTER_HEARTBEAT_PERIOD=1, \
         MASTER_SSL=0, MASTER_SSL_VERIFY_SERVER_CERT=0; START SLAVE"
    )
}
