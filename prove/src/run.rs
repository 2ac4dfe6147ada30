//! A run: for each family a cluster, act after act until the time is over, and a report.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use sandbox::Engine;

use crate::broken;
use crate::chance::Chance;
use crate::driver::Driver;
use crate::error::Result;
use crate::fault::{Fault, Kind, go_together};
use crate::history::Level;
use crate::keep::keep;
use crate::report::{Family, Label};
use crate::scene::Scene;
use crate::stage::{Act, Stage};
use crate::tally;

/// What is to be run.
#[derive(Debug, Clone)]
pub struct Options {
    /// What chance follows from.
    pub seed: u64,
    /// How much is done with each family.
    pub extent: Extent,
    /// How long a client rests after an operation, on average.
    pub rest: Duration,
    /// The proxy.
    pub proxy: PathBuf,
    /// A proxy that was built with the feature `sabotage`; without it no broken build is tried.
    pub sabotaged: Option<PathBuf>,
    /// The faults to choose from.
    pub faults: Vec<Kind>,
    /// Where what was noted is kept if a promise is broken.
    pub keep: PathBuf,
}

/// How much is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// As much as this time allows, the start of the cluster included.
    Time(Duration),
    /// So many acts.
    Acts(usize),
}

/// Hardly any act takes longer than this, whatever it does.
const ACT: Duration = Duration::from_secs(10);

/// What the broken builds take.
const BROKEN: Duration = Duration::from_secs(30);

/// Runs one family.
///
/// # Errors
/// When the checker cannot do its work; what it finds is in the report.
pub fn family(options: &Options, engine: Engine, tell: &mut dyn FnMut(String)) -> Result<Family> {
    let begin = Instant::now();
    let mut chance = Chance::new(options.seed);
    let scene = Scene::start(engine, &options.proxy)?;
    let driver = Driver::start("clients")?;
    scene.settle(driver.handle())?;
    tell(format!("{engine}: servers and proxies are up after {:.1} s", begin.elapsed().as_secs_f64()));
    let mut report = Family::new(engine);
    let proxies: Vec<_> = scene.proxies.iter().collect();
    let mut stage = Stage::new(&scene, &proxies, &driver, options.rest, &mut chance)?;
    let mut faults = options.faults.clone();
    if scene.clock.is_none() {
        tell("the clock is left alone: the package libfaketime is not installed".to_owned());
        faults.retain(|kind| *kind != Kind::ClockJumps);
    }
    let mut plan = Plan::new(&faults, &mut chance);
    let reserved = ACT + if options.sabotaged.is_some() { BROKEN } else { Duration::ZERO };
    let goes_on = |acts: usize| match options.extent {
        Extent::Time(time) => begin.elapsed() + reserved < time,
        Extent::Acts(most) => acts < most,
    };
    let mut acts = 0;
    while goes_on(acts) {
        acts += 1;
        let kinds = plan.next(&mut chance);
        let faults: Vec<Fault> = kinds.iter().map(|kind| Fault::of(*kind, &mut chance)).collect();
        let act = stage.act(&faults, &mut chance)?;
        let label = Label::of(&kinds);
        tell(format!(
            "{engine}, {:5.1} s, {}: {}",
            begin.elapsed().as_secs_f64(),
            name(&kinds),
            summary(&act)
        ));
        for finding in act.verdict.findings() {
            tell(format!("VIOLATION on {engine}, seed {}, {}: {finding}", options.seed, name(&kinds)));
        }
        if !act.verdict.findings().is_empty() {
            keep(&options.keep, &format!("{engine}-{acts}"), &scene, &act.log)?;
            tell(format!("what was noted is kept in {}", options.keep.display()));
        }
        report.add(label, tally::count(&act.log, &act.verdict, &act.primaries));
    }
    drop(stage);
    if let Some(program) = &options.sabotaged {
        let caught = broken::catch_all(&scene, &driver, program, options.rest, &mut chance, tell)?;
        report.broken = caught;
    }
    Ok(report)
}

/// Which faults come next: first none, then each alone, then several at a time.
struct Plan {
    alone: Vec<Kind>,
    all: Vec<Kind>,
    calm: bool,
}

impl Plan {
    fn new(all: &[Kind], chance: &mut Chance) -> Self {
        let mut rest = all.to_vec();
        let mut alone = Vec::new();
        while !rest.is_empty() {
            let index = usize::try_from(chance.below(rest.len() as u64)).unwrap_or_default();
            alone.push(rest.swap_remove(index));
        }
        Self { alone, all: all.to_vec(), calm: true }
    }

    fn next(&mut self, chance: &mut Chance) -> Vec<Kind> {
        if std::mem::take(&mut self.calm) {
            return Vec::new();
        }
        if let Some(kind) = self.alone.pop() {
            return vec![kind];
        }
        let count = 2 + usize::try_from(chance.below(2)).unwrap_or_default();
        let mut kinds: Vec<Kind> = Vec::new();
        for _ in 0..20 {
            let Some(kind) = chance.pick(&self.all) else { break };
            let more = [kinds.as_slice(), &[*kind]].concat();
            if kinds.len() < count && !kinds.contains(kind) && go_together(&more) {
                kinds = more;
            }
        }
        kinds
    }
}

fn name(kinds: &[Kind]) -> String {
    match kinds {
        [] => "nothing broken".to_owned(),
        kinds => kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(" + "),
    }
}

fn summary(act: &Act) -> String {
    let tallies = tally::count(&act.log, &act.verdict, &act.primaries);
    let each = |pick: fn(&tally::Tally) -> u64| {
        let figures: BTreeMap<Level, u64> =
            tallies.iter().map(|(level, tally)| (*level, pick(tally))).collect();
        figures
            .iter()
            .map(|(level, count)| format!("{} {count}", level.as_str()))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let refusal = act.log.refusal.as_ref().map(|text| format!("; first failure: {text}")).unwrap_or_default();
    format!(
        "operations: {}; failed: {}; stale: {}; violations: {}{refusal}",
        each(|tally| tally.operations),
        each(|tally| tally.failed),
        each(|tally| tally.stale),
        each(|tally| tally.violations)
    )
}
