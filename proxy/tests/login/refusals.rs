//! What a client is told that does not get in: the servers' own numbers and words.

use sandbox::Engine;
use wire::CommandCode;

use crate::harness::client::{Client, Failure, ServerError};
use crate::harness::clusters::{shared, unique};
use crate::harness::login::{Account, Tls};
use crate::harness::on_every_engine;
use crate::harness::proxy::Setup;
use crate::harness::stream::Target;

on_every_engine!(a_wrong_password, an_unknown_schema, too_many_connections, addresses_that_are_not_allowed,);

fn refused(account: &Account, target: &Target) -> ServerError {
    account.connect(target).err().expect("refused")
}

fn a_wrong_password(engine: Engine) {
    let cluster = shared(engine);
    let proxy = Setup::of(cluster).endpoint("rw", "").endpoint("ro", "mode = \"read-only\"").start();
    let nobody = unique("nobody");
    for endpoint in ["rw", "ro"] {
        let target = proxy.target(endpoint);
        for tls in [Tls::No, Tls::Yes] {
            for user in [sandbox::APP_USER, &nobody] {
                let error = refused(&Account::new(user, "not-the-password").tls(tls.clone()), &target);
                let text = format!("Access denied for user '{user}'@'127.0.0.1' (using password: YES)");
                let expected = ServerError { code: 1045, state: "28000".to_owned(), message: text };
                assert_eq!(error, expected);
                let error = refused(&Account::new(user, "").tls(tls.clone()), &target);
                let text = format!("Access denied for user '{user}'@'127.0.0.1' (using password: NO)");
                assert_eq!((error.code, error.message), (1045, text));
            }
        }
        // And nobody is shut out by what others tried.
        Account::app().connect(&target).unwrap();
    }
    assert!(!proxy.log().contains("not-the-password"));
}

fn an_unknown_schema(engine: Engine) {
    let cluster = shared(engine);
    let proxy = Setup::of(cluster).endpoint("rw", "").start();
    let account = Account::app().schema("no_such_schema");
    let error = refused(&account, &proxy.target("rw"));
    assert_eq!(error, refused(&account, &Target::Tcp(cluster.primary().address())));
    assert_eq!(error.code, 1049);
}

fn too_many_connections(engine: Engine) {
    let cluster = shared(engine);
    let proxy = Setup::of(cluster).endpoint("rw", "max_connections = 2").start();
    let target = proxy.target("rw");
    let first = Account::app().connect(&target).unwrap();
    // Who has not logged in yet counts as well.
    let second = Client::greeted(&target).unwrap();
    match Client::greeted(&target) {
        Err(Failure::Refused(error)) => {
            assert_eq!((error.code, error.message.as_str()), (1040, "Too many connections"));
        }
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("a third client was greeted"),
    }
    drop(second);
    first.quit();
    let begin = std::time::Instant::now();
    while let Err(failure) = Account::app().try_connect(&target) {
        assert!(begin.elapsed().as_secs() < 5, "the place was not given back: {failure:?}");
    }
}

fn addresses_that_are_not_allowed(engine: Engine) {
    let cluster = shared(engine);
    let proxy = Setup::of(cluster)
        .endpoint("closed", "allow = [\"10.0.0.0/8\", \"::1\"]")
        .endpoint("open", "allow = [\"10.0.0.0/8\", \"127.0.0.0/8\"]")
        .socket_endpoint("socket", "allow = [\"10.0.0.0/8\"]")
        .start();
    match Client::greeted(&proxy.target("closed")) {
        Err(Failure::Refused(error)) => {
            let text = "Host '127.0.0.1' is not allowed to connect to this MySQL server";
            assert_eq!((error.code, error.message.as_str()), (1130, text));
        }
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("a client from elsewhere was greeted"),
    }
    Account::app().connect(&proxy.target("open")).unwrap();
    Account::app().connect(&proxy.target("socket")).unwrap();
}

#[test]
fn no_node_is_up() {
    // The port of a service that is not there.
    let nodes = vec![("db1".to_owned(), "127.0.0.1:9".to_owned())];
    let proxy = Setup::nodes(nodes).endpoint("rw", "").start();
    match Client::greeted(&proxy.target("rw")) {
        Err(Failure::Refused(error)) => assert_eq!(error.code, 1105, "{error:?}"),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("greeted in the name of nobody"),
    }
}

#[test]
fn a_server_that_takes_no_more_connections() {
    let cluster = crate::harness::clusters::start(
        sandbox::ClusterOptions::new(Engine::Mariadb).replicas(0).server_argument("--max-connections=10"),
    );
    let proxy = Setup::of(&cluster).endpoint("rw", "").start();
    let mut clients = Vec::new();
    let error = loop {
        match Account::app().try_connect(&proxy.target("rw")) {
            Ok(client) => clients.push(client),
            Err(Failure::Refused(error)) => break error,
            Err(Failure::Broken(what)) => panic!("{what}"),
        }
        assert!(clients.len() < 20);
    };
    assert_eq!(error.code, 1040);
    // Those who are in do not notice.
    for client in &mut clients {
        assert!(client.plain(CommandCode::Ping, &[]).error().is_none());
        assert_eq!(client.value("SELECT 1"), "1");
    }
}
