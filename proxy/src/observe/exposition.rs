//! The text that Prometheus reads: its exposition format, version 0.0.4, which every scraper understands.
//!
//! Only what is needed of it: counters, gauges and histograms with labels, without timestamps.

use std::fmt::{Display, Write};

use super::histogram::{BOUNDS_US, Histogram};

/// The kinds of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Only grows, until the process ends.
    Counter,
    /// A value at this moment.
    Gauge,
    /// Counts by size, of durations in seconds.
    Histogram,
}

/// Labels and their values.
pub(super) type Labels<'a> = &'a [(&'static str, &'a str)];

/// A text that grows family by family.
#[derive(Debug, Default)]
pub(super) struct Exposition {
    text: String,
    name: &'static str,
}

/// A text takes whatever is written to it, so that writing to one cannot fail.
macro_rules! put {
    ($text:expr, $($arg:tt)*) => { let _ = write!($text, $($arg)*); };
}

impl Exposition {
    /// Begins a family: the samples that follow belong to it.
    pub(super) fn family(&mut self, name: &'static str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        put!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        self.name = name;
    }

    /// A sample of a counter or gauge.
    pub(super) fn sample(&mut self, labels: Labels<'_>, value: impl Display) {
        self.line("", labels, None, value);
    }

    /// The samples of a histogram.
    pub(super) fn histogram(&mut self, labels: Labels<'_>, histogram: &Histogram) {
        let buckets = histogram.buckets();
        let mut count = 0;
        for (bucket, bound) in buckets.iter().zip(BOUNDS_US.iter().map(|bound| seconds(*bound))) {
            count += bucket;
            self.line("_bucket", labels, Some(("le", &bound.to_string())), count);
        }
        count += buckets.last().copied().unwrap_or(0);
        self.line("_bucket", labels, Some(("le", "+Inf")), count);
        self.line("_sum", labels, None, seconds(histogram.sum_us()));
        self.line("_count", labels, None, count);
    }

    fn line(&mut self, suffix: &str, labels: Labels<'_>, last: Option<(&str, &str)>, value: impl Display) {
        put!(self.text, "{}{suffix}", self.name);
        let mut separator = '{';
        for (label, value) in labels.iter().copied().chain(last) {
            put!(self.text, "{separator}{label}=\"");
            self.escaped(value);
            self.text.push('"');
            separator = ',';
        }
        if separator == ',' {
            self.text.push('}');
        }
        put!(self.text, " {value}\n");
    }

    fn escaped(&mut self, value: &str) {
        for character in value.chars() {
            match character {
                '\\' => self.text.push_str("\\\\"),
                '"' => self.text.push_str("\\\""),
                '\n' => self.text.push_str("\\n"),
                other => self.text.push(other),
            }
        }
    }

    /// All of it.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// Microseconds as Prometheus wants durations.
#[allow(clippy::cast_precision_loss, reason = "exact up to 285 years")]
pub(super) fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn samples_stand_under_their_family() {
        let mut text = Exposition::default();
        text.family("a_total", Kind::Counter, "What it counts.");
        text.sample(&[("node", "db1"), ("role", "primary")], 7);
        text.family("b", Kind::Gauge, "What it is.");
        text.sample(&[], 0.5);
        assert_eq!(
            text.finish(),
            "# HELP a_total What it counts.\n# TYPE a_total counter\na_total{node=\"db1\",role=\"primary\"} 7\n\
             # HELP b What it is.\n# TYPE b gauge\nb 0.5\n"
        );
    }

    #[test]
    fn no_label_value_ends_its_quotes() {
        let mut text = Exposition::default();
        text.sample(&[("a", "x\"} 1\n\\")], 1);
        assert_eq!(text.finish(), "{a=\"x\\\"} 1\\n\\\\\"} 1\n");
    }

    #[test]
    fn buckets_are_cumulative_and_in_seconds() {
        let histogram = Histogram::default();
        for us in [40, 60, 70, 20_000_000] {
            histogram.observe(Duration::from_micros(us));
        }
        let mut text = Exposition::default();
        text.family("w_seconds", Kind::Histogram, "Waits.");
        text.histogram(&[("level", "session")], &histogram);
        let text = text.finish();
        for line in [
            "w_seconds_bucket{level=\"session\",le=\"0.00005\"} 1",
            "w_seconds_bucket{level=\"session\",le=\"0.0001\"} 3",
            "w_seconds_bucket{level=\"session\",le=\"10\"} 3",
            "w_seconds_bucket{level=\"session\",le=\"+Inf\"} 4",
            "w_seconds_sum{level=\"session\"} 20.00017",
            "w_seconds_count{level=\"session\"} 4",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} is not in\n{text}");
        }
    }
}
