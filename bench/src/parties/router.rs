//! MySQL Router with a port for reads and one for the rest. It splits statements by itself only before an InnoDB Cluster or
//! ReplicaSet, whose tables this cluster does not have.

use std::path::Path;

use super::{Doors, Node, Party, Place, THREADS, free_address, split};
use crate::error::Result;

pub(super) fn start(program: &Path, nodes: &[Node], place: &Place) -> Result<Party> {
    let (primary, replicas) = split(nodes)?;
    let (reads, writes) = (free_address(), free_address());
    let directory = place.directory.display();
    let replicas: Vec<String> = replicas.iter().map(|(_, address)| address.to_string()).collect();
    let routing = |name: &str, port: u16, destinations: &str, strategy: &str| {
        format!(
            "[routing:{name}]\nbind_address=127.0.0.1\nbind_port={port}\ndestinations={destinations}\n\
             routing_strategy={strategy}\nprotocol=classic\nclient_ssl_mode=PASSTHROUGH\n\
             server_ssl_mode=AS_CLIENT\nmax_connections=4000\n"
        )
    };
    let text = format!(
        "[DEFAULT]\nlogging_folder={directory}\nruntime_folder={directory}\ndata_folder={directory}\n\
         max_total_connections=8000\n[logger]\nlevel=WARNING\n[io]\nthreads={THREADS}\n{}{}",
        routing("reads", reads.port(), &replicas.join(","), "round-robin"),
        routing("writes", writes.port(), &primary.to_string(), "first-available"),
    );
    let config = place.write("router.conf", &text)?;
    let process = place.run(program, &["-c".to_owned(), config.display().to_string()])?;
    let doors = Doors::Apart { reads: vec![reads], writes };
    Ok(Party { name: "router", doors, process: Some(process) })
}
