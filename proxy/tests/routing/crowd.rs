//! Many sessions at once: none sees anything of another's state.

use std::thread;

use sandbox::Engine;

use super::stage::Stage;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};

on_every_engine!(sessions_do_not_mix);

const SESSIONS: i64 = 30;
const ROUNDS: i64 = 15;

fn sessions_do_not_mix(engine: Engine) {
    let stage = Stage::new(engine);
    stage.on_primary("CREATE TABLE counters (id INT PRIMARY KEY, n INT)");
    thread::scope(|scope| {
        for number in 0..SESSIONS {
            let stage = &stage;
            scope.spawn(move || session(stage, number));
        }
    });
    let mut client = stage.client();
    let total = (SESSIONS * ROUNDS).to_string();
    assert_eq!(client.value("SELECT SUM(n) FROM counters"), total);
}

fn session(stage: &Stage, number: i64) {
    let mut client = stage.client();
    let zone = format!("+{:02}:{:02}", number % 13, number * 7 % 60);
    client.run(format!("SET @me = {number}, time_zone = '{zone}'"));
    client.run(format!("INSERT INTO counters VALUES ({number}, 0)"));
    let id = client.prepare(format!("SELECT {number} + ?, n FROM counters WHERE id = {number}")).unwrap().id;
    for round in 0..ROUNDS {
        assert_eq!(client.value("SELECT @me"), number.to_string());
        assert_eq!(client.value("SELECT @@time_zone"), zone);
        client.run("BEGIN");
        client.run(format!("UPDATE counters SET n = n + 1 WHERE id = {number}"));
        client.run(if round % 5 == 4 { "ROLLBACK" } else { "COMMIT" });
        if round % 5 == 4 {
            client.run(format!("UPDATE counters SET n = n + 1 WHERE id = {number}"));
        }
        assert_eq!(
            client.value(&format!("SELECT n FROM counters WHERE id = {number}")),
            (round + 1).to_string()
        );
        let reply = client.execute(id, &[Param::number(round)], Execution::WithTypes);
        let row = format!("{:?}", reply.packets);
        assert!(reply.error().is_none(), "{row}");
        assert_eq!(client.value("SELECT CONNECTION_ID()"), client.greeting.id.to_string());
    }
}
