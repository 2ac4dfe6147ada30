//! The program as a process, with a configuration of its own.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sandbox::{APP_PASSWORD, Cluster, MONITOR_PASSWORD, MONITOR_USER};

use super::clusters::unique;
use super::stream::{Stream, Target};

/// How long the program may take to open its endpoints.
const START_LIMIT: Duration = Duration::from_secs(30);

/// Lines of the log that are shown when a test fails.
const SHOWN: usize = 200;

/// Starts the program and tells its number; ends it when the test process has ended, however that came.
const GUARD: &str = r#"
"$@" </dev/null >/dev/null 2>"$LOG" &
echo $!
exec >/dev/null
while read -r _; do :; done
kill -KILL $! 2>/dev/null
wait
"#;

/// A configuration, made by chaining.
pub(crate) struct Setup {
    cluster: Vec<String>,
    nodes: Vec<(String, String)>,
    endpoints: Vec<(String, bool, String)>,
    tls: String,
    admin: Option<String>,
    monitor: (String, String),
}

impl Setup {
    /// The servers of a cluster over TCP, watched by the sandbox's monitor account, and no endpoint yet.
    pub(crate) fn of(cluster: &Cluster) -> Self {
        let nodes = cluster.servers().iter();
        Self::nodes(nodes.map(|server| (server.name().to_owned(), server.address().to_string())).collect())
    }

    /// The same over the servers' UNIX sockets.
    pub(crate) fn over_sockets(cluster: &Cluster) -> Self {
        let nodes = cluster.servers().iter();
        Self::nodes(
            nodes
                .map(|server| (server.name().to_owned(), format!("unix:{}", server.socket().display())))
                .collect(),
        )
    }

    /// Any nodes: names and addresses.
    pub(crate) fn nodes(nodes: Vec<(String, String)>) -> Self {
        Self {
            cluster: Vec::new(),
            nodes,
            endpoints: Vec::new(),
            tls: String::new(),
            admin: None,
            monitor: (MONITOR_USER.to_owned(), MONITOR_PASSWORD.to_owned()),
        }
    }

    /// A line of `[cluster]`.
    pub(crate) fn cluster(mut self, line: impl Into<String>) -> Self {
        self.cluster.push(line.into());
        self
    }

    /// The account that watches the nodes.
    pub(crate) fn monitor(mut self, user: &str, password: &str) -> Self {
        self.monitor = (user.to_owned(), password.to_owned());
        self
    }

    /// An endpoint on a free TCP port, with these lines.
    ///
    /// With TIDEMARK_TEST_POOL in the environment, such as `session`, all of them pool as it says.
    pub(crate) fn endpoint(mut self, name: &str, lines: &str) -> Self {
        let mut lines = lines.to_owned();
        if let Ok(pool) = std::env::var("TIDEMARK_TEST_POOL")
            && !lines.contains("pool =")
        {
            lines += &format!("\npool = \"{pool}\"");
        }
        self.endpoints.push((name.to_owned(), false, lines));
        self
    }

    /// An endpoint on a UNIX socket, with these lines.
    pub(crate) fn socket_endpoint(mut self, name: &str, lines: &str) -> Self {
        self.endpoints.push((name.to_owned(), true, lines.to_owned()));
        self
    }

    /// The lines of `[tls]`.
    pub(crate) fn tls(mut self, lines: impl Into<String>) -> Self {
        self.tls = lines.into();
        self
    }

    /// The admin API on a UNIX socket, with these lines.
    pub(crate) fn admin(mut self, lines: impl Into<String>) -> Self {
        self.admin = Some(lines.into());
        self
    }

    /// Starts the program and waits until its endpoints are open.
    pub(crate) fn start(self) -> Proxy {
        let mut log = String::new();
        // A port that was free may be taken by the time the program binds it.
        for _ in 0..5 {
            match self.try_start(&make_directory()) {
                Ok(proxy) => return proxy,
                Err(said) => log = said,
            }
        }
        panic!("the program did not start:\n{log}");
    }

