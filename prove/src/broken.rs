//! Proxies that leave out a rule: each must be caught, at each level that the rule is for. A checker that finds nothing
//! wrong with them would find nothing wrong with anything.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::chance::Chance;
use crate::check::Anomaly;
use crate::driver::Driver;
use crate::error::Result;
use crate::fault::{Fault, Kind};
use crate::history::Level;
use crate::scene::Scene;
use crate::stage::Stage;

/// Acts in which a broken build must be caught.
const ACTS: usize = 5;

/// How long the fault of an act lasts under which the missing rule shows.
const LASTS: Duration = Duration::from_millis(1500);

/// A rule, as the program knows it, and how it is missed.
struct Rule {
    name: &'static str,
    meaning: &'static str,
    fault: Kind,
    /// Whether it shows when all replicas are struck, or when one is.
    all: bool,
    levels: &'static [Level],
}

const RULES: [Rule; 5] = [
    Rule {
        name: "need",
        meaning: "a node must have what the session wrote, and what it learnt is needed",
        fault: Kind::ApplierStopped,
        all: true,
        levels: &[Level::Session, Level::Global],
    },
    Rule {
        name: "high",
        meaning: "a session moves only to a node that has what the last one can have shown",
        fault: Kind::ApplierStopped,
        all: false,
        levels: &[Level::Session],
    },
    Rule {
        name: "probe",
        meaning: "the primary is asked first",
        fault: Kind::ApplierStopped,
        all: true,
        levels: &[Level::Global],
    },
    Rule {
        name: "proviso",
        meaning: "what a node showed while the primary was asked must cover its answer",
        fault: Kind::ApplierStopped,
        all: true,
        levels: &[Level::Global],
    },
    Rule {
        name: "primary",
        meaning: "the primary must itself show what others have shown",
        fault: Kind::CommitsHeld,
        all: true,
        levels: &[Level::Session, Level::Global],
    },
];

/// How a broken build fared at one level.
#[derive(Debug, Clone)]
pub struct Broken {
    /// The rule that it left out, as the program knows it.
    pub rule: &'static str,
    /// What the rule says.
    pub meaning: &'static str,
    /// The level.
    pub level: Level,
    /// What it was caught at, and how often; nothing if it was not.
    pub caught: Vec<(Anomaly, u64)>,
    /// How long it ran.
    pub ran: Duration,
    /// The first of its broken promises, explained.
    pub example: Option<String>,
}

/// Runs every broken build until it is caught, or has had its chances.
pub(crate) fn catch_all(
    scene: &Scene,
    driver: &Driver,
    program: &Path,
    rest: Duration,
    chance: &mut Chance,
    tell: &mut dyn FnMut(String),
) -> Result<Vec<Broken>> {
    let mut all = Vec::new();
    for rule in &RULES {
        let caught = catch(rule, scene, driver, program, rest, chance)?;
        for broken in &caught {
            tell(format!(
                "{}: without the rule `{}`, level {}: {}",
                scene.cluster.primary().engine(),
                broken.rule,
                broken.level.as_str(),
                broken.example.as_deref().unwrap_or("NOT CAUGHT")
            ));
        }
        all.extend(caught);
    }
    Ok(all)
}

fn catch(
    rule: &Rule,
    scene: &Scene,
    driver: &Driver,
    program: &Path,
    rest: Duration,
    chance: &mut Chance,
) -> Result<Vec<Broken>> {
    let begin = Instant::now();
    let proxy = scene.start_proxy(program, 'X', "consistency_timeout_us = 10000", 0, Some(rule.name))?;
    // Twice as many clients as a proxy has otherwise.
    let mut stage = Stage::new(scene, &[&proxy, &proxy], driver, rest, chance)?;
    let mut all: Vec<Broken> = rule
        .levels
        .iter()
        .map(|level| Broken {
            rule: rule.name,
            meaning: rule.meaning,
            level: *level,
            caught: Vec::new(),
            ran: Duration::ZERO,
            example: None,
        })
        .collect();
    for _ in 0..ACTS {
        let fault = Fault::fixed(rule.fault, rule.all, LASTS);
        let act = stage.act(&[fault], chance)?;
        for broken in all.iter_mut().filter(|broken| broken.caught.is_empty()) {
            let promised = Anomaly::ALL.into_iter().filter(|anomaly| anomaly.is_excluded_by(broken.level));
            let counts = promised.map(|anomaly| (anomaly, act.verdict.count(broken.level, anomaly)));
            broken.caught = counts.filter(|(_, count)| *count > 0).collect();
            broken.ran = begin.elapsed();
            let mut findings = act.verdict.findings().iter();
            broken.example = findings.find(|finding| finding.level == broken.level).map(ToString::to_string);
        }
        if all.iter().all(|broken| !broken.caught.is_empty()) {
            break;
        }
    }
    Ok(all)
}
