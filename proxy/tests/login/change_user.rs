//! COM_CHANGE_USER and COM_RESET_CONNECTION.

use sandbox::{Engine, LoginPlugin};
use wire::{AuthPacket, ChangeUser, CommandCode, Status};

use crate::harness::client::{Client, Failure};
use crate::harness::clusters::{schema, shared, unique};
use crate::harness::login::{Account, Tls, UTF8MB4};
use crate::harness::on_every_engine;
use crate::harness::proxy::Setup;
use crate::harness::stream::Target;

on_every_engine!(
    changing_to_another_account,
    changing_with_a_wrong_password,
    the_nonce_of_the_greeting_is_asked_about_again,
    resetting_forgets_the_session_but_not_its_schema,
    changing_within_a_transaction_rolls_it_back,
    character_sets_after_a_reset_are_as_with_a_server,
    collations_of_two_bytes,
    a_session_that_may_not_change_goes_on_as_with_a_server,
);

/// A login has room for one byte of the id, COM_CHANGE_USER for two.
fn collations_of_two_bytes(engine: Engine) {
    let cluster = shared(engine);
    let proxy = Setup::of(cluster).endpoint("rw", "consistency = \"session\"").start();
    let (high, question) = match engine {
        Engine::Mysql => {
            (303, "SELECT @@collation_connection, @@character_set_client, @@character_set_results")
        }
        Engine::Mariadb | Engine::Mariadb11 => {
            (1057, "SELECT @@collation_connection, @@character_set_client, @@character_set_results")
        }
    };
    let direct = Target::Tcp(cluster.primary().address());
    let mut heard = Vec::new();
    for target in [&direct, &proxy.target("rw")] {
        let mut client = Account::app().connect(target).unwrap();
        Account { collation: high, ..Account::app() }.change(&mut client).unwrap();
        heard.extend((0..6).map(|_| client.rows(question)));
    }
    assert!(heard.iter().all(|row| *row == heard[0]), "{heard:?}");
}

fn a_session_that_may_not_change_goes_on_as_with_a_server(engine: Engine) {
    let cluster = shared(engine);
    let proxy = Setup::of(cluster).endpoint("rw", "consistency = \"session\"").start();
    let direct = Target::Tcp(cluster.primary().address());
    let mut heard = Vec::new();
    for target in [&direct, &proxy.target("rw")] {
        let mut client = Account::app().connect(target).unwrap();
        client.run("SET @kept = 5");
        let refused = change(&mut client, &Account::app().schema("no_such_schema"));
        let Err(Failure::Refused(error)) = refused else { panic!("{refused:?}") };
        client.send_query("SELECT @kept, CURRENT_USER(), DATABASE()");
        let goes_on = client.try_reply().ok().map(|reply| reply.text_rows());
        heard.push((error.code, goes_on));
    }
    assert_eq!(heard[0], heard[1]);
}

fn change(client: &mut Client, account: &Account) -> Result<(), Failure> {
    Account { collation: UTF8MB4, ..account.clone() }.change(client)
}

fn changing_to_another_account(engine: Engine) {
    let cluster = shared(engine);
    let schema = schema(cluster);
    let user = unique("other");
    let plugin = if engine == Engine::Mysql { LoginPlugin::CachingSha2 } else { LoginPlugin::Native };
    cluster.create_account(&user, plugin, "others-password").unwrap();
    cluster.primary().sql(&format!("GRANT ALL ON {schema}.* TO '{user}'@'%'")).unwrap();
    crate::harness::clusters::caught_up(cluster);
    let proxy = Setup::of(cluster).endpoint("rw", "consistency = \"session\"").start();
    for tls in [Tls::No, Tls::Yes] {
        let mut client = Account::app().tls(tls).connect(&proxy.target("rw")).unwrap();
        client.run("SET @mine = 5, sql_mode = 'ANSI_QUOTES'");
        client.run(format!("CREATE TEMPORARY TABLE {schema}.temporary (id INT)"));
        change(&mut client, &Account::new(&user, "others-password").schema(&schema)).unwrap();
        for _ in 0..3 {
            assert_eq!(client.value("SELECT CURRENT_USER()"), format!("{user}@%"));
            assert_eq!(client.value("SELECT DATABASE()"), schema);
            assert_eq!(client.value("SELECT @mine"), "NULL");
        }
        assert!(!client.value("SELECT @@sql_mode").contains("ANSI_QUOTES"));
        assert_eq!(client.error("SELECT * FROM temporary").code, 1146);
        client.run("CREATE TABLE IF NOT EXISTS t (id INT)");
        client.run("INSERT INTO t VALUES (1)");
        assert_ne!(client.value("SELECT COUNT(*) FROM t"), "0");
        // And back.
        change(&mut client, &Account::app()).unwrap();
        assert_eq!(client.value("SELECT CURRENT_USER()"), "app@%");
        assert_eq!(client.value("SELECT DATABASE()"), "NULL");
    }
}

