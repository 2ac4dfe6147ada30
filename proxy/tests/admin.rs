//! The admin API and its commands before a real cluster: what an operator changes is in force for the next statement of
//! sessions that are open already, and what is counted is what happened.
#![cfg(test)]

#[allow(dead_code, reason = "each theme uses a part of it")]
mod harness;

mod admin {
    mod changes;
    mod commands;
    mod counters;
    mod http;
}
