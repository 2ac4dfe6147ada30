//! What a stranger is told: what runs here, how to take part, and how to end it.

use std::io::{self, Write};

use sandbox::{Cluster, Engine};

use super::DELAY_S;
use super::setting::{Setting, TIMEOUT_US};
use crate::config::Level;

/// The first line, before the seconds in which the servers start.
pub(super) fn starting(engine: Engine, replicas: u8) -> io::Result<()> {
    let name = match engine {
        Engine::Mysql => "MySQL",
        Engine::Mariadb | Engine::Mariadb11 => "MariaDB",
    };
    let mut out = io::stdout().lock();
    writeln!(out, "Starting a private {name} cluster: one primary and {replicas} replica(s) ...")?;
    out.flush()
}

/// Everything there is to know, once the endpoints are open.
pub(super) fn write(cluster: &Cluster, setting: &Setting, load: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text(cluster, setting, load).as_bytes())?;
    out.flush()
}

/// The last line. Whoever closed the terminal does not read it.
pub(super) fn goodbye() {
    let _ = writeln!(io::stdout(), "\nStopped; the servers and their directory are gone.");
}

fn text(cluster: &Cluster, setting: &Setting, load: bool) -> String {
    let mut text = String::from("\nTidemark runs before these servers, which are yours to break:\n\n");
    let slowed = cluster.replicas().first().map(|replica| replica.name());
    for (index, server) in cluster.servers().iter().enumerate() {
        let role = if index == 0 { "primary" } else { "replica" };
        let note = if Some(server.name()) == slowed {
            format!(", slowed: it applies every write {DELAY_S} s late")
        } else {
            String::new()
        };
        let pid = server.pid().map_or_else(String::new, |pid| format!("  pid {pid}"));
        text.push_str(&format!("  {}  {}{pid}  {role}{note}\n", server.name(), server.address()));
    }
    text.push_str(
        "\nConnect to an endpoint as to a server. Reads go to the replicas, everything else to the primary:\n\n",
    );
    let client = cluster.primary().client_program().display();
    for (level, port) in setting.endpoints() {
        text.push_str(&format!(
            "  {client} -h127.0.0.1 -P{port} -u{user} -p{password} app\n      {level}: {meaning}\n",
            user = sandbox::APP_USER,
            password = sandbox::APP_PASSWORD,
            level = level.as_str(),
            meaning = meaning(level),
        ));
    }
    text.push_str(
        "\nThere, TIDEMARK SHOW ROUTE tells where the last statement ran and why; TIDEMARK SHOW NODES, how the servers\n\
         are.\n",
    );
    text.push_str(&format!(
        "\nThe console shows the same in a browser: http://127.0.0.1:{}/\n",
        setting.admin_port()
    ));
    if load {
        text.push_str(&format!(
            "\nThe load: two clients on each endpoint write a row and read it back at once, four times; on the global\n\
             endpoint also rows that another client wrote, or that were written on the primary past the proxy. A read is\n\
             stale when it returns less than was written. At the levels session and global a read waits up to {TIMEOUT_US} us\n\
             for a replica that is fresh enough (\"waited\"), then goes to the primary (\"to primary\").\n",
        ));
    }
    text.push_str(&format!("\nCtrl-C stops everything and removes {}.\n\n", cluster.directory().display()));
    text
}

fn meaning(level: Level) -> &'static str {
    match level {
        Level::Eventual => "any replica, however late; a read may miss what you have just written",
        Level::Session => "you see what you have written, and never go back in time",
        Level::Global => "you see what anybody had written before you asked",
    }
}
