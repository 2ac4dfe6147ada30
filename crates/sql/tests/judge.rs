//! Real servers as judges of what is called a safe read.
//!
//! `TIDEMARK_SQL_JUDGE` names one or more servers, separated by spaces: `unix:/path/of/socket` or `host:port`, on which the
//! user `TIDEMARK_SQL_JUDGE_USER` (default root) may do everything and has no password. Without it these tests pass without
//! judging, and say so. They use a schema of their own, `tidemark_judge`, and remove it.
//! `TIDEMARK_SQL_JUDGE_CASES` is the number of misspelt statements for each server and dialect (default 20000), and
//! `TIDEMARK_SQL_JUDGE_SEED` their seed.

#![allow(clippy::expect_used, clippy::panic, reason = "a judge that cannot judge says so by panicking")]

#[path = "judge/client.rs"]
mod client;
#[path = "judge/mutate.rs"]
mod mutate;
#[path = "judge/places.rs"]
mod places;

use client::{Client, Reply};
use mutate::Mutator;
use sql::{Charset, Dialect, Flavor, Target, classify};

/// ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_OPTION_PREVENTS_STATEMENT, ER_READ_ONLY_MODE
const READ_ONLY_ERRORS: [u16; 3] = [1792, 1290, 1836];

fn servers() -> Vec<String> {
    let servers = std::env::var("TIDEMARK_SQL_JUDGE").unwrap_or_default();
    if servers.is_empty() {
        eprintln!("not judged: TIDEMARK_SQL_JUDGE names no server");
    }
    servers.split_whitespace().map(str::to_owned).collect()
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn connect(address: &str, multi_statements: bool) -> Client {
    let user = std::env::var("TIDEMARK_SQL_JUDGE_USER").unwrap_or_else(|_| "root".to_owned());
    Client::connect(address, &user, multi_statements).expect("the judge lets us in")
}

/// A session's dialect there.
fn dialect(client: &mut Client) -> Dialect {
    let version = client.must("SELECT VERSION()")[0][0].clone().expect("a version");
    let version = String::from_utf8_lossy(&version).to_ascii_lowercase();
    let mut numbers = version.split('.').map(|number| number.parse::<u16>().expect("a number"));
    let (major, minor) = (numbers.next().expect("a major number"), numbers.next().expect("a minor number"));
    let flavor = if version.contains("mariadb") { Flavor::Mariadb } else { Flavor::Mysql };
    Dialect { flavor, version: major * 100 + minor, ..Dialect::default() }
}

/// A schema of this test's own, so that the tests can run at the same time.
fn schema(client: &mut Client, name: &str) {
    client.must("SET GLOBAL log_bin_trust_function_creators = 1");
    client.must(&format!("DROP DATABASE IF EXISTS {name}"));
    client.must(&format!("CREATE DATABASE {name}"));
    client.must(&format!("USE {name}"));
    client.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20), c DATETIME, j TEXT, FULLTEXT (b)) ENGINE=InnoDB");
    client.must("CREATE TABLE u (id INT PRIMARY KEY, a INT, KEY i (a)) ENGINE=InnoDB");
    client.must("INSERT INTO t VALUES (1, 1, 'x', NOW(), '{\"k\": [1, 2]}'), (2, 2, 'y', NOW(), '{}'), (3, 3, 'z', NULL, NULL)");
    client.must("INSERT INTO u VALUES (1, 1), (2, 2)");
    client.must("CREATE FUNCTION f(x INT) RETURNS INT NO SQL BEGIN SET @trip = 1; RETURN x; END");
}

#[test]
fn no_safe_read_is_refused_by_a_read_only_transaction() {
    for server in servers() {
        let mut client = connect(&server, true);
        let dialect = Dialect { multi_statements: true, ..dialect(&mut client) };
        let flavor = dialect.flavor;
        schema(&mut client, "tidemark_judge_reads");
        client.must("SET SESSION TRANSACTION READ ONLY");
        let mut run = 0;
        for text in include_str!("judge/reads.sql").lines() {
            let text = match (text.strip_prefix("mysql: "), text.strip_prefix("mariadb: ")) {
                (Some(text), _) if flavor == Flavor::Mysql => text,
                (_, Some(text)) if flavor == Flavor::Mariadb => text,
                (None, None) if !text.is_empty() && !text.starts_with("-- ") => text,
                _ => continue,
            };
            assert_eq!(classify(text.as_bytes(), dialect).target, Target::Replica, "{text}");
            match client.query(text.as_bytes()).expect("the server answers") {
                Reply::Rows(_) => run += 1,
                Reply::Refused { code, message } => panic!("{server} refuses {text}: {code} {message}"),
            }
        }
        eprintln!("{server}: {run} safe reads ran in a read-only transaction");
        client.must("SET SESSION TRANSACTION READ WRITE");
        client.must("DROP DATABASE tidemark_judge_reads");
    }
}

