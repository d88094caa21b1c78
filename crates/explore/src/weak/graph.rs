//! Execution graphs: events in program order, from where reads read, and modification order.
//!
//! An update is two events, a read and a write, next to each other. The initial value of a location
//! is written by no event: it is the [`Source`] `None`, first in modification order, and happens
//! before everything. A graph says nothing of values: they are words of one run, and pointers among
//! them differ from run to run.
//!
//! INVARIANT: events are added at the end of threads and after all that they depend on, and later
//! changes touch only events on which no other depends, so the clocks of an event stay right.

use super::clock::{Clock, Clocks, EventId};
use super::label::{Effect, Label};
use linchpin_sync::runtime::{PlaceKind, Resource, Site};
use std::sync::Arc;

/// What a read reads: an event, or the initial value.
pub(super) type Source = Option<EventId>;

/// An event.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) label: Label,
    pub(super) site: Option<Site>,
    /// When it was added: later events have larger ones.
    pub(super) stamp: u32,
    pub(super) clocks: Clocks,
}

/// A thread: see [`super::names`] for its number.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) events: Vec<Arc<Event>>,
    /// Where it was started; the first thread is not.
    pub(super) spawned: Option<EventId>,
    /// It panicked after its last event, and that was shown.
    pub(super) panicked: bool,
}

/// An atomic variable, or something made of one.
#[derive(Clone, Debug)]
pub(super) struct Location {
    pub(super) kind: PlaceKind,
    /// Writes in modification order, without the initial one.
    pub(super) writes: Vec<EventId>,
    pub(super) reads: Vec<EventId>,
}

/// Something that must be given back.
#[derive(Clone, Debug)]
pub(super) struct Lent {
    pub(super) what: Resource,
    /// Nowhere if that event was taken out of the graph.
    pub(super) acquired: Option<EventId>,
    /// Uses, and the events that gave it back.
    pub(super) uses: Vec<EventId>,
}

/// An execution graph. Graphs share what they have in common: many wait to be visited, perhaps by
/// other threads of the system.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub(super) threads: Vec<Arc<Thread>>,
    pub(super) locations: Vec<Arc<Location>>,
    /// Accesses of each cell.
    pub(super) cells: Vec<Arc<Vec<EventId>>>,
    pub(super) resources: Vec<Arc<Lent>>,
    /// Accesses and fences with `SeqCst`.
    pub(super) sequential: Vec<EventId>,
    stamp: u32,
}

impl Graph {
    /// The graph of an execution that has not begun.
    pub(super) fn new() -> Graph {
        Graph { threads: vec![Arc::default()], ..Graph::default() }
    }

    pub(super) fn event(&self, id: EventId) -> &Event {
        &self.threads[id.thread as usize].events[id.index as usize]
    }

    /// How many events there are.
    pub(super) fn len(&self) -> usize {
        self.threads.iter().map(|thread| thread.events.len()).sum()
    }

    /// The event that was added last.
    pub(super) fn newest(&self) -> Option<EventId> {
        let last = |(thread, events): (u32, &Arc<Thread>)| {
            let index = events.events.len().checked_sub(1)?;
            Some(EventId { thread, index: index as u32 })
        };
        let last = (0u32..).zip(&self.threads).filter_map(last);
        last.max_by_key(|id| self.event(*id).stamp)
    }

    /// The events of a thread; none if it is not there.
    pub(super) fn events(&self, thread: u32) -> &[Arc<Event>] {
        self.threads.get(thread as usize).map_or(&[], |thread| &thread.events)
    }

    /// The event that a thread adds next.
    pub(super) fn next(&self, thread: u32) -> EventId {
        EventId { thread, index: self.events(thread).len() as u32 }
    }

    /// What a thread knows before one of its events, or before its next one.
    pub(super) fn before(&self, id: EventId) -> Option<&Clocks> {
        let thread = &self.threads[id.thread as usize];
        match id.index.checked_sub(1) {
            Some(last) => Some(&thread.events[last as usize].clocks),
            None => thread.spawned.map(|spawn| &self.event(spawn).clocks),
        }
    }

    /// What happens before an event of a thread, without itself and what it reads.
    pub(super) fn happens_before(&self, id: EventId) -> Clock {
        self.before(id).map(|clocks| clocks.happens.clone()).unwrap_or_default()
    }

    /// Whether an event happens before another one.
    pub(super) fn ordered(&self, first: EventId, second: EventId) -> bool {
        first != second && self.event(second).clocks.happens.has(first)
    }

    /// Adds an event to a thread. A write has no place in modification order yet.
    pub(super) fn add(&mut self, thread: u32, label: Label, site: Option<Site>) -> EventId {
        let id = self.next(thread);
        let clocks = self.clocks(id, label);
        self.stamp += 1;
        self.register(id, label);
        let event = Event { label, site, stamp: self.stamp, clocks };
        Arc::make_mut(&mut self.threads[thread as usize]).events.push(Arc::new(event));
        id
    }

    /// Enters an event in the lists of what it touches.
    fn register(&mut self, id: EventId, label: Label) {
        if label.is_sequential() {
            self.sequential.push(id);
        }
        match label {
            Label::Read { location, .. } => self.location_mut(location).reads.push(id),
            Label::Cell { cell, .. } => Arc::make_mut(&mut self.cells[cell as usize]).push(id),
            Label::Spawn { thread } => {
                let len = self.threads.len().max(thread as usize + 1);
                self.threads.resize_with(len, Arc::default);
                Arc::make_mut(&mut self.threads[thread as usize]).spawned = Some(id);
            }
            Label::Acquired { what, .. } => {
                let lent = Lent { what, acquired: Some(id), uses: Vec::new() };
                self.resources.push(Arc::new(lent));
            }
            Label::Released { resource } | Label::Used { resource } => {
                Arc::make_mut(&mut self.resources[resource as usize]).uses.push(id);
            }
            _ => {}
        }
    }

