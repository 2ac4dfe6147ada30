//! What a session may do between the steps of an XA transaction: what it may with the server, there and nowhere else.

use sandbox::Engine;

use super::stage::Stage;
use crate::harness::client::Client;
use crate::harness::on_every_engine;

on_every_engine!(reads_between_the_steps_are_as_with_the_server);

const READS: [&str; 4] = ["SELECT v FROM t", "SELECT 1", "SHOW TABLES", "DO 1"];

/// The values, or the number of the error, of each read.
fn hear(client: &mut Client) -> Vec<Result<Vec<Vec<Option<String>>>, u16>> {
    READS
        .iter()
        .map(|text| {
            let reply = client.query(text);
            match reply.error() {
                Some(error) => Err(error.code),
                None if *text == "DO 1" => Ok(Vec::new()),
                None => Ok(reply.text_rows()),
            }
        })
        .collect()
}

/// The steps, and what was heard behind each of them. `check` is shown each step behind which nothing may leave the primary.
fn converse(
    client: &mut Client,
    name: &str,
    end: &str,
    mut check: impl FnMut(&mut Client, &str),
) -> Vec<String> {
    let mut heard = Vec::new();
    for step in ["XA START", "UPDATE t SET v = v + 1", "XA END", "XA PREPARE", end, "SELECT 1"] {
        let text = if step.starts_with("XA") { format!("{step} '{name}'") } else { step.to_owned() };
        let error = client.query(&text).error().map(|error| error.code);
        heard.push(format!("{step}: {error:?} {:?}", hear(client)));
        check(client, step);
    }
    heard
}

fn compare(stage: &Stage, before: &str, detaches: bool) {
    for end in ["XA COMMIT", "XA ROLLBACK"] {
        let undo = if end == "XA COMMIT" { "UPDATE t SET v = v - 1" } else { "DO 1" };
        let mut direct = stage.at_primary();
        direct.run(format!("USE {}", stage.schema));
        direct.run(before);
        let expected = converse(&mut direct, &stage.schema, end, |_, _| ());
        direct.run(undo);
        crate::harness::clusters::caught_up(stage.cluster);

        let mut client = stage.client();
        client.run(before);
        let found = converse(&mut client, &stage.schema, end, |client, step| {
            let inside = matches!(step, "XA START" | "UPDATE t SET v = v + 1" | "XA END")
                || (step == "XA PREPARE" && !detaches);
            assert_eq!(client.route().role, if inside { "primary" } else { "replica" }, "{before}, {step}");
        });
        client.run(undo);
        assert_eq!(expected, found, "{before}, {end}");
    }
}

/// MySQL lets a session go on after XA PREPARE, for the transaction is nobody's then. MariaDB does not.
fn reads_between_the_steps_are_as_with_the_server(engine: Engine) {
    compare(&Stage::new(engine), "DO 1", engine == Engine::Mysql);
}

#[test]
fn reads_of_a_session_that_does_not_detach() {
    compare(&Stage::new(Engine::Mysql), "SET xa_detach_on_prepare = OFF", false);
}
