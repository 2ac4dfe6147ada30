//! Where statements run, as the session decides it: what the classifier knows, and what only the conversation so far
//! tells.
#![cfg(test)]

#[allow(dead_code, reason = "each theme uses a part of it")]
mod harness;

mod routing {
    mod bystanders;
    mod crowd;
    mod endpoints;
    mod failures;
    mod identity;
    mod insert_ids;
    mod pins;
    mod stage;
    mod state;
    mod texts;
    mod transactions;
    mod user_variables;
    mod weights;
    mod xa;
}
