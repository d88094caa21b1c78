//! Whether pending operations can still return if clients go on calling: more calls of the threads
//! that there are, and calls of further threads.
//!
//! A bound on calls must not make an operation look stuck that only waits for a call that a client
//! could still make, such as a `dequeue` that waits for an element. Only a few further calls can be
//! tried; `influence.rs` tells whether still more of them might matter.

use crate::graph::Positions;
use crate::influence::{Seen, Taken, may_be_helped};
use linchpin_ir::program::Program;
use linchpin_space::{
    Bounds, Calls, Event, Flat, Reductions, Space, SpaceError, Stop, Successor, Workspace,
};
use linchpin_verdict::{Limits, StopReason};
use rustc_hash::FxHashSet;
use std::cell::Cell;
use std::collections::VecDeque;

/// How many calls more every thread may make, in the first and in the second attempt. What the
/// first decides is only reported if the second, as far as it gets, finds nothing either.
const FURTHER_CALLS: [u32; 2] = [1, 2];

/// So many calls more are tried where calls might help, to show that they do.
const MANY_CALLS: u32 = 8;

/// That attempt may cost one of so many parts of the budget: where calls help, few states show it.
const PART: usize = 16;

/// The pending operations that did not return, with the further calls that were tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Nothing that more calls could change matters for these: they never return.
    pub stuck: Positions,
    /// Still more calls, or other arguments, might let these return.
    pub doubtful: Positions,
}

/// A program with one more thread of each role.
pub(crate) struct Extension {
    space: Space,
    /// How many states one question may cost.
    budget: usize,
    /// How many states all questions have cost.
    cost: Cell<usize>,
}

impl Extension {
    /// The extension of a program.
    pub fn new(program: &Program, bounds: Bounds, budget: usize) -> Result<Extension, SpaceError> {
        let mut extended = program.clone();
        for thread in &program.threads {
            let further = &extended.threads[program.threads.len()..];
            if !further.iter().any(|other| other.operations == thread.operations) {
                extended.threads.push(thread.clone());
            }
        }
        // Thread symmetry must go: the question is about named threads. So must steps of several
        // threads together: it matters who goes along which edge.
        // Partial order and merged events keep what can be reached up to steps that are always
        // possible and that no other thread notices.
        let reductions = Reductions { thread_symmetry: false, ..Reductions::ALL };
        let reductions = reductions.one_thread_at_a_time();
        // Calls are counted, and objects are not: a bound on them would keep threads from helping.
        // How many there are is said by the state that is asked about; here they only tell how
        // many values may be passed, where any may.
        let calls = match bounds.calls {
            Calls::Each(count) => Calls::Each(count.saturating_add(MANY_CALLS)),
            Calls::Unlimited => Calls::Each(MANY_CALLS),
        };
        let bounds = Bounds { calls, objects: None, ..bounds.without_crashes() };
        // An operation that cannot take its first step is to be seen, and so is every edge.
        let space = Space::new(&extended, bounds, reductions)?.with_calls_apart().telling_edges();
        Ok(Extension { space, budget, cost: Cell::new(0) })
    }

    /// How many states all questions have cost.
    pub fn cost(&self) -> usize {
        self.cost.get()
    }

    /// The pending operations that cannot return from a state of `space`, whatever all threads do
    /// and even if each makes further calls. The error is what kept the question from being
    /// decided.
    pub fn stuck(
        &self,
        space: &Space,
        flat: &Flat,
        limits: &Limits,
    ) -> Result<Waiting, StopReason> {
        let threads = 0..space.program().threads.len();
        let pending = threads.filter(|thread| space.is_pending(flat, *thread));
        let mut open = pending.fold(0, |set, thread| set | 1 << thread);
        let mut seen = Seen::default();
        for (attempt, further) in FURTHER_CALLS.into_iter().enumerate() {
            let start = self.space.embed(space, flat, further).map_err(|_| StopReason::Budget)?;
            let (left, stopped) = self.search(&start, open, self.budget, limits, &mut seen);
            open = left;
            match stopped {
                _ if open == 0 => break,
                None => {}
                Some(StopReason::Budget) if attempt > 0 => {}
                Some(reason) => return Err(reason),
            }
        }
        let threads = 0..space.program().threads.len();
        seen.positions = threads.clone().map(|thread| space.position(flat, thread)).collect();
        let open_to_help = |thread: &usize| {
            open >> thread & 1 == 1
                && may_be_helped(self.space.program(), self.space.bounds().memory, &seen, *thread)
        };
        let doubtful = threads.filter(open_to_help).fold(0, |set, thread| set | 1 << thread);
        let stuck = open & !doubtful;
        if doubtful == 0 {
            return Ok(Waiting { stuck, doubtful });
        }
        let start = self.space.embed(space, flat, MANY_CALLS).map_err(|_| StopReason::Budget)?;
        let budget = self.budget / PART;
        let (doubtful, _) = self.search(&start, doubtful, budget, limits, &mut seen);
        Ok(Waiting { stuck, doubtful })
    }

    /// Breadth first until all these threads have responded: those that have not, and what stopped
    /// the search, if something did.
    fn search(
        &self,
        start: &Flat,
        open: Positions,
        budget: usize,
        limits: &Limits,
        edges: &mut Seen,
    ) -> (Positions, Option<StopReason>) {
        let (mut search, mut pack) = (Workspace::default(), Workspace::default());
        let mut bytes = Vec::new();
        self.space.pack(start, &mut pack, &mut bytes);
        // Beside each state, the threads that are still inside the operation that they started in.
        let mut seen = FxHashSet::default();
        seen.insert((bytes.clone(), open));
        let mut queue = VecDeque::from([(bytes, open)]);
        let (mut left, mut kept, mut expanded) = (open, 0, 0usize);
        while let Some((state, inside)) = queue.pop_front() {
            let mut found = Vec::new();
            let mut visit = |successor: Successor<'_>| {
                let Stop::State(after) = successor.stop else { return true };
                let returns = |event: &Event| matches!(event, Event::Return { .. });
                edges.edges.extend(successor.events.iter().filter_map(Taken::of));
                let responds = u64::from(successor.events.iter().any(returns)) << successor.thread;
                left &= !(responds & inside);
                let mut bytes = Vec::new();
                self.space.pack(after, &mut pack, &mut bytes);
                found.push((bytes, inside & !responds));
                left != 0
            };
            self.space.successors(&state, 0, &mut search, &mut visit);
            if left == 0 {
                break;
            }
            for next in found {
                if seen.insert(next.clone()) {
                    kept += 2 * (next.0.len() + size_of_val(&next));
                    queue.push_back(next);
                }
            }
            if seen.len() > budget {
                return (left, Some(StopReason::Budget));
            }
            expanded += 1;
            self.cost.set(self.cost.get() + 1);
            if expanded.is_multiple_of(256)
                && let Some(reason) = limits.exceeded(kept)
            {
                return (left, Some(reason));
            }
        }
        (left, None)
    }
}
