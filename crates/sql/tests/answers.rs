//! The readers of particular statements: SET, KILL and TIDEMARK.

use sql::set::{What, assignments};
use sql::{
    Dialect, KillKind, Level, OnTimeout, Shown, TidemarkCommand, Victim, kill_target, tidemark_command,
};

fn items(text: &str) -> Vec<(What, &str, &str, bool)> {
    assignments(text.as_bytes(), Dialect::default())
        .map(|item| (item.what, part(text, item.name), part(text, item.value), item.literal))
        .collect()
}

/// A part of `text`, found again as text.
fn part<'a>(text: &'a str, bytes: &[u8]) -> &'a str {
    text.split_once(&*String::from_utf8_lossy(bytes)).map_or("", |(before, rest)| {
        let len = text.len() - rest.len() - before.len();
        &text[before.len()..before.len() + len]
    })
}

#[test]
fn scopes() {
    use What::{Charset, Global, Names, Persist, Role, Server, Session, UserVariable};
    assert_eq!(items("SET a = 1"), [(Session, "a", "1", true)]);
    assert_eq!(
        items("SET SESSION a = 1, LOCAL b := 2"),
        [(Session, "a", "1", true), (Session, "b", "2", true)]
    );
    assert_eq!(items("SET @@a = 1, @@session.b=2"), [(Session, "a", "1", true), (Session, "b", "2", true)]);
    assert_eq!(
        items("SET @@global.a = 1, @@persist.b = 2"),
        [(Global, "a", "1", true), (Persist, "b", "2", true)]
    );
    // A scope that is written holds for what follows without one.
    assert_eq!(
        items("SET GLOBAL a = 1, b = 2, SESSION c = 3, d = 4"),
        [
            (Global, "a", "1", true),
            (Global, "b", "2", true),
            (Session, "c", "3", true),
            (Session, "d", "4", true)
        ]
    );
    assert_eq!(items("SET GLOBAL a = 1, @@b = 2"), [(Global, "a", "1", true), (Session, "b", "2", true)]);
    assert_eq!(items("SET PERSIST_ONLY a = 1"), [(Persist, "a", "1", true)]);
    assert_eq!(items("SET `a` = 1, @@`b` = 2"), [(Session, "a", "1", true), (Session, "b", "2", true)]);
    assert_eq!(items("SET hot.key_buffer_size = 1"), [(Server, "key_buffer_size", "1", true)]);
    assert_eq!(
        items("SET @a = 1, @`b` := 2, @'c' = 3, @d.e = 4"),
        [
            (UserVariable, "a", "1", true),
            (UserVariable, "b", "2", true),
            (UserVariable, "c", "3", true),
            (UserVariable, "d.e", "4", true)
        ]
    );
    assert_eq!(
        items("SET NAMES utf8mb4 COLLATE utf8mb4_bin, autocommit=0"),
        [(Names, "NAMES", "utf8mb4 COLLATE utf8mb4_bin", true), (Session, "autocommit", "0", true)]
    );
    assert_eq!(items("SET NAMES 'latin1'"), [(Names, "NAMES", "'latin1'", true)]);
    assert_eq!(items("set names default"), [(Names, "names", "default", true)]);
    assert_eq!(items("SET CHARACTER SET utf8"), [(Charset, "CHARACTER", "utf8", true)]);
    assert_eq!(items("SET CHARSET DEFAULT"), [(Charset, "CHARSET", "DEFAULT", true)]);
    assert_eq!(items("SET ROLE a, b"), [(Role, "ROLE", "a, b", false)]);
    assert_eq!(items("SET PASSWORD FOR u = 'x'"), [(Server, "PASSWORD", "FOR u = 'x'", false)]);
    assert_eq!(items("SET DEFAULT ROLE a TO u"), [(Server, "DEFAULT", "ROLE a TO u", false)]);
    assert_eq!(items("SET RESOURCE GROUP g"), [(Server, "RESOURCE", "GROUP g", false)]);
}

#[test]
fn transactions() {
    use What::{GlobalTransaction, Session, SessionTransaction, Transaction};
    assert_eq!(items("SET TRANSACTION READ ONLY"), [(Transaction, "TRANSACTION", "READ ONLY", false)]);
    assert_eq!(
        items("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY"),
        [(SessionTransaction, "TRANSACTION", "ISOLATION LEVEL READ COMMITTED, READ ONLY", false)]
    );
    assert_eq!(
        items("SET GLOBAL TRANSACTION READ WRITE"),
        [(GlobalTransaction, "TRANSACTION", "READ WRITE", false)]
    );
    assert_eq!(items("SET @@transaction_read_only = 1"), [(Transaction, "transaction_read_only", "1", true)]);
    assert_eq!(items("SET transaction_read_only = 1"), [(Session, "transaction_read_only", "1", true)]);
    assert_eq!(items("SET @@session.tx_isolation = 'x'"), [(Session, "tx_isolation", "'x'", true)]);
}

