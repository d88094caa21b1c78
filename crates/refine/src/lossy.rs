//! Bitstate search for spaces that do not fit into memory: a state is remembered as two bits of a
//! hash table, so different states can be mistaken for one and left out. What it finds is real;
//! finding nothing proves nothing.

use crate::product::{Product, Step, To};
use crate::search::{Exploration, Stats, Wrong};
use crate::store::hash;
use linchpin_verdict::{Inconclusive, Limits};
use std::time::Instant;

/// A state on the stack, and the successors still to be visited.
struct Frame {
    state: (Vec<u8>, u32),
    rest: Vec<(Vec<u8>, u32)>,
}

/// Explores depth first with a table of `bits` bits. Never [`Exploration::Complete`].
pub fn explore_lossy<P: Product>(
    product: &P,
    bits: usize,
    depth_limit: usize,
    limits: &Limits,
    progress: &dyn Fn(&Stats),
) -> (Exploration, Stats) {
    let start = Instant::now();
    let mut table = vec![0u64; bits.max(64).div_ceil(64)];
    let mut worker = product.worker();
    let mut stats = Stats { bytes: table.len() * 8, ..Stats::default() };
    let mut stack: Vec<Frame> = Vec::new();
    let mut enter = vec![product.initial()];
    let mut cut = false;
    let outcome = loop {
        let state = match enter.pop() {
            Some(state) => state,
            None => match stack.last_mut() {
                None => {
                    let cut = if cut { "; some ways were longer than the depth limit" } else { "" };
                    break Exploration::Stopped(Inconclusive::Undecided(format!(
                        "no violation found, but a lossy search may leave states out{cut}"
                    )));
                }
                Some(frame) => match frame.rest.pop() {
                    Some(state) => state,
                    None => {
                        stack.pop();
                        continue;
                    }
                },
            },
        };
        if !remember(&mut table, &state) {
            continue;
        }
        stats.states += 1;
        stats.depth = stats.depth.max(stack.len());
        if stats.states.is_multiple_of(4096) {
            stats.seconds = start.elapsed().as_secs_f64();
            progress(&stats);
            if let Some(reason) = limits.exceeded(stats.bytes) {
                break Exploration::Stopped(reason.into());
            }
        }
        let (mut rest, mut wrong) = (Vec::new(), None);
        product.expand(&mut worker, &state.0, state.1, &mut |step: Step<'_>| {
            stats.transitions += 1;
            match step.to {
                To::State { bytes, set, .. } => rest.push((bytes.to_vec(), set)),
                To::Unexplained => wrong = Some(Wrong::Unexplained),
                To::Fault => wrong = wrong.or(Some(Wrong::Fault)),
            }
        });
        stack.push(Frame { state, rest });
        if let Some(wrong) = wrong {
            let path = stack.into_iter().map(|frame| frame.state).collect();
            break Exploration::Found { path, wrong };
        }
        if stack.len() >= depth_limit {
            cut = true;
            stack.pop();
        }
    };
    stats.seconds = start.elapsed().as_secs_f64();
    (outcome, stats)
}

/// Marks a state; `false` if it, or others that look like it, were marked before.
fn remember(table: &mut [u64], (bytes, set): &(Vec<u8>, u32)) -> bool {
    let first = hash(bytes) ^ u64::from(*set).wrapping_mul(0xa076_1d64_78bd_642f);
    let second = first.rotate_left(31).wrapping_mul(0xe703_7ed1_a0b4_28db);
    let mut new = false;
    for hash in [first, second] {
        let bit = (hash % (table.len() as u64 * 64)) as usize;
        new |= table[bit / 64] & (1 << (bit % 64)) == 0;
        table[bit / 64] |= 1 << (bit % 64);
    }
    new
}
