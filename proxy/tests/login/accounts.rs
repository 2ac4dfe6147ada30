//! Accounts of every plugin.

use sandbox::{Cluster, Engine, LoginPlugin};

use crate::harness::clusters::{shared, unique};
use crate::harness::login::{Account, Tls};
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::stream::Target;

on_every_engine!(
    an_account_without_a_password,
    the_application_account_reads_and_writes,
    unix_sockets_on_both_sides,
    the_servers_own_client_logs_in,
);

/// A password that stands nowhere else, so that the log can be searched for it.
fn secret() -> String {
    format!("hush{}", unique("s3cret"))
}

fn plain_proxy(cluster: &Cluster) -> Proxy {
    Setup::of(cluster).endpoint("rw", "").start()
}

/// Logs in and shows that the session works on the primary and on a replica.
fn works(account: &Account, target: &Target) -> Vec<String> {
    let mut client = account.connect(target).unwrap();
    assert_eq!(client.value("SELECT 1"), "1");
    assert!(client.value("SELECT CURRENT_USER()").starts_with(&format!("{}@", account.user)));
    let path = client.path.clone();
    client.quit();
    path
}

#[test]
fn caching_sha2_over_tls() {
    let cluster = shared(Engine::Mysql);
    let (user, password) = (unique("tls"), secret());
    cluster.create_account(&user, LoginPlugin::CachingSha2, &password).unwrap();
    let proxy = plain_proxy(cluster);
    let account = Account::new(&user, &password).tls(Tls::Yes);
    assert_eq!(works(&account, &proxy.target("rw")), ["clear"]);
    assert_eq!(works(&account, &proxy.target("rw")), ["fast"]);
    assert_eq!(works(&account.clone().tls(Tls::No), &proxy.target("rw")), ["fast"]);
    assert!(!proxy.log().contains(&password));
}

#[test]
fn caching_sha2_without_tls_from_cold() {
    let cluster = shared(Engine::Mysql);
    let (user, password) = (unique("rsa"), secret());
    cluster.create_account(&user, LoginPlugin::CachingSha2, &password).unwrap();
    let proxy = plain_proxy(cluster);
    let account = Account::new(&user, &password);
    assert_eq!(works(&account, &proxy.target("rw")), ["rsa"]);
    assert_eq!(works(&account, &proxy.target("rw")), ["fast"]);
    // A client with another default is known by what it answers when it was asked.
    let older = account.clone().plugin("mysql_native_password");
    assert_eq!(works(&older, &proxy.target("rw")), ["switch caching_sha2_password", "fast"]);
    assert!(!proxy.log().contains(&password));
}

#[test]
fn caching_sha2_without_tls_on_either_side() {
    let cluster = shared(Engine::Mysql);
    let (user, password) = (unique("bare"), secret());
    cluster.create_account(&user, LoginPlugin::CachingSha2, &password).unwrap();
    let proxy = Setup::of(cluster).cluster("tls = \"disabled\"").endpoint("rw", "").start();
    let account = Account::new(&user, &password);
    assert_eq!(works(&account, &proxy.target("rw")), ["rsa"]);
    assert_eq!(works(&account, &proxy.target("rw")), ["fast"]);
}

#[test]
fn a_client_that_begins_with_another_plugin_is_asked_to_switch() {
    let cluster = shared(Engine::Mysql);
    let proxy = plain_proxy(cluster);
    // As a server would: the first answer was made by a plugin that the account has not.
    let account = Account::app().plugin("mysql_clear_password");
    assert_eq!(works(&account, &proxy.target("rw"))[0], "switch caching_sha2_password");
}

#[test]
fn native_password_known_by_its_hash() {
    let cluster = shared(Engine::Mariadb);
    let (user, password) = (unique("native"), secret());
    cluster.create_account(&user, LoginPlugin::Native, &password).unwrap();
    let proxy = plain_proxy(cluster);
    let account = Account::new(&user, &password);
    // Not one turn more than with the server itself, and nothing that only the password itself could give.
    assert_eq!(works(&account, &proxy.target("rw")), [""; 0]);
    assert_eq!(works(&account.clone().tls(Tls::Yes), &proxy.target("rw")), [""; 0]);
    assert!(!proxy.log().contains(&password));
}

#[test]
fn native_password_with_a_monitor_that_may_not_read_hashes() {
    let cluster = shared(Engine::Mariadb);
    let (user, password) = (unique("native"), secret());
    let (monitor, monitor_password) = (unique("watcher"), secret());
    cluster.create_account(&user, LoginPlugin::Native, &password).unwrap();
    cluster.create_account(&monitor, LoginPlugin::Native, &monitor_password).unwrap();
    let grant = format!("GRANT REPLICATION CLIENT, SLAVE MONITOR, PROCESS ON *.* TO '{monitor}'@'%'");
    cluster.primary().sql(&grant).unwrap();
    crate::harness::clusters::caught_up(cluster);
    let proxy = Setup::of(cluster).monitor(&monitor, &monitor_password).endpoint("rw", "").start();
    let account = Account::new(&user, &password);
    assert_eq!(works(&account, &proxy.target("rw")), ["switch caching_sha2_password", "rsa"]);
    let private = account.clone().tls(Tls::Yes);
    assert_eq!(works(&private, &proxy.target("rw"))[0], "switch caching_sha2_password");
    assert!(!proxy.log().contains(&password) && !proxy.log().contains(&monitor_password));
}

