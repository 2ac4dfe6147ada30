//! The wall clock as a proxy sees it, which can be set: with the library of Debian's package `libfaketime`, where that
//! is installed. The monotonic clock stays as it is, as it does when a machine's clock is set.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};

/// How long the library may go on with the time it read last, in seconds.
const CACHED: u64 = 1;

/// Where Debian's and Ubuntu's packages put libraries, by architecture.
const LIBRARIES: &str = "/usr/lib";
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

/// A clock that one or more proxies were started with.
#[derive(Debug)]
pub struct Clock {
    library: PathBuf,
    /// Holds how far it is off.
    file: PathBuf,
}

impl Clock {
    /// A clock that goes right for now; `None` where there is no such library.
    pub(crate) fn new(directory: &Path) -> Result<Option<Self>> {
        let Some(library) = find() else { return Ok(None) };
        let clock = Self { library, file: directory.join("clock") };
        clock.set_right()?;
        Ok(Some(clock))
    }

    /// Sets it off by so many seconds. Returns when everybody sees it.
    pub(crate) fn jump(&self, seconds: i64) -> Result<()> {
        fs::write(&self.file, format!("{seconds:+}\n")).map_err(Error::system("cannot set the clock"))?;
        std::thread::sleep(Duration::from_secs(CACHED));
        Ok(())
    }

    /// Sets it right.
    pub(crate) fn set_right(&self) -> Result<()> {
        fs::write(&self.file, "+0\n").map_err(Error::system("cannot set the clock"))
    }

    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("LD_PRELOAD", self.library.display().to_string()),
            ("FAKETIME_TIMESTAMP_FILE", self.file.display().to_string()),
            ("FAKETIME_CACHE_DURATION", CACHED.to_string()),
            // The name of the setting changed with version 0.9.10.
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
            ("DONT_FAKE_MONOTONIC", "1".to_owned()),
        ]
    }
}

fn find() -> Option<PathBuf> {
    let architectures = fs::read_dir(LIBRARIES).ok()?;
    architectures.filter_map(|entry| Some(entry.ok()?.path().join(LIBRARY))).find(|path| path.is_file())
}
