//! New accesses: a read branches on what it reads, a write on its place in modification order and
//! on the reads that it serves.

use super::clock::EventId;
use super::coherence;
use super::graph::{Graph, Location};
use super::label::{Asked, Effect, Label, effect};
use super::psc;
use super::revisit::{revisits, write_places};
use super::run::Words;
use super::visit::{Stop, Visit};
use linchpin_sync::runtime::{Action, Place, Site};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Adds an access of a thread, or the write of an update whose read is there.
pub(super) fn access(
    visit: &mut Visit<'_>,
    thread: u32,
    place: Place<'_>,
    action: Action<'_>,
    site: Site,
) -> Result<(), Stop> {
    let location = match visit.run.bound(place.identity) {
        Some(location) => location,
        None => {
            let location = visit.graph.locations.len() as u32;
            let new = Location { kind: place.kind, writes: Vec::new(), reads: Vec::new() };
            visit.graph.locations.push(Arc::new(new));
            visit.run.bind(place, location);
            location
        }
    };
    let step = Step { thread, location, place, action, site };
    match action {
        Action::Store(value, order) => {
            let label = Label::Write { location, order, update: false };
            step.write(visit, label, Words { read: 0, wrote: value }, 0)
        }
        _ => match visit.graph.events(thread).last().map(|event| event.label) {
            Some(Label::Read { effect: Effect::Updates, from, .. }) => {
                let value = visit.run.value(location, from);
                step.update(visit, value)
            }
            _ => step.read(visit),
        },
    }
}

/// Whether an await of a thread could go on with something that is in the graph.
pub(super) fn is_possible(visit: &Visit<'_>, place: Place<'_>, action: Action<'_>) -> bool {
    let goes_on = |value| effect(action, value).0 != Effect::Blocks;
    match visit.run.bound(place.identity) {
        None => goes_on(place.memory.get()),
        Some(location) => {
            let newest = visit.graph.locations[location as usize].writes.len();
            let mut sources = (0..=newest).map(|position| visit.graph.at(location, position));
            sources.any(|source| goes_on(visit.run.value(location, source)))
        }
    }
}

/// An access that is being added.
struct Step<'a> {
    thread: u32,
    location: u32,
    place: Place<'a>,
    action: Action<'a>,
    site: Site,
}