#[test]
fn ed25519() {
    let cluster = shared(Engine::Mariadb);
    let (user, password) = (unique("ed"), secret());
    cluster.create_account(&user, LoginPlugin::Ed25519, &password).unwrap();
    let proxy = plain_proxy(cluster);
    let account = Account::new(&user, &password).tls(Tls::Yes);
    // Each login signs a nonce of its own.
    for _ in 0..50 {
        account.connect(&proxy.target("rw")).unwrap();
    }
    works(&account, &proxy.target("rw"));
    assert!(!proxy.log().contains(&password));
}

/// The password is not kept, and this plugin wants it at each login: reads stay on the primary.
#[test]
fn sha256_password() {
    let cluster = shared(Engine::Mysql);
    let (user, password) = (unique("sha256"), secret());
    let create = format!("CREATE USER '{user}'@'%' IDENTIFIED WITH sha256_password BY '{password}'");
    cluster.primary().sql(&create).unwrap();
    crate::harness::clusters::caught_up(cluster);
    for lines in ["", "tls = \"disabled\""] {
        let proxy = Setup::of(cluster).cluster(lines).endpoint("rw", "").start();
        for tls in [Tls::Yes, Tls::No] {
            let account = Account::new(&user, &password).tls(tls.clone());
            works(&account, &proxy.target("rw"));
            works(&account, &proxy.target("rw"));
            assert!(Account::new(&user, "another").tls(tls).connect(&proxy.target("rw")).is_err());
        }
        assert!(!proxy.log().contains(&password));
    }
}

#[test]
fn mariadb_11_8_with_every_plugin() {
    let cluster = shared(Engine::Mariadb11);
    let proxy = plain_proxy(cluster);
    for plugin in [LoginPlugin::CachingSha2, LoginPlugin::Native, LoginPlugin::Ed25519] {
        let (user, password) = (unique("eleven"), secret());
        cluster.create_account(&user, plugin, &password).unwrap();
        for tls in [Tls::Yes, Tls::No, Tls::Yes] {
            works(&Account::new(&user, &password).tls(tls), &proxy.target("rw"));
        }
        let wrong = Account::new(&user, "wrong").connect(&proxy.target("rw")).err().unwrap();
        assert_eq!(wrong.code, 1045, "{plugin:?}");
    }
}

fn an_account_without_a_password(engine: Engine) {
    let cluster = shared(engine);
    let user = unique("open");
    let plugin = if engine == Engine::Mysql { LoginPlugin::CachingSha2 } else { LoginPlugin::Native };
    cluster.create_account(&user, plugin, "").unwrap();
    let proxy = plain_proxy(cluster);
    for tls in [Tls::No, Tls::Yes] {
        assert_eq!(works(&Account::new(&user, "").tls(tls), &proxy.target("rw")), [""; 0]);
    }
    let error = Account::new(&user, "something").connect(&proxy.target("rw")).err().unwrap();
    assert_eq!(error.code, 1045);
    assert!(error.message.ends_with("(using password: YES)"), "{error:?}");
}

fn the_application_account_reads_and_writes(engine: Engine) {
    let cluster = shared(engine);
    let schema = crate::harness::clusters::schema(cluster);
    let proxy = Setup::of(cluster).endpoint("rw", "consistency = \"session\"").start();
    let mut client = Account::app().schema(&schema).connect(&proxy.target("rw")).unwrap();
    client.run("CREATE TABLE t (id INT PRIMARY KEY)");
    assert_eq!(client.run("INSERT INTO t VALUES (1), (2)").ok().affected_rows, 2);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "2");
    assert_eq!(client.value("SELECT DATABASE()"), schema);
}

fn unix_sockets_on_both_sides(engine: Engine) {
    let cluster = shared(engine);
    let proxy = Setup::over_sockets(cluster).socket_endpoint("rw", "").start();
    let path = works(&Account::app(), &proxy.target("rw"));
    // A socket of this host is private: the password needs no key.
    assert_ne!(path, ["rsa"]);
    let error = Account::new("app", "wrong").connect(&proxy.target("rw")).err().unwrap();
    assert_eq!(error.message, "Access denied for user 'app'@'localhost' (using password: YES)");
}

/// A client library that is not the project's own.
fn the_servers_own_client_logs_in(engine: Engine) {
    let cluster = shared(engine);
    let (user, password) = (unique("cli"), secret());
    let plugin = if engine == Engine::Mysql { LoginPlugin::CachingSha2 } else { LoginPlugin::Ed25519 };
    cluster.create_account(&user, plugin, &password).unwrap();
    let proxy = plain_proxy(cluster);
    let Target::Tcp(address) = proxy.target("rw") else { panic!("no TCP endpoint") };
    let tls: &[&str] = match engine {
        Engine::Mysql => &["--ssl-mode=REQUIRED"],
        _ => &["--ssl"],
    };
    let plain: &[&str] = match engine {
        Engine::Mysql => &["--ssl-mode=DISABLED", "--get-server-public-key"],
        _ => &["--skip-ssl"],
    };
    for options in [tls, plain] {
        let output = std::process::Command::new(cluster.primary().client_program())
            .args(["--no-defaults", "-h127.0.0.1", "--batch", "--skip-column-names"])
            .arg(format!("-P{}", address.port()))
            .arg(format!("-u{user}"))
            .arg(format!("-p{password}"))
            .args(options)
            .args(["-e", "SELECT 'in'; SELECT @@server_id > 0; SHOW WARNINGS"])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "in\n1\n", "{options:?}: {errors}");
    }
}
