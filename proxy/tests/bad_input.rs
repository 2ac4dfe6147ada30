//! Input that no honest client or server sends: it ends the connection it came on, with an error and a line in the log,
//! and nothing else.
#![cfg(test)]

#[allow(dead_code, reason = "each theme uses a part of it")]
mod harness;

mod bad_input {
    mod before_login;
    mod chance;
    mod commands;
    mod fake_node;
    mod growth;
    mod half_closed;
    mod replies;
    mod resources;
}
