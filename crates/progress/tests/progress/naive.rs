//! Naive judges, which share nothing with the engine: the semantics of formulas read off the book,
//! and the definitions of the progress properties on one lasso.

use linchpin_progress::Property;
use linchpin_progress::graph::{Graph, Label};
use linchpin_progress::ltl::Formula;
use std::collections::HashMap;

/// A word that repeats its last part for ever.
pub struct Word {
    pub prefix: Vec<u64>,
    pub cycle: Vec<u64>,
}

impl Word {
    fn letter(&self, at: usize) -> u64 {
        match self.prefix.get(at) {
            Some(letter) => *letter,
            None => self.cycle[(at - self.prefix.len()) % self.cycle.len()],
        }
    }

    /// A position with the same future, among the first ones.
    fn same(&self, at: usize) -> usize {
        let start = self.prefix.len();
        if at < start { at } else { start + (at - start) % self.cycle.len() }
    }

    /// Whether a formula holds at the start.
    pub fn satisfies(&self, formula: &Formula) -> bool {
        self.at(formula, 0, &mut HashMap::new())
    }

    /// Whether it holds at a position: `until` and `release` are said with "there is" and "for
    /// all", over as many positions as have different futures.
    fn at(
        &self,
        formula: &Formula,
        at: usize,
        memory: &mut HashMap<(*const Formula, usize), bool>,
    ) -> bool {
        let at = self.same(at);
        let key = (std::ptr::from_ref(formula), at);
        if let Some(known) = memory.get(&key) {
            return *known;
        }
        let horizon = at + self.prefix.len() + self.cycle.len();
        let answer = match formula {
            Formula::True => true,
            Formula::False => false,
            Formula::Atom(atom) => self.letter(at) >> atom & 1 == 1,
            Formula::Not(of) => !self.at(of, at, memory),
            Formula::And(a, b) => self.at(a, at, memory) && self.at(b, at, memory),
            Formula::Or(a, b) => self.at(a, at, memory) || self.at(b, at, memory),
            Formula::Next(of) => self.at(of, at + 1, memory),
            Formula::Until(a, b) => (at..=horizon).any(|then| {
                self.at(b, then, memory) && (at..then).all(|before| self.at(a, before, memory))
            }),
            // At every position the second holds, or the first has held at an earlier one.
            Formula::Release(a, b) => (at..=horizon).all(|then| {
                self.at(b, then, memory) || (at..then).any(|before| self.at(a, before, memory))
            }),
        };
        memory.insert(key, answer);
        answer
    }
}

/// One thing that happens on a lasso: from which state, by whom, along which edge (none: no thread
/// moves).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Happening {
    pub state: u32,
    pub thread: Option<usize>,
    pub edge: Option<u32>,
    pub to: u32,
}

/// Everything that can happen in a state: moves; threads that try in vain; time that goes on where
/// no thread can move.
pub fn happenings(graph: &Graph, state: u32, waits: bool) -> Vec<Happening> {
    let mut all: Vec<Happening> = graph
        .edges_of(state)
        .map(|number| {
            let edge = graph.edges[number as usize];
            Happening {
                state,
                thread: Some(usize::from(edge.thread)),
                edge: Some(number),
                to: edge.to,
            }
        })
        .collect();
    if waits {
        for thread in 0..graph.threads {
            let pending = graph.pending[state as usize * graph.threads + thread] != 0;
            if pending && graph.enabled[state as usize] & (1 << thread) == 0 {
                all.push(Happening { state, thread: Some(thread), edge: None, to: state });
            }
        }
    } else if graph.enabled[state as usize] == 0 {
        all.push(Happening { state, thread: None, edge: None, to: state });
    }
    all
}

/// Every lasso whose parts together are at most so long, until `visit` says that it has seen
/// enough.
pub fn lassos(
    graph: &Graph,
    length: usize,
    waits: bool,
    visit: &mut dyn FnMut(&[Happening], &[Happening]) -> bool,
) {
    let mut path: Vec<Happening> = Vec::new();
    extend(graph, length, waits, 0, &mut path, visit);
}

fn extend(
    graph: &Graph,
    length: usize,
    waits: bool,
    state: u32,
    path: &mut Vec<Happening>,
    visit: &mut dyn FnMut(&[Happening], &[Happening]) -> bool,
) -> bool {
    for start in (0..path.len()).filter(|&start| path[start].state == state) {
        if visit(&path[..start], &path[start..]) {
            return true;
        }
    }
    if path.len() == length {
        return false;
    }
    for happening in happenings(graph, state, waits) {
        path.push(happening);
        let enough = extend(graph, length, waits, happening.to, path, visit);
        path.pop();
        if enough {
            return true;
        }
    }
    false
}

/// Whether a thread that is inside an operation and can move at every state of the cycle does move.
pub fn is_fair(graph: &Graph, cycle: &[Happening]) -> bool {
    (0..graph.threads).all(|thread| {
        let moves = cycle.iter().any(|it| it.thread == Some(thread) && it.edge.is_some());
        let always_able = cycle.iter().all(|it| {
            let pending = graph.pending[it.state as usize * graph.threads + thread] != 0;
            pending && graph.enabled[it.state as usize] & (1 << thread) != 0
        });
        moves || !always_able
    })
}

/// Whether a cycle violates a property.
pub fn violates(graph: &Graph, property: Property, cycle: &[Happening]) -> bool {
    let responds = |it: &&Happening| {
        it.edge.is_some_and(|edge| {
            let label = graph.edges[edge as usize].label as usize;
            matches!(graph.labels[label], Label::Return { .. })
        })
    };
    let pends = |it: &Happening, thread: usize| {
        graph.pending[it.state as usize * graph.threads + thread] != 0
    };
    let responses = cycle.iter().filter(responds).count();
    // A thread that never responds although it has something to do all the time.
    let hangs = |thread: usize| {
        cycle.iter().all(|it| pends(it, thread))
            && !cycle.iter().filter(responds).any(|it| it.thread == Some(thread))
    };
    let mut threads = 0..graph.threads;
    match property {
        Property::NoDeadlock => false,
        Property::ObstructionFree => {
            threads.any(|thread| hangs(thread) && cycle.iter().all(|it| it.thread == Some(thread)))
        }
        Property::LockFree => responses == 0,
        Property::WaitFree => {
            threads.any(|thread| hangs(thread) && cycle.iter().any(|it| it.thread == Some(thread)))
        }
        Property::LivelockFree => responses == 0 && is_fair(graph, cycle),
        Property::StarvationFree => threads.any(hangs) && is_fair(graph, cycle),
    }
}
