//! From one trace to the real-time orders of its operations.
//!
//! A trace stands for all executions that order dependent accesses alike. In which of them did one
//! operation return before another was called? A call may be as late as the first access of its
//! operation and a return as early as the last: what no order explains with longer intervals, none
//! explains with these. So only the ends of operations count, and of the interval orders that the
//! trace allows only the greatest: one that says less is explained by whatever explains one that
//! says more.

use crate::{EventKind, Execution};
use rustc_hash::FxHashSet;

/// An operation in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Who called it.
    pub thread: usize,
    /// Its accesses: the first and the last of them, as indices into [`Execution::events`]. None if
    /// it touched nothing that is shared.
    pub accesses: Option<(usize, usize)>,
    /// Whether it returned.
    pub returned: bool,
}

/// At most so many operations have real-time orders.
pub const MOST_OPERATIONS: usize = 32;

/// The ends of operations and what the trace says of their order: the call of operation `i` is
/// point `2 * i`, its return `2 * i + 1`. A mask has the points that come before a point.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ends(Vec<u64>);

impl Ends {
    /// The ends of these operations.
    ///
    /// # Panics
    ///
    /// If there are more than [`MOST_OPERATIONS`].
    pub fn new(execution: &Execution, spans: &[Span]) -> Ends {
        assert!(spans.len() <= MOST_OPERATIONS, "at most {MOST_OPERATIONS} operations");
        let event = |point: usize| {
            let (first, last) = spans[point / 2].accesses?;
            Some(if point.is_multiple_of(2) { first } else { last })
        };
        let comes_before = |one: usize, other: usize| {
            let (a, b) = (one / 2, other / 2);
            if spans[a].thread == spans[b].thread {
                return one < other;
            }
            match (event(one), event(other)) {
                (Some(first), Some(second)) => execution.precedes(first, second),
                _ => false,
            }
        };
        let points = 2 * spans.len();
        let before = (0..points).map(|other| {
            (0..points).filter(|one| comes_before(*one, other)).fold(0, |mask, one| mask | 1 << one)
        });
        let mut ends = Ends(before.collect());
        ends.forget_missing_returns(spans);
        ends.close();
        ends
    }

    /// For each point the points before it.
    pub fn masks(&self) -> &[u64] {
        &self.0
    }

    /// An operation that did not return precedes nothing: its return comes after everything.
    fn forget_missing_returns(&mut self, spans: &[Span]) {
        let missing = spans.iter().enumerate().filter(|(_, span)| !span.returned);
        let mask = missing.fold(0, |mask, (at, _)| mask | 1 << (2 * at + 1));
        self.0.iter_mut().for_each(|before| *before &= !mask);
    }

    /// Operations without an access are ordered by their threads only, so what follows from that is
    /// added.
    fn close(&mut self) {
        for middle in 0..self.0.len() {
            let before = self.0[middle];
            for mask in &mut self.0 {
                if *mask >> middle & 1 == 1 {
                    *mask |= before;
                }
            }
        }
    }

    /// The greatest interval orders that are possible: for each operation a mask of those that
    /// returned before it was called. None if there are too many of them.
    pub fn orders(&self, returned: impl Fn(usize) -> bool) -> Option<Vec<Vec<u64>>> {
        let operations = self.0.len() / 2;
        let never = (0..operations).filter(|at| !returned(*at));
        let never = never.fold(0, |mask, at| mask | 1 << (2 * at + 1));
        let order = vec![0; operations];
        let mut search =
            Search { ends: &self.0, never, order, seen: FxHashSet::default(), found: Vec::new() };
        search.go(0)?;
        Some(greatest(search.found))
    }
}

/// All interval orders in which every return is as early as it can be.
struct Search<'a> {
    ends: &'a [u64],
    /// Returns that never come.
    never: u64,
    order: Vec<u64>,
    /// Points that have come, with the order that they have by now.
    seen: FxHashSet<(u64, Vec<u64>)>,
    found: Vec<Vec<u64>>,
}

/// The search gives up after so many different beginnings.
const MOST_BEGINNINGS: usize = 20_000;

impl Search<'_> {
    /// Goes on from the points that have come. Which calls come in which order is tried; a return
    /// comes as soon as it can, because that makes the order greater.
    fn go(&mut self, come: u64) -> Option<()> {
        let come = self.returns(come);
        if !self.seen.insert((come, self.order.clone())) {
            return Some(());
        }
        if self.seen.len() > MOST_BEGINNINGS {
            return None;
        }
        let mut complete = true;
        for call in (0..self.ends.len()).step_by(2) {
            if come >> call & 1 == 1 {
                continue;
            }
            complete = false;
            if self.ends[call] & !come == 0 {
                self.order[call / 2] = returned_operations(come);
                self.go(come | 1 << call)?;
                // INVARIANT: the order of a call that has not come is 0, so that equal beginnings
                // are equal.
                self.order[call / 2] = 0;
            }
        }
        if complete {
            self.found.push(self.order.clone());
        }
        Some(())
    }

    fn returns(&self, mut come: u64) -> u64 {
        loop {
            let ready = (1..self.ends.len()).step_by(2).filter(|point| {
                let bit = 1 << point;
                (come | self.never) & bit == 0 && self.ends[*point] & !come == 0
            });
            let ready = ready.fold(0, |mask, point| mask | 1 << point);
            if ready == 0 {
                return come;
            }
            come |= ready;
        }
    }
}

/// The operations whose returns are among these points.
fn returned_operations(points: u64) -> u64 {
    (0..32).filter(|at| points >> (2 * at + 1) & 1 == 1).fold(0, |mask, at| mask | 1 << at)
}

