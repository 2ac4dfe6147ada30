//! Where the statements of a split transaction run.

use sandbox::Engine;
use wire::{CommandCode, Status};

use super::stage::{Stage, expect, splits};
use crate::harness::client::Client;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};

on_every_engine!(
    reads_before_the_first_write_run_on_replicas,
    whatever_is_no_plain_read_opens_the_transaction,
    an_end_without_a_write_leaves_nothing_open,
    a_write_hidden_in_a_read_is_rolled_back_with_the_rest,
    reads_on_the_primary_belong_to_the_transaction,
    prepared_statements_follow_the_transaction,
    hints_are_obeyed_as_far_as_they_may,
    a_reset_session_is_in_no_transaction,
    a_released_session_ends,
    errors_leave_the_transaction_as_it_is,
    read_only_transactions_stay_as_they_are,
);

fn reads_before_the_first_write_run_on_replicas(engine: Engine) {
    let stage = Stage::new(engine);
    for level in ["session", "global", "eventual"] {
        let mut client = stage.committed_at(level);
        for (begin, end) in [
            ("BEGIN", "COMMIT"),
            ("begin work;", "rollback work"),
            ("START TRANSACTION", "COMMIT"),
            ("/* a */ START TRANSACTION READ WRITE", "ROLLBACK"),
        ] {
            client.run(begin);
            assert!(client.status.contains(Status::IN_TRANS | Status::AUTOCOMMIT), "{begin}");
            let reads = [
                ("replica", "SELECT v FROM t"),
                ("replica", "SHOW TABLES"),
                ("replica", "SELECT 1; SELECT 2"),
                ("replica", "EXPLAIN SELECT v FROM t"),
                ("replica", "DO 0"),
                ("replica", "SELECT SQL_CALC_FOUND_ROWS v FROM t"),
                ("replica", "SELECT FOUND_ROWS()"),
                ("replica", "SHOW WARNINGS"),
            ];
            expect(&mut client, &reads);
            client.run("SELECT v FROM t");
            assert_eq!(client.route().reason, "split", "{level}");
            assert_eq!(client.rows("TIDEMARK SHOW STATUS")[7][1].as_deref(), Some("yes"));
            let rest = [
                ("primary", "UPDATE t SET v = v + 1"),
                ("primary", "SELECT v FROM t"),
                ("primary", "SHOW TABLES"),
            ];
            expect(&mut client, &rest);
            assert_eq!(client.route().reason, "in_transaction", "{level}");
            client.run(end);
            assert!(!client.status.contains(Status::IN_TRANS), "{end}");
            client.run("SELECT v FROM t");
            assert_eq!((client.route().role, client.route().reason), ("replica".into(), "read".into()));
        }
    }
    assert_eq!(
        stage.direct().value("SELECT v FROM t"),
        "7",
        "two of the four are rolled back, at each level"
    );
}

fn whatever_is_no_plain_read_opens_the_transaction(engine: Engine) {
    let stage = Stage::new(engine);
    stage.on_primary("CREATE FUNCTION number_one() RETURNS INT DETERMINISTIC RETURN 1");
    let mut client = stage.committed_at("session");
    for opens in [
        "SAVEPOINT a",
        "SELECT v FROM t FOR UPDATE",
        "SELECT v FROM t LOCK IN SHARE MODE",
        "SELECT number_one()",
        "SELECT number_one() /*FORCE_SLAVE*/",
        "SELECT LAST_INSERT_ID()",
        "SELECT @@global.max_connections",
        "SELECT v INTO @v FROM t",
        "SET @a = 1",
        "SET sql_select_limit = 100",
        "PREPARE p FROM 'SELECT 1'",
        "DO GET_LOCK('split', 0), RELEASE_LOCK('split')",
        "SELECT 1; UPDATE t SET v = 5",
        "SHOW STATUS LIKE 'Uptime'",
    ] {
        client.run("BEGIN");
        let cases = [("replica", "SELECT v FROM t"), ("primary", opens), ("primary", "SELECT v FROM t")];
        expect(&mut client, &cases);
        client.run("ROLLBACK");
    }
    // The proxy has answered BEGIN: what asks about it is asked on the primary, behind a BEGIN of its own.
    for asks in ["SHOW WARNINGS", "SELECT ROW_COUNT()"] {
        client.run("BEGIN");
        expect(&mut client, &[("primary", asks), ("primary", "SELECT v FROM t")]);
        client.run("COMMIT");
    }
    // What asks about the end of a transaction that was never opened hears nothing of older statements.
    let warnings = |client: &mut Client| {
        client.run("SELECT CAST('a' AS SIGNED) FROM t FOR UPDATE");
        client.run("BEGIN");
        client.run("COMMIT");
        client.rows("SHOW WARNINGS")
    };
    assert_eq!(warnings(&mut client), warnings(&mut stage.direct()));
    assert_eq!(stage.direct().value("SELECT v FROM t"), "1");
}

