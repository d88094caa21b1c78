//! Backward revisits: a new write serves a read that is in the graph already.
//!
//! TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis, POPL 2022), algorithm 2. The graph is
//! cut down to what was there before the read, and what the write depends on. Many graphs are cut
//! down to the same one; only that one does it in which all that is taken out was added
//! *maximally*, that is, as the newest in modification order. So each graph is visited once.

use super::clock::EventId;
use super::coherence;
use super::graph::{Event, Graph};
use super::label::{Asked, Effect, Label};
use super::psc;

/// The graphs in which this write serves an earlier read. It is in the graph as the last event that
/// was added, and has no place in modification order yet.
pub(super) fn revisits(graph: &Graph, write: EventId) -> Vec<Graph> {
    let Label::Write { location, .. } = graph.event(write).label else { return Vec::new() };
    let depends = &graph.event(write).clocks.prefix;
    let mut found = Vec::new();
    for read in &graph.locations[location as usize].reads {
        if !depends.has(*read) && is_revisited(graph, *read, write) {
            serve(&cut(graph, *read, write), location, *read, write, &mut found);
        }
    }
    found
}

/// Whether an event stays when a write serves a read.
fn stays(graph: &Graph, event: &Event, id: EventId, read: EventId, write: EventId) -> bool {
    event.stamp <= graph.event(read).stamp || graph.event(write).clocks.prefix.has(id)
}

/// Whether the read, and all that would be taken out, was added maximally.
fn is_revisited(graph: &Graph, read: EventId, write: EventId) -> bool {
    is_maximal(graph, read, write)
        && (0u32..).zip(&graph.threads).all(|(thread, events)| {
            let ids = (0u32..).map(|index| EventId { thread, index });
            let mut events = ids.zip(&events.events);
            events.all(|(id, event)| {
                stays(graph, event, id, read, write) || is_maximal(graph, id, write)
            })
        })
}

/// Whether an event is what a graph without what came later would have been given by itself: it is,
/// or reads, the newest write of all that came before it or that the write depends on, and none of
/// those reads it.
fn is_maximal(graph: &Graph, id: EventId, write: EventId) -> bool {
    let event = graph.event(id);
    let depends = &graph.event(write).clocks.prefix;
    let is_previous =
        |other: &EventId| graph.event(*other).stamp <= event.stamp || depends.has(*other);
    let is_newest = |location: u32, position: usize| {
        !graph.locations[location as usize].writes[position..].iter().any(is_previous)
    };
    match event.label {
        Label::Read { location, from, .. } => is_newest(location, graph.position(location, from)),
        Label::Write { location, .. } => {
            let reads = &graph.locations[location as usize].reads;
            let is_read =
                reads.iter().any(|read| graph.source(*read) == Some(id) && is_previous(read));
            !is_read && is_newest(location, graph.position(location, Some(id)))
        }
        Label::Choose { taken, .. } => taken == 0,
        _ => true,
    }
}

/// The graph without what a revisit takes out.
fn cut(graph: &Graph, read: EventId, write: EventId) -> Graph {
    let kept = (0u32..).zip(&graph.threads).map(|(thread, events)| {
        let ids = (0u32..).map(|index| EventId { thread, index });
        let mut events = ids.zip(&events.events);
        // INVARIANT: with an event goes all that is after it in its thread.
        let end = events.position(|(id, event)| !stays(graph, event, id, read, write));
        end.unwrap_or(graph.events(thread).len())
    });
    let kept: Vec<usize> = kept.collect();
    let mut graph = graph.clone();
    graph.truncate(&kept);
    graph
}

/// Adds the graphs in which the write serves the read, one for each place that the write may have.
fn serve(graph: &Graph, location: u32, read: EventId, write: EventId, found: &mut Vec<Graph>) {
    let effect = match graph.event(read).label {
        Label::Read { asked: Asked::Load(_), .. } => Effect::Reads,
        _ => Effect::Open,
    };
    for place in write_places(graph, location, write) {
        let mut graph = graph.clone();
        graph.place(location, write, place);
        let oldest = coherence::oldest(&graph, location, &graph.happens_before(read));
        if place + 1 < oldest {
            continue;
        }
        graph.redirect(read, Some(write), effect);
        if psc::holds(&graph) {
            found.push(graph);
        }
    }
}

/// After how many writes a new write may go: an update right after what it updates.
pub(super) fn write_places(graph: &Graph, location: u32, write: EventId) -> Vec<usize> {
    if !graph.event(write).label.is_update_write() {
        return coherence::places(graph, location, write);
    }
    let position = graph.position(location, graph.source_of_update(write));
    let is_free = !graph.is_updated(location, position);
    is_free.then_some(position).into_iter().collect()
}
