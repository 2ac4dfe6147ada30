//! The certificate authority, certificate and RSA pair that all servers of a template share.
//!
//! Made once: left to itself each MySQL server makes three RSA pairs at its first start, which takes longer than the start.
//! The file names are those MySQL looks for in its data directory.

use std::{fs, path::Path, process::Command};

use crate::{Error, Result, account, command::run};

/// The authority's certificate, for clients that verify.
pub(crate) const CA: &str = "ca.pem";
/// The servers' certificate: for localhost and 127.0.0.1.
pub(crate) const CERTIFICATE: &str = "server-cert.pem";
/// The key of [`CERTIFICATE`].
pub(crate) const KEY: &str = "server-key.pem";

const EXTENSIONS: &str = "subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n";
const DAYS: &str = "3650";

/// Writes the files into `directory` and gives them to the servers' account.
pub(crate) fn create(directory: &Path) -> Result<()> {
    let openssl = |arguments: &str| {
        run(Command::new("openssl").args(arguments.split_whitespace()).current_dir(directory)).map(drop)
    };
    let extensions = directory.join("extensions.cnf");
    fs::write(&extensions, EXTENSIONS).map_err(Error::file("cannot write", &extensions))?;
    openssl(&format!(
        "req -x509 -newkey rsa:2048 -nodes -days {DAYS} -subj /CN=sandbox-ca -keyout ca-key.pem -out {CA}"
    ))?;
    openssl(&format!("req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout {KEY} -out request.pem"))?;
    openssl(&format!(
        "x509 -req -in request.pem -CA {CA} -CAkey ca-key.pem -set_serial 2 -days {DAYS} -extfile extensions.cnf \
         -out {CERTIFICATE}"
    ))?;
    // The pair caching_sha2_password encrypts a password with where there is no TLS.
    openssl("genrsa -out private_key.pem 2048")?;
    openssl("rsa -in private_key.pem -pubout -out public_key.pem")?;
    for name in ["extensions.cnf", "request.pem"] {
        let path = directory.join(name);
        fs::remove_file(&path).map_err(Error::file("cannot remove", path))?;
    }
    for (name, mode) in [
        ("ca-key.pem", 0o600),
        (KEY, 0o600),
        ("private_key.pem", 0o600),
        (CA, 0o644),
        (CERTIFICATE, 0o644),
        ("public_key.pem", 0o644),
    ] {
        account::hand_over(&directory.join(name), mode)?;
    }
    Ok(())
}
