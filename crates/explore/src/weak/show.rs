//! A graph as an [`Execution`]: events in an order that explains them, happens-before, decisions.
//!
//! The order depends on the graph alone, not on how it was found. So do the decisions, and they
//! are different for different graphs.

use super::access;
use super::clock::{Clock, EventId};
use super::graph::{Graph, Source};
use super::label::{Effect, Label};
use super::script;
use super::visit::Visit;
use crate::execution::{Event, EventKind, Execution, Problem};
use linchpin_sync::runtime::PlaceKind;
use rustc_hash::FxHashMap;

/// The execution of a visit.
pub(super) fn show(visit: &Visit<'_>, problem: Option<Problem>) -> Execution {
    let graph = &visit.graph;
    // What is wrong with two events is found at the one that comes second: let that be the last.
    let culprit = match problem {
        Some(Problem::Race { .. } | Problem::UsedAfterFree { .. }) => graph.newest(),
        _ => None,
    };
    let order = order(graph, visit.names.order(), culprit);
    let shown: Vec<EventId> = order.iter().copied().filter(|id| is_shown(graph, *id)).collect();
    let numbers = Numbers::new(graph, &shown);
    let counts = Counts::new(visit);
    let happens = |id: &EventId| &graph.event(last_part(graph, *id)).clocks.happens;
    Execution {
        events: shown.iter().map(|id| event(visit, *id, &numbers)).collect(),
        clocks: shown.iter().map(|id| counts.of(happens(id))).collect(),
        problem,
        decisions: script::decisions(graph, &order),
        lines: vec![None; numbers.places.len()],
        places: numbers.places,
        threads: visit.run.len(),
        preemptions: 0,
    }
}

/// Places, cells and events are numbered as they appear.
struct Numbers {
    places: Vec<PlaceKind>,
    locations: FxHashMap<u32, usize>,
    cells: FxHashMap<u32, usize>,
    events: FxHashMap<EventId, usize>,
}

impl Numbers {
    fn new(graph: &Graph, shown: &[EventId]) -> Numbers {
        let mut numbers = Numbers {
            places: Vec::new(),
            locations: FxHashMap::default(),
            cells: FxHashMap::default(),
            events: shown.iter().enumerate().map(|(index, id)| (*id, index)).collect(),
        };
        for id in shown {
            let label = graph.event(*id).label;
            if let Some(location) = label.location() {
                let next = numbers.locations.len();
                if *numbers.locations.entry(location).or_insert(next) == next {
                    numbers.places.push(graph.locations[location as usize].kind);
                }
            }
            if let Label::Cell { cell, .. } = label {
                let next = numbers.cells.len();
                numbers.cells.entry(cell).or_insert(next);
            }
        }
        numbers
    }
}

/// The write of an update is shown with its read; who waits has not read; resources are not events.
fn is_shown(graph: &Graph, id: EventId) -> bool {
    match graph.event(id).label {
        Label::Read { effect, .. } => effect != Effect::Blocks,
        Label::Write { update, .. } => !update,
        Label::Acquired { .. } | Label::Released { .. } | Label::Used { .. } => false,
        _ => true,
    }
}

/// The write of an update, given its read; else the event itself.
fn last_part(graph: &Graph, id: EventId) -> EventId {
    let next = EventId { thread: id.thread, index: id.index + 1 };
    match graph.events(id.thread).get(next.index as usize) {
        Some(event) if event.label.is_update_write() => next,
        _ => id,
    }
}

/// The event that a person sees for a write.
fn first_part(graph: &Graph, id: EventId) -> EventId {
    match graph.event(id).label {
        Label::Write { update: true, .. } => EventId { index: id.index - 1, ..id },
        _ => id,
    }
}

