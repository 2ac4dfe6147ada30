//! Command lines: what they mean, and which are refused.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use clap::{CommandFactory, Parser};

use super::*;

fn parse(line: &str) -> Result<Command, clap::Error> {
    Cli::try_parse_from(line.split_whitespace()).map(|cli| cli.command)
}

/// Expects a refusal with exit code 2 and a text that contains `wanted`.
#[track_caller]
fn refused(line: &str, wanted: &str) {
    let error = parse(line).unwrap_err();
    assert_eq!(error.exit_code(), 2, "{line}");
    let text = error.to_string();
    assert!(text.contains(wanted), "{line}: {text}");
}

#[test]
fn the_definitions_are_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_has_its_defaults() {
    assert!(
        matches!(parse("tidemark run"), Ok(Command::Run(args)) if args.config == Path::new("tidemark.toml"))
    );
    assert!(
        matches!(parse("tidemark check --config a.toml"), Ok(Command::Check(args)) if args.config == Path::new("a.toml"))
    );
    let Ok(Command::Demo(demo)) = parse("tidemark demo") else { panic!("demo") };
    assert_eq!((demo.engine, demo.replicas, demo.dir, demo.port, demo.no_load), (None, 2, None, 6446, false));
    let Ok(Command::Explain(explain)) = parse("tidemark explain") else { panic!("explain") };
    assert_eq!((explain.sql_mode.as_str(), explain.json, explain.sql), ("", false, None));
    assert!(matches!(parse("tidemark schema"), Ok(Command::Schema)));
    assert!(matches!(parse("tidemark version"), Ok(Command::Version)));
    assert!(matches!(parse("tidemark status --json"), Ok(Command::Status(args)) if args.json));
    assert!(matches!(parse("tidemark drain db2"), Ok(Command::Drain(args)) if args.node == "db2"));
    assert!(matches!(parse("tidemark undrain db2"), Ok(Command::Undrain(args)) if args.node == "db2"));
}

#[test]
fn bad_usage_is_told_before_anything_starts() {
    refused("tidemark", "Usage");
    refused("tidemark serve", "unrecognized subcommand");
    refused("tidemark run --conf x", "--config");
    refused("tidemark demo --engine postgres", "mysql, mariadb");
    refused("tidemark demo --replicas 0", "1..=8");
    refused("tidemark demo --port 65501", "1..=65500");
    refused("tidemark explain a b", "unexpected argument");
    for version in ["nonsense", "11", "-MariaDB", "8.x"] {
        refused(&format!("tidemark explain --server-version={version}"), "such as 8.4.3 or 10.11.19-MariaDB");
    }
    for version in ["8.0.36-28", "11.8-MariaDB", "10.11.19-MariaDB-log", ""] {
        assert!(parse(&format!("tidemark explain --server-version={version}")).is_ok(), "{version}");
    }
    refused("tidemark set app", "KEY=VALUE");
    refused("tidemark set app consistency=strong", "\"eventual\", \"session\" or \"global\"");
    refused("tidemark set app lag=1", "max_lag_ms");
    refused("tidemark status --admin 6480", "has no port");
    refused("tidemark status --token-file x", "--admin");
}

#[test]
fn help_and_version_are_no_failure() {
    assert_eq!(parse("tidemark --help").unwrap_err().exit_code(), 0);
    assert_eq!(parse("tidemark set --help").unwrap_err().exit_code(), 0);
    let version = parse("tidemark --version").unwrap_err();
    assert_eq!(version.exit_code(), 0);
    assert!(version.to_string().contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_statement_is_taken_as_bytes() {
    let sql = OsString::from_vec(b"SELECT '\xe9'".to_vec());
    let cli = Cli::try_parse_from([OsString::from("tidemark"), "explain".into(), sql.clone()]).unwrap();
    let Command::Explain(args) = cli.command else { panic!("explain") };
    assert_eq!(args.sql.unwrap().as_bytes(), sql.as_bytes());
    let hyphens = Cli::try_parse_from(["tidemark", "explain", "--json", "--", "-- nothing"]).unwrap();
    assert!(matches!(hyphens.command, Command::Explain(args) if args.json && args.sql.is_some()));
}

#[test]
fn assignments_become_one_change() {
    let line = "tidemark set app consistency=global read_weight.db2=1 read_weight.db3=2 consistency=session";
    let Ok(Command::Set(set)) = parse(line) else { panic!("set") };
    assert_eq!(set.endpoint, "app");
    assert_eq!(
        serde_json::to_string(&set.patch()).unwrap(),
        r#"{"consistency":"session","read_weight":{"db2":1,"db3":2}}"#
    );
}

#[test]
fn the_instance_is_named_or_found_in_the_configuration() {
    let folder = std::env::temp_dir().join(format!("tidemark-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let config = folder.join("a.toml");
    let target = |line: &str, text: &str| {
        std::fs::write(&config, text).unwrap();
        std::fs::write(folder.join("token"), "secret\n").unwrap();
        let line = line.replace("DIR", folder.to_str().unwrap());
        let Ok(Command::Status(args)) = parse(&line) else { panic!("{line}") };
        args.admin.target().map(|(address, token)| {
            (address.to_string(), token.map(|token| String::from_utf8(token.expose().to_vec()).unwrap()))
        })
    };
    let base = "[cluster]\nmonitor_user = \"m\"\nmonitor_password = \"\"\n[[node]]\nname = \"a\"\naddress = \"a:1\"\n\
                [[endpoint]]\nname = \"e\"\nlisten = \"127.0.0.1:1\"\n";
    let admin = format!("{base}[admin]\nlisten = \"127.0.0.1:2\"\ntoken_file = \"token\"\n");
    let token = Some("secret".to_owned());
    assert_eq!(
        target("tidemark status -c DIR/a.toml", &admin).unwrap(),
        ("127.0.0.1:2".into(), token.clone())
    );
    assert_eq!(target("tidemark status --admin [::1]:3", base).unwrap(), ("[::1]:3".into(), None));
    let named = "tidemark status --admin unix:/s --token-file DIR/token";
    assert_eq!(target(named, base).unwrap(), ("unix:/s".into(), token));
    let told = |line: &str| target(line, base).unwrap_err().to_string();
    assert!(told("tidemark status -c DIR/a.toml").contains("has no [admin] section"));
    assert!(told("tidemark status -c DIR/none.toml").contains("--admin"));
    assert!(told("tidemark status --admin a:1 --token-file DIR/none").contains("--token-file"));
    std::fs::remove_dir_all(&folder).unwrap();
}
