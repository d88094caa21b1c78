//! Coherence and atomicity: what a read may read, and where in modification order a write may go.
//!
//! The axiom is that `hb ; eco?` is irreflexive. An event that is last in its thread happens before
//! nothing, so it suffices that it does not overlook what happens before it: neither writes nor
//! what other reads have read. What it acquires itself needs no check, since all of that is known
//! to the write that it reads, whose own place respects it.

use super::clock::{Clock, EventId};
use super::graph::Graph;

/// The first place in modification order that one may see who knows this.
pub(super) fn oldest(graph: &Graph, location: u32, known: &Clock) -> usize {
    let accesses = &graph.locations[location as usize];
    let written = accesses.writes.iter().rposition(|write| known.has(*write));
    let mut oldest = written.map_or(0, |place| place + 1);
    for read in &accesses.reads {
        if known.has(*read) {
            oldest = oldest.max(graph.position(location, graph.source(*read)));
        }
    }
    oldest
}

/// After how many writes a new write of a thread may go: not between an update and what it updates.
pub(super) fn places(graph: &Graph, location: u32, write: EventId) -> Vec<usize> {
    let oldest = oldest(graph, location, &graph.happens_before(write));
    let last = graph.locations[location as usize].writes.len();
    (oldest..=last).filter(|place| !graph.is_updated(location, *place)).collect()
}
