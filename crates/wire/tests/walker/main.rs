//! The reply walker against recorded and generated replies.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test says by a panic what is wrong, also in the functions around it"
)]

mod chunking;
mod generated;
mod long_rows;
mod model;
mod parser;
mod recorded;
mod recording;
mod walk;
