//! Every interleaving, every crash, every image, one after the other.

use super::program::{CELLS, LINE, Op, Outcome, Program, Thread};
use std::collections::BTreeSet;

/// What memory does: one rule at a time can be broken.
#[derive(Clone, Copy)]
pub struct Rules {
    pub fences: bool,
    pub updates_fence: bool,
    /// A flush covers what is stored until the fence.
    pub flush_is_late: bool,
    /// Stores to a line survive out of order.
    pub any_subset: bool,
}

impl Rules {
    pub const RIGHT: Rules =
        Rules { fences: true, updates_fence: true, flush_is_late: false, any_subset: false };
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    cells: [u64; CELLS],
    /// What is in memory for sure, and the stores to each line since.
    durable: [u64; CELLS],
    stores: [Vec<(usize, u64)>; 3],
    /// How many stores a flush of a thread covers, by line.
    noted: Vec<[usize; 3]>,
    /// Call and step of each thread; before its call if the step is none.
    at: Vec<(usize, Option<usize>)>,
    loaded: Vec<Vec<u64>>,
    threads: Vec<Thread>,
}

pub struct Naive<'a> {
    program: &'a Program,
    rules: Rules,
    seen: BTreeSet<State>,
    outcomes: BTreeSet<Outcome>,
}

impl<'a> Naive<'a> {
    pub fn new(program: &'a Program, rules: Rules) -> Naive<'a> {
        Naive { program, rules, seen: BTreeSet::new(), outcomes: BTreeSet::new() }
    }

    pub fn outcomes(mut self) -> BTreeSet<Outcome> {
        let count = self.program.threads.len();
        self.visit(State {
            cells: [0; CELLS],
            durable: [0; CELLS],
            stores: Default::default(),
            noted: vec![[0; 3]; count],
            at: vec![(0, None); count],
            loaded: vec![Vec::new(); count],
            threads: vec![Thread::default(); count],
        });
        self.outcomes
    }

    fn visit(&mut self, state: State) {
        if !self.seen.insert(state.clone()) {
            return;
        }
        for image in self.images(&state) {
            for cells in self.recovered(image) {
                let seen = self.program.read.iter().map(|cell| cells[*cell]).collect();
                self.outcomes.insert(Outcome { threads: state.threads.clone(), seen });
            }
        }
        for thread in 0..self.program.threads.len() {
            let (call, step) = state.at[thread];
            let Some(steps) = self.program.threads[thread].get(call) else { continue };
            let mut after = state.clone();
            match step {
                None => {
                    after.threads[thread].called += 1;
                    after.at[thread].1 = Some(0);
                }
                Some(step) if step == steps.len() => {
                    let answer = std::mem::take(&mut after.loaded[thread]);
                    after.threads[thread].answers.push(answer);
                    after.at[thread] = (call + 1, None);
                }
                Some(step) => {
                    let loaded = self.step(&mut after, thread, steps[step]);
                    after.loaded[thread].extend(loaded);
                    after.at[thread].1 = Some(step + 1);
                }
            }
            self.visit(after);
        }
    }

    fn step(&self, state: &mut State, thread: usize, op: Op) -> Option<u64> {
        let store = |state: &mut State, cell: usize, value: u64| {
            state.cells[cell] = value;
            state.stores[LINE[cell]].push((cell, value));
        };
        if let (Op::Cas(..) | Op::Add(..), true) = (op, self.rules.updates_fence) {
            self.fence(state, thread);
        }
        match op {
            Op::Load(cell) => return Some(state.cells[cell]),
            Op::Store(cell, value) => store(state, cell, value),
            Op::Cas(cell, old, new) => {
                let before = state.cells[cell];
                if before == old {
                    store(state, cell, new);
                }
                return Some(before);
            }
            Op::Add(cell, value) => {
                let before = state.cells[cell];
                store(state, cell, before + value);
                return Some(before);
            }
            Op::Flush(cell) => self.flush(state, thread, cell),
            Op::Fence => self.fence(state, thread),
            Op::Persist(cell) => {
                // In one step, which leaves the same images.
                self.flush(state, thread, cell);
                self.fence(state, thread);
            }
        }
        None
    }

    fn flush(&self, state: &mut State, thread: usize, cell: usize) {
        let count = if self.rules.flush_is_late { 99 } else { state.stores[LINE[cell]].len() };
        let noted = &mut state.noted[thread][LINE[cell]];
        *noted = count.max(*noted);
    }

    fn fence(&self, state: &mut State, thread: usize) {
        let noted = std::mem::take(&mut state.noted[thread]);
        if !self.rules.fences {
            return;
        }
        for (line, count) in noted.into_iter().enumerate() {
            let count = count.min(state.stores[line].len());
            for (cell, value) in state.stores[line].drain(..count).collect::<Vec<_>>() {
                state.durable[cell] = value;
            }
            for others in &mut state.noted {
                others[line] = others[line].saturating_sub(count);
            }
        }
    }

    fn images(&self, state: &State) -> BTreeSet<[u64; CELLS]> {
        let mut images = BTreeSet::from([state.durable]);
        for stores in &state.stores {
            let mut more = BTreeSet::new();
            for image in images {
                let prefixes = (0..=stores.len()).map(|count| (1_u32 << count) - 1);
                let subsets = 0..1_u32 << stores.len();
                let kept: Vec<u32> =
                    if self.rules.any_subset { subsets.collect() } else { prefixes.collect() };
                for mask in kept {
                    let mut image = image;
                    for (at, (cell, value)) in stores.iter().enumerate() {
                        if mask >> at & 1 == 1 {
                            image[*cell] = *value;
                        }
                    }
                    more.insert(image);
                }
            }
            images = more;
        }
        images
    }

    /// What the cells hold after recovery, in which a second crash may come.
    fn recovered(&self, image: [u64; CELLS]) -> BTreeSet<[u64; CELLS]> {
        let Some(steps) = &self.program.recovery else { return BTreeSet::from([image]) };
        let mut state = State {
            cells: image,
            durable: image,
            stores: Default::default(),
            noted: vec![[0; 3]],
            at: Vec::new(),
            loaded: Vec::new(),
            threads: Vec::new(),
        };
        let mut after = self.images(&state);
        for op in steps {
            self.step(&mut state, 0, *op);
            after.extend(self.images(&state));
        }
        after
    }
}
