//! The operating system account the servers run under.
//!
//! A server refuses to run as root by accident, and should: its passwords are published here, and whoever logs in may write
//! files where the server may. Started by root it therefore runs as `nobody`, an account every system has; started by
//! anybody else it runs as that person.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::Path,
};

use crate::{Error, Result};

/// The account servers started by root run under.
const NAME: &str = "nobody";

/// Who the servers run as, if not simply as the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Account {
    uid: u32,
    gid: u32,
}

/// The account to switch to: `None` unless the caller is root.
pub(crate) fn to_switch_to() -> Result<Option<Account>> {
    if !is_root() {
        return Ok(None);
    }
    let path = "/etc/passwd";
    let users = fs::read_to_string(path).map_err(Error::file("cannot read", path))?;
    parse(&users).map(Some).ok_or_else(|| {
        Error::Machine(format!("{path} has no account {NAME}: run this as a user other than root"))
    })
}

/// Whether the caller is root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn parse(users: &str) -> Option<Account> {
    users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        match fields.as_slice() {
            [NAME, _, uid, gid, ..] => Some(Account { uid: uid.parse().ok()?, gid: gid.parse().ok()? }),
            _ => None,
        }
    })
}

/// The server option that switches accounts.
pub(crate) fn server_options() -> Vec<String> {
    if is_root() { vec![format!("--user={NAME}")] } else { Vec::new() }
}

/// Makes a file or directory the server's own, with these permissions.
pub(crate) fn hand_over(path: &Path, mode: u32) -> Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(Error::file("cannot set the permissions of", path))?;
    if let Some(account) = to_switch_to()? {
        chown(path, Some(account.uid), Some(account.gid))
            .map_err(Error::file("cannot change the owner of", path))?;
    }
    Ok(())
}

/// An error if the server's account could not get to `path` because a directory above it is closed to others.
pub(crate) fn check_reachable(path: &Path) -> Result<()> {
    if to_switch_to()?.is_none() {
        return Ok(());
    }
    for directory in path.ancestors().skip(1).filter(|directory| directory.exists()) {
        let mode = fs::metadata(directory).map_err(Error::file("cannot read", directory))?.mode();
        if mode & 0o001 == 0 {
            return Err(Error::Machine(format!(
                "{} is closed to other accounts, and the servers run as {NAME} when root starts them: \
                 choose a directory elsewhere",
                directory.display()
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_account_among_others() {
        let users = "root:x:0:0:root:/root:/bin/bash\nnobody2:x:7:7::/:/bin/sh\nnobody:x:65534:65533:n:/:/bin/false\n";
        assert_eq!(parse(users), Some(Account { uid: 65534, gid: 65533 }));
        assert_eq!(parse("root:x:0:0:root:/root:/bin/bash\nnobody:x:bad:1::/:\n"), None);
    }
}
