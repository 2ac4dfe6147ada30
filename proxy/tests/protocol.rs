//! What a client sees through the proxy is what it would see from the server itself, packet by packet.
#![cfg(test)]

#[allow(dead_code, reason = "each theme uses a part of it")]
mod harness;

mod protocol {
    mod beginnings;
    mod compressed;
    mod cursors;
    mod diagnostics;
    mod followers;
    mod infile;
    mod large;
    mod payloads;
    mod pipelining;
    mod prepared;
    mod recorder;
    mod session_state;
    mod statements;
}