fn an_end_without_a_write_leaves_nothing_open(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.committed_at("session");
    let read = |client: &mut Client, end: &str| {
        expect(client, &[("replica", "SELECT v FROM t"), ("replica", "SELECT v + 1 FROM t")]);
        stage.until_open(0);
        client.run(end);
    };
    for end in ["COMMIT", "ROLLBACK", "COMMIT AND NO CHAIN", "ROLLBACK WORK NO RELEASE"] {
        client.run("BEGIN");
        read(&mut client, end);
        assert_eq!(client.status, Status::AUTOCOMMIT, "{end}");
    }
    client.run("BEGIN");
    read(&mut client, "COMMIT AND CHAIN");
    assert!(client.status.contains(Status::IN_TRANS));
    read(&mut client, "ROLLBACK AND CHAIN");
    read(&mut client, "BEGIN");
    read(&mut client, "START TRANSACTION READ WRITE");
    // A chain of one that was opened is the server's own.
    expect(&mut client, &[("replica", "SELECT v FROM t"), ("primary", "UPDATE t SET v = 8")]);
    stage.until_open(1);
    client.run("COMMIT AND CHAIN");
    expect(&mut client, &[("primary", "SELECT v FROM t")]);
    client.run("COMMIT");
    assert!(splits(&mut client, "BEGIN"));
    assert_eq!(client.value("SELECT v FROM t"), "8");
    stage.until_open(0);
}

/// A replica refuses the write in the view, and the primary must not commit it on its own.
fn a_write_hidden_in_a_read_is_rolled_back_with_the_rest(engine: Engine) {
    let stage = Stage::new(engine);
    stage.on_primary(
        "CREATE TABLE w (id INT); \
         CREATE FUNCTION writes() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO w VALUES (1); RETURN 1; END; \
         CREATE VIEW writer AS SELECT writes() AS n",
    );
    let mut client = stage.committed_at("session");
    for (end, rows) in [("ROLLBACK", "0"), ("COMMIT", "1")] {
        client.run("BEGIN");
        let cases = [
            ("replica", "SELECT v FROM t"),
            ("primary", "SELECT n FROM writer"),
            ("primary", "SELECT COUNT(*) FROM w"),
        ];
        expect(&mut client, &cases);
        client.run(end);
        assert_eq!(stage.direct().value("SELECT COUNT(*) FROM w"), rows, "{end}");
    }
}

fn reads_on_the_primary_belong_to_the_transaction(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.committed_at("primary");
    client.run("BEGIN");
    expect(&mut client, &[("primary", "SELECT v FROM t")]);
    stage.until_open(1);
    assert_eq!(client.route().reason, "read");
    expect(&mut client, &[("primary", "SELECT v FROM t")]);
    assert_eq!(client.route().reason, "in_transaction");
    client.run("COMMIT");
    stage.until_open(0);
}

