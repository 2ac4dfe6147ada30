//! A few seconds of what `make prove` does for ten minutes: the levels, checked under faults, on a cluster of each family.
#![cfg(test)]

use std::path::PathBuf;
use std::time::Duration;

use prove::fault::Kind;
use prove::history::Level;
use prove::run::{Extent, Options, family};
use sandbox::Engine;

/// Nothing broken, each of two faults alone, and both of them at the same time.
const ACTS: usize = 4;

fn smoke(engine: Engine) {
    let seed = 1;
    let options = Options {
        seed,
        extent: Extent::Acts(ACTS),
        rest: Duration::from_millis(2),
        proxy: PathBuf::from(env!("CARGO_BIN_EXE_tidemark")),
        sabotaged: None,
        faults: vec![Kind::ApplierStopped, Kind::ConnectionsCut],
        keep: std::env::temp_dir().join(format!("tidemark-prove-test-{}", std::process::id())),
    };
    let report = family(&options, engine, &mut |line| eprintln!("{line}")).unwrap();
    assert_eq!(report.violations(), 0, "see above");
    assert!(report.catches(), "replicas that apply nothing showed nothing old: the checker sees nothing");
    for level in Level::OFFERED {
        let total = report.total(level);
        assert!(total.reads > 100, "{}: too few reads to tell anything", level.as_str());
        assert!(total.on_replicas > 0, "{}: no replica served a read", level.as_str());
    }
}

#[test]
fn mysql_keeps_every_promise() {
    smoke(Engine::Mysql);
}

#[test]
fn mariadb_keeps_every_promise() {
    smoke(Engine::Mariadb);
}
