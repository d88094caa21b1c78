//! The easiest counterexample to follow: fewest changes of the moving thread, then fewest moves.

use crate::product::{Product, Step, To};
use crate::search::Wrong;
use linchpin_verdict::Limits;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A state beside the thread that moved last ([`NO_THREAD`] at the start).
type Key = (Box<[u8]>, u32, usize);

const NO_THREAD: usize = usize::MAX;

/// A path of states, the last of which can go wrong, and how.
pub type WrongPath = (Vec<(Vec<u8>, u32)>, Wrong);

/// A path to something that goes wrong, with the fewest switches and then the fewest moves
/// (Dijkstra's algorithm); `None` if it would take more than `budget` states or the limits.
pub(crate) fn fewest_switches<P: Product>(
    product: &P,
    budget: usize,
    limits: &Limits,
) -> Option<WrongPath> {
    let mut worker = product.worker();
    let (bytes, set) = product.initial();
    // For each node its key, its parent and whether its cost is final.
    let mut nodes: Vec<(Key, u32, bool)> = vec![((bytes.into(), set, NO_THREAD), u32::MAX, false)];
    let mut numbers: FxHashMap<Key, (u32, (usize, usize))> = FxHashMap::default();
    numbers.insert(nodes[0].0.clone(), (0, (0, 0)));
    let mut queue = BinaryHeap::from([Reverse(((0usize, 0usize), 0u32, false))]);
    // What goes wrong is a node too, so that it is reported only when nothing cheaper is left.
    let mut wrongs: Vec<(u32, Wrong)> = Vec::new();
    while let Some(Reverse((cost, at, is_wrong))) = queue.pop() {
        if is_wrong {
            let (from, wrong) = wrongs[at as usize];
            return Some((path(&nodes, from), wrong));
        }
        if std::mem::replace(&mut nodes[at as usize].2, true) {
            continue;
        }
        if nodes.len() > budget || (at % 1024 == 0 && limits.exceeded(0).is_some()) {
            return None;
        }
        let (state, set, last) = nodes[at as usize].0.clone();
        let mut found: Vec<((usize, usize), Result<Key, Wrong>)> = Vec::new();
        product.expand(&mut worker, &state, set, &mut |step: Step<'_>| {
            let switch = usize::from(last != NO_THREAD && last != step.thread);
            let cost = (cost.0 + switch, cost.1 + step.moves);
            let to = match step.to {
                To::State { bytes, set, mover, .. } => Ok((bytes.into(), set, mover)),
                To::Unexplained => Err(Wrong::Unexplained),
                To::Fault => Err(Wrong::Fault),
            };
            found.push((cost, to));
        });
        for (cost, to) in found {
            match to {
                Err(wrong) => {
                    wrongs.push((at, wrong));
                    queue.push(Reverse((cost, wrongs.len() as u32 - 1, true)));
                }
                Ok(key) => {
                    let number = match numbers.get_mut(&key) {
                        Some((_, best)) if *best <= cost => continue,
                        Some((number, best)) => {
                            *best = cost;
                            nodes[*number as usize].1 = at;
                            *number
                        }
                        None => {
                            let number = nodes.len() as u32;
                            nodes.push((key.clone(), at, false));
                            numbers.insert(key, (number, cost));
                            number
                        }
                    };
                    queue.push(Reverse((cost, number, false)));
                }
            }
        }
    }
    None
}

fn path(nodes: &[(Key, u32, bool)], end: u32) -> Vec<(Vec<u8>, u32)> {
    let mut path = Vec::new();
    let mut at = end;
    while let Some(((bytes, set, _), parent, _)) = nodes.get(at as usize) {
        path.push((bytes.to_vec(), *set));
        at = *parent;
    }
    path.reverse();
    path
}
