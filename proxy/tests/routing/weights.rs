//! Reads spread over the nodes by weight.

use std::collections::HashMap;

use sandbox::Engine;

use crate::harness::clusters::shared;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};

on_every_engine!(shares);

const READS: u32 = 300;

/// How many of so many reads each node got, over several sessions.
fn spread(proxy: &Proxy, endpoint: &str) -> HashMap<String, u32> {
    let mut counts = HashMap::new();
    for _ in 0..10 {
        let mut client = Account::app().connect(&proxy.target(endpoint)).unwrap();
        for _ in 0..READS / 10 {
            client.run("SELECT 1");
            *counts.entry(client.route().node).or_default() += 1;
        }
    }
    counts
}

fn shares(engine: Engine) {
    let cluster = shared(engine);
    let proxy = Setup::of(cluster)
        .endpoint("even", "")
        .endpoint("uneven", "read_weight = { db2 = 300, db3 = 100 }")
        .endpoint("one", "read_weight = { db3 = 0 }")
        .endpoint("with_primary", "read_weight = { db1 = 100, db2 = 100, db3 = 0 }")
        .endpoint("none", "read_weight = { db2 = 0, db3 = 0 }")
        .endpoint("read_only", "mode = \"read-only\"\nread_weight = { db1 = 500 }")
        .endpoint("nowhere", "mode = \"read-only\"\nread_weight = { db2 = 0, db3 = 0 }")
        .start();
    // Four standard deviations of an even draw are 35.
    let near = |count: Option<&u32>, share: u32| {
        let count = *count.unwrap_or(&0);
        assert!(count.abs_diff(READS * share / 100) <= 40, "{count} of {READS}, not {share} %");
    };
    let even = spread(&proxy, "even");
    near(even.get("db2"), 50);
    near(even.get("db3"), 50);
    assert_eq!(even.get("db1"), None);
    let uneven = spread(&proxy, "uneven");
    near(uneven.get("db2"), 75);
    near(uneven.get("db3"), 25);
    assert_eq!(spread(&proxy, "one").keys().collect::<Vec<_>>(), ["db2"]);
    let with_primary = spread(&proxy, "with_primary");
    near(with_primary.get("db1"), 50);
    near(with_primary.get("db2"), 50);
    assert_eq!(with_primary.get("db3"), None);
    assert_eq!(spread(&proxy, "none").keys().collect::<Vec<_>>(), ["db1"]);
    assert_eq!(spread(&proxy, "read_only").get("db1"), None);
    let mut client = Account::app().connect(&proxy.target("nowhere")).unwrap();
    let error = client.error("SELECT 1");
    assert_eq!(error.code, 1105, "{error:?}");
}
