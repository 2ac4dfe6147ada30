//! Every engine, started for real: what a cluster does, how it breaks, and what is left of it.

#![cfg(test)]

mod engines;
mod faults;
mod leftovers;
mod replication;
