//! That a run alone comes to an end: what its loops walk along.
//!
//! A run alone writes nothing, so the list that is walked (`list.rs`) stays one path from its first
//! node to its last. A loop that goes round for ever would be a cycle of the graph of abstract
//! states. In each cycle some reference of the thread must never go back, and must go on to the
//! next node of the list; that can be done only as often as the list is long.

use crate::heap::{Heap, Side};
use crate::state::State;
use crate::targets::Targets;
use crate::value::Scalar;

/// How a word after a step relates to one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Went {
    /// It names the same node of the list.
    Nowhere,
    /// It names the next node of the list.
    On,
    /// Neither is known.
    Anywhere,
}

/// A step of a run alone, from one state of the graph to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    /// The state before it.
    pub from: usize,
    /// The state after it.
    pub to: usize,
    /// For each word before it, how each word after it relates to that.
    pub went: Vec<Vec<Went>>,
}

/// How the words of the first thread relate to those of the last one, which has the words that the
/// first had before it moved.
pub(crate) fn compared(state: &State<Targets>, root: Option<(usize, u8)>) -> Vec<Vec<Went>> {
    let (Some(after), Some(before)) = (state.threads.first(), state.threads.last()) else {
        return Vec::new();
    };
    let related = |old: Scalar, new: Scalar| {
        let (Some((_, link)), Scalar::Node(old), Scalar::Node(new)) = (root, old, new) else {
            return Went::Anywhere;
        };
        if !state.heap.flags(old).reach {
            return Went::Anywhere;
        }
        match state.heap.definite(Side::Candidate, old, link) {
            _ if old == new => Went::Nowhere,
            Some(Some(next)) if next == new => Went::On,
            _ => Went::Anywhere,
        }
    };
    let row = |old: &Scalar| after.locals.iter().map(|new| related(*old, *new)).collect();
    before.locals.iter().take(after.locals.len()).map(row).collect()
}

/// A state that a run may come back to for ever, if there may be one.
pub(crate) fn endless(states: usize, steps: &[Step]) -> Option<usize> {
    let mut from: Vec<Vec<usize>> = vec![Vec::new(); states];
    let mut into: Vec<Vec<usize>> = vec![Vec::new(); states];
    for (number, step) in steps.iter().enumerate() {
        from[step.from].push(number);
        into[step.to].push(number);
    }
    let mut done = vec![false; states];
    for start in 0..states {
        if std::mem::replace(&mut done[start], true) {
            continue;
        }
        let forth = met(start, &from, |number| steps[number].to);
        let back = met(start, &into, |number| steps[number].from);
        let cycle: Vec<usize> = (0..states).filter(|at| forth[*at] && back[*at]).collect();
        cycle.iter().for_each(|at| done[*at] = true);
        let inside = |step: &&Step| {
            cycle.binary_search(&step.from).is_ok() && cycle.binary_search(&step.to).is_ok()
        };
        let inside: Vec<&Step> = steps.iter().filter(inside).collect();
        if !inside.is_empty() && !descends(&cycle, &inside) {
            return Some(start);
        }
    }
    None
}

/// A state, and those that are met from it.
fn met(start: usize, ways: &[Vec<usize>], end: impl Fn(usize) -> usize) -> Vec<bool> {
    let mut met = vec![false; ways.len()];
    met[start] = true;
    let mut work = vec![start];
    while let Some(at) = work.pop() {
        for &way in &ways[at] {
            let next = end(way);
            if !std::mem::replace(&mut met[next], true) {
                work.push(next);
            }
        }
    }
    met
}

/// Whether a word can be chosen in each state of a cycle so that it never goes back, and goes on in
/// every way around.
fn descends(cycle: &[usize], steps: &[&Step]) -> bool {
    let mut chosen: Vec<Option<usize>> = vec![None; cycle.len()];
    let mut tried = 0;
    choose(cycle, steps, &mut chosen, &mut tried)
}

/// More ways to choose words than this are not tried.
const MOST_TRIED: usize = 20_000;

fn choose(
    cycle: &[usize],
    steps: &[&Step],
    chosen: &mut Vec<Option<usize>>,
    tried: &mut usize,
) -> bool {
    *tried += 1;
    if *tried > MOST_TRIED {
        return false;
    }
    let place = |state: usize| cycle.binary_search(&state).unwrap_or_default();
    // A state next to one that has its word: what it may have is known best.
    let open =
        |step: &&&Step| chosen[place(step.from)].is_some() && chosen[place(step.to)].is_none();
    let next = match steps.iter().find(open) {
        Some(step) => Some(place(step.to)),
        None => chosen.iter().position(Option::is_none),
    };
    let Some(next) = next else {
        return goes_on(cycle, steps, chosen);
    };
    let words = steps.iter().filter(|step| place(step.from) == next).map(|step| step.went.len());
    for word in 0..words.min().unwrap_or_default() {
        chosen[next] = Some(word);
        let fits = |step: &&Step| match (chosen[place(step.from)], chosen[place(step.to)]) {
            (Some(old), Some(new)) => went(step, old, new) != Went::Anywhere,
            _ => true,
        };
        if steps.iter().all(fits) && choose(cycle, steps, chosen, tried) {
            return true;
        }
    }
    chosen[next] = None;
    false
}

fn went(step: &Step, old: usize, new: usize) -> Went {
    step.went.get(old).and_then(|row| row.get(new)).copied().unwrap_or(Went::Anywhere)
}

/// Whether no cycle is left without the steps in which the chosen word goes on.
fn goes_on(cycle: &[usize], steps: &[&Step], chosen: &[Option<usize>]) -> bool {
    let place = |state: usize| cycle.binary_search(&state).unwrap_or_default();
    let word = |state: usize| chosen[place(state)].unwrap_or(usize::MAX);
    let stays = |step: &&&Step| went(step, word(step.from), word(step.to)) == Went::Nowhere;
    let mut left: Vec<&Step> = steps.iter().filter(stays).copied().collect();
    // What no step leads to is on no cycle.
    loop {
        let before = left.len();
        let targets: Vec<usize> = left.iter().map(|step| step.to).collect();
        left.retain(|step| targets.contains(&step.from));
        if left.is_empty() {
            return true;
        }
        if left.len() == before {
            return false;
        }
    }
}