fn event(visit: &Visit<'_>, id: EventId, numbers: &Numbers) -> Event {
    let graph = &visit.graph;
    let event = graph.event(id);
    let words = |id: EventId| visit.run.lanes[id.thread as usize].words[id.index as usize];
    let from = |source: Source| numbers.events.get(&first_part(graph, source?)).copied();
    let kind = match event.label {
        Label::Read { location, from: source, .. } => {
            let write = last_part(graph, id);
            EventKind::Access {
                place: numbers.locations[&location],
                read: Some(words(id).read),
                wrote: (write != id).then(|| words(write).wrote),
                order: access::order(event.label),
                from: from(source),
            }
        }
        Label::Write { location, order, .. } => EventKind::Access {
            place: numbers.locations[&location],
            read: None,
            wrote: Some(words(id).wrote),
            order,
            from: None,
        },
        Label::Fence(order) => EventKind::Fence(order),
        Label::Cell { cell, access } => EventKind::Cell { cell: numbers.cells[&cell], access },
        Label::Choose { taken, alternatives } => {
            EventKind::Choose { taken: taken as usize, alternatives: alternatives as usize }
        }
        Label::Spawn { thread } => EventKind::Spawn { thread: visit.number(thread) },
        Label::Mark => EventKind::Mark(words(id).wrote),
        // Resources are not shown.
        Label::Pause | Label::Acquired { .. } | Label::Released { .. } | Label::Used { .. } => {
            EventKind::Pause
        }
    };
    Event { thread: visit.number(id.thread), kind, site: event.site }
}

/// How many events of a thread are shown of its first ones.
struct Counts {
    /// For each thread of the graph: its index, and the number for each number of events.
    threads: Vec<(usize, Vec<u32>)>,
    len: usize,
}

impl Counts {
    fn new(visit: &Visit<'_>) -> Counts {
        let count = |thread: u32| {
            let mut shown = vec![0];
            for index in 0..visit.graph.events(thread).len() as u32 {
                let is_shown = is_shown(&visit.graph, EventId { thread, index });
                shown.push(shown[index as usize] + u32::from(is_shown));
            }
            shown
        };
        let threads = 0..visit.run.lanes.len() as u32;
        Counts {
            threads: threads.map(|thread| (visit.number(thread), count(thread))).collect(),
            len: visit.run.len(),
        }
    }

    /// What is in a clock, in terms of what is shown.
    fn of(&self, clock: &Clock) -> Vec<u32> {
        let mut counts = vec![0; self.len];
        for (thread, (number, shown)) in (0u32..).zip(&self.threads) {
            let count = clock.count(thread) as usize;
            // Threads that are not in this run have the number 0, but no events.
            counts[*number] = counts[*number].max(shown.get(count).copied().unwrap_or(0));
        }
        counts
    }
}

/// All events in an order that respects program order, reads-from and, unless that is impossible,
/// modification order. Nothing may depend on the one that is to be last.
fn order(graph: &Graph, threads: &[u32], last: Option<EventId>) -> Vec<EventId> {
    let mut order = sort(graph, threads, last, true);
    if order.len() + usize::from(last.is_some()) < graph.len() {
        order = sort(graph, threads, last, false);
    }
    order.extend(last);
    order
}

fn sort(
    graph: &Graph,
    threads: &[u32],
    left_out: Option<EventId>,
    modification: bool,
) -> Vec<EventId> {
    let mut done = Clock::default();
    let mut order = Vec::with_capacity(graph.len());
    let is_ready = |done: &Clock, id: EventId| match graph.event(id).label {
        Label::Read { from, .. } => from.is_none_or(|source| done.has(source)),
        Label::Write { location, .. } if modification => {
            let position = graph.position(location, Some(id));
            // A write of an execution that ends with an error may have no place.
            let before = position.checked_sub(1).and_then(|before| graph.at(location, before));
            before.is_none_or(|before| done.has(before))
        }
        _ => true,
    };
    loop {
        let before = order.len();
        for thread in threads {
            let spawned = graph.threads.get(*thread as usize).and_then(|thread| thread.spawned);
            if *thread != 0 && spawned.is_none_or(|spawn| !done.has(spawn)) {
                continue;
            }
            loop {
                let id = EventId { thread: *thread, index: done.count(*thread) };
                let is_there = graph.events(*thread).len() > id.index as usize;
                if !is_there || Some(id) == left_out || !is_ready(&done, id) {
                    break;
                }
                done.insert(id);
                order.push(id);
            }
        }
        if order.len() == before {
            return order;
        }
    }
}
