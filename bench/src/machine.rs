//! On what it was measured.

use std::fs;
use std::process::Command;

/// Above this many processes that want to run, what is measured says little.
const QUIET: f64 = 0.5;

/// What the machine is, in a line.
pub(crate) fn described() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let model = cpu_model(&info).unwrap_or("an unknown processor");
    format!("{count} processors ({model}), Linux {}", kernel.trim())
}

/// The day, as in 30 November 2026.
pub(crate) fn today() -> String {
    let output = Command::new("date").env("LC_ALL", "C").args(["-u", "+%-d %B %Y"]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

/// How many processes wanted to run in the last minute, if that is too many to measure beside them.
pub(crate) fn busy() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    load(&text).filter(|load| *load > QUIET)
}

fn cpu_model(info: &str) -> Option<&str> {
    let line = info.lines().find_map(|line| line.strip_prefix("model name"))?;
    line.split_once(':').map(|(_, model)| model.trim())
}

fn load(text: &str) -> Option<f64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_and_the_load_are_found() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n"), Some("Some CPU @ 2 GHz"));
        assert_eq!(cpu_model(""), None);
        assert_eq!(load("1.25 0.50 0.10 1/200 4711\n"), Some(1.25));
        assert_eq!(load(""), None);
    }
}
