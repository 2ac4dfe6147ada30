//! Files that hold one secret on their first line.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use zeroize::Zeroizing;

use super::secret::Secret;

/// The longest file taken, in bytes: a password or token is far shorter, and a device would never end.
const LENGTH_MAX: usize = 4096;

/// The permission bit that lets every user of the machine read a file.
const OTHERS_READ: u32 = 0o004;

/// Reads the secret on the first line of a file, without its end of line.
pub fn read_secret(path: &Path) -> io::Result<Secret> {
    read(path).map(|(secret, _)| secret)
}

/// Reads a secret, and tells whether every user of the machine can read it too.
pub(super) fn read(path: &Path) -> io::Result<(Secret, bool)> {
    let file = File::open(path)?;
    let exposed = file.metadata()?.permissions().mode() & OTHERS_READ != 0;
    // Room for all of it at once: a buffer that grows would leave copies behind.
    let mut bytes = Zeroizing::new(vec![0; LENGTH_MAX + 1]);
    let mut length = 0;
    let mut file = file;
    while let Some(rest) = bytes.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match file.read(rest)? {
            0 => break,
            count => length += count,
        }
    }
    if length > LENGTH_MAX {
        return Err(io::Error::other(format!("longer than {LENGTH_MAX} bytes, so not a secret")));
    }
    let all = bytes.get(..length).unwrap_or_default();
    let line = all.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    Ok((Secret::new(line.to_vec()), exposed))
}
