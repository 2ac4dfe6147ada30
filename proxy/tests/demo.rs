//! `tidemark demo` as a person sees it: the program is run, its output read, and ended in each of the ways there are.
#![cfg(test)]

use std::io::{BufRead, BufReader, Lines};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sandbox::Engine;

/// Time for anything on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running demonstration with a directory of its own. Killed when dropped.
struct Demo {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    directory: PathBuf,
    port: u16,
}

impl Demo {
    fn start(engine: &str, name: &str, more: &[&str]) -> Self {
        sandbox::install(engine.parse::<Engine>().unwrap()).unwrap();
        let directory = std::env::temp_dir().join(format!("tidemark-demo-{name}-{}", std::process::id()));
        let port = free_ports();
        let mut child = command(engine, port)
            .arg("--dir")
            .arg(&directory)
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines, directory, port }
    }

    /// Reads on to a line that begins so.
    fn line(&mut self, start: &str) -> String {
        let mut seen = String::new();
        for line in &mut self.lines {
            let line = line.unwrap();
            if line.starts_with(start) {
                return line;
            }
            seen.push_str(&line);
            seen.push('\n');
        }
        panic!("the output ended before a line with {start:?}:\n{seen}");
    }

    fn signal(&self, signal: &str) {
        let kill = Command::new("kill").args(["-s", signal, &self.child.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    fn end(&mut self) -> ExitStatus {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("it has not ended within {PATIENCE:?}");
    }

    /// The servers were told to end and the directory to go: by the program, or by the guard a moment later.
    #[track_caller]
    fn is_gone(&self) {
        let begin = Instant::now();
        while self.directory.exists() {
            assert!(begin.elapsed() < PATIENCE, "{} is still there", self.directory.display());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It may have ended, as it should.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(engine: &str, port: u16) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidemark"));
    command.args(["demo", "--engine", engine, "--port", &port.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    command
}

/// A first port such that nobody listens where the demonstration would. No two tests get the same.
fn free_ports() -> u16 {
    static GIVEN: AtomicU16 = AtomicU16::new(0);
    let seed = u16::try_from(std::process::id() % 90).unwrap();
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    let ports = std::iter::repeat_with(|| 11_000 + (seed + GIVEN.fetch_add(1, Ordering::Relaxed)) % 90 * 100);
    ports.take(90).find(|port| [0, 1, 2, 34].iter().all(|offset| is_free(port + offset))).unwrap()
}

/// The stale reads and the reads of a line such as `session  288  99 %  0 of 288 (0 %)  ...`.
fn stale(line: &str) -> (u64, u64) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let of = words.iter().position(|word| *word == "of").unwrap();
    (words[of - 1].parse().unwrap(), words[of + 1].parse().unwrap())
}

fn only_the_eventual_endpoint_shows_stale_reads(engine: &str) {
    let mut demo = Demo::start(engine, engine, &[]);
    assert!(demo.line("  db2").contains("slowed"));
    for port in demo.port..demo.port + 3 {
        let line = demo.line("  /");
        assert!(line.contains(&format!("-P{port} ")), "{line}");
    }
    demo.line("    5 s");
    let (stale_reads, reads) = stale(&demo.line("eventual"));
    assert!(stale_reads > reads / 10, "{stale_reads} of {reads}");
    for level in ["session", "global"] {
        let line = demo.line(level);
        let (stale_reads, reads) = stale(&line);
        assert!(stale_reads == 0 && reads > 0, "{line}");
    }
    demo.signal("INT");
    demo.line("Stopped");
    assert_eq!(demo.end().code(), Some(0));
    demo.is_gone();
}

#[test]
fn only_the_eventual_endpoint_shows_stale_reads_on_mysql() {
    only_the_eventual_endpoint_shows_stale_reads("mysql");
}

#[test]
fn only_the_eventual_endpoint_shows_stale_reads_on_mariadb() {
    only_the_eventual_endpoint_shows_stale_reads("mariadb");
}

#[test]
fn without_a_load_it_waits_for_its_end() {
    let mut demo = Demo::start("mariadb", "no-load", &["--no-load", "--replicas", "1"]);
    demo.line("Ctrl-C stops everything");
    thread::sleep(Duration::from_millis(1500));
    demo.signal("TERM");
    assert_eq!(demo.lines.next().unwrap().unwrap(), "", "nothing was reported");
    demo.line("Stopped");
    assert_eq!(demo.end().code(), Some(0));
    demo.is_gone();
}

#[test]
fn a_closed_terminal_ends_it() {
    let mut demo = Demo::start("mariadb", "hang-up", &[]);
    demo.line("    1 s");
    demo.signal("HUP");
    assert_eq!(demo.end().code(), Some(0));
    demo.is_gone();
}

#[test]
fn a_reader_that_has_gone_ends_it() {
    let mut demo = Demo::start("mariadb", "pipe", &[]);
    demo.line("    1 s");
    // Closes the pipe: the next block cannot be written.
    demo.lines =
        BufReader::new(Command::new("true").stdout(Stdio::piped()).spawn().unwrap().stdout.unwrap()).lines();
    assert_eq!(demo.end().code(), Some(0));
    demo.is_gone();
}

#[test]
fn ctrl_c_ends_the_start_too() {
    let mut demo = Demo::start("mariadb", "early", &[]);
    demo.line("Starting");
    let begin = Instant::now();
    while !demo.directory.join("db1").exists() {
        assert!(begin.elapsed() < PATIENCE, "no server is being started");
        thread::sleep(Duration::from_millis(5));
    }
    demo.signal("INT");
    assert_eq!(demo.end().code(), Some(0));
    demo.is_gone();
}

#[test]
fn what_cannot_be_had_is_told_at_once() {
    let port = free_ports();
    let _taken = TcpListener::bind(("127.0.0.1", port + 1)).unwrap();
    let output = command("mariadb", port).stderr(Stdio::piped()).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(&format!("port {} of 127.0.0.1 is taken", port + 1)), "{text}");
    assert!(text.contains(&format!("--port {}", port + 1000)), "{text}");

    let output =
        command("mariadb", free_ports()).args(["--dir", "/"]).stderr(Stdio::piped()).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("not an empty directory"), "{text}");
}
