//! Clients that send commands before the replies to earlier ones have come.

use sandbox::Engine;
use wire::CommandCode;

use super::recorder::Stage;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::prepared::{Execution, Param};

on_every_engine!(many_commands_at_once, a_statement_behind_a_goodbye);

fn many_commands_at_once(engine: Engine) {
    let stage = Stage::new(engine);
    let account = Account::app().schema(&stage.schema);
    let mut client = account.connect(&stage.proxy.target("rw")).unwrap();
    client.run("CREATE TABLE piped (id INT PRIMARY KEY)");
    // Writes and reads after each other, on whatever nodes: the replies come in order.
    for number in 0..100 {
        client.send_query(format!("INSERT INTO piped VALUES ({number})"));
        client.send_query("SELECT COUNT(*) FROM piped");
        client.command(&[CommandCode::Ping.to_u8()]);
        client.send_query("SELECT no_such_column");
    }
    for number in 1..=100 {
        assert_eq!(client.read_reply().ok().affected_rows, 1);
        assert_eq!(client.read_reply().text_rows()[0][0], Some(number.to_string()));
        assert!(client.read_reply().error().is_none());
        assert_eq!(client.read_reply().error().unwrap().code, 1054);
    }
    // Prepared statements: the id is known once, then everything is sent blindly.
    let id = client.prepare("SELECT ? + 1").unwrap().id;
    for number in 0..50 {
        client.send_execute(id, &[Param::number(number)], Execution::WithTypes);
        client.long_data(id, 0, b"41");
        client.send_execute(id, &[Param::sent_ahead(252)], Execution::WithTypes);
    }
    client.close(id);
    client.send_query("SELECT 'end'");
    for _ in 0..100 {
        assert!(client.read_reply().error().is_none());
    }
    assert_eq!(client.read_reply().text_rows()[0][0].as_deref(), Some("end"));
}

fn a_statement_behind_a_goodbye(engine: Engine) {
    let stage = Stage::new(engine);
    let mut client = Account::app().connect(&stage.proxy.target("rw")).unwrap();
    client.send_query("SELECT 1");
    client.command(&[CommandCode::Quit.to_u8()]);
    let _ = client.send_raw(b"\x09\0\0\0\x03SELECT 2");
    assert!(client.read_reply().error().is_none());
    assert!(client.wait_for_end().is_empty());
}
