//! Every run with at most so many context switches (S. Qadeer, J. Rehof, Context-Bounded Model
//! Checking of Concurrent Software, TACAS 2005): most bugs need few.
//!
//! A switch is any change of the moving thread, also after an operation has returned. The
//! reductions never add one: what they take together is done by one thread, one after the other.

use crate::product::{Product, Step, To};
use crate::search::{Exploration, SearchOptions, Stats, Wrong};
use rustc_hash::FxHashSet;
use std::time::{Duration, Instant};

/// A state beside the thread that moved last.
type Key = (Box<[u8]>, u32, usize);

/// How often limits are looked at: once in so many states.
const EVERY: usize = 256;

const NO_THREAD: usize = usize::MAX;

/// Bytes of a node beside those of its state.
const OVERHEAD: usize = 2 * std::mem::size_of::<Key>() + 32;

/// Explores all runs with at most `most` switches, those with fewer first.
pub fn explore_switches<P: Product>(
    product: &P,
    most: usize,
    options: &SearchOptions,
    progress: &(dyn Fn(&Stats) + Sync),
) -> (Exploration, Stats) {
    let start = Instant::now();
    let mut worker = product.worker();
    let (bytes, set) = product.initial();
    let first: Key = (bytes.into(), set, NO_THREAD);
    let mut kept = first.0.len() + OVERHEAD;
    // INVARIANT: a node is added with the fewest switches that lead to it, because all with fewer
    // are expanded before.
    let mut known: FxHashSet<Key> = FxHashSet::from_iter([first.clone()]);
    let mut nodes: Vec<(Key, usize)> = vec![(first, usize::MAX)];
    let mut level: Vec<usize> = vec![0];
    let mut later: Vec<(usize, Key)> = Vec::new();
    let mut stats = Stats::default();
    let mut shown = Instant::now();
    let mut expanded = 0_usize;
    let mut found: Vec<(bool, Key)> = Vec::new();
    let outcome = loop {
        let Some(at) = level.pop() else {
            if later.is_empty() || stats.depth == most {
                break Exploration::Complete;
            }
            stats.depth += 1;
            for (parent, key) in std::mem::take(&mut later) {
                if known.insert(key.clone()) {
                    level.push(nodes.len());
                    nodes.push((key, parent));
                }
            }
            continue;
        };
        expanded += 1;
        if expanded.is_multiple_of(EVERY) {
            if let Some(reason) = options.limits.exceeded(kept + product.bytes()) {
                break Exploration::Stopped(reason.into());
            }
            if shown.elapsed() > Duration::from_millis(200) {
                shown = Instant::now();
                stats.states = nodes.len();
                progress(&stats);
            }
        }
        let (state, set, last) = nodes[at].0.clone();
        let mut wrong = None;
        product.expand(&mut worker, &state, set, &mut |step: Step<'_>| {
            stats.transitions += 1;
            let is_switch = last != NO_THREAD && last != step.thread;
            if is_switch && stats.depth == most {
                return;
            }
            match step.to {
                To::State { bytes, set, mover } => {
                    found.push((is_switch, (bytes.into(), set, mover)));
                }
                To::Unexplained => wrong = Some(Wrong::Unexplained),
                To::Fault => wrong = wrong.or(Some(Wrong::Fault)),
            }
        });
        if let Some(wrong) = wrong {
            break Exploration::Found { path: path(&nodes, at), wrong };
        }
        for (is_switch, key) in found.drain(..) {
            if is_switch {
                if !known.contains(&key) {
                    kept += key.0.len() + OVERHEAD;
                    later.push((at, key));
                }
            } else if known.insert(key.clone()) {
                kept += 2 * key.0.len() + OVERHEAD;
                level.push(nodes.len());
                nodes.push((key, at));
            }
        }
    };
    stats.states = nodes.len();
    stats.bytes = kept + product.bytes();
    stats.seconds = start.elapsed().as_secs_f64();
    (outcome, stats)
}

fn path(nodes: &[(Key, usize)], end: usize) -> Vec<(Vec<u8>, u32)> {
    let mut path = Vec::new();
    let mut at = end;
    while let Some(((bytes, set, _), parent)) = nodes.get(at) {
        path.push((bytes.to_vec(), *set));
        at = *parent;
    }
    path.reverse();
    path
}
