//! What precedes what in an execution, as an observer sees it: program order, the start of threads,
//! and the order of accesses of one place of which one writes (Mazurkiewicz's traces). In
//! persistent memory, to write a place is to write its line too.

use super::clock::Clocks;
use crate::execution::{EventKind, Execution};

/// Fills in the clocks of executions; what is allocated is used again.
#[derive(Default)]
pub(super) struct Order {
    /// Of the last event of each thread.
    threads: Clocks,
    /// Of all writes of a place.
    writes: Clocks,
    /// Of all accesses of a place.
    accesses: Clocks,
}

impl Order {
    /// Fills in the clocks of an execution.
    pub(super) fn fill(&mut self, execution: &mut Execution) {
        let width = execution.threads;
        self.threads.clear(width);
        self.threads.reach(width);
        for places in [&mut self.writes, &mut self.accesses] {
            places.clear(width);
            places.reach(execution.places.len());
        }
        let Execution { events, clocks, lines, .. } = execution;
        clocks.resize_with(events.len(), Vec::new);
        for (event, clock) in events.iter().zip(clocks) {
            let thread = event.thread;
            self.threads.row_mut(thread)[thread] += 1;
            if let EventKind::Access { place, wrote, .. } = event.kind {
                let writes = wrote.is_some();
                let earlier = if writes { &self.accesses } else { &self.writes };
                self.threads.join(thread, earlier.row(place));
                let line = lines[place].filter(|_| writes).map(|at| at.line);
                if let Some(line) = line {
                    self.threads.join(thread, self.accesses.row(line));
                }
                let known = self.threads.row(thread);
                if let Some(line) = line {
                    self.accesses.join(line, known);
                    self.writes.join(line, known);
                }
                self.accesses.join(place, known);
                if writes {
                    self.writes.join(place, known);
                }
            }
            clock.clear();
            clock.extend_from_slice(self.threads.row(thread));
            if let EventKind::Spawn { thread: child } = event.kind {
                self.threads.join(child, clock);
            }
        }
    }
}