/// libmariadb answers with the nonce it was given first, whatever the switch carries.
fn the_nonce_of_the_greeting_is_asked_about_again(engine: Engine) {
    let proxy = Setup::of(shared(engine)).endpoint("rw", "").start();
    for plugin in ["mysql_native_password", "caching_sha2_password"] {
        let mut client = Account::app().plugin(plugin).connect(&proxy.target("rw")).unwrap();
        let mut payload = Vec::new();
        let request = ChangeUser {
            user: b"app",
            collation: Some(UTF8MB4),
            auth_plugin: Some(plugin.as_bytes()),
            ..ChangeUser::default()
        };
        request.write(&mut payload, client.capabilities).unwrap();
        client.command(&payload);
        let packet = client.receive().unwrap().payload;
        match AuthPacket::parse(&packet, client.capabilities) {
            Ok(AuthPacket::Switch { plugin: asked, data }) => {
                assert_eq!((asked, data), (plugin.as_bytes(), client.greeting.nonce.as_slice()));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// MySQL ends the session; MariaDB lets it go on as who it was, three times.
fn changing_with_a_wrong_password(engine: Engine) {
    let cluster = shared(engine);
    let proxy = Setup::of(cluster).endpoint("rw", "").start();
    let mut client = Account::app().connect(&proxy.target("rw")).unwrap();
    client.run("DO 1");
    let survived = if engine == Engine::Mysql { 0 } else { 3 };
    for attempt in 0..=survived {
        match change(&mut client, &Account::new("app", "wrong-password")) {
            Err(Failure::Refused(error)) => {
                let text = "Access denied for user 'app'@'127.0.0.1' (using password: YES)";
                assert_eq!((error.code, error.message.as_str()), (1045, text));
            }
            other => panic!("{other:?}"),
        }
        if attempt < survived {
            assert_eq!(client.value("SELECT CURRENT_USER()"), "app@%");
        }
    }
    assert!(client.wait_for_end().is_empty());
    assert!(!proxy.log().contains("wrong-password"));
}

fn resetting_forgets_the_session_but_not_its_schema(engine: Engine) {
    let cluster = shared(engine);
    let schema = schema(cluster);
    let proxy = Setup::of(cluster).endpoint("rw", "consistency = \"session\"").start();
    let mut client = Account::app().schema(&schema).connect(&proxy.target("rw")).unwrap();
    let normal = client.value("SELECT @@sql_mode");
    client.run("CREATE TABLE t (id INT)");
    client.run("SET @mine = 5, sql_mode = 'ANSI_QUOTES', autocommit = 0");
    client.run("CREATE TEMPORARY TABLE gone (id INT)");
    client.command(&[&[CommandCode::StmtPrepare.to_u8()], b"SELECT 1".as_slice()].concat());
    let prepared = client.receive().unwrap().payload;
    let id = wire::PrepareOk::parse(&prepared).unwrap().statement_id;
    client.receive().unwrap();
    client.run("INSERT INTO t VALUES (1)");
    assert!(client.status.contains(Status::IN_TRANS));
    let reset = client.plain(CommandCode::ResetConnection, &[]);
    assert!(reset.ok().status.contains(Status::AUTOCOMMIT), "{reset:?}");
    assert!(!reset.ok().status.contains(Status::IN_TRANS), "{reset:?}");
    for _ in 0..3 {
        assert_eq!(client.value("SELECT @mine"), "NULL");
        assert_eq!(client.value("SELECT @@sql_mode"), normal);
        assert_eq!(client.value("SELECT DATABASE()"), schema);
    }
    assert_eq!(client.error("SELECT * FROM gone").code, 1146);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "0");
    let execute = [&id.to_le_bytes()[..], &[0, 1, 0, 0, 0]].concat();
    assert_eq!(client.plain(CommandCode::StmtExecute, &execute).error().unwrap().code, 1243);
}

fn changing_within_a_transaction_rolls_it_back(engine: Engine) {
    let cluster = shared(engine);
    let schema = schema(cluster);
    let proxy = Setup::of(cluster).endpoint("rw", "consistency = \"session\"").start();
    let account = Account::app().schema(&schema);
    let mut client = account.connect(&proxy.target("rw")).unwrap();
    client.run("CREATE TABLE t (id INT PRIMARY KEY)");
    client.run("BEGIN");
    client.run("INSERT INTO t VALUES (1)");
    change(&mut client, &account).unwrap();
    assert!(!client.status.contains(Status::IN_TRANS));
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "0");
    client.run("INSERT INTO t VALUES (1)");
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "1");
}

fn character_sets_after_a_reset_are_as_with_a_server(engine: Engine) {
    let cluster = shared(engine);
    let proxy = Setup::of(cluster).endpoint("rw", "").start();
    let question = "@@character_set_client, @@character_set_results, @@collation_connection";
    // latin1_swedish_ci, gbk_chinese_ci, utf8mb4_bin.
    for collation in [8, 28, 46] {
        let account = Account { collation, ..Account::app() };
        let mut direct = account.connect(&Target::Tcp(cluster.primary().address())).unwrap();
        let mut proxied = account.connect(&proxy.target("rw")).unwrap();
        for names in ["DO 1", "SET NAMES utf8mb3", "SET NAMES latin1 COLLATE latin1_bin"] {
            for change in [CommandCode::ResetConnection, CommandCode::ChangeUser] {
                for client in [&mut direct, &mut proxied] {
                    client.run(names);
                    if change == CommandCode::ResetConnection {
                        client.plain(change, &[]);
                    } else {
                        self::change(client, &account).unwrap();
                    }
                }
                let expected = direct.rows(&format!("SELECT {question}"));
                // On the primary and on replicas, over old connections and new ones.
                for end in [" FOR UPDATE", "", "", "", "", ""] {
                    let told = proxied.rows(&format!("SELECT {question}{end}"));
                    assert_eq!(told, expected, "{collation}, {names}, {change:?}{end}");
                }
            }
        }
    }
}
