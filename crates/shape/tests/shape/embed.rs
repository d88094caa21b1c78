//! Soundness of the analysis, tested: every concrete correlated state that a program reaches embeds
//! into a structure that the analysis kept; where it kept views, for each of the state's threads.
//!
//! The concrete states are those of `concrete.rs`, with the moves of the analysis (`merged.rs`).
//! What a structure stands for is written again here, from the paper and the documentation of the
//! states (`matching.rs`); the engine's canonical forms, keys and joins are not used.

mod index;
mod matching;
mod merged;
mod nodes;
mod programs;
mod random;
mod small;

use crate::concrete::{Config, Order, Values};
use index::Index;
use linchpin_ir::program::Program;
use linchpin_shape::heap::Kind;
use linchpin_shape::state::State;
use linchpin_shape::targets::Targets;
use linchpin_shape::{Analysis, Found, Options, Threads, analyse};
use matching::{Why, embeds};
use merged::Merged;
use nodes::{Concrete, Focus, Nodes};
use std::collections::BTreeMap;

/// What was checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checked {
    /// How many structures or views the analysis kept.
    pub kept: usize,
    /// How many concrete states there were.
    pub states: usize,
    /// How many embeddings were found.
    pub embeddings: usize,
    /// Whether those were all the states within the bounds.
    pub complete: bool,
}

/// Bounds of the concrete states.
pub fn bounds(threads: usize, objects: usize, values: Values, cap: usize) -> Config {
    Config { threads, objects, values, cap, order: Order::BreadthFirst }
}

/// The program with so many threads, all of the first kind.
fn with_threads(program: &Program, threads: usize) -> Program {
    let mut program = program.clone();
    if program.threads.len() != threads {
        program.threads = vec![program.threads[0].clone(); threads];
    }
    program
}

/// Analyses a program that can be proved, and embeds its concrete states.
pub fn check(name: &str, program: &Program, config: &Config, threads: Threads) -> Checked {
    let program = with_threads(program, config.threads);
    let options = Options { threads, workers: 2, ..Options::default() };
    let analysis =
        analyse(&program, &options, &|_| {}).unwrap_or_else(|why| panic!("{name}: {why}"));
    if let Found::Failed(trace) = &analysis.found {
        panic!("{name}: not proved: {:?}", trace.failure);
    }
    assert!(matches!(analysis.found, Found::Proved), "{name}: {:?}", analysis.found);
    check_against(name, &program, config, threads, &analysis)
}

/// Embeds the concrete states of a program.
pub fn check_against(
    name: &str,
    program: &Program,
    config: &Config,
    threads: Threads,
    analysis: &Analysis,
) -> Checked {
    let seed = 1;
    let merged =
        merged::explore(program, config, seed).unwrap_or_else(|why| panic!("{name}: {why:?}"));
    if let Some(wrong) = &merged.wrong {
        panic!("{name}: proved, and yet {wrong:#?}");
    }
    let index = Index::new(analysis);
    let mut checked = Checked {
        kept: analysis.explored.states.len(),
        states: merged.states.len(),
        embeddings: 0,
        complete: merged.complete,
    };
    let keys = match config.values {
        Values::Distinct => 0..=0,
        // Each key, and one below and one above all of them.
        Values::UpTo(most) => 0..=most + 1,
    };
    for state in &merged.states {
        let nodes = Nodes::new(state, &analysis.machine);
        for key in keys.clone() {
            let mut kinds = Vec::new();
            for orders in shown(config.threads, threads) {
                let focus = |threads: &Vec<usize>| Focus { threads: threads.clone(), key };
                kinds.push(covered(name, &nodes, &merged, &index, orders.iter().map(focus)));
                checked.embeddings += 1;
            }
            assert!(agree(&Kinds::new(), &kinds), "{name}: {kinds:?}\n{state:#?}");
        }
    }
    checked
}

/// The kinds that a structure gives to nodes. All else that it says of a node is a function of the
/// concrete state; whether it knows that a uniform node is one depends on how it was reached.
type Kinds = BTreeMap<Concrete, Kind>;

/// Whether each thread has a view that gives nodes the kinds that the others' views give them.
/// Joins rest on this: nodes of different kinds are not taken for the same.
fn agree(so_far: &Kinds, threads: &[Vec<Kinds>]) -> bool {
    let Some((first, others)) = threads.split_first() else { return true };
    first.iter().any(|kinds| {
        let same = kinds.iter().all(|(node, kind)| so_far.get(node).is_none_or(|it| it == kind));
        let mut all = so_far.clone();
        all.extend(kinds);
        same && agree(&all, others)
    })
}

/// The threads that structures show: one at a time, or all, whichever order these are in. One
/// structure is wanted for each row.
fn shown(count: usize, threads: Threads) -> Vec<Vec<Vec<usize>>> {
    match threads {
        Threads::Any => (0..count).map(|thread| vec![vec![thread]]).collect(),
        Threads::Those => vec![permutations(count)],
    }
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for next in 0..count {
        let longer = |order: &Vec<usize>| {
            (0..=order.len())
                .map(|at| {
                    let mut order = order.clone();
                    order.insert(at, next);
                    order
                })
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

fn covered(
    name: &str,
    nodes: &Nodes<'_>,
    merged: &Merged,
    index: &Index<'_>,
    orders: impl Iterator<Item = Focus>,
) -> Vec<Kinds> {
    let mut found = Vec::new();
    let mut nearest: Option<(Why, &State<Targets>)> = None;
    let mut tried = Vec::new();
    for focus in orders {
        for structure in index.near(nodes, &focus) {
            match embeds(nodes, &merged.semantics, &focus, structure) {
                Ok(all) => found.extend(all.iter().map(|stands| {
                    let kind = |at: &usize| structure.heap.nodes[*at].flags.kind;
                    stands.iter().map(|(node, at)| (*node, kind(at))).collect::<Kinds>()
                })),
                Err(why) if nearest.as_ref().is_none_or(|(other, _)| *other < why) => {
                    nearest = Some((why, structure));
                }
                Err(_) => {}
            }
        }
        tried.push(focus);
    }
    if !found.is_empty() {
        return found;
    }
    panic!("{name}: uncovered {tried:?}\n{:#?}\nnearest: {nearest:#?}", nodes.state);
}