#[test]
fn literals() {
    let literal = |value: &str| {
        let text = format!("SET @a = {value}");
        let found = items(&text);
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0].2, value);
        found[0].3
    };
    for value in [
        "1",
        "-1",
        "+1.5e3",
        "'a'",
        "\"a\"",
        "'a' 'b'",
        "'it''s'",
        "'a\\'b'",
        "NULL",
        "TRUE",
        "false",
        "0x1F",
        "0b01",
        "x'1F'",
        "N'a'",
        "_utf8mb4'a'",
        "_binary 'a'",
        "b'01'",
    ] {
        assert!(literal(value), "{value}");
    }
    for value in [
        "@b",
        "a",
        "1 + 1",
        "f(1)",
        "(1)",
        "(SELECT 1)",
        "NOW()",
        "'a' + 1",
        "- - 1",
        "?",
        "CONCAT('a', 'b')",
        "@@sql_mode",
    ] {
        assert!(!literal(value), "{value}");
    }
    assert_eq!(items("SET a = ON"), [(What::Session, "a", "ON", true)]);
    assert_eq!(items("SET a = CONCAT(@@sql_mode, ',x'), b = 2")[0].2, "CONCAT(@@sql_mode, ',x')");
    assert_eq!(items("SET a = CONCAT(@@sql_mode, ',x'), b = 2").len(), 2);
    assert_eq!(items("SET a = 'x;y' /* c */ ; SELECT 1")[0].2, "'x;y'");
}

#[test]
fn what_is_no_set_gives_nothing() {
    for text in
        ["", "SELECT 1", "SET", "SET STATEMENT a = 1 FOR SELECT 1", "SET a", "SET 1 = 1", "SETTING a = 1"]
    {
        assert!(items(text).is_empty(), "{text}");
    }
    assert_eq!(items("SET a = 1, b").len(), 1);
    assert_eq!(items("/* c */ SET/**/a=1 -- d").len(), 1);
    assert_eq!(items("/*!40101 SET NAMES utf8 */").len(), 1);
}

#[test]
fn kill() {
    let target = |text: &str| kill_target(text.as_bytes(), Dialect::default());
    use KillKind::{Connection, Query};
    for (text, kind, victim) in [
        ("KILL 5", Connection, Victim::Id(5)),
        ("kill connection 5 ; ", Connection, Victim::Id(5)),
        ("/* a */ KILL/**/QUERY\n18446744073709551615 -- b", Query, Victim::Id(u64::MAX)),
        ("KILL SOFT QUERY 5", Query, Victim::Id(5)),
        ("KILL ?", Connection, Victim::Parameter),
        ("KILL QUERY ?;", Query, Victim::Parameter),
        ("KILL CONNECTION_ID()", Connection, Victim::Own),
        ("KILL QUERY connection_id ( )", Query, Victim::Own),
        ("KILL 5.0", Connection, Victim::Expression),
        ("KILL -5", Connection, Victim::Expression),
        ("KILL 5 + 1", Connection, Victim::Expression),
        ("KILL ? + 1", Connection, Victim::Expression),
        ("KILL CONNECTION_ID() + 1", Connection, Victim::Expression),
        ("KILL '5'", Connection, Victim::Id(5)),
        ("KILL 'x'", Connection, Victim::Id(0)),
        ("KILL '5' + 1", Connection, Victim::Expression),
        ("KILL @v", Connection, Victim::Expression),
        ("KILL (SELECT 5)", Connection, Victim::Expression),
        ("KILL user()", Connection, Victim::Expression),
        ("KILL 18446744073709551616", Connection, Victim::Expression),
        ("KILL 0x5", Connection, Victim::Expression),
    ] {
        assert_eq!(target(text), Some((kind, victim)), "{text}");
    }
    for text in ["", "KILL QUERY ID 5", "KILL USER 5", "KILL SOFT USER u", "KILL 5; SELECT 1", "SELECT 5"] {
        assert_eq!(target(text), None, "{text}");
    }
}

