//! Every conversation with a server, and the same one through the proxy.

use std::time::Instant;

use sandbox::Engine;

use super::converse::{Answer, Pass, converse};
use super::corpus::{Free, Line, conversations, is_whole};
use super::facts::{Fact, differences};
use super::stage::Stage;
use crate::harness::on_every_engine;

on_every_engine!(as_text, prepared);

/// Of the whole corpus, and those that watch the replica: fewer would mean that the proxy uses the primary alone.
const READS_AT_LEAST: u32 = 1_000;

fn as_text(engine: Engine) {
    compare(engine, Pass::Text);
}

fn prepared(engine: Engine) {
    compare(engine, Pass::Binary);
}

/// The newest MariaDB, whose replies are laid out as those of 10.11 are.
#[test]
fn mariadb_11_8_as_text() {
    compare(Engine::Mariadb11, Pass::Text);
}

fn compare(engine: Engine, pass: Pass) {
    let stage = Stage::new(engine);
    let (mut said, mut wrong, mut count) = (String::new(), 0, 0);
    let (begin, reads) = (Instant::now(), stage.reads_on_replica());
    for lines in conversations(engine.family()) {
        let file_begin = Instant::now();
        stage.clear();
        let server = converse(&stage.server(), &lines, pass);
        let server_time = file_begin.elapsed();
        stage.clear();
        let proxy = converse(&stage.through_proxy(), &lines, pass);
        let differ = faults(&lines, pass, &server, &proxy);
        eprintln!(
            "{engine} {pass:?} {}: {} statements, {} of them errors, in {:?}, without the proxy {server_time:?}",
            lines[0].file,
            lines.len(),
            server.iter().filter(|answer| answer.error().is_some()).count(),
            file_begin.elapsed()
        );
        if !is_whole() {
            show_errors(&lines, &server);
        }
        count += lines.len();
        if differ.is_empty() {
            continue;
        }
        // Whether it is the statement's fault: the server itself may not say the same thing twice. What it says once, it may
        // also say through the proxy.
        stage.clear();
        let again = converse(&stage.server(), &lines, pass);
        let still = faults(&lines, pass, &again, &proxy);
        for (index, fault) in differ {
            if !still.iter().any(|(other, _)| *other == index) {
                continue;
            }
            let varies = !differences(&server[index].said, &again[index].said, lines[index].free).is_empty();
            let hint = if varies { "    the server does not repeat itself here\n" } else { "" };
            said += &format!("{}\n{fault}{hint}", lines[index].place());
            wrong += 1;
        }
    }
    let reads = stage.reads_on_replica() - reads;
    eprintln!(
        "{engine} {pass:?}: {count} statements in {:?}, {reads} of the proxy's reads on the replica",
        begin.elapsed()
    );
    assert!(!is_whole() || reads >= READS_AT_LEAST, "only {reads} reads ran on the replica");
    assert!(wrong == 0, "\n{engine} {pass:?}: {wrong} statements\n{said}");
}

/// For who writes statements: which of them are refused.
fn show_errors(lines: &[Line], answers: &[Answer]) {
    for (line, answer) in lines.iter().zip(answers) {
        if let Some(error) = answer.error() {
            eprintln!("    {}\n        {error}", line.place());
        }
    }
}

/// The indexes of the lines that are not answered alike, or not as differently as known; and how they are.
fn faults(lines: &[Line], pass: Pass, server: &[Answer], proxy: &[Answer]) -> Vec<(usize, String)> {
    let pairs = lines.iter().zip(server.iter().zip(proxy)).enumerate();
    pairs
        .filter_map(|(index, (line, (server, proxy)))| {
            let known = line.known[usize::from(pass == Pass::Binary)].as_deref().unwrap_or_default();
            Some((index, fault(line.free, known, server, proxy)?))
        })
        .collect()
}

fn fault(free: Free, known: &str, server: &Answer, proxy: &Answer) -> Option<String> {
    let mut found = differences(&server.said, &proxy.said, free);
    // Errors' texts are told there once more.
    let told = if free == Free::Words { Free::Values } else { Free::Nothing };
    let warned = differences(&server.warned, &proxy.warned, told);
    found.extend(warned.into_iter().map(|difference| format!("SHOW WARNINGS {difference}")));
    let found = found.join("; ");
    if found == known {
        return None;
    }
    let known = if known.is_empty() { String::new() } else { format!("    known: {known}\n") };
    Some(format!("    server / proxy: {found}\n{known}"))
}

#[test]
fn a_known_difference_must_be_as_it_is_described() {
    let answer = |warnings| Answer { said: vec![Fact::Warnings(warnings)], warned: Vec::new() };
    let fault = |known: &str, other| fault(Free::Nothing, known, &answer(1), &answer(other));
    assert_eq!(fault("", 1), None);
    assert_eq!(fault("warnings: 1 / 0", 0), None);
    assert!(fault("", 0).unwrap().contains("warnings: 1 / 0"));
    assert!(fault("warnings: 1 / 0", 1).is_some() && fault("warnings: 1 / 0", 2).is_some());
}

#[test]
fn what_show_warnings_says_is_compared() {
    let answer = |row: &[u8]| Answer { said: Vec::new(), warned: vec![Fact::Row(row.to_vec())] };
    let fault = fault(Free::Values, "", &answer(b"a"), &answer(b"b")).unwrap();
    assert!(fault.contains("SHOW WARNINGS row: a / b"), "{fault}");
}