fn prepared_statements_follow_the_transaction(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.committed_at("session");
    let text = "SELECT v FROM t WHERE id >= ?";
    let before = client.prepare(text).unwrap().id;
    client.run("BEGIN");
    let within = client.prepare(text).unwrap().id;
    let update = client.prepare("UPDATE t SET v = ? WHERE id = 1").unwrap().id;
    // What is only prepared opens nothing.
    stage.until_open(0);
    for id in [before, within, before] {
        client.execute(id, &[Param::number(1)], Execution::WithTypes);
        assert!(client.status.contains(Status::IN_TRANS));
        assert_eq!((client.route().role, client.route().reason), ("replica".into(), "split".into()));
    }
    client.plain(CommandCode::StmtReset, &before.to_le_bytes());
    assert!(client.status.contains(Status::IN_TRANS));
    client.execute(update, &[Param::number(77)], Execution::WithTypes);
    assert!(client.status.contains(Status::IN_TRANS));
    assert_eq!(client.route().role, "primary");
    client.execute(within, &[Param::number(1)], Execution::WithTypes);
    assert_eq!(client.route().reason, "in_transaction");
    client.run("ROLLBACK");
    // Rows of a cursor are fetched when the transaction may be over.
    client.run("BEGIN");
    client.execute(before, &[Param::number(0)], Execution::IntoCursor);
    assert_eq!(client.route().role, "primary");
    client.fetch(before, 5);
    client.run("COMMIT");
    // One that was opened before is where it was.
    client.execute(before, &[Param::number(0)], Execution::IntoCursor);
    let node = client.route().node;
    client.run("BEGIN");
    client.fetch(before, 5);
    assert_eq!(client.route().node, node);
    stage.until_open(0);
    expect(&mut client, &[("replica", "SELECT v FROM t")]);
    client.run("COMMIT");
    // As a prepared statement the end is a server's.
    let commit = client.prepare("COMMIT").unwrap().id;
    client.run("BEGIN");
    client.execute(commit, &[], Execution::WithTypes);
    assert_eq!(client.status, Status::AUTOCOMMIT);
    assert_eq!(stage.direct().value("SELECT v FROM t"), "1");
}

fn hints_are_obeyed_as_far_as_they_may(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.committed_at("session");
    assert!(!splits(&mut client, "/*FORCE_MASTER*/ BEGIN"), "so that a transaction can be kept together");
    client.run("BEGIN");
    for node in ["db2", "db3"] {
        expect(&mut client, &[("replica", &format!("/* tidemark: node={node} */ SELECT v FROM t"))]);
        assert_eq!(client.route().node, node);
    }
    let master = [("primary", "/*FORCE_MASTER*/ SELECT v FROM t"), ("primary", "SELECT v FROM t")];
    expect(&mut client, &master);
    client.run("COMMIT");
    client.run("BEGIN");
    let named = [
        ("primary", "/* tidemark: node=db1 */ SELECT v FROM t"),
        ("primary", "/* tidemark: node=db2 */ SELECT v FROM t"),
    ];
    expect(&mut client, &named);
    client.run("COMMIT");
}

fn a_reset_session_is_in_no_transaction(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.committed_at("session");
    client.run("BEGIN");
    client.run("SELECT v FROM t");
    client.plain(CommandCode::ResetConnection, b"");
    assert!(!client.status.contains(Status::IN_TRANS));
    client.run("UPDATE t SET v = 2");
    assert!(!client.status.contains(Status::IN_TRANS));
    assert_eq!(stage.direct().value("SELECT v FROM t"), "2");
    assert!(!splits(&mut client, "BEGIN"), "the isolation level is reset as well");
    client.run(super::stage::READ_COMMITTED);
    client.run("BEGIN");
    client.run("SELECT v FROM t");
    stage.account().change(&mut client).unwrap();
    client.run("UPDATE t SET v = 3");
    assert!(!client.status.contains(Status::IN_TRANS));
    assert_eq!(stage.direct().value("SELECT v FROM t"), "3");
}

