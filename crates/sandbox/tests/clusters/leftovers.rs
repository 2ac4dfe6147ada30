//! Nothing is left of a cluster, however the program that started it ends.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use crate::engines::{cluster, eventually, on_each_engine, options};
use sandbox::Engine;

on_each_engine!(dropping_removes_servers_and_directory, a_killed_program_leaves_nothing_behind);

/// Tells a copy of this test program to start a cluster and wait for its end.
const CHILD: &str = "SANDBOX_TEST_CHILD";

fn dropping_removes_servers_and_directory(engine: Engine) {
    let cluster = cluster(options(engine).replicas(1));
    let directory = cluster.directory().to_owned();
    assert!(directory.exists());
    assert_eq!(servers_of(&directory), 2);
    drop(cluster);
    assert!(!directory.exists());
    assert_eq!(servers_of(&directory), 0);
}

fn a_killed_program_leaves_nothing_behind(engine: Engine) {
    if std::env::var_os(CHILD).is_some() {
        let cluster = cluster(options(engine).replicas(1));
        println!("directory {}", cluster.directory().display());
        thread::sleep(Duration::from_secs(600));
    }
    // SIGKILL; and SIGINT, which a program without a handler does not survive either.
    for signal in ["KILL", "INT"] {
        let (mut child, directory) = start_child(engine);
        assert_eq!(servers_of(&directory), 2);
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert!(child.wait().unwrap().signal().is_some());
        eventually("servers and directory are gone", || servers_of(&directory) == 0 && !directory.exists());
    }
}

fn start_child(engine: Engine) -> (Child, PathBuf) {
    let test = format!("leftovers::{engine}::a_killed_program_leaves_nothing_behind");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &test, "--nocapture"])
        .env(CHILD, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let directory = lines.map_while(Result::ok).find_map(|line| {
        // The test runner's own line about the test may come before it without a line break.
        line.split_once("directory ").map(|(_, path)| PathBuf::from(path))
    });
    (child, directory.expect("the child started a cluster"))
}

/// The number of processes with a data directory under `directory`.
fn servers_of(directory: &Path) -> usize {
    let mark = format!("--datadir={}/", directory.display());
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| {
            let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&command).contains(&mark)
        })
        .count()
}
