//! What the consistency levels promise, on real clusters that are broken on purpose: replicas that stand still, lag, flap,
//! run ahead of their primary, are killed and promoted.
#![cfg(test)]

#[allow(dead_code, reason = "each theme uses a part of it")]
mod harness;

mod consistency {
    #[path = "../admin/http.rs"]
    #[allow(dead_code, reason = "one part of it is used here")]
    mod http;

    mod ahead;
    mod behind;
    mod busy;
    mod corners;
    mod costs;
    mod failures;
    mod large;
    mod load;
    mod lost;
    mod monotonic;
    mod others;
    mod positions;
    mod rotation;
    mod scene;
    mod scope;
    mod speculation;
    mod tokens;
    mod transactions;
    mod waiting;
    mod wavering;
    mod writes;
}
