//! Logging in through the proxy: every kind of account, every way a password travels, and what a client is told that does
//! not get in.
#![cfg(test)]

#[allow(dead_code, reason = "each theme uses a part of it")]
mod harness;

mod login {
    mod accounts;
    mod change_user;
    mod changes;
    mod hosts;
    mod lent;
    mod pooled;
    mod refusals;
    mod storms;
    mod tls;
}
