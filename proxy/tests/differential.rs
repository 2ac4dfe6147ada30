//! The same statements said to a server and through the proxy: whatever comes back is the same, byte by byte.
//!
//! The statements stand in `differential/corpus/*.sql`, one a line, by theme; `differential/corpus.rs` says how lines are
//! marked. Each file is a conversation. It is had with the primary itself, then in a schema made anew with the proxy, once
//! in text and once with prepared statements. `TIDEMARK_DIFFERENTIAL` names parts of files' names with commas between them, to run
//! these alone and show which statements are errors.
//!
//! The same corpus judges the classifier: what it calls safe on a replica is run on one.
#![cfg(test)]

#[allow(dead_code, reason = "each theme uses a part of it")]
mod harness;

mod differential {
    mod compare;
    mod converse;
    mod corpus;
    mod facts;
    mod judge;
    mod stage;
    mod tables;
}