fn a_released_session_ends(engine: Engine) {
    let stage = Stage::new(engine);
    for end in ["COMMIT RELEASE", "ROLLBACK RELEASE"] {
        let told: Vec<_> = [stage.at("session"), stage.direct()]
            .into_iter()
            .map(|mut client| {
                client.run(super::stage::READ_COMMITTED);
                client.run("BEGIN");
                client.run("SELECT v FROM t");
                let reply = client.run(end);
                assert!(client.wait_for_end().is_empty());
                reply.packets
            })
            .collect();
        assert_eq!(told[0], told[1], "{end}");
    }
}

fn errors_leave_the_transaction_as_it_is(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.committed_at("session");
    client.run("BEGIN");
    for error in ["SELECT no_such_column FROM t", "SELECT * FROM no_such_table"] {
        client.error(error);
        assert_eq!(client.route().role, "replica", "{error}");
        expect(&mut client, &[("replica", "SELECT v FROM t")]);
    }
    assert!(client.prepare("SELECT no_such_column FROM t").is_err());
    expect(&mut client, &[("replica", "SELECT v FROM t")]);
    client.error("INSERT INTO t VALUES (1, 1)");
    assert_eq!(client.route().role, "primary");
    expect(&mut client, &[("primary", "SELECT v FROM t"), ("primary", "INSERT INTO t VALUES (2, 2)")]);
    client.run("ROLLBACK");
    client.run("BEGIN");
    assert_eq!(client.error("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE").code, 1568);
    expect(&mut client, &[("primary", "SELECT v FROM t")]);
    client.run("ROLLBACK");
    for refused in ["START TRANSACTION NOW", "COMMIT AND CHAIN RELEASE", "BEGIN WORK WORK"] {
        client.run("BEGIN");
        let (through, direct) = (client.error(refused), stage.direct().error(refused));
        assert_eq!(through, direct, "{refused}");
        client.run("ROLLBACK");
    }
    assert_eq!(stage.direct().value("SELECT COUNT(*) FROM t"), "1");
}

fn read_only_transactions_stay_as_they_are(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = stage.committed_at("session");
    for before in [None, Some("BEGIN"), Some("START TRANSACTION WITH CONSISTENT SNAPSHOT")] {
        before.iter().for_each(|before| {
            client.run(before);
        });
        client.run("START TRANSACTION READ ONLY");
        assert!(client.status.contains(Status::IN_TRANS));
        let node = client.route().node;
        for _ in 0..5 {
            client.run("SELECT v FROM t");
            let route = client.route();
            assert_eq!((route.node, route.reason.as_str()), (node.clone(), "in_transaction"));
        }
        assert_eq!(client.error("UPDATE t SET v = 9").code, 1792);
        client.run("COMMIT");
        assert!(splits(&mut client, "BEGIN"));
    }
    assert!(!splits(&mut client, "START TRANSACTION WITH CONSISTENT SNAPSHOT"));
    client.run("BEGIN");
    assert!(!splits(&mut client, "START TRANSACTION WITH CONSISTENT SNAPSHOT"));
    // What follows one directly is not where it was.
    client.run("START TRANSACTION READ ONLY");
    client.run("SELECT v FROM t");
    assert!(splits(&mut client, "START TRANSACTION READ WRITE"));
    let mut whole = stage.committed_at("whole");
    for (client, role) in [(&mut client, "replica"), (&mut whole, "primary")] {
        client.run("START TRANSACTION READ ONLY");
        client.run("SELECT v FROM t");
        client.run("START TRANSACTION READ WRITE");
        expect(client, &[(role, "SELECT v FROM t"), ("primary", "UPDATE t SET v = 5")]);
        client.run("ROLLBACK");
    }
    let node = |client: &mut Client| {
        client.run("START TRANSACTION READ ONLY");
        client.run("SELECT v FROM t");
        assert_eq!(client.route().reason, "in_transaction");
        client.route().node
    };
    let first = node(&mut whole);
    let begin = std::time::Instant::now();
    while node(&mut whole) == first {
        assert!(begin.elapsed() < crate::harness::wait::PATIENCE, "each is on {first}");
    }
}
