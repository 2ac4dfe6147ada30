//! What a run ends with: a table that says what was done, what was found, and what it cost.

use std::collections::BTreeMap;
use std::fmt;

use sandbox::Engine;

use crate::broken::Broken;
use crate::fault::Kind;
use crate::history::Level;
use crate::tally::Tally;

/// The kind of fault that a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// None.
    Calm,
    /// This one.
    Alone(Kind),
    /// Two or three at a time.
    Combined,
}

impl Label {
    /// The row for these faults.
    #[must_use]
    pub fn of(kinds: &[Kind]) -> Self {
        match kinds {
            [] => Self::Calm,
            [kind] => Self::Alone(*kind),
            _ => Self::Combined,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calm => f.write_str("none"),
            Self::Alone(kind) => f.write_str(kind.as_str()),
            Self::Combined => f.write_str("two or three of these at a time"),
        }
    }
}

/// One family's results.
#[derive(Debug, Clone)]
pub struct Family {
    engine: Engine,
    rows: BTreeMap<(Label, Level), Tally>,
    /// How the broken builds fared.
    pub(crate) broken: Vec<Broken>,
}

impl Family {
    pub(crate) fn new(engine: Engine) -> Self {
        Self { engine, rows: BTreeMap::new(), broken: Vec::new() }
    }

    pub(crate) fn add(&mut self, label: Label, tallies: BTreeMap<Level, Tally>) {
        for (level, tally) in tallies {
            self.rows.entry((label, level)).or_default().add(&tally);
        }
    }

    /// All rows of a level together.
    #[must_use]
    pub fn total(&self, level: Level) -> Tally {
        let mut total = Tally::default();
        self.rows.iter().filter(|((_, of), _)| *of == level).for_each(|(_, tally)| total.add(tally));
        total
    }

    /// Broken promises, at any level.
    #[must_use]
    pub fn violations(&self) -> u64 {
        self.rows.values().map(|tally| tally.violations).sum()
    }

    /// Whether every broken build was caught, and the level that promises nothing was seen to give nothing.
    #[must_use]
    pub fn catches(&self) -> bool {
        self.broken.iter().all(|broken| !broken.caught.is_empty()) && self.stale_under_lag() > 0
    }

    /// Reads at `eventual` that were stale under the faults that make replicas late.
    fn stale_under_lag(&self) -> u64 {
        let late = |label: &Label| matches!(label, Label::Alone(kind) if kind.makes_stale());
        let rows = self.rows.iter().filter(|((label, level), _)| *level == Level::Eventual && late(label));
        rows.map(|(_, tally)| tally.stale).sum()
    }

    /// The second table: what the checker finds where something is to be found.
    #[must_use]
    pub fn caught(&self) -> String {
        let stale = self.stale_under_lag();
        let yes = |caught: bool| if caught { "yes" } else { "**no**" };
        let mut text = format!(
            "| {} | eventual | nothing is required, under lag | {} | stale reads {stale} | - |\n",
            self.engine,
            yes(stale > 0)
        );
        for broken in &self.broken {
            let found: Vec<String> = broken
                .caught
                .iter()
                .map(|(anomaly, count)| format!("{} {count}", anomaly.as_str()))
                .collect();
            text += &format!(
                "| {} | {} | {} | {} | {} | {:.1} s |\n",
                self.engine,
                broken.level.as_str(),
                broken.meaning,
                yes(!broken.caught.is_empty()),
                found.join(", "),
                broken.ran.as_secs_f64()
            );
        }
        text
    }

    /// The heading of the table that `caught` continues.
    pub const CAUGHT_HEADING: &'static str = "\
| Family | Level | What the build ignores | Caught | Found | After |
|---|---|---|---|---|---:|";

    /// The heading of the table that `Display` continues.
    pub const HEADING: &'static str = "\
| Family | Level | Faults | Operations | Violations | Stale reads | Refused or unanswered | Reads on replicas | Added latency p50 | p99 |
|---|---|---|---:|---:|---:|---:|---:|---:|---:|";
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels = [Level::Eventual, Level::Session, Level::Global];
        for level in levels {
            for ((label, of), tally) in &self.rows {
                if *of == level {
                    let base = self.rows.get(&(*label, Level::Eventual));
                    row(f, self.engine, level, &label.to_string(), tally, base)?;
                }
            }
            let (total, base) = (self.total(level), self.total(Level::Eventual));
            row(f, self.engine, level, "**all**", &total, Some(&base))?;
        }
        Ok(())
    }
}

fn row(
    f: &mut fmt::Formatter<'_>,
    engine: Engine,
    level: Level,
    faults: &str,
    tally: &Tally,
    base: Option<&Tally>,
) -> fmt::Result {
    let added = |percent| match base {
        Some(base) if level != Level::Eventual => {
            let (own, base) = (tally.percentile_us(percent), base.percentile_us(percent));
            format!("{:+.2} ms", (f64::from(own) - f64::from(base)) / 1000.0)
        }
        _ => "-".to_owned(),
    };
    writeln!(
        f,
        "| {engine} | {} | {faults} | {} | {} | {} | {} | {} % | {} | {} |",
        level.as_str(),
        tally.operations,
        tally.violations,
        tally.stale,
        tally.failed,
        tally.replica_share(),
        added(50),
        added(99)
    )
}
