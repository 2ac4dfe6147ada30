//! TLS on both sides.

use std::fs;

use sandbox::{Cluster, Engine};

use crate::harness::client::Failure;
use crate::harness::clusters::{shared, unique};
use crate::harness::login::{Account, Tls};
use crate::harness::on_every_engine;
use crate::harness::proxy::Setup;
use crate::harness::stream::Target;

on_every_engine!(
    every_mode_towards_the_servers,
    servers_without_tls,
    a_certificate_from_files,
    tls_can_be_required,
    a_client_is_told_of_its_own_connection,
);

/// Whether the proxy's connection to the primary is encrypted.
fn is_encrypted(target: &Target) -> bool {
    let mut client = Account::app().connect(target).unwrap();
    let rows = client.rows("SHOW SESSION STATUS WHERE Variable_name = 'Ssl_cipher'");
    rows[0][1].as_deref().is_some_and(|cipher| !cipher.is_empty())
}

/// Whatever the proxy's connections to the servers are.
fn a_client_is_told_of_its_own_connection(engine: Engine) {
    for mode in ["disabled", "required"] {
        let proxy = Setup::of(shared(engine)).cluster(format!("tls = \"{mode}\"")).endpoint("rw", "").start();
        for (tls, version, cipher) in [(Tls::No, "", ""), (Tls::Yes, "TLSv1.3", "TLS_")] {
            let mut client = Account::app().tls(tls).connect(&proxy.target("rw")).unwrap();
            let mut told = |name: &str| {
                let row = client.rows(&format!("SHOW STATUS LIKE '{name}'")).remove(0);
                assert_eq!(row[0].as_deref(), Some(name));
                row[1].clone().unwrap()
            };
            assert_eq!(told("Ssl_version"), version);
            let suite = told("Ssl_cipher");
            assert!(suite.starts_with(cipher) && suite.is_empty() == cipher.is_empty(), "{suite}");
        }
    }
}

fn authority(cluster: &Cluster) -> String {
    format!("tls_ca = \"{}\"", cluster.certificate_authority().display())
}

fn every_mode_towards_the_servers(engine: Engine) {
    let cluster = shared(engine);
    let ca = authority(cluster);
    for (mode, ca, encrypted) in [
        ("disabled", "", false),
        ("preferred", "", true),
        ("required", "", true),
        ("verify_ca", ca.as_str(), true),
        ("verify_identity", ca.as_str(), true),
    ] {
        let proxy =
            Setup::of(cluster).cluster(format!("tls = \"{mode}\"")).cluster(ca).endpoint("rw", "").start();
        assert_eq!(is_encrypted(&proxy.target("rw")), encrypted, "{mode}");
    }
    // A UNIX socket is private already.
    for (mode, encrypted) in [("preferred", false), ("verify_identity", true)] {
        let proxy = Setup::over_sockets(cluster)
            .cluster(format!("tls = \"{mode}\""))
            .cluster(if mode == "preferred" { "" } else { ca.as_str() })
            .endpoint("rw", "")
            .start();
        assert_eq!(is_encrypted(&proxy.target("rw")), encrypted, "{mode} over sockets");
    }
}

fn servers_without_tls(engine: Engine) {
    let options = sandbox::ClusterOptions::new(engine).replicas(0).tls(false);
    let cluster = crate::harness::clusters::start(options);
    let proxy = Setup::of(&cluster).cluster("tls = \"preferred\"").endpoint("rw", "").start();
    // The client's own side is encrypted all the same.
    Account::app().tls(Tls::Yes).connect(&proxy.target("rw")).unwrap();
    assert!(!is_encrypted(&proxy.target("rw")));
    let proxy = Setup::of(&cluster).cluster("tls = \"required\"").endpoint("rw", "").start();
    assert!(matches!(Account::app().try_connect(&proxy.target("rw")), Err(Failure::Refused(_))));
    assert!(proxy.log().contains("TLS"), "the log says why");
}

/// A certificate for "localhost" made now, in files that the test removes.
struct MadeNow {
    cert: std::path::PathBuf,
    key: std::path::PathBuf,
}

impl MadeNow {
    fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let at = |kind| std::env::temp_dir().join(format!("{}-{}.{kind}", unique("it"), std::process::id()));
        let files = Self { cert: at("crt"), key: at("key") };
        fs::write(&files.cert, made.cert.pem()).unwrap();
        fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
        files
    }
}

impl Drop for MadeNow {
    fn drop(&mut self) {
        for file in [&self.cert, &self.key] {
            let _ = fs::remove_file(file);
        }
    }
}

#[test]
fn an_authority_that_did_not_sign() {
    let cluster = shared(Engine::Mysql);
    let other = MadeNow::new();
    for mode in ["verify_ca", "verify_identity"] {
        let proxy = Setup::of(cluster)
            .cluster(format!("tls = \"{mode}\""))
            .cluster(format!("tls_ca = \"{}\"", other.cert.display()))
            .endpoint("rw", "")
            .start();
        assert!(
            matches!(Account::app().try_connect(&proxy.target("rw")), Err(Failure::Refused(_))),
            "{mode}"
        );
    }
}

fn a_certificate_from_files(engine: Engine) {
    let cluster = shared(engine);
    let files = MadeNow::new();
    let lines = format!("cert = \"{}\"\nkey = \"{}\"", files.cert.display(), files.key.display());
    let proxy = Setup::of(cluster).tls(lines).endpoint("rw", "").start();
    Account::app().tls(Tls::Checked(files.cert.clone())).connect(&proxy.target("rw")).unwrap();
    // The certificate that the proxy makes itself is another one.
    let proxy = Setup::of(cluster).endpoint("rw", "").start();
    let checked = Account::app().tls(Tls::Checked(files.cert.clone())).try_connect(&proxy.target("rw"));
    assert!(matches!(checked, Err(Failure::Broken(_))));
    Account::app().tls(Tls::Yes).connect(&proxy.target("rw")).unwrap();
}

fn tls_can_be_required(engine: Engine) {
    let cluster = shared(engine);
    let proxy =
        Setup::of(cluster).tls("require = true").endpoint("rw", "").socket_endpoint("socket", "").start();
    let error = Account::app().connect(&proxy.target("rw")).err().unwrap();
    assert_eq!(error.code, 3159, "{error:?}");
    Account::app().tls(Tls::Yes).connect(&proxy.target("rw")).unwrap();
    Account::app().connect(&proxy.target("socket")).unwrap();
}
