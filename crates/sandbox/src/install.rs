//! Bringing a server's programs onto this machine, once.

use std::process::Command;

use crate::{
    Engine, Error, Result, account, cache,
    command::run,
    programs::{Programs, engine_directory},
    unpack,
};

/// What apt must have installed for this crate to work with `engine`, beyond what every Debian has.
#[must_use]
pub fn system_packages(engine: Engine) -> &'static [&'static str] {
    match engine {
        // The keys of the servers are made by openssl; the packages of both are unpacked, not installed.
        Engine::Mysql | Engine::Mariadb11 => &["openssl"],
        Engine::Mariadb => &["openssl", "mariadb-server"],
    }
}

/// Whether clusters of `engine` can be started without [`install`].
#[must_use]
pub fn is_installed(engine: Engine) -> bool {
    Programs::find(engine).is_ok() && has_openssl()
}

/// Installs what clusters of `engine` need and is missing; does nothing if nothing is.
///
/// MySQL and MariaDB 11.8 are downloaded with `apt-get` from the machine's own mirror and unpacked into the cache: that
/// needs no privileges and changes nothing else. MariaDB of the system is installed as a package, by root or through
/// `sudo`. Of several processes that install at once, one does the work and the others wait.
pub fn install(engine: Engine) -> Result<()> {
    if is_installed(engine) {
        return Ok(());
    }
    let _lock = cache::lock("install")?;
    if !has_openssl() {
        apt_install(&["openssl"])?;
    }
    if Programs::find(engine).is_ok() {
        return Ok(());
    }
    match engine {
        Engine::Mysql => cache::build(&engine_directory(engine)?, |root| {
            unpack::unpack(&["mysql-server-core", "mysql-client-core"], &[], root)
        })?,
        Engine::Mariadb11 => cache::build(&engine_directory(engine)?, |root| {
            // The plugins (ed25519 among them) are in mariadb-server, whose dependencies are of no use here.
            unpack::unpack(&["mariadb-server-core", "mariadb-client-core"], &["mariadb-server"], root)
        })?,
        Engine::Mariadb => apt_install(system_packages(engine))?,
    }
    Programs::find(engine).map(drop)
}

fn has_openssl() -> bool {
    run(Command::new("openssl").arg("version")).is_ok()
}

fn apt_install(packages: &[&str]) -> Result<()> {
    let apt_get = |arguments: &[&str]| {
        let mut command = if account::is_root() {
            Command::new("apt-get")
        } else {
            let mut sudo = Command::new("sudo");
            sudo.args(["-n", "apt-get"]);
            sudo
        };
        run(command.args(["-q", "-y"]).args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    let install = [&["install", "--no-install-recommends"], packages].concat();
    // The lists may be too old, or absent as in a container: fetch them only if need be.
    apt_get(&install).or_else(|_| apt_get(&["update"]).and_then(|_| apt_get(&install))).map_err(|error| {
        Error::Machine(format!(
            "cannot install {packages}: as root run: apt-get install {packages}\n{error}",
            packages = packages.join(" ")
        ))
    })?;
    Ok(())
}
