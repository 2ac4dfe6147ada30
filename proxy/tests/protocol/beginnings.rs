//! What a session begins with: the greeting, and what the servers run for whoever logs in.

use sandbox::{ClusterOptions, Engine, LoginPlugin};
use wire::Capabilities;

use crate::harness::client::Client;
use crate::harness::clusters::{self, shared, unique};
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::proxy::Setup;
use crate::harness::stream::Target;

on_every_engine!(the_greeting_is_the_servers, what_servers_run_at_login_is_in_force_everywhere);

/// Nothing is announced that a server cannot do.
fn the_greeting_is_the_servers(engine: Engine) {
    let cluster = shared(engine);
    let proxy = Setup::of(cluster).endpoint("rw", "").start();
    let direct = Client::greeted(&Target::Tcp(cluster.primary().address())).unwrap().greeting;
    let proxied = Client::greeted(&proxy.target("rw")).unwrap().greeting;
    assert_eq!(proxied.version, direct.version);
    assert_eq!(proxied.collation, direct.collation);
    let family = |plugin: &[u8]| plugin == b"caching_sha2_password";
    assert_eq!(family(&proxied.plugin), family(&direct.plugin), "the family's own plugin");
    // TLS is the proxy's own.
    let beyond = proxied.capabilities.without(direct.capabilities | Capabilities::SSL);
    assert_eq!(beyond, Capabilities::default(), "{:x}", beyond.0);
    assert_eq!(proxied.extended & !direct.extended, 0);
    let missing = direct.capabilities.without(proxied.capabilities);
    let never = Capabilities::OPTIONAL_RESULTSET_METADATA
        | Capabilities::MULTI_FACTOR_AUTHENTICATION
        | Capabilities::CAPABILITY_EXTENSION
        | Capabilities::SSL_VERIFY_SERVER_CERT
        | Capabilities::REMEMBER_OPTIONS;
    assert_eq!(missing.without(never), Capabilities::default(), "{:x}", missing.0);
}

fn what_servers_run_at_login_is_in_force_everywhere(engine: Engine) {
    let init = "--init-connect=SET time_zone = '+05:00', @begun = 7, sql_select_limit = 3";
    let cluster = clusters::start(ClusterOptions::new(engine).replicas(1).server_argument(init));
    let proxy = Setup::of(&cluster).endpoint("rw", "consistency = \"session\"").start();
    // It is not run for whoever may do everything.
    let user = unique("ordinary");
    let plugin = if engine == Engine::Mysql { LoginPlugin::CachingSha2 } else { LoginPlugin::Native };
    cluster.create_account(&user, plugin, "password").unwrap();
    cluster.primary().sql(&format!("GRANT SELECT, INSERT ON app.* TO '{user}'@'%'")).unwrap();
    cluster.primary().sql("CREATE TABLE app.t (id INT)").unwrap();
    clusters::caught_up(&cluster);
    let account = Account::new(&user, "password").schema("app");
    let question = "SELECT @@time_zone, @begun, @@sql_select_limit";
    let direct = account.connect(&Target::Tcp(cluster.primary().address())).unwrap().rows(question);
    let mut client = account.connect(&proxy.target("rw")).unwrap();
    for _ in 0..4 {
        assert_eq!(client.rows(question), direct);
        client.run("INSERT INTO t VALUES (1)");
        assert_eq!(client.rows(question), direct);
    }
    client.run("SET sql_select_limit = 100");
    let changed = client.rows(question);
    assert_eq!(changed[0][..2], direct[0][..2], "only what was set has changed");
    assert_eq!(changed[0][2].as_deref(), Some("100"));
}