/// Those that say at least as much as no other.
fn greatest(orders: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
    let says_more = |more: &[u64], less: &[u64]| {
        more != less && more.iter().zip(less).all(|(more, less)| less & !more == 0)
    };
    let is_greatest = |order: &&Vec<u64>| !orders.iter().any(|other| says_more(other, order));
    orders.iter().filter(is_greatest).cloned().collect()
}

/// Happens-before between operations, for executions under weak memory: one precedes another if its
/// last access happens before the first access of the other. For each a mask of those before it.
pub fn happens_before(execution: &Execution, spans: &[Span]) -> Vec<u64> {
    let ends = Ends::new(execution, spans);
    let mask = |call: usize| returned_operations(ends.0[call]);
    (0..spans.len()).map(|at| mask(2 * at)).collect()
}

/// When operations are called and return, for an interval order: an instant for each call and each
/// return, all different.
pub fn instants(order: &[u64]) -> Vec<(u64, u64)> {
    // The sets of operations that returned before a call form a chain. A level is one of them:
    // first its new returns, then the calls that come after exactly these.
    let mut levels: Vec<u64> = order.to_vec();
    levels.sort_unstable_by_key(|mask| mask.count_ones());
    levels.dedup();
    let level_of_call = |at: usize| levels.iter().position(|mask| *mask == order[at]);
    let level_of_return = |at: usize| levels.iter().position(|mask| mask >> at & 1 == 1);
    let mut points: Vec<(usize, bool, usize)> = Vec::with_capacity(2 * order.len());
    for at in 0..order.len() {
        points.push((level_of_call(at).unwrap_or(0), true, at));
        points.push((level_of_return(at).unwrap_or(levels.len()), false, at));
    }
    points.sort_unstable();
    let mut instants = vec![(0, 0); order.len()];
    for (instant, (_, is_call, at)) in (0..).zip(points) {
        if is_call { instants[at].0 = instant } else { instants[at].1 = instant }
    }
    instants
}

/// Whether an event is one that other threads can see: an access, or the start of a thread, which
/// may do what the operation is there for.
pub fn is_access(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Access { .. } | EventKind::Spawn { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// All linear extensions of a random order of ends, and of what they say the greatest.
    fn brute_force(ends: &Ends, never: u64) -> BTreeSet<Vec<u64>> {
        let points = ends.0.len();
        let mut found = BTreeSet::new();
        fn extend(ends: &Ends, never: u64, word: &mut Vec<usize>, found: &mut BTreeSet<Vec<u64>>) {
            let points = ends.0.len() - never.count_ones() as usize;
            if word.len() == points {
                let at = |point: usize| word.iter().position(|other| *other == point);
                let before = |b: usize| {
                    let precedes = |a: &usize| match (at(2 * a + 1), at(2 * b)) {
                        (Some(returned), Some(called)) => returned < called,
                        _ => false,
                    };
                    (0..ends.0.len() / 2).filter(precedes).fold(0u64, |mask, a| mask | 1 << a)
                };
                found.insert((0..ends.0.len() / 2).map(before).collect());
                return;
            }
            for point in 0..ends.0.len() {
                let ready = (0..ends.0.len())
                    .all(|other| ends.0[point] >> other & 1 == 0 || word.contains(&other));
                if never >> point & 1 == 0 && !word.contains(&point) && ready {
                    word.push(point);
                    extend(ends, never, word, found);
                    word.pop();
                }
            }
        }
        assert!(points <= 8);
        extend(ends, never, &mut Vec::new(), &mut found);
        let all: Vec<Vec<u64>> = found.into_iter().collect();
        let less = |one: &[u64], other: &[u64]| one.iter().zip(other).all(|(a, b)| a & !b == 0);
        let kept =
            all.iter().filter(|one| !all.iter().any(|other| *one != other && less(one, other)));
        kept.cloned().collect()
    }

    #[test]
    fn the_greatest_orders_are_those_of_all_linear_extensions() {
        let seed = std::env::var("LINCHPIN_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut several = 0;
        for _ in 0..2000 {
            let operations = random.usize(1..=4);
            let points = 2 * operations;
            // A random order in which positions agree with the numbers of a shuffled line.
            let mut line: Vec<usize> = (0..points).collect();
            random.shuffle(&mut line);
            let mut ends = Ends(vec![0; points]);
            for (at, point) in line.iter().enumerate() {
                for other in &line[..at] {
                    if random.u8(..4) == 0 {
                        ends.0[*point] |= 1 << other;
                    }
                }
            }
            for operation in 0..operations {
                let (call, back) = (2 * operation, 2 * operation + 1);
                let place = |p| line.iter().position(|other| *other == p);
                if place(call) < place(back) {
                    ends.0[back] |= 1 << call;
                } else {
                    ends.0[back] = 1 << call;
                    ends.0[call] &= !(1 << back);
                }
            }
            ends.close();
            if (0..points).any(|p| ends.0[p] >> p & 1 == 1) {
                continue;
            }
            let pending = if random.u8(..3) == 0 { random.usize(..operations) } else { usize::MAX };
            let never = if pending < operations { 1u64 << (2 * pending + 1) } else { 0 };
            ends.0.iter_mut().for_each(|before| *before &= !never);
            let ours: BTreeSet<Vec<u64>> =
                ends.orders(|at| at != pending).expect("few orders").into_iter().collect();
            several += usize::from(ours.len() > 1);
            assert_eq!(ours, brute_force(&ends, never), "{ends:?}");
            for order in ours {
                let instants = instants(&order);
                for (b, mask) in order.iter().enumerate() {
                    for a in 0..operations {
                        let precedes = a != pending && instants[a].1 < instants[b].0;
                        assert_eq!(precedes, mask >> a & 1 == 1, "{order:?} {instants:?}");
                    }
                }
            }
        }
        assert!(several > 200, "{several}");
    }
}
