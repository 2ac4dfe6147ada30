//! What all rounds gave, and the tables made of it.

use crate::figures::{median, median_ratio, short};
use crate::load::Cell;
use crate::memory::{CLIENTS, Held};
use crate::parties::HAPROXY;
use crate::table::Table;
use crate::workload::Workload;

/// The level that the others are compared with.
const CHEAPEST: &str = "tidemark eventual";

/// Everything that was measured.
#[derive(Debug, Clone, Default)]
pub(crate) struct Results {
    /// By workload, in the order in which they were measured.
    pub(crate) loads: Vec<Load>,
    /// By proxy.
    pub(crate) memory: Vec<Held>,
}

/// One workload.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    pub(crate) workload: Workload,
    /// By target, in order.
    pub(crate) lines: Vec<Line>,
}

/// One workload before one target.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) target: String,
    /// By round.
    pub(crate) cells: Vec<Cell>,
}

impl Load {
    /// Adds what was measured in a round.
    pub(crate) fn add(&mut self, target: &str, cell: Cell) {
        match self.lines.iter_mut().find(|line| line.target == target) {
            Some(line) => line.cells.push(cell),
            None => self.lines.push(Line { target: target.to_owned(), cells: vec![cell] }),
        }
    }

    fn line(&self, target: &str) -> Option<&Line> {
        self.lines.iter().find(|line| line.target == target)
    }

    /// The processor time for a statement, against that of HAProxy in the same round.
    pub(crate) fn cpu_to_haproxy(&self, line: &Line) -> Option<f64> {
        line.ratio(self.line(HAPROXY)?, cpu)
    }
}

impl Line {
    /// The median over the rounds.
    fn median(&self, pick: fn(&Cell) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.cells.iter().filter_map(pick).collect();
        median(&values)
    }

    /// The median of what this is to another in the same round.
    fn ratio(&self, base: &Line, pick: fn(&Cell) -> Option<f64>) -> Option<f64> {
        let values = |line: &Line| line.cells.iter().map(pick).collect::<Vec<_>>();
        median_ratio(&values(self), &values(base))
    }
}

fn cpu(cell: &Cell) -> Option<f64> {
    cell.cpu_us
}

fn per_second(cell: &Cell) -> Option<f64> {
    Some(cell.per_second)
}

fn megabytes(cell: &Cell) -> Option<f64> {
    Some(cell.megabytes)
}

fn p50(cell: &Cell) -> Option<f64> {
    Some(cell.p50_us)
}

fn p99(cell: &Cell) -> Option<f64> {
    Some(cell.p99_us)
}

impl Results {
    /// The main table.
    pub(crate) fn loads_table(&self) -> Table {
        let mut table = Table::new([
            "Load",
            "Before the servers",
            "CPU us",
            "to HAProxy",
            "Statements/s",
            "to HAProxy",
            "p50 us",
            "p99 us",
            "MB/s",
        ]);
        for load in &self.loads {
            let base = load.line(HAPROXY);
            for line in &load.lines {
                let to_base = |pick| base.and_then(|base| line.ratio(base, pick));
                let bulk = line.median(megabytes).filter(|_| load.workload.is_bulk());
                table.add([
                    load.workload.name(),
                    line.target.clone(),
                    told(line.median(cpu)),
                    told(load.cpu_to_haproxy(line)),
                    told(line.median(per_second)),
                    told(to_base(per_second)),
                    told(line.median(p50)),
                    told(line.median(p99)),
                    told(bulk),
                ]);
            }
        }
        table
    }

    /// What the levels cost against the one that costs nothing; empty if that was not measured.
    pub(crate) fn levels_table(&self) -> Table {
        let mut table =
            Table::new(["Level, to eventual", "CPU", "Statements/s", "p50 of reads", "p99 of reads"]);
        let mixed = self.loads.iter().find(|load| load.workload == Workload::Mixed);
        let Some((mixed, base)) = mixed.and_then(|load| Some((load, load.line(CHEAPEST)?))) else {
            return table;
        };
        for line in mixed.lines.iter().filter(|line| line.target.starts_with("tidemark ")) {
            let to_base = |pick| told(line.ratio(base, pick));
            let level = line.target.trim_start_matches("tidemark ").to_owned();
            table.add([level, to_base(cpu), to_base(per_second), to_base(p50), to_base(p99)]);
        }
        table
    }

    /// Memory for an idle client; empty if that was not measured.
    pub(crate) fn memory_table(&self) -> Table {
        let with = format!("KiB with {CLIENTS} clients");
        let mut table = Table::new(["Proxy", "KiB for each client", "KiB without clients", &with]);
        for held in &self.memory {
            table.add([
                held.name.to_owned(),
                short(held.each_kib()),
                held.before_kib.to_string(),
                held.after_kib.to_string(),
            ]);
        }
        table
    }

    /// How many turns were given up, where any was: transactions that collided.
    pub(crate) fn given_up(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for load in &self.loads {
            for line in &load.lines {
                let count: u64 = line.cells.iter().map(|cell| cell.given_up).sum();
                if count > 0 {
                    let (workload, target) = (load.workload, &line.target);
                    lines.push(format!("{workload}, {target}: {count} turns collided and were given up"));
                }
            }
        }
        lines
    }
}

fn told(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), short)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let cell = |cpu_us, per_second| Cell { cpu_us, per_second, ..Cell::default() };
        let mut load = Load { workload: Workload::Mixed, lines: Vec::new() };
        for (round, slow) in [(0, 1.0), (1, 2.0), (2, 10.0)] {
            load.add("none", cell(None, 900.0 / slow));
            load.add(HAPROXY, cell(Some(10.0 * slow), 1000.0 / slow));
            load.add(CHEAPEST, cell(Some(8.0 * slow), 1100.0 / slow));
            load.add("tidemark global", cell(Some((8.0 + 2.0 * f64::from(round)) * slow), 500.0 / slow));
        }
        let memory = vec![Held { name: "tidemark", before_kib: 1_000, after_kib: 9_000 }];
        Results { loads: vec![load], memory }
    }

    #[test]
    fn ratios_are_those_of_the_same_round() {
        let results = results();
        let text = results.loads_table().plain();
        let line = |target: &str| text.lines().find(|line| line.contains(target)).unwrap().to_owned();
        let words = |target: &str| line(target).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(HAPROXY)[2..6], ["20.0", "1.00", "500", "1.00"]);
        assert_eq!(words("eventual")[3..7], ["16.0", "0.80", "550", "1.10"]);
        assert_eq!(words("global")[3..5], ["20.0", "1.00"]);
        assert_eq!(words("none")[2..4], ["-", "-"]);
    }

    #[test]
    fn levels_are_compared_with_the_cheapest() {
        let text = results().levels_table().plain();
        assert!(text.lines().any(|line| line.starts_with("eventual") && line.contains("1.00")), "{text}");
        assert!(text.lines().any(|line| line.starts_with("global") && line.contains("1.25")), "{text}");
        assert!(Results::default().levels_table().is_empty());
    }

    #[test]
    fn memory_is_told_by_client() {
        assert!(results().memory_table().plain().contains("8.00"));
    }
}
