//! The search: every state that can be reached, nearest first, so that the first way to break a promise is a shortest.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use super::rules::Rules;
use super::scenario::Scenario;
use super::state::{SESSIONS, State};
use super::steps::{Model, Promise, Step};

/// A hash of what is small and comes from nobody who would want it to collide.
#[derive(Default)]
pub(crate) struct Mixer(u64);

/// Builds [`Mixer`]s.
pub(crate) type Fingerprint = BuildHasherDefault<Mixer>;

impl Mixer {
    fn mix(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.mix((*byte).into()));
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.mix(value.unsigned_abs() as u64);
    }
}

/// A search that found nothing wrong.
#[derive(Clone, Copy)]
pub(crate) struct Explored {
    pub(crate) states: usize,
    pub(crate) steps: usize,
    /// The length of the longest of the shortest ways.
    pub(crate) depth: u32,
}

/// A way to break a promise.
#[derive(Clone, Debug)]
pub(crate) struct Counterexample {
    pub(crate) promise: Promise,
    /// The steps, each with the state it leads to.
    pub(crate) way: Vec<(Step, State)>,
}

/// Tries everything.
pub(crate) fn search(scenario: Scenario, rules: Rules) -> Result<Explored, Counterexample> {
    let mut model = Model::new(scenario, rules);
    let mut graph = Graph::default();
    graph.reach(scenario.start(&rules), None);
    let mut at = 0;
    while let Some(&state) = graph.states.get(at) {
        for next in model.steps(&state) {
            if let Some(promise) = next.broken {
                let mut way = graph.way(at);
                way.push((next.step, next.state));
                return Err(Counterexample { promise, way });
            }
            let to = graph.reach(next.state, Some((at, next.step)));
            if next.step.is_due() && to != at {
                graph.due.push((at, to));
            }
            graph.steps += 1;
        }
        at += 1;
    }
    match graph.never_answered() {
        Some(at) => Err(Counterexample { promise: Promise::Answered, way: graph.way(at) }),
        None => Ok(Explored { states: graph.states.len(), steps: graph.steps, depth: graph.depth() }),
    }
}

/// The states that were reached, in the order of their distance.
#[derive(Default)]
struct Graph {
    states: Vec<State>,
    /// How each was reached first.
    from: Vec<Option<(usize, Step)>>,
    known: HashMap<u64, usize, Fingerprint>,
    /// Steps that happen by themselves.
    due: Vec<(usize, usize)>,
    steps: usize,
}

impl Graph {
    /// The number of a state, new or known.
    fn reach(&mut self, state: State, from: Option<(usize, Step)>) -> usize {
        let mut hasher = Mixer::default();
        state.hash(&mut hasher);
        let mut key = hasher.finish();
        while let Some(&at) = self.known.get(&key) {
            if self.states[at] == state {
                return at;
            }
            // Another state of the same hash.
            key = key.wrapping_add(1);
        }
        let at = self.states.len();
        self.known.insert(key, at);
        self.states.push(state);
        self.from.push(from);
        at
    }

    fn way(&self, mut at: usize) -> Vec<(Step, State)> {
        let mut way = Vec::new();
        while let Some((before, step)) = self.from[at] {
            way.push((step, self.states[at]));
            at = before;
        }
        way.reverse();
        way
    }

    fn depth(&self) -> u32 {
        let last = self.states.len().saturating_sub(1);
        u32::try_from(self.way(last).len()).unwrap()
    }

    /// The nearest state with an open read that no row of steps which happen by themselves can answer.
    fn never_answered(&self) -> Option<usize> {
        let before = Backwards::new(self.states.len(), &self.due);
        (0..SESSIONS)
            .filter_map(|session| before.stranded(|at| self.states[at].sessions[session].read().is_none()))
            .min()
    }
}

/// The edges of a graph the other way round.
struct Backwards {
    /// Where the predecessors of a state begin in `sources`.
    begin: Vec<usize>,
    sources: Vec<usize>,
}

impl Backwards {
    fn new(states: usize, edges: &[(usize, usize)]) -> Self {
        let mut begin = vec![0; states + 1];
        edges.iter().for_each(|(_, to)| begin[to + 1] += 1);
        (0..states).for_each(|at| begin[at + 1] += begin[at]);
        let mut free = begin.clone();
        let mut sources = vec![0; edges.len()];
        for (from, to) in edges {
            sources[free[*to]] = *from;
            free[*to] += 1;
        }
        Self { begin, sources }
    }

    /// The first state from which no state that is `good` can be reached.
    fn stranded(&self, good: impl Fn(usize) -> bool) -> Option<usize> {
        let count = self.begin.len() - 1;
        let mut saved: Vec<bool> = (0..count).map(&good).collect();
        let mut open: Vec<usize> = (0..count).filter(|at| saved[*at]).collect();
        while let Some(at) = open.pop() {
            for &from in &self.sources[self.begin[at]..self.begin[at + 1]] {
                if !saved[from] {
                    saved[from] = true;
                    open.push(from);
                }
            }
        }
        saved.iter().position(|saved| !saved)
    }
}