    /// Puts a write into modification order, after so many others.
    pub(super) fn place(&mut self, location: u32, write: EventId, after: usize) {
        self.location_mut(location).writes.insert(after, write);
    }

    fn location_mut(&mut self, location: u32) -> &mut Location {
        Arc::make_mut(&mut self.locations[location as usize])
    }

    /// Lets the last event of a thread, a read, read something else.
    pub(super) fn redirect(&mut self, read: EventId, source: Source, effect: Effect) {
        let old = self.event(read);
        let (site, stamp) = (old.site, old.stamp);
        let Label::Read { location, asked, .. } = old.label else { return };
        let label = Label::Read { location, asked, from: source, effect };
        let clocks = self.clocks(read, label);
        self.sequential.retain(|other| *other != read);
        if label.is_sequential() {
            self.sequential.push(read);
        }
        let thread = Arc::make_mut(&mut self.threads[read.thread as usize]);
        thread.events[read.index as usize] = Arc::new(Event { label, site, stamp, clocks });
        thread.panicked = false;
    }

    /// The clocks of an event, given those of the events that it depends on.
    fn clocks(&self, id: EventId, label: Label) -> Clocks {
        let mut clocks = match (self.before(id), id.index) {
            (Some(spawn), 0) => spawn.of_child(),
            (Some(last), _) => last.clone(),
            (None, _) => Clocks::default(),
        };
        clocks.message = Clock::default();
        match label {
            Label::Read { from: Some(source), .. } => {
                let source = &self.event(source).clocks;
                clocks.prefix.join(&source.prefix);
                clocks.acquirable.join(&source.message);
                if label.acquires() {
                    clocks.happens.join(&source.message);
                }
            }
            Label::Fence(_) if label.acquires() => clocks.happens.join(&clocks.acquirable),
            _ => {}
        }
        clocks.prefix.insert(id);
        clocks.happens.insert(id);
        match label {
            Label::Fence(_) if label.releases() => clocks.released = clocks.happens.clone(),
            Label::Write { update, .. } => {
                let known = if label.releases() { &clocks.happens } else { &clocks.released };
                clocks.message = known.clone();
                // A release sequence goes on through updates.
                let source = if update { self.source_of_update(id) } else { None };
                if let Some(source) = source {
                    clocks.message.join(&self.event(source).clocks.message);
                }
            }
            _ => {}
        }
        clocks
    }

    /// What the read part of an update reads, given the write part.
    pub(super) fn source_of_update(&self, write: EventId) -> Source {
        let read = EventId { thread: write.thread, index: write.index - 1 };
        self.source(read)
    }

    /// What a read reads.
    pub(super) fn source(&self, read: EventId) -> Source {
        match self.event(read).label {
            Label::Read { from, .. } => from,
            _ => None,
        }
    }

    /// The place of a source in modification order: 0 for the initial value.
    pub(super) fn position(&self, location: u32, source: Source) -> usize {
        let Some(write) = source else { return 0 };
        let writes = &self.locations[location as usize].writes;
        // INVARIANT: what is read has a place.
        writes.iter().position(|other| *other == write).map_or(0, |place| place + 1)
    }

    /// What is at a place in modification order.
    pub(super) fn at(&self, location: u32, position: usize) -> Source {
        position.checked_sub(1).map(|place| self.locations[location as usize].writes[place])
    }

    /// Whether the write after a place in modification order is an update of what is there.
    pub(super) fn is_updated(&self, location: u32, position: usize) -> bool {
        let next = self.locations[location as usize].writes.get(position);
        next.is_some_and(|write| {
            matches!(self.event(*write).label, Label::Write { update: true, .. })
        })
    }

    /// Keeps so many events of each thread.
    pub(super) fn truncate(&mut self, kept: &[usize]) {
        let keeps = |id: &EventId| (id.index as usize) < kept[id.thread as usize];
        let loses = |ids: &[EventId]| !ids.iter().all(keeps);
        for (thread, len) in self.threads.iter_mut().zip(kept) {
            let is_spawned = thread.spawned.is_none_or(|spawn| keeps(&spawn));
            if thread.events.len() > *len || !is_spawned {
                let thread = Arc::make_mut(thread);
                thread.panicked = false;
                thread.events.truncate(*len);
                thread.spawned = thread.spawned.filter(keeps);
            }
        }
        for location in &mut self.locations {
            if loses(&location.writes) || loses(&location.reads) {
                let location = Arc::make_mut(location);
                location.writes.retain(keeps);
                location.reads.retain(keeps);
            }
        }
        for cell in &mut self.cells {
            if loses(cell) {
                Arc::make_mut(cell).retain(keeps);
            }
        }
        for resource in &mut self.resources {
            if resource.acquired.is_some_and(|id| !keeps(&id)) || loses(&resource.uses) {
                let resource = Arc::make_mut(resource);
                resource.acquired = resource.acquired.filter(keeps);
                resource.uses.retain(keeps);
            }
        }
        self.sequential.retain(keeps);
    }
}