    /// Starts the program, which must refuse to serve. Returns its exit code and what it said.
    pub(crate) fn refused(self) -> (Option<i32>, String) {
        let directory = make_directory();
        let (config, _) = self.write(&directory);
        let output = Command::new("timeout")
            .arg(START_LIMIT.as_secs().to_string())
            .args([env!("CARGO_BIN_EXE_tidemark"), "run", "--config"])
            .arg(&config)
            .output()
            .unwrap();
        let _ = fs::remove_dir_all(&directory);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Writes the configuration file. Returns where it is, and where the endpoints will listen.
    fn write(&self, directory: &Path) -> (PathBuf, Vec<(String, Target)>) {
        let endpoints: Vec<_> = self
            .endpoints
            .iter()
            .map(|(name, socket, _)| {
                let target =
                    if *socket { Target::Unix(directory.join(name)) } else { Target::Tcp(free_port()) };
                (name.clone(), target)
            })
            .collect();
        let config = directory.join("tidemark.toml");
        fs::write(&config, self.text(&endpoints, directory)).unwrap();
        (config, endpoints)
    }

    /// Starts the program, or returns what it said instead. Its directory is gone then.
    fn try_start(&self, directory: &Path) -> Result<Proxy, String> {
        let (config, endpoints) = self.write(directory);
        let log = directory.join("log");
        let mut guard = Command::new("sh")
            .args(["-c", GUARD, "guard", env!("CARGO_BIN_EXE_tidemark"), "run", "--config"])
            .arg(&config)
            .env("LOG", &log)
            .env("TIDEMARK_LOG", "tidemark=trace,info")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(guard.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let pid = line.trim().parse().unwrap();
        let pipe = guard.stdin.take();
        let mut proxy = Proxy { guard, pipe, pid, log, directory: directory.to_owned(), endpoints };
        if proxy.is_open() {
            return Ok(proxy);
        }
        proxy.end();
        Err(proxy.log())
    }

    fn text(&self, endpoints: &[(String, Target)], directory: &Path) -> String {
        let (user, password) = &self.monitor;
        let mut text = format!("[cluster]\nmonitor_user = \"{user}\"\nmonitor_password = \"{password}\"\n");
        self.cluster.iter().for_each(|line| text.extend([line, "\n"]));
        for (name, address) in &self.nodes {
            text += &format!("[[node]]\nname = \"{name}\"\naddress = \"{address}\"\n");
        }
        for ((name, target), (_, _, lines)) in endpoints.iter().zip(&self.endpoints) {
            let listen = match target {
                Target::Tcp(address) => address.to_string(),
                Target::Unix(path) => format!("unix:{}", path.display()),
            };
            text += &format!("[[endpoint]]\nname = \"{name}\"\nlisten = \"{listen}\"\n{lines}\n");
        }
        if !self.tls.is_empty() {
            text += &format!("[tls]\n{}\n", self.tls);
        }
        if let Some(lines) = &self.admin {
            text += &format!("[admin]\nlisten = \"unix:{}\"\n{lines}\n", directory.join("admin").display());
        }
        text
    }
}

/// The program while it runs. Dropping it kills it, and shows its log when the test has failed.
pub(crate) struct Proxy {
    guard: Child,
    pipe: Option<ChildStdin>,
    pid: u32,
    log: PathBuf,
    directory: PathBuf,
    endpoints: Vec<(String, Target)>,
}

impl Proxy {
    /// Where an endpoint listens.
    pub(crate) fn target(&self, endpoint: &str) -> Target {
        let found = self.endpoints.iter().find(|(name, _)| name == endpoint);
        found.unwrap_or_else(|| panic!("no endpoint {endpoint}")).1.clone()
    }

    /// Where the admin API listens.
    pub(crate) fn admin(&self) -> PathBuf {
        self.directory.join("admin")
    }

    /// Its configuration file.
    pub(crate) fn config(&self) -> PathBuf {
        self.directory.join("tidemark.toml")
    }

    /// Sends it a signal, such as "HUP".
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.pid.to_string()]).status().unwrap();
        assert!(sent.success(), "SIG{name} cannot be sent");
    }

    /// All of its log so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits for a line with these words in the log.
    pub(crate) fn wait_for_log(&self, words: &str) {
        let begin = Instant::now();
        while !self.log().lines().any(|line| line.contains(words)) {
            assert!(begin.elapsed() < Duration::from_secs(10), "the log says nothing of {words:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kibibytes of memory in use (VmRSS).
    pub(crate) fn memory_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Descriptors in use.
    pub(crate) fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.pid)).unwrap().count()
    }

    /// Processor time spent so far.
    pub(crate) fn processor_time(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap();
        // Behind the name, which may hold anything: user and system time are the 12th and 13th, in hundredths of a second.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum();
        Duration::from_millis(ticks * 10)
    }

    /// Whether the process is there.
    pub(crate) fn is_running(&self) -> bool {
        fs::read_to_string(format!("/proc/{}/stat", self.pid))
            .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
    }

    fn is_open(&self) -> bool {
        let begin = Instant::now();
        while self.is_running() && begin.elapsed() < START_LIMIT {
            let open = self.log().matches("endpoint open").count();
            if open == self.endpoints.len()
                && self.endpoints.iter().all(|(_, to)| Stream::connect(to).is_ok())
            {
                return true;
            }
            thread::sleep(Duration::from_millis(5));
        }
        false
    }

    fn end(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            let _ = pipe.flush();
        }
        let _ = self.guard.wait();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.end();
        let log = self.log();
        if thread::panicking() {
            let lines: Vec<&str> = log.lines().collect();
            let last = lines.len().saturating_sub(SHOWN);
            eprintln!("--- last lines of the proxy's log\n{}\n--- end of the log", lines[last..].join("\n"));
        }
        let _ = fs::remove_dir_all(&self.directory);
        if !thread::panicking() {
            assert!(!log.contains("panicked"), "the proxy panicked:\n{log}");
            for secret in [MONITOR_PASSWORD, APP_PASSWORD] {
                assert!(!log.contains(secret), "a password stands in the log");
            }
        }
    }
}

fn make_directory() -> PathBuf {
    loop {
        let name = format!("{}-{}", unique("tidemark-it"), std::process::id());
        let directory = std::env::temp_dir().join(name);
        // A process of the same number may have been killed before it could remove its own.
        if !directory.exists() {
            fs::create_dir(&directory).unwrap();
            return directory;
        }
    }
}

fn free_port() -> SocketAddr {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap()
}
