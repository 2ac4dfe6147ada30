//! ProxySQL with the rules of its own manual for splitting: locking reads to the primary, other SELECTs to the replicas.

use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;

use sandbox::{APP_PASSWORD, APP_USER};

use super::{Doors, Node, Party, Place, THREADS, free_address};
use crate::error::Result;

pub(super) fn start(program: &Path, nodes: &[Node], place: &Place) -> Result<Party> {
    let (door, admin) = (free_address(), free_address());
    let config = place.write("proxysql.cnf", &text(nodes, door, admin, place))?;
    let arguments = [
        "-f".to_owned(),
        "--initial".to_owned(),
        "-c".to_owned(),
        config.display().to_string(),
        "-D".to_owned(),
        place.directory.display().to_string(),
    ];
    let process = place.run(program, &arguments)?;
    Ok(Party { name: "proxysql", doors: Doors::Together(door), process: Some(process) })
}

fn text(nodes: &[Node], door: SocketAddr, admin: SocketAddr, place: &Place) -> String {
    let mut servers = String::new();
    for (number, (_, address)) in nodes.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        let group = usize::from(number > 0);
        let _ = writeln!(
            servers,
            "  {comma}{{ address=\"{}\", port={}, hostgroup={group}, max_connections=4000 }}",
            address.ip(),
            address.port()
        );
    }
    format!(
        "datadir=\"{}\"\n\
         admin_variables={{ mysql_ifaces=\"{admin}\" }}\n\
         mysql_variables={{ threads={THREADS} max_connections=4000 interfaces=\"{door}\" monitor_enabled=false }}\n\
         mysql_servers=(\n{servers})\n\
         mysql_users=({{ username=\"{APP_USER}\", password=\"{APP_PASSWORD}\", default_hostgroup=0 }})\n\
         mysql_query_rules=(\n\
         \x20 {{ rule_id=1, active=1, match_digest=\"^SELECT.*FOR UPDATE\", destination_hostgroup=0, apply=1 }},\n\
         \x20 {{ rule_id=2, active=1, match_digest=\"^SELECT\", destination_hostgroup=1, apply=1 }})\n",
        place.directory.display()
    )
}
