//! What the kernel tells of a process: the processor time it took and the memory it holds.

use std::fs;
use std::time::Duration;

use crate::error::{Error, Result};

/// User and system time of all threads of a process since it began. The kernel counts in ticks of a hundredth of a second.
pub(crate) fn processor_time(pid: u32) -> Result<Duration> {
    let text = read(pid, "stat")?;
    let ticks = ticks(&text)
        .ok_or_else(|| Error::Conversation(format!("/proc/{pid}/stat cannot be read: {text}")))?;
    let hertz = rustix::param::clock_ticks_per_second().max(1);
    Ok(Duration::from_micros(ticks.saturating_mul(1_000_000) / hertz))
}

/// What a process holds in memory, in KiB.
pub(crate) fn resident_kib(pid: u32) -> Result<u64> {
    let text = read(pid, "status")?;
    resident(&text).ok_or_else(|| Error::Conversation(format!("/proc/{pid}/status names no VmRSS")))
}

fn read(pid: u32, file: &str) -> Result<String> {
    let path = format!("/proc/{pid}/{file}");
    fs::read_to_string(&path)
        .map_err(Error::system(format!("cannot read {path}: has the proxy that is measured ended?")))
}

/// `utime` and `stime` of `/proc/PID/stat`, the 14th and 15th field (proc_pid_stat(5)). The second field is the program's
/// name, which may hold anything.
fn ticks(stat: &str) -> Option<u64> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    let mut fields = behind_name.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    user.checked_add(system)
}

/// `VmRSS` of `/proc/PID/status`.
fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_found_behind_any_name() {
        let stat = "4711 (a) b (c) S 1 2 3 0 -1 4194560 100 0 0 0 37 5 0 0 20 0 3 0 123 456 789";
        assert_eq!(ticks(stat), Some(42));
        assert_eq!(ticks("4711 (haproxy) S 1 2 3"), None);
        assert_eq!(ticks(""), None);
    }

    #[test]
    fn resident_memory_is_found() {
        assert_eq!(resident("Name:\tx\nVmHWM:\t  9 kB\nVmRSS:\t   10824 kB\n"), Some(10_824));
        assert_eq!(resident("Name:\tx\n"), None);
    }

    #[test]
    fn this_process_can_be_read() {
        processor_time(std::process::id()).unwrap();
        assert!(resident_kib(std::process::id()).unwrap() > 100);
    }
}
