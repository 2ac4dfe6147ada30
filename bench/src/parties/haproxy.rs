//! HAProxy in TCP mode: it passes bytes on and reads none of them, so that the application must know where to read.

use std::fmt::Write;
use std::path::Path;

use super::{Doors, Node, Party, Place, THREADS, free_address, split};
use crate::error::Result;

/// The name of the party that the others are compared with.
pub(crate) const NAME: &str = "haproxy";

pub(super) fn start(program: &Path, nodes: &[Node], place: &Place) -> Result<Party> {
    let (primary, replicas) = split(nodes)?;
    let (reads, writes) = (free_address(), free_address());
    // More connections than these would need more descriptors than many systems allow.
    let mut text = format!(
        "global\n    nbthread {THREADS}\n    maxconn 4000\n\
         defaults\n    mode tcp\n    timeout connect 5s\n    timeout client 1h\n    timeout server 1h\n\
         listen writes\n    bind {writes}\n    server primary {primary}\n\
         listen reads\n    bind {reads}\n    balance roundrobin\n"
    );
    for (name, address) in replicas {
        let _ = writeln!(text, "    server {name} {address}");
    }
    let config = place.write("haproxy.cfg", &text)?;
    let arguments = ["-db".to_owned(), "-f".to_owned(), config.display().to_string()];
    let process = place.run(program, &arguments)?;
    Ok(Party { name: NAME, doors: Doors::Apart { reads: vec![reads], writes }, process: Some(process) })
}
