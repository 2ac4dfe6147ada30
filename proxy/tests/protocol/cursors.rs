//! Cursors: rows fetched in portions, with other statements in between.

use std::thread;
use std::time::Duration;

use sandbox::Engine;

use super::recorder::Stage;
use super::statements::combinations;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};
use crate::harness::reply::Part;
use crate::harness::stream::Target;

on_every_engine!(rows_in_portions, a_connection_lost_between_two_portions);

const ROWS: &str = "SELECT n, REPEAT('x', 50) FROM (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 \
                    UNION SELECT 5 UNION SELECT 6) AS d WHERE n >= ? ORDER BY n";

fn rows_in_portions(engine: Engine) {
    let stage = Stage::new(engine);
    for account in combinations().into_iter().step_by(2) {
        stage.compare(&account, |recorder| {
            let id = recorder.prepare(ROWS);
            recorder.execute(id, &[Param::number(1)], Execution::IntoCursor);
            recorder.fetch(id, 2);
            // Statements that go elsewhere.
            recorder.queries(&["SELECT 1", "DO 1", "SELECT 2", "SET @a = 1"]);
            recorder.fetch(id, 2);
            let other = recorder.prepare(ROWS);
            recorder.execute(other, &[Param::number(4)], Execution::IntoCursor);
            recorder.fetch(id, 1);
            recorder.fetch(other, 1);
            recorder.fetch(id, 100);
            recorder.fetch(other, 100);
            // Behind the last row.
            recorder.fetch(id, 1);
            recorder.execute(id, &[Param::number(1)], Execution::IntoCursor);
            recorder.fetch(id, 1);
            recorder.reset(id);
            recorder.fetch(id, 1);
            recorder.execute(id, &[Param::number(2)], Execution::IntoCursor);
            if engine != Engine::Mysql {
                // MySQL 9.7 answers columns and an OK without rows, whoever asks.
                recorder.execute(id, &[Param::number(6)], Execution::WithTypes);
            }
            recorder.execute(id, &[Param::number(1)], Execution::IntoCursor);
            recorder.client.close(id);
            recorder.fetch(id, 1);
            // No rows; and a statement that no cursor can be opened for.
            recorder.execute(other, &[Param::number(100)], Execution::IntoCursor);
            recorder.fetch(other, 1);
            let plain = recorder.prepare("DO ?");
            recorder.execute(plain, &[Param::number(1)], Execution::IntoCursor);
            recorder.query("SELECT 3");
        });
    }
}

/// Ends whatever is open in the schema, on every server.
fn cut_off(stage: &Stage) {
    let open = format!(
        "SELECT id FROM information_schema.processlist WHERE user = 'app' AND db = '{}'",
        stage.schema
    );
    for server in stage.cluster.servers() {
        let mut direct = Account::app().connect(&Target::Tcp(server.address())).unwrap();
        for id in direct.rows(&open).into_iter().flatten().flatten() {
            direct.query(format!("KILL {id}"));
        }
        while !direct.rows(&open).is_empty() {}
    }
    // The list forgets them before the proxy has the end of the stream.
    thread::sleep(Duration::from_millis(30));
}

/// The session hears that the rest of the rows is lost, and goes on.
fn a_connection_lost_between_two_portions(engine: Engine) {
    let stage = Stage::new(engine);
    let account = Account::app().schema(&stage.schema);
    let mut client = account.connect(&stage.proxy.target("rw")).unwrap();
    // On a replica, on the primary in autocommit, and with a statement between.
    for (hint, between) in
        [("", false), ("/*FORCE_MASTER*/ ", false), ("", true), ("/*FORCE_MASTER*/ ", true)]
    {
        let id = client.prepare(format!("{hint}{ROWS}")).unwrap().id;
        let reply = client.execute(id, &[Param::number(1)], Execution::IntoCursor);
        assert_eq!(reply.error(), None);
        let node = client.route().node;
        assert_eq!(client.fetch(id, 2).error(), None);
        cut_off(&stage);
        if between {
            // Nothing to do with the cursor.
            assert_eq!(client.value(&format!("{hint}SELECT 'between'")), "between");
        }
        let error = client.fetch(id, 2).error().expect("the rows are lost");
        assert!(error.message.contains(&node) || error.code == 1421, "{hint}: {error:?}");
        for number in 0..4 {
            assert_eq!(client.value(&format!("{hint}SELECT {number}")), number.to_string());
        }
        assert_eq!(client.fetch(id, 1).error().unwrap().code, 1421, "there is no cursor any more");
        // The statement itself is not lost.
        assert_eq!(client.execute(id, &[Param::number(5)], Execution::IntoCursor).error(), None);
        let rows = client.fetch(id, 10);
        assert!(matches!(rows.parts.first(), Some(Part::Rows { rows, .. }) if rows.len() == 2), "{rows:?}");
        client.close(id);
    }
    // Inside of a transaction the transaction is lost with it, which no session outlives.
    let id = client.prepare(ROWS).unwrap().id;
    client.run("BEGIN");
    assert_eq!(client.execute(id, &[Param::number(1)], Execution::IntoCursor).error(), None);
    cut_off(&stage);
    let error = client.fetch(id, 1).error().unwrap();
    assert_eq!(error.code, 1053, "{error:?}");
    assert!(client.wait_for_end().is_empty());
}
