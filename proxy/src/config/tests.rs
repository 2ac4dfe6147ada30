//! Whole files: what is accepted, what is refused and with which words.

use super::*;

const MINIMAL: &str = r#"[cluster]
monitor_user = "tidemark"
monitor_password = "hunter2"
[[node]]
name = "db1"
address = "127.0.0.1:3321"
[[endpoint]]
name = "app"
listen = "127.0.0.1:6446"
"#;

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(text, Path::new("t.toml"))
}

/// Every mistake of a text, one a line.
#[track_caller]
fn mistakes(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

/// Replaces a part of the minimal file and expects one mistake.
#[track_caller]
fn check(from: &str, to: &str, wanted: &str) {
    assert!(MINIMAL.contains(from), "the minimal file has no {from}");
    let text = MINIMAL.replacen(from, to, 1);
    assert_eq!(mistakes(&text), wanted, "{text}");
}

#[test]
fn a_minimal_file_gets_the_documented_defaults() {
    let config = parse(MINIMAL).unwrap();
    assert_eq!(config.cluster.tls, TlsMode::Preferred);
    assert_eq!(config.cluster.monitor_password.expose(), b"hunter2");
    assert_eq!(config.tls, EndpointTls::default());
    assert_eq!(config.admin, None);
    assert!(config.notices().is_empty());
    let endpoint = &config.endpoints[0];
    assert_eq!(
        (endpoint.mode, endpoint.pool, endpoint.max_connections),
        (Mode::ReadWrite, Pool::Off, 10_000)
    );
    assert!(endpoint.admits("203.0.113.1".parse().unwrap()));
    assert_eq!(
        endpoint.settings,
        Settings {
            global_scope: GlobalScope::Cluster,
            consistency: Level::Eventual,
            consistency_timeout_us: 10_000,
            on_timeout: OnTimeout::Primary,
            read_weight: vec![None],
            max_lag_ms: 30_000,
            min_replicas: 1,
            transaction_split: false,
            primary_fallback: false,
            failover_hold_ms: 10_000,
        }
    );
}

#[test]
fn the_cluster_gives_the_timeout_of_endpoints_that_say_none() {
    let text = MINIMAL.replace("[[node]]", "consistency_timeout_us = 0\n[[node]]")
        + "[[endpoint]]\nname = \"b\"\nlisten = \"127.0.0.1:1\"\nconsistency_timeout_us = 7\n";
    let timeouts: Vec<u32> =
        parse(&text).unwrap().endpoints.iter().map(|e| e.settings.consistency_timeout_us).collect();
    assert_eq!(timeouts, [0, 7]);
}

#[test]
fn mistakes_name_line_column_and_remedy() {
    check(
        "6446\"",
        "6446\"\nmode = \"rw\"",
        "t.toml:10:8: unknown endpoint mode \"rw\"; write \"read-write\" or \"read-only\"",
    );
    check("6446\"", "6446\"\nmax_lag = 1", "t.toml:10:1: unknown key max_lag; write max_lag_ms");
    check(
        "6446\"",
        "6446\"\nconsistency_timeout_us = 1000001",
        "t.toml:10:26: consistency_timeout_us: 1000001 is out of range; write a number from 0 to 1000000",
    );
    check(
        "6446\"",
        "6446\"\nread_weight = { db7 = 1 }",
        "t.toml:10:17: read_weight names \"db7\", which is no node; the nodes are db1",
    );
    check(
        "6446\"",
        "6446\"\nread_weight = { db1 = 1001 }",
        "t.toml:10:23: read_weight: 1001 is out of range; write a number from 0 to 1000",
    );
    check(
        "6446\"",
        "6446\"\nallow = []",
        "t.toml:10:9: allow lists nobody; leave it out to let everybody connect",
    );
    check(
        "6446\"",
        "6446\"\nallow = [\"10.0.0.1/8\"]",
        "t.toml:10:10: \"10.0.0.1/8\" has bits set behind its prefix; write \"10.0.0.0/8\"",
    );
    check("127.0.0.1:3321", "db1", "t.toml:6:11: \"db1\" has no port; write \"host:port\" or \"unix:/path\"");
    check(
        "\"db1\"",
        "\"db 1\"",
        "t.toml:5:8: \"db 1\" is not a name for a node; use 1 to 64 letters, digits, _ and -",
    );
    check(
        "[[node]]",
        "workers = 0\n[[node]]",
        "t.toml:4:11: workers: 0 is out of range; write a number from 1 to 1024",
    );
    check(
        "[[node]]",
        "tls = \"verify_ca\"\n[[node]]",
        "t.toml:4:7: tls = \"verify_ca\" needs the certificates to verify with; add tls_ca",
    );
    check(
        "6446\"",
        "6446\"\n[shared]\netcd = []",
        "t.toml:10:1: [shared] is not available in this version; remove [shared]",
    );
    check(
        "6446\"",
        "6446\"\n[tls]\ncert = \"x\"",
        "t.toml:11:8: cert stands without its key; add key, or remove cert",
    );
    check(
        "6446\"",
        "6446\"\n[admin]\nlisten = \"0.0.0.0:6480\"",
        "t.toml:11:10: the admin API on 0.0.0.0:6480 could be changed by anybody who reaches it; add token_file, or \
         listen on 127.0.0.1",
    );
    check(
        "monitor_password = \"hunter2\"\n",
        "",
        "t.toml:2:16: monitor_user has no password; give exactly one of monitor_password, monitor_password_file and \
         monitor_password_env",
    );
    check(
        "\"hunter2\"",
        "\"hunter2\"\nmonitor_password_env = \"X\"",
        "t.toml:4:24: there is more than one password for monitor_user; give exactly one of monitor_password, \
         monitor_password_file and monitor_password_env",
    );
    check(
        "monitor_password = \"hunter2\"",
        "monitor_password_env = \"TIDEMARK_UNSET\"",
        "t.toml:3:24: the environment has no variable TIDEMARK_UNSET; set it before the start, or use \
         monitor_password_file",
    );
}

#[test]
fn the_same_name_or_address_twice_is_a_mistake() {
    let node = |name: &str, address: &str| {
        format!("{MINIMAL}[[node]]\nname = \"{name}\"\naddress = \"{address}\"\n")
    };
    assert_eq!(mistakes(&node("db1", "x:1")), "t.toml:11:8: there are two nodes called \"db1\"; rename one");
    assert_eq!(
        mistakes(&node("db2", "127.0.0.1:3321")),
        "t.toml:12:11: address \"127.0.0.1:3321\" is that of \"db1\" already; give each its own"
    );
    let endpoint = |listen: &str| format!("{MINIMAL}[[endpoint]]\nname = \"b\"\nlisten = \"{listen}\"\n");
    assert_eq!(
        mistakes(&endpoint("127.0.0.1:6446")),
        "t.toml:12:10: listen \"127.0.0.1:6446\" is that of \"app\" already; give each its own"
    );
    let admin = format!("{MINIMAL}[admin]\nlisten = \"127.0.0.1:6446\"\n");
    assert!(mistakes(&admin).contains("is that of \"app\" already"));
    let any_port = MINIMAL.replace("6446", "0") + "[[endpoint]]\nname = \"b\"\nlisten = \"127.0.0.1:0\"\n";
    assert_eq!(parse(&any_port).unwrap().endpoints.len(), 2);
}

#[test]
fn all_mistakes_are_told_at_once_in_the_order_of_the_file() {
    let text = MINIMAL.replace("127.0.0.1:3321", "x").replace("\"app\"", "\"\"")
        + "mode = \"x\"\npool = \"x\"\nmax_connections = 0\n";
    let told = mistakes(&text);
    let lines: Vec<&str> = told.lines().filter_map(|line| line.split(':').nth(1)).collect();
    assert_eq!(lines, ["6", "8", "10", "11", "12"], "{told}");
}

#[test]
fn nothing_at_all_is_told_too() {
    assert_eq!(mistakes(""), "t.toml:1:1: cluster is missing; add [cluster]");
    let empty = "[cluster]\nmonitor_user = \"m\"\nmonitor_password = \"\"\n";
    assert!(mistakes(empty).contains("add a [[node]]"), "{}", mistakes(empty));
    assert!(mistakes(empty).contains("add an [[endpoint]]"));
}

#[test]
fn no_message_shows_the_password() {
    for (from, to) in [
        ("\"hunter2\"", "\"hunter2"),
        ("\"hunter2\"", "hunter2"),
        ("\"hunter2\"", "\"hunter2\" x"),
        ("\"hunter2\"", "{ hunter2 = 1 }"),
        ("\"hunter2\"", "[\"hunter2\"]"),
        ("\"app\"", "\"\""),
    ] {
        let told = mistakes(&MINIMAL.replacen(from, to, 1));
        assert!(!told.contains("hunter2"), "{told}");
    }
    let told = mistakes(&MINIMAL.replacen("\"hunter2\"", "472911", 1));
    assert!(told.starts_with("t.toml:3:20: ") && !told.contains("472911"), "{told}");
    assert!(!format!("{:?}", parse(MINIMAL).unwrap()).contains("hunter2"));
}

#[test]
fn settings_without_effect_are_noticed() {
    let text = MINIMAL.to_owned() + "pool_size = 10\ntransaction_split = true\nprimary_fallback = true\n";
    let config = parse(&text).unwrap();
    assert_eq!(config.notices()[0], "endpoint app: pool_size has no effect without pool = \"transaction\"");
    assert!(config.notices()[1].contains("primary_fallback"));
    let text = MINIMAL.to_owned() + "pool = \"transaction\"\npool_size = 10\n";
    let config = parse(&text).unwrap();
    assert_eq!((config.endpoints[0].pool, config.endpoints[0].pool_size), (Pool::Transaction, 10));
    assert!(config.notices().is_empty());
    let text = MINIMAL.to_owned() + "mode = \"read-only\"\ntransaction_split = true\n";
    assert!(parse(&text).unwrap().notices()[0].contains("transaction_split"));
}

#[test]
fn mistakes_of_type_are_told_in_the_words_of_the_file() {
    check(
        "6446\"",
        "6446\"\nmax_lag_ms = \"5\"",
        "t.toml:10:14: a value of type string cannot stand here; write a whole number without quotes",
    );
    check(
        "6446\"",
        "6446\"\nmode = 1",
        "t.toml:10:8: a value of type integer cannot stand here; write text in quotes",
    );
    check(
        "6446\"",
        "6446\"\ntransaction_split = 1",
        "t.toml:10:21: a value of type integer cannot stand here; write true or false",
    );
    check(
        "6446\"",
        "6446\"\nallow = \"all\"",
        "t.toml:10:9: a value of type string cannot stand here; write a list in [ ]",
    );
    check(
        "6446\"",
        "6446\"\nread_weight = 5",
        "t.toml:10:15: a value of type integer cannot stand here; write a table in { }",
    );
    check(
        "6446\"",
        "6446\"\n[tls]\ncolour = 1",
        "t.toml:11:1: unknown key colour; the keys here are cert, key, require",
    );
    check("[[node]]", "[node]", "t.toml:4:1: [node] may stand more than once; write [[node]]");
    check("name = \"db1\"\n", "", "t.toml:4:1: name is missing; add name");
    check("[[node]]", "[[nodes]]", "t.toml:4:3: unknown key nodes; write node");
}

#[test]
fn a_read_only_endpoint_that_counts_on_the_primary_is_noticed() {
    let text = MINIMAL.to_owned() + "mode = \"read-only\"\non_timeout = \"primary\"\n";
    assert!(parse(&text).unwrap().notices()[0].contains("primary_fallback = true"));
    assert!(parse(&(text + "primary_fallback = true\n")).unwrap().notices().is_empty());
}

#[test]
fn there_are_at_most_64_nodes() {
    let nodes: String =
        (2..=65).map(|n| format!("[[node]]\nname = \"n{n}\"\naddress = \"10.0.0.{n}:3306\"\n")).collect();
    assert_eq!(
        mistakes(&(MINIMAL.to_owned() + &nodes)).split_once(": ").unwrap().1,
        "there are 65 nodes; keep to 64"
    );
}

/// A folder of its own, removed in the end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tidemark-config-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>, mode: u32) -> std::path::PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn named_files_are_found_beside_the_configuration() {
    let folder = Folder::new("beside");
    folder.write("password", b"p\xffss word\r\nsecond line\n", 0o600);
    folder.write("token", "t0ken", 0o600);
    let (cert, key) = (folder.write("c.pem", "", 0o644), folder.write("k.pem", "", 0o600));
    let text = MINIMAL.replace("monitor_password = \"hunter2\"", "monitor_password_file = \"password\"")
        + "[tls]\ncert = \"c.pem\"\nkey = \"k.pem\"\n[admin]\nlisten = \"0.0.0.0:6480\"\ntoken_file = \"token\"\n";
    let config = Config::load(&folder.write("tidemark.toml", text, 0o644)).unwrap();
    assert_eq!(config.cluster.monitor_password.expose(), b"p\xffss word");
    assert_eq!(config.admin.as_ref().unwrap().token.as_ref().unwrap().expose(), b"t0ken");
    assert_eq!(config.tls.identity, Some(TlsIdentity { cert, key }));
    assert!(config.notices().is_empty(), "{:?}", config.notices());
}