#[test]
fn tidemark_show() {
    for (text, shown) in [
        ("TIDEMARK SHOW NODES", Shown::Nodes),
        ("tidemark show endpoints;", Shown::Endpoints),
        ("/* a */ TIDEMARK/**/SHOW\nSESSIONS ;; -- b", Shown::Sessions),
        ("TIDEMARK SHOW ROUTE", Shown::Route),
        ("TIDEMARK SHOW Position", Shown::Position),
        ("TIDEMARK SHOW STATUS", Shown::Status),
    ] {
        let found = tidemark_command(text.as_bytes(), Dialect::default());
        assert_eq!(found, Ok(TidemarkCommand::Show(shown)), "{text}");
    }
}

#[test]
fn tidemark_set() {
    let token = b"3E11FA47-71CA-11E1-9E33-C80AA9429562:1-5,0-1-7";
    for (text, command) in [
        ("TIDEMARK SET consistency = 'global'", TidemarkCommand::SetConsistency(Some(Level::Global))),
        ("TIDEMARK SET Consistency=SESSION;", TidemarkCommand::SetConsistency(Some(Level::Session))),
        ("TIDEMARK SET consistency := \"eventual\"", TidemarkCommand::SetConsistency(Some(Level::Eventual))),
        ("TIDEMARK SET consistency_timeout_us = 5000", TidemarkCommand::SetConsistencyTimeoutUs(Some(5000))),
        ("TIDEMARK SET consistency_timeout_us = '0' ;", TidemarkCommand::SetConsistencyTimeoutUs(Some(0))),
        (
            "TIDEMARK SET consistency_timeout_us=1000000",
            TidemarkCommand::SetConsistencyTimeoutUs(Some(1_000_000)),
        ),
        ("TIDEMARK SET on_timeout = error", TidemarkCommand::SetOnTimeout(Some(OnTimeout::Error))),
        ("TIDEMARK SET consistency = DEFAULT", TidemarkCommand::SetConsistency(None)),
        ("TIDEMARK SET consistency_timeout_us = default;", TidemarkCommand::SetConsistencyTimeoutUs(None)),
        ("TIDEMARK SET on_timeout = Default", TidemarkCommand::SetOnTimeout(None)),
        ("TIDEMARK SET on_timeout = 'Stale'", TidemarkCommand::SetOnTimeout(Some(OnTimeout::Stale))),
        (
            "TIDEMARK SET position = '3E11FA47-71CA-11E1-9E33-C80AA9429562:1-5,0-1-7'",
            TidemarkCommand::SetPosition(token),
        ),
        (
            "TIDEMARK SET position = 3E11FA47-71CA-11E1-9E33-C80AA9429562:1-5,0-1-7 ;",
            TidemarkCommand::SetPosition(token),
        ),
    ] {
        assert_eq!(tidemark_command(text.as_bytes(), Dialect::default()), Ok(command), "{text}");
    }
}

#[test]
fn tidemark_errors_say_what_to_write() {
    for (text, hint) in [
        ("TIDEMARK", "TIDEMARK SHOW NODES"),
        ("TIDEMARK SHOW", "TIDEMARK SHOW NODES"),
        ("TIDEMARK SHOW TABLES", "TIDEMARK SHOW NODES"),
        ("TIDEMARK SHOW NODES NOW", "nothing behind it"),
        ("TIDEMARK SHOW NODES; SELECT 1", "nothing behind it"),
        ("TIDEMARK SET", "TIDEMARK SET consistency"),
        ("TIDEMARK SET colour = 'blue'", "TIDEMARK SET consistency"),
        ("TIDEMARK SET consistency 'global'", "then = and a value"),
        ("TIDEMARK SET consistency = strong", "'eventual', 'session', 'global' or DEFAULT"),
        ("TIDEMARK SET consistency_timeout_us = 1000001", "0 to 1000000"),
        ("TIDEMARK SET consistency_timeout_us = +5", "0 to 1000000"),
        ("TIDEMARK SET consistency_timeout_us = 5ms", "0 to 1000000"),
        ("TIDEMARK SET consistency_timeout_us =", "0 to 1000000"),
        ("TIDEMARK SET on_timeout = 'wait'", "'primary', 'error', 'stale' or DEFAULT"),
        ("TIDEMARK SET position = ''", "SHOW POSITION"),
        ("TIDEMARK SET position = 'a b'", "SHOW POSITION"),
        ("SELECT 1", "TIDEMARK SHOW"),
    ] {
        let error = tidemark_command(text.as_bytes(), Dialect::default()).unwrap_err();
        assert!(error.contains(hint), "{text}: {error}");
    }
}
