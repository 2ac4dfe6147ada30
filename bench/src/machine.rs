//! On what it was measured.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// What other programs may use of the processors before what is measured says little, in percent.
const QUIET: f64 = 5.0;

/// How long is looked at that.
const LOOK: Duration = Duration::from_secs(1);

/// What the machine is, in a line.
pub(crate) fn described() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let count = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let model = cpu_model(&info).unwrap_or("an unknown processor");
    format!("{count} processors ({model}), Linux {}", kernel.trim())
}

/// The day, as in 30 November 2026.
pub(crate) fn today() -> String {
    let output = Command::new("date").env("LC_ALL", "C").args(["-u", "+%-d %B %Y"]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

/// What other programs use of the processors, in percent, if that is too much to measure beside them.
pub(crate) fn busy() -> Option<f64> {
    let now = || fs::read_to_string("/proc/stat").ok().and_then(|text| processors(&text));
    let before = now()?;
    thread::sleep(LOOK);
    used(before, now()?).filter(|percent| *percent > QUIET)
}

fn cpu_model(info: &str) -> Option<&str> {
    let line = info.lines().find_map(|line| line.strip_prefix("model name"))?;
    line.split_once(':').map(|(_, model)| model.trim())
}

/// The time of all processors since the start, in ticks: idle, and in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Processors {
    idle: u64,
    all: u64,
}

/// The first line of `/proc/stat` (proc_stat(5)): user, nice, system, idle, waiting for a disk, and others. Time of guests is
/// part of the user's.
fn processors(stat: &str) -> Option<Processors> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_ascii_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
    let (idle, waiting) = (ticks.get(3)?, ticks.get(4)?);
    Some(Processors { idle: idle + waiting, all: ticks.iter().sum() })
}

fn used(before: Processors, after: Processors) -> Option<f64> {
    let all = after.all.checked_sub(before.all).filter(|all| *all > 0)?;
    let idle = after.idle.saturating_sub(before.idle).min(all);
    Some((all - idle) as f64 * 100.0 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_found() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n"), Some("Some CPU @ 2 GHz"));
        assert_eq!(cpu_model(""), None);
    }

    #[test]
    fn what_is_not_idle_is_used() {
        let before = processors("cpu  10 0 10 70 10 0 0 0 5 0\ncpu0 1 1 1 1\n").unwrap();
        assert_eq!(before, Processors { idle: 80, all: 100 });
        let after = processors("cpu  20 5 20 220 25 10 0 0 9 0\n").unwrap();
        assert_eq!(used(before, after), Some(17.5));
        assert_eq!(used(before, before), None);
        assert_eq!(processors("cpu0 1 2 3 4 5\n"), None);
    }
}
