//! Every second a block of lines: what the clients saw, beside what the proxy counted.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::tally::{Second, Tally};
use crate::cluster::snapshot::{NodeId, Role};
use crate::config::Level;
use crate::endpoint::Endpoint;
use crate::instance::Instance;
use crate::route::{Outcome, Reason};

/// What the proxy has counted on an endpoint since its start.
#[derive(Clone, Copy, Default)]
struct Counted {
    by_replicas: u64,
    waited: u64,
    fell_back: u64,
}

/// One endpoint of the report.
struct Line {
    level: Level,
    tally: Rc<RefCell<Tally>>,
    reads: u64,
    counted: Counted,
}

/// The report of all endpoints.
pub(super) struct Report {
    instance: Arc<Instance>,
    lines: [Line; 3],
    start: Instant,
}

impl Report {
    pub(super) fn new(
        instance: Arc<Instance>,
        endpoints: [(Level, u16); 3],
        tallies: [Rc<RefCell<Tally>>; 3],
    ) -> Self {
        let mut tallies = tallies.into_iter();
        let lines = endpoints.map(|(level, _)| Line {
            level,
            tally: tallies.next().unwrap_or_default(),
            reads: 0,
            counted: Counted::default(),
        });
        Self { instance, lines, start: Instant::now() }
    }

    /// Writes a block every second; returns when nobody takes them any more.
    pub(super) async fn every_second(mut self) {
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        ticks.tick().await;
        let mut last = Instant::now();
        loop {
            ticks.tick().await;
            let passed = last.elapsed();
            last = Instant::now();
            let block = self.block(passed);
            let mut out = io::stdout().lock();
            if out.write_all(block.as_bytes()).and_then(|()| out.flush()).is_err() {
                return;
            }
        }
    }

    fn block(&mut self, passed: Duration) -> String {
        let mut block = format!(
            "{:>5} s     reads/s  by replicas  stale reads so far     waited  to primary   p50 us   p99 us\n",
            self.start.elapsed().as_secs()
        );
        for line in &mut self.lines {
            let second = line.tally.borrow_mut().take();
            let endpoint =
                self.instance.endpoints.iter().find(|endpoint| endpoint.name == line.level.as_str());
            let counted = endpoint.map_or(line.counted, |endpoint| counted(endpoint, line.level));
            block.push_str(&text(line, &second, counted, passed));
            line.reads = second.reads;
            line.counted = counted;
        }
        block.push('\n');
        block
    }
}

fn counted(endpoint: &Endpoint, level: Level) -> Counted {
    let nodes = endpoint.settings.load().read_weight.len();
    let by_replicas = (0..nodes)
        .filter_map(|node| u8::try_from(node).ok())
        .flat_map(|node| Reason::all().map(move |reason| (NodeId(node), reason)))
        .map(|(node, reason)| endpoint.counters.statements(node, Role::Replica, reason))
        .sum();
    Counted {
        by_replicas,
        waited: endpoint.counters.outcomes(level, Outcome::Waited),
        fell_back: endpoint.counters.outcomes(level, Outcome::Primary),
    }
}

/// The line of one endpoint, and a second one when a client had trouble.
fn text(line: &Line, second: &Second, counted: Counted, passed: Duration) -> String {
    let reads = second.reads.saturating_sub(line.reads);
    let us = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let share = |now: u64, before: u64| percent(now.saturating_sub(before), reads);
    let stale = format!("{} of {} ({})", second.stale, second.reads, percent(second.stale, second.reads));
    #[expect(clippy::cast_precision_loss, reason = "reads of a second")]
    let rate = reads as f64 / passed.as_secs_f64();
    let mut text = format!(
        "{:<8}  {:>8.0}  {:>11}  {:>18}  {:>9}  {:>10}  {:>7}  {:>7}\n",
        line.level.as_str(),
        rate,
        share(counted.by_replicas, line.counted.by_replicas),
        stale,
        share(counted.waited, line.counted.waited),
        share(counted.fell_back, line.counted.fell_back),
        us(second.p50_us),
        us(second.p99_us),
    );
    if let Some(trouble) = &second.trouble {
        text.push_str(&format!("          a client had to connect again: {trouble}\n"));
    }
    text
}

/// `part` of `whole`, rounded to whole per cent, but never to 0 or 100 what is not.
fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let rounded = (part * 100 + whole / 2) / whole;
    let honest = match rounded {
        0 if part > 0 => return "<1 %".to_owned(),
        100 if part < whole => 99,
        rounded => rounded.min(100),
    };
    format!("{honest} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_do_not_hide_the_few() {
        assert_eq!(percent(0, 1000), "0 %");
        assert_eq!(percent(1, 1000), "<1 %");
        assert_eq!(percent(999, 1000), "99 %");
        assert_eq!(percent(1000, 1000), "100 %");
        // The proxy counts a statement before the client counts its read.
        assert_eq!(percent(1001, 1000), "100 %");
        assert_eq!(percent(0, 0), "-");
    }

    #[test]
    fn a_line_shows_the_second_and_the_whole() {
        let line = Line {
            level: Level::Session,
            tally: Rc::default(),
            reads: 100,
            counted: Counted { by_replicas: 50, waited: 10, fell_back: 0 },
        };
        let second =
            Second { reads: 300, stale: 0, p50_us: Some(90), p99_us: None, trouble: Some("gone".to_owned()) };
        let counted = Counted { by_replicas: 230, waited: 12, fell_back: 20 };
        let text = text(&line, &second, counted, Duration::from_secs(2));
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(
            words.join(" "),
            "session 100 90 % 0 of 300 (0 %) 1 % 10 % 90 - a client had to connect again: gone"
        );
    }
}