/// Every word that either family knows is the name of a stored function, and is called in every place where an expression
/// can stand. What is called a safe read reaches none of them.
#[test]
fn no_safe_read_reaches_a_stored_function() {
    for server in servers() {
        let mut client = connect(&server, false);
        let dialect = dialect(&mut client);
        schema(&mut client, "tidemark_judge_calls");
        let names = places::names();
        for name in &names {
            client.must(&format!("DROP FUNCTION IF EXISTS `{name}`"));
            client.must(&format!(
                "CREATE FUNCTION `{name}`(x INT) RETURNS INT NO SQL BEGIN SET @trip = 1; RETURN x; END"
            ));
        }
        let mut reached = Vec::new();
        let mut run = 0;
        for place in places::PLACES {
            for name in &names {
                let text = place.replace("{f}", name);
                if classify(text.as_bytes(), dialect).target != Target::Replica {
                    continue;
                }
                client.must("SET @trip = 0");
                if let Reply::Rows(_) = client.query(text.as_bytes()).expect("the server answers") {
                    run += 1;
                }
                let tripped = client.must("SELECT @trip")[0][0].as_deref() == Some(b"1");
                if tripped && !places::is_built_in_in_part(name) {
                    reached.push(text);
                }
            }
        }
        eprintln!("{server}: {} names, {run} calls ran", names.len());
        client.must("DROP DATABASE tidemark_judge_calls");
        assert!(reached.is_empty(), "{server}: {reached:#?}");
    }
}

/// Statements that leave a trace, misspelt at random. What is called a safe read leaves none.
#[test]
fn no_misspelt_statement_slips_through() {
    let modes = [
        ("", "utf8mb4", Charset::Ascii),
        ("ANSI_QUOTES", "utf8mb4", Charset::Ascii),
        ("NO_BACKSLASH_ESCAPES", "latin1", Charset::Ascii),
        ("IGNORE_SPACE", "gbk", Charset::Gbk),
        ("", "sjis", Charset::Sjis),
        ("ANSI_QUOTES", "big5", Charset::Big5),
    ];
    let cases = setting("TIDEMARK_SQL_JUDGE_CASES", 20_000);
    for server in servers() {
        let mut keeper = connect(&server, false);
        let judged = dialect(&mut keeper);
        schema(&mut keeper, "tidemark_judge_spelling");
        let mut trial = Trial::new(&server, &mut keeper, false, "", "utf8mb4");
        for text in mutate::TRACES {
            let ran = trial.ran;
            let traced = trial.trace(text.as_bytes()).is_some();
            assert!(traced || trial.ran == ran, "{server} sees no trace of {text}");
        }
        assert!(trial.ran > 15, "{server} ran {} of the statements that leave a trace", trial.ran);
        for (seed, (mode, charset_name, charset)) in (setting("TIDEMARK_SQL_JUDGE_SEED", 1)..).zip(modes) {
            let multi_statements = seed % 2 == 0;
            let mut dialect = Dialect { multi_statements, charset, ..judged };
            dialect.set_sql_mode(mode.as_bytes());
            let mut trial = Trial::new(&server, &mut keeper, multi_statements, mode, charset_name);
            let mut mutator = Mutator::new(seed);
            let mut called_safe = 0;
            for _ in 0..cases {
                let text = mutator.statement();
                if classify(&text, dialect).target == Target::Replica {
                    called_safe += 1;
                    assert_eq!(trial.trace(&text), None, "{server} {mode:?} {charset_name}");
                }
            }
            eprintln!(
                "{server} {mode:?} {charset_name}: {cases} misspelt, {called_safe} called safe, {} of them ran",
                trial.ran
            );
            assert!(trial.ran > 0, "the judge saw nothing");
        }
        keeper.must("DROP DATABASE tidemark_judge_spelling");
    }
}

/// Runs statements one by one in a transaction, and looks for what they left.
struct Trial<'a> {
    client: Client,
    keeper: &'a mut Client,
    ran: u32,
}

impl<'a> Trial<'a> {
    fn new(server: &str, keeper: &'a mut Client, multi: bool, mode: &str, charset: &str) -> Trial<'a> {
        let mut client = connect(server, multi);
        client.must("USE tidemark_judge_spelling");
        client.must(&format!("SET NAMES {charset}, sql_mode = '{mode}', max_error_count = 64"));
        Trial { client, keeper, ran: 0 }
    }

    /// What `text` left behind, if anything.
    fn trace(&mut self, text: &[u8]) -> Option<String> {
        self.client.must("SET @trip = 0");
        self.client.must("BEGIN");
        let reply = self.client.query(text).expect("the server answers");
        let refused = match reply {
            Reply::Refused { code, .. } => READ_ONLY_ERRORS.contains(&code),
            Reply::Rows(_) => {
                self.ran += 1;
                false
            }
        };
        let trip = self.client.must("SELECT @trip, IS_USED_LOCK('trip')").remove(0);
        let tripped = trip[0].as_deref() != Some(b"0") || trip[1].is_some();
        let free = self.keeper.must("SELECT id FROM t FOR UPDATE SKIP LOCKED").len();
        self.client.must("ROLLBACK");
        self.client.must("DO RELEASE_ALL_LOCKS()");
        (refused || tripped || free != 3).then(|| {
            format!("{}: refused {refused}, tripped {tripped}, {free} rows free", text.escape_ascii())
        })
    }
}
