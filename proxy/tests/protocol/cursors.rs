//! Cursors: rows fetched in portions, with other statements in between.

use sandbox::Engine;

use super::recorder::Stage;
use super::statements::combinations;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};

on_every_engine!(rows_in_portions);

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
