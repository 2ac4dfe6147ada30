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
            consistency: Level::Eventual,
            consistency_timeout_us: 10_000,
            on_timeout: OnTimeout::Primary,
            read_weight: vec![None],
            max_lag_ms: 30_000,
            min_replicas: 1,
            transaction_split: false,
            primary_fallback: false,
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
    assert!(mistakes("").contains("missing field"), "{}", mistakes(""));
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
    let text = MINIMAL.to_owned() + "pool = \"session\"\ntransaction_split = true\nprimary_fallback = true\n";
    let config = parse(&text).unwrap();
    assert_eq!(config.endpoints[0].pool, Pool::Session);
    assert_eq!(
        config.notices()[0],
        "endpoint app: pool = \"session\" is accepted but has no effect in this version"
    );
    assert!(config.notices()[1].contains("transaction_split"));
    assert!(config.notices()[2].contains("primary_fallback"));
}
