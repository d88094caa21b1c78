//! New events that touch no location: fences, cells, choices, threads, resources, marks.

use super::clock::EventId;
use super::label::Label;
use super::run::Words;
use super::visit::{Stop, Visit};
use crate::execution::Problem;
use crate::threads::ThreadId;
use linchpin_sync::runtime::{CellAccess, Identity, Resource, Site};
use std::sync::Arc;

/// Adds an event that is answered with nothing.
pub(super) fn add(visit: &mut Visit<'_>, thread: u32, label: Label, site: Site) -> EventId {
    let id = visit.graph.add(thread, label, Some(site));
    visit.run.reply(thread, Words::default(), 0);
    id
}

/// Adds an access of a cell: a race with one that is there is an error.
pub(super) fn cell(
    visit: &mut Visit<'_>,
    thread: u32,
    identity: &Identity,
    access: CellAccess,
    site: Site,
) -> Result<(), Stop> {
    let cell = match visit.run.bound(identity) {
        Some(cell) => cell,
        None => {
            let cell = visit.graph.cells.len() as u32;
            visit.graph.cells.push(Arc::default());
            visit.run.bind_identity(identity, cell, None);
            cell
        }
    };
    // The event gets its reply even if it races, but the thread is not resumed then.
    let id = add(visit, thread, Label::Cell { cell, access }, site);
    let graph = &visit.graph;
    let races = |other: &&EventId| {
        let both_read =
            matches!(graph.event(**other).label, Label::Cell { access: CellAccess::Read, .. })
                && access == CellAccess::Read;
        !both_read && **other != id && !graph.ordered(**other, id)
    };
    match graph.cells[cell as usize].iter().find(races) {
        None => Ok(()),
        Some(other) => Err(Stop::Problem(Problem::Race {
            first: visit.number(other.thread),
            first_site: graph.event(*other).site.unwrap_or(site),
            second: visit.number(thread),
            second_site: site,
        })),
    }
}

/// Adds a choice of the first alternative, and leaves the others to be visited.
pub(super) fn choose(visit: &mut Visit<'_>, thread: u32, alternatives: u32, site: Site) {
    let first = visit.prescribed.unwrap_or(0).min(alternatives.saturating_sub(1));
    for taken in (first + 1..alternatives).rev() {
        let mut graph = visit.graph.clone();
        graph.add(thread, Label::Choose { taken, alternatives }, Some(site));
        visit.leave(graph);
    }
    visit.graph.add(thread, Label::Choose { taken: first, alternatives }, Some(site));
    visit.run.reply(thread, Words::default(), u64::from(first));
}

/// Adds the start of a thread.
pub(super) fn spawn(visit: &mut Visit<'_>, thread: u32, started: ThreadId, site: Site) {
    let events = visit.graph.events(thread).iter();
    let before = events.filter(|event| matches!(event.label, Label::Spawn { .. })).count();
    let child = visit.names.child(thread, before as u32);
    visit.run.start(child, started);
    add(visit, thread, Label::Spawn { thread: child }, site);
}

/// Adds that something was acquired.
pub(super) fn acquired(visit: &mut Visit<'_>, thread: u32, what: Resource, site: Site) {
    let resource = visit.graph.resources.len() as u32;
    visit.graph.add(thread, Label::Acquired { what, resource }, Some(site));
    visit.run.reply(thread, Words::default(), u64::from(resource));
}

/// Adds that something was used or given back: all uses must happen before it is given back.
pub(super) fn resource(
    visit: &mut Visit<'_>,
    thread: u32,
    resource: u32,
    label: Label,
    site: Site,
) -> Result<(), Stop> {
    let id = add(visit, thread, label, site);
    let graph = &visit.graph;
    let lent = &graph.resources[resource as usize];
    let is_release = |id: EventId| matches!(graph.event(id).label, Label::Released { .. });
    let others = || lent.uses.iter().copied().filter(|other| *other != id);
    let released = others().find(|other| is_release(*other));
    let (user, released) = match released {
        Some(released) => (id, released),
        None if !is_release(id) => return Ok(()),
        None => match others().find(|other| !graph.ordered(*other, id)) {
            Some(user) => (user, id),
            None => return Ok(()),
        },
    };
    let site_of = |id: EventId| graph.event(id).site.unwrap_or(site);
    Err(Stop::Problem(Problem::UsedAfterFree {
        what: lent.what,
        thread: visit.number(user.thread),
        site: site_of(user),
        acquired: lent.acquired.map_or(site, site_of),
        released: site_of(released),
    }))
}

/// Adds a mark.
pub(super) fn mark(visit: &mut Visit<'_>, thread: u32, mark: u64) {
    visit.graph.add(thread, Label::Mark, None);
    visit.run.reply(thread, Words { read: 0, wrote: mark }, 0);
}
