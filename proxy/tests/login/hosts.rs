//! Several accounts for one user name, by host. The servers see the proxy's address, and theirs is the last word.

use sandbox::{Cluster, Engine, LoginPlugin};

use crate::harness::clusters::{caught_up, shared, unique};
use crate::harness::login::{Account, Tls};
use crate::harness::on_every_engine;
use crate::harness::proxy::Setup;
use crate::harness::stream::Target;

on_every_engine!(each_name_has_the_account_that_the_server_chooses,);

const PASSWORDS: [&str; 4] = ["for-anywhere", "for-this-address", "for-the-socket", "for-nobody"];

/// One name at any host, at the address of this machine, and at its sockets; on MariaDB each with another plugin.
fn accounts(cluster: &Cluster) -> String {
    let user = unique("hosts");
    let [anywhere, address, socket, _] = PASSWORDS;
    let mysql = cluster.primary().engine() == Engine::Mysql;
    let plugin = if mysql { LoginPlugin::CachingSha2 } else { LoginPlugin::Ed25519 };
    cluster.create_account(&user, plugin, anywhere).unwrap();
    for (host, password) in [("127.0.0.1", address), ("localhost", socket)] {
        let create = format!(
            "CREATE USER '{user}'@'{host}' IDENTIFIED BY '{password}'; GRANT ALL ON app.* TO '{user}'@'{host}'"
        );
        cluster.primary().sql(&create).unwrap();
    }
    caught_up(cluster);
    user
}

/// Who the client is taken for, or the number of the error.
fn taken_for(user: &str, password: &str, tls: Tls, target: &Target) -> Result<String, u16> {
    match Account::new(user, password).schema("app").tls(tls).connect(target) {
        Ok(mut client) => Ok(client.value("SELECT CURRENT_USER()")),
        Err(error) => Err(error.code),
    }
}

fn each_name_has_the_account_that_the_server_chooses(engine: Engine) {
    let cluster = shared(engine);
    let user = accounts(cluster);
    let over_tcp = Setup::of(cluster).endpoint("tcp", "").socket_endpoint("socket", "").start();
    let over_sockets = Setup::over_sockets(cluster).endpoint("tcp", "").socket_endpoint("socket", "").start();
    let primary = cluster.primary();
    let ways = [
        (&over_tcp, Target::Tcp(primary.address()), "127.0.0.1", PASSWORDS[1]),
        (&over_sockets, Target::Unix(primary.socket()), "localhost", PASSWORDS[2]),
    ];
    for (proxy, direct, host, right) in ways {
        // What is remembered of one password must not let in, or keep out, who brings another.
        for (tls, endpoint) in
            [(Tls::No, "tcp"), (Tls::Yes, "tcp"), (Tls::No, "socket"), (Tls::Yes, "tcp"), (Tls::No, "tcp")]
        {
            for password in PASSWORDS {
                let expected = taken_for(&user, password, Tls::No, &direct);
                let found = taken_for(&user, password, tls.clone(), &proxy.target(endpoint));
                assert_eq!(found, expected, "{password} at {host}, {tls:?} {endpoint}");
                assert_eq!(found.is_ok(), password == right, "{password} at {host}: {found:?}");
            }
        }
        assert!(PASSWORDS.iter().all(|password| !proxy.log().contains(password)));
    }
    // The account of this address goes; the name at any host takes its place, with its own password.
    primary.sql(&format!("DROP USER '{user}'@'127.0.0.1'")).unwrap();
    caught_up(cluster);
    for tls in [Tls::Yes, Tls::No, Tls::Yes] {
        assert_eq!(taken_for(&user, PASSWORDS[1], tls.clone(), &over_tcp.target("tcp")), Err(1045));
        let found = taken_for(&user, PASSWORDS[0], tls, &over_tcp.target("tcp"));
        assert_eq!(found, Ok(format!("{user}@%")));
    }
}
