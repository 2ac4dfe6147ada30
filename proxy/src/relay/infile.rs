//! LOAD DATA LOCAL INFILE: the server has asked for a file, and the client sends it in packets until an empty one.
//!
//! The file is never read here, and its content is never taken for a command: it passes as frames.

use wire::frame::{HEADER, Header, MAX_PAYLOAD};
use wire::reply::ReplyWalker;

use super::RelayError;
use crate::transport::Channel;

/// Passes the client's packets on to the server, up to and including the empty one that ends the file.
pub(super) async fn send(
    client: &mut Channel,
    server: &mut Channel,
    walker: &mut ReplyWalker,
) -> Result<(), RelayError> {
    let lost = |source| RelayError::Server { source, answered: true };
    // The client counts on from the packet it was sent, which may have another number than the server gave it.
    let shift = walker.sequence_shift();
    // An empty frame behind a full one ends that packet, not the file.
    let mut within_packet = false;
    loop {
        client.fill_to(HEADER).await.map_err(RelayError::Client)?;
        let header =
            Header::parse(client.unread()).ok_or(RelayError::ClientProtocol("a frame without a header"))?;
        let renumbered = Header { length: header.length, sequence: header.sequence.wrapping_sub(shift) };
        server.write(&renumbered.to_bytes()).await.map_err(lost)?;
        client.consume(HEADER);
        let mut rest = header.length;
        while rest > 0 {
            if client.unread().is_empty() {
                let read = client.fill().await.and_then(super::end_is_an_error);
                read.map_err(RelayError::Client)?;
            }
            let count = client.unread().len().min(rest);
            client.forward(count, server).await.map_err(lost)?;
            rest -= count;
        }
        let ended = header.length == 0 && !within_packet;
        within_packet = header.length == MAX_PAYLOAD;
        if ended {
            walker.resume_after_infile(renumbered.sequence.wrapping_add(1));
            return Ok(());
        }
    }
}
