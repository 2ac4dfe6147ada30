//! The direction of dependencies that ARCHITECTURE.md promises, held by reading the sources.

#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every Rust file of a module, which is a folder or a single file.
fn sources(module: &Path) -> Vec<PathBuf> {
    if module.is_file() {
        return vec![module.to_owned()];
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(module).unwrap_or_else(|error| panic!("{}: {error}", module.display())) {
        found.extend(match entry.unwrap().path() {
            path if path.is_dir() => sources(&path),
            path if path.extension().is_some_and(|extension| extension == "rs") => vec![path],
            _ => Vec::new(),
        });
    }
    found
}

/// The lines of code of a module, without comments and tests, with their place.
fn code(module: &str) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for path in sources(&root().join(module)) {
        if path.components().any(|part| part.as_os_str().to_string_lossy().contains("tests")) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for (number, line) in product.lines().enumerate() {
            let line = line.split("//").next().unwrap_or_default().trim();
            if !line.is_empty() {
                lines.push((format!("{}:{}", path.display(), number + 1), line.to_owned()));
            }
        }
    }
    assert!(!lines.is_empty(), "{module} has no code");
    lines
}

/// No line of these modules mentions one of these.
#[track_caller]
fn never(modules: &[&str], banned: &[&str]) {
    for module in modules {
        for (place, line) in code(module) {
            for word in banned {
                assert!(!line.contains(word), "{place} must not use {word}: {line}");
            }
        }
    }
}

#[test]
fn the_pure_crates_do_no_io_and_know_no_program() {
    let pure = ["crates/wire/src", "crates/sql/src", "crates/gtid/src"];
    never(&pure, &["tokio", "std::net", "std::fs", "std::io", "std::time", "std::thread", "println!"]);
    never(&["crates/wire/src"], &["sql::", "gtid::"]);
    never(&["crates/sql/src"], &["wire::", "gtid::"]);
    never(&["crates/gtid/src"], &["wire::", "sql::"]);
}

#[test]
fn the_route_decision_is_pure() {
    never(
        &["proxy/src/route"],
        &["tokio", "Instant::now", "Mutex", "RwLock", "async ", ".await;", ".await?", "tracing"],
    );
    for (place, line) in code("proxy/src/route") {
        if let Some((_, rest)) = line.split_once("crate::") {
            let allowed = ["cluster::snapshot", "config"];
            assert!(
                allowed.iter().any(|name| rest.starts_with(name)),
                "{place}: route sees too much: {line}"
            );
        }
    }
}

#[test]
fn the_snapshot_is_a_value() {
    never(
        &["proxy/src/cluster/snapshot.rs"],
        &["tokio", "Instant::now", "Mutex", "async ", ".await;", ".await?"],
    );
}

#[test]
fn the_road_knows_nothing_beside_it() {
    let road = [
        "proxy/src/transport",
        "proxy/src/frontend",
        "proxy/src/session",
        "proxy/src/route",
        "proxy/src/backend",
        "proxy/src/relay",
    ];
    never(
        &road,
        &["crate::admin", "crate::cli", "crate::demo", "crate::serve", "crate::runtime", "crate::live"],
    );
    never(
        &["proxy/src/transport"],
        &["crate::session", "crate::cluster", "crate::backend", "wire::reply", "sql::"],
    );
    never(&["proxy/src/relay"], &["crate::session", "crate::cluster", "crate::route", "sql::"]);
    never(&["proxy/src/backend"], &["crate::session", "crate::route", "crate::frontend", "sql::"]);
    never(&["proxy/src/cluster"], &["crate::session", "crate::frontend", "crate::relay", "crate::admin"]);
}

#[test]
fn only_one_file_builds_runtimes() {
    for (place, line) in code("proxy/src") {
        let builds = line.contains("runtime::Builder") || line.contains("Builder::new_current_thread");
        assert!(!builds || place.contains("runtime.rs"), "{place}: {line}");
    }
}
