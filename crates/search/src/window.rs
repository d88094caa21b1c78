//! The operations in progress at an instant, and the crashed ones that were called before it.

use super::problem::{Event, Place, Problem};
use linchpin_history_data::Rank;

/// The operations in progress.
#[derive(Clone, Debug)]
pub(crate) struct Window<'a> {
    problem: &'a Problem,
    /// Those with a slot, by deadline.
    pub live: Vec<u32>,
    /// Of each crashed class, how many were called.
    pub called: Vec<u32>,
    /// The crashed classes of which one was called.
    pub crashed: Vec<u32>,
}

impl<'a> Window<'a> {
    /// Before the first event.
    pub(crate) fn new(problem: &'a Problem) -> Window<'a> {
        let called = vec![0; problem.crashed.len()];
        Window { problem, live: Vec::new(), called, crashed: Vec::new() }
    }

    /// Passes an event forwards.
    pub(crate) fn pass(&mut self, event: Event) {
        if event.returns { self.leave(event.op) } else { self.enter(event.op) }
    }

    /// Passes an event backwards.
    pub(crate) fn take_back(&mut self, event: Event) {
        if event.returns {
            return self.enter(event.op);
        }
        if let Place::Crashed(class) = self.problem.ops[event.op as usize].place {
            self.called[class as usize] -= 1;
            if self.called[class as usize] == 0 {
                // INVARIANT: classes are in `crashed` in the order of their first calls, so this
                // one is the last.
                self.crashed.pop();
            }
        } else {
            self.leave(event.op);
        }
    }

    fn enter(&mut self, op: u32) {
        match self.problem.ops[op as usize].place {
            Place::Crashed(class) => {
                if self.called[class as usize] == 0 {
                    self.crashed.push(class);
                }
                self.called[class as usize] += 1;
            }
            Place::Slot(_) => {
                let at = self.live.partition_point(|other| self.key(*other) < self.key(op));
                self.live.insert(at, op);
            }
        }
    }

    fn leave(&mut self, op: u32) {
        let at = self.live.partition_point(|other| self.key(*other) < self.key(op));
        self.live.remove(at);
    }

    fn key(&self, op: u32) -> (Rank, u32) {
        (self.problem.ops[op as usize].deadline, op)
    }
}
