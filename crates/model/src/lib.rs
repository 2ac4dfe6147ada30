//! The rules that keep the levels, as a model that is searched to the end: every order in which servers, watchers, probes,
//! sessions and faults can act, within small bounds.
//!
//! The world of the model: one primary that logs a write before it shows it and acknowledges it last, two replicas that
//! apply in their own time, two proxies, a writer that knows of none of them, and faults. The decisions are the
//! product's own: `route::route`, `route::Needs` and the positions of `gtid` are called, not copied. What surrounds
//! them in `cluster` and `session` is asynchronous there and is mirrored here; [`rules`] names, for each rule,
//! the function that it stands for.
//!
//! What must hold always ([`steps::Promise`]): S1 and S2 for the level `session`, G1 and G2 for `global`; whoever has lost a
//! write is told; and from everywhere every read that has begun can still be answered without anything new happening
//! (`holds`). Each rule is also left out on purpose, and the search must then find a way to break a promise
//! (`left_out`). `cargo test -p model -- --nocapture` prints the ways, and how much was searched.
//!
//! Where to begin: `state` is what can be told apart, `steps` what can happen; `servers`, `faults`, `probes`, `clients` and
//! `reads` are the steps of each part; `decisions` and `needs` ask the product.
//!
//! Deliberately absent: bytes, SQL, transactions of several statements, time. A wait may end at any moment, a sample may
//! be of any age, so that no result depends on how long something takes.
#![cfg(test)]

mod acknowledged;
mod clients;
mod decisions;
mod faults;
mod needs;
mod numbers;
mod probes;
mod question;
mod reads;
mod rules;
mod scenario;
mod search;
mod servers;
mod state;
mod steps;
mod trace;
mod writes;

mod holds;
mod left_out;