impl Step<'_> {
    /// Adds a read of the newest write, and leaves those of older ones to be visited.
    fn read(&self, visit: &mut Visit<'_>) -> Result<(), Stop> {
        let id = visit.graph.next(self.thread);
        let newest = visit.graph.locations[self.location as usize].writes.len();
        let known = visit.graph.happens_before(id);
        let oldest = coherence::oldest(&visit.graph, self.location, &known);
        if let Some(position) = visit.prescribed {
            if (position as usize) < oldest || position as usize > newest {
                return Err(visit.differs(self.thread, self.site));
            }
            return self.read_from(visit, position as usize);
        }
        for position in oldest..newest {
            self.read_later(visit, position);
        }
        self.read_from(visit, newest)
    }

    /// The label of a read of this, and the value.
    fn label(&self, visit: &Visit<'_>, position: usize) -> Option<(Label, u64)> {
        let from = visit.graph.at(self.location, position);
        let value = visit.run.value(self.location, from);
        let asked = Asked::of(self.action)?;
        let (effect, _) = effect(self.action, value);
        Some((Label::Read { location: self.location, asked, from, effect }, value))
    }

    /// Leaves it to be visited that this is read.
    fn read_later(&self, visit: &mut Visit<'_>, position: usize) {
        let Some((label, _)) = self.label(visit, position) else { return };
        let Label::Read { effect, .. } = label else { return };
        // One who waits with something old would wait for ever: nothing ever changes what it reads.
        if effect == Effect::Blocks {
            return;
        }
        let mut graph = visit.graph.clone();
        graph.add(self.thread, label, Some(self.site));
        if effect == Effect::Updates && visit.graph.is_updated(self.location, position) {
            // Another update of the same write is there: both cannot be, but this one can make the
            // other one read what it writes.
            let write = graph.add(self.thread, self.write_label(), Some(self.site));
            for graph in revisits(&graph, write) {
                visit.leave(graph);
            }
        } else if is_sequential(&graph, label) {
            visit.leave(graph);
        }
    }

    /// Reads this now.
    fn read_from(&self, visit: &mut Visit<'_>, position: usize) -> Result<(), Stop> {
        let Some((label, value)) = self.label(visit, position) else { return Ok(()) };
        let id = visit.graph.add(self.thread, label, Some(self.site));
        visit.run.read(&visit.graph, id, self.place, self.action, value);
        match label {
            Label::Read { effect: Effect::Updates, .. } => self.update(visit, value),
            _ => Ok(()),
        }
    }

    /// Adds the write of an update that has read this.
    fn update(&self, visit: &mut Visit<'_>, value: u64) -> Result<(), Stop> {
        let (_, new) = effect(self.action, value);
        let words = Words { read: value, wrote: new.unwrap_or(value) };
        self.write(visit, self.write_label(), words, value)
    }

    /// The write of an update.
    fn write_label(&self) -> Label {
        let order = match self.action {
            Action::Update { success: order, .. }
            | Action::Await { order, .. }
            | Action::Load(order)
            | Action::Store(_, order) => order,
        };
        Label::Write { location: self.location, order, update: true }
    }

    /// Adds a write.
    fn write(
        &self,
        visit: &mut Visit<'_>,
        label: Label,
        words: Words,
        reply: u64,
    ) -> Result<(), Stop> {
        let write = visit.graph.add(self.thread, label, Some(self.site));
        let place = match visit.prescribed {
            Some(place) => self.prescribed_place(visit, write, place as usize)?,
            None => self.branch(visit, write)?,
        };
        visit.graph.place(self.location, write, place);
        visit.run.write(&visit.graph, self.place.memory, write, words.wrote);
        visit.run.reply(self.thread, words, reply);
        Ok(())
    }

    /// Leaves it to be visited that the write serves reads, or goes elsewhere; answers where it
    /// goes now.
    fn branch(&self, visit: &mut Visit<'_>, write: EventId) -> Result<usize, Stop> {
        for graph in revisits(&visit.graph, write) {
            visit.leave(graph);
        }
        let mut places = write_places(&visit.graph, self.location, write);
        let newest = places.pop().ok_or(Stop::Redundant)?;
        for place in places {
            let mut graph = visit.graph.clone();
            graph.place(self.location, write, place);
            if is_sequential(&graph, graph.event(write).label) {
                visit.leave(graph);
            }
        }
        Ok(newest)
    }

    fn prescribed_place(
        &self,
        visit: &Visit<'_>,
        write: EventId,
        place: usize,
    ) -> Result<usize, Stop> {
        let places = write_places(&visit.graph, self.location, write);
        // An update has only one place: its decision is what it read.
        let is_update = visit.graph.event(write).label.is_update_write();
        let found = places.into_iter().find(|other| is_update || *other == place);
        found.ok_or_else(|| visit.differs(self.thread, self.site))
    }
}

/// Whether the axiom for `SeqCst` holds with this event. Without fences, others cannot break it.
///
/// The write of an update needs no check: it stands right after what its read reads, so whatever
/// precedes it or follows it in modification order does so with the read or with what that reads.
fn is_sequential(graph: &Graph, label: Label) -> bool {
    let matters = label.is_sequential() || psc::has_fences(graph);
    !matters || psc::holds(graph)
}

/// The order that counts of an access, for people.
pub(super) fn order(label: Label) -> Ordering {
    match label {
        Label::Read { asked, effect, .. } => asked.order(effect),
        Label::Write { order, .. } | Label::Fence(order) => order,
        _ => Ordering::Relaxed,
    }
}