#[test]
fn a_secret_that_everybody_can_read_is_noticed() {
    let folder = Folder::new("exposed");
    folder.write("password", "p", 0o644);
    let text = MINIMAL.replace("monitor_password = \"hunter2\"", "monitor_password_file = \"password\"");
    let config = Config::load(&folder.write("a.toml", text, 0o644)).unwrap();
    assert!(config.notices()[0].contains("chmod 600"), "{:?}", config.notices());
}

#[test]
fn named_files_that_are_missing_or_no_secret_are_told_with_their_line() {
    let folder = Folder::new("missing");
    folder.write("long", [b'x'; 5000], 0o600);
    folder.write("empty", "\n", 0o600);
    let text = MINIMAL.replace("monitor_password = \"hunter2\"", "monitor_password_file = \"long\"")
        + "[tls]\ncert = \"c.pem\"\nkey = \"k.pem\"\n[admin]\nlisten = \"0.0.0.0:6480\"\ntoken_file = \"empty\"\n";
    let path = folder.write("a.toml", text, 0o600);
    let told = Config::load(&path).unwrap_err().to_string();
    let wanted =
        [":3:25: ", "longer than 4096", ":11:8: cert ", ":12:7: key ", "No such file", "token_file is empty"];
    for part in wanted {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_told_with_its_name() {
    let folder = Folder::new("unreadable");
    let told = |path: &Path| Config::load(path).unwrap_err().to_string();
    assert!(
        told(&folder.0.join("none.toml"))
            .ends_with("none.toml: No such file or directory (os error 2); name the file with --config")
    );
    assert!(told(&folder.write("latin1.toml", b"# \xe9\n", 0o600)).contains("UTF-8"));
    assert!(told(&folder.0).contains("directory"));
}

#[test]
fn the_environment_gives_a_password() {
    let text = MINIMAL.replace("monitor_password = \"hunter2\"", "monitor_password_env = \"PATH\"");
    let path = std::env::var("PATH").unwrap();
    assert_eq!(parse(&text).unwrap().cluster.monitor_password.expose(), path.as_bytes());
}

#[test]
fn a_damaged_file_is_told_with_a_line_of_it_and_without_its_password() {
    let text = MINIMAL.to_owned()
        + "read_weight = { db1 = 5 }\nallow = [\"10.0.0.0/8\"]\n[tls]\nrequire = true\n[admin]\nlisten = \"127.0.0.1:6480\"\n";
    let damaged = (0..text.len()).flat_map(|place| {
        let (before, after) = text.split_at(place);
        let rest = &after[1..];
        [
            before.to_owned(),
            format!("{before}{rest}"),
            format!("{before}\"{after}"),
            format!("{before}\n{after}"),
            format!("{before}={rest}"),
        ]
    });
    for text in damaged {
        match parse(&text) {
            Err(ConfigError::Invalid(problems)) => {
                assert!(!problems.is_empty(), "{text}");
                for problem in problems {
                    assert!((1..=text.lines().count() + 1).contains(&problem.line), "{problem}\n{text}");
                    assert!(!problem.to_string().contains("hunter2"), "{problem}\n{text}");
                    assert!(
                        !problem.what.is_empty() && !problem.to_string().contains('\n'),
                        "{problem}\n{text}"
                    );
                }
            }
            Err(other) => panic!("{other}"),
            Ok(_) => {}
        }
    }
}
