//! The events of a graph again, in a new run.
//!
//! Writes come before the reads that they serve; more is not needed, and more cannot be had. What
//! the code does is compared with what it did: it must depend on nothing but what it is answered.

use super::clock::EventId;
use super::graph::Graph;
use super::label::{Asked, Effect, Label, effect};
use super::run::{Run, State, Words};
use crate::execution::Problem;
use crate::threads::{Request, Stacks};
use linchpin_sync::runtime::{Action, CellAccess, Identity, Place, Site};
use std::panic::Location;
use std::rc::Rc;

/// Does the events of a graph again. The read whose effect is not known, if there is one, gets it.
pub(super) fn repeat(run: &mut Run, graph: &mut Graph, stacks: &mut Stacks) -> Result<(), Problem> {
    loop {
        let mut is_stuck = true;
        for thread in 0..graph.threads.len() as u32 {
            while is_possible(run, graph, thread) {
                repeat_next(run, graph, thread, stacks)?;
                is_stuck = false;
            }
        }
        let mut threads = 0..graph.threads.len() as u32;
        match threads.find(|thread| run.done(*thread) < graph.events(*thread).len()) {
            None => return Ok(()),
            // A thread that was started before is not, or a write that was read before is none.
            Some(thread) if is_stuck => return Err(differs(run, graph, thread, None)),
            Some(_) => {}
        }
    }
}

/// Whether the next event of a thread can be done: what it reads has been written.
fn is_possible(run: &Run, graph: &Graph, thread: u32) -> bool {
    let lane = run.lanes.get(thread as usize);
    let is_started = lane.is_some_and(|lane| !matches!(lane.state, State::Absent));
    let next = graph.events(thread).get(run.done(thread));
    let is_written = next.is_some_and(|event| match event.label {
        Label::Read { from: Some(source), .. } => run.is_done(source),
        _ => true,
    });
    is_started && is_written
}

/// The next event of a thread is not what it was before.
fn differs(run: &Run, graph: &Graph, thread: u32, asked: Option<Site>) -> Problem {
    let number = run.lanes.get(thread as usize).map_or(0, |lane| lane.thread);
    let events = &graph.events(thread)[..=run.done(thread)];
    let before = events.iter().rev().find_map(|event| event.site);
    let site = asked.or(before).unwrap_or_else(|| Location::caller());
    Problem::Nondeterministic { thread: number, site }
}

/// Does the next event of a thread again.
fn repeat_next(
    run: &mut Run,
    graph: &mut Graph,
    thread: u32,
    stacks: &mut Stacks,
) -> Result<(), Problem> {
    let id = EventId { thread, index: run.done(thread) as u32 };
    let request = match run.state(thread, stacks) {
        State::Asks(request) => Rc::clone(request),
        _ => return Err(differs(run, graph, thread, None)),
    };
    let asked = request.site();
    let event = graph.event(id);
    let difference = differs(run, graph, thread, asked);
    let is_same = event.site == asked
        && match &*request {
            Request::Access { place, action, .. } => access(run, graph, id, *place, *action),
            Request::Cell { identity, access, .. } => {
                cell(run, event.label, identity, *access) && answer(run, id, Words::default(), 0)
            }
            other => solo(run, id, event.label, other),
        };
    if is_same { Ok(()) } else { Err(difference) }
}

/// Answers an event; it is the same.
fn answer(run: &mut Run, id: EventId, words: Words, reply: u64) -> bool {
    run.reply(id.thread, words, reply);
    true
}

/// Does an event again that touches nothing shared; answers whether it is the same.
fn solo(run: &mut Run, id: EventId, label: Label, request: &Request) -> bool {
    let mut words = Words::default();
    let mut reply = 0;
    let is_same = match (request, label) {
        (Request::Fence { order, .. }, Label::Fence(was)) => *order == was,
        (Request::Pause { .. }, Label::Pause) => true,
        (Request::Choose { alternatives, .. }, Label::Choose { taken, alternatives: were }) => {
            reply = u64::from(taken);
            *alternatives == were as usize
        }
        (Request::Spawned { thread: started, .. }, Label::Spawn { thread: child }) => {
            run.start(child, *started);
            true
        }
        (Request::Acquired { what, .. }, Label::Acquired { what: was, resource }) => {
            reply = u64::from(resource);
            *what == was
        }
        (Request::Released { resource, .. }, Label::Released { resource: was })
        | (Request::Used { resource, .. }, Label::Used { resource: was }) => {
            *resource == u64::from(was)
        }
        (Request::Mark(mark), Label::Mark) => {
            words.wrote = *mark;
            true
        }
        _ => false,
    };
    is_same && answer(run, id, words, reply)
}

/// Whether this is the cell of the event, and accessed in the same way.
fn cell(run: &mut Run, label: Label, identity: &Identity, access: CellAccess) -> bool {
    let Label::Cell { cell, access: was } = label else { return false };
    if run.bound(identity).is_none() {
        run.bind_identity(identity, cell, None);
    }
    access == was && run.bound(identity) == Some(cell)
}

/// Does an access again; answers whether it is the same.
fn access(
    run: &mut Run,
    graph: &mut Graph,
    id: EventId,
    place: Place<'_>,
    action: Action<'_>,
) -> bool {
    let label = graph.event(id).label;
    let Some(location) = label.location() else { return false };
    if run.bound(place.identity).is_none() {
        run.bind(place, location);
    }
    if run.bound(place.identity) != Some(location) {
        return false;
    }
    match (action, label) {
        (Action::Store(value, order), Label::Write { order: was, update: false, .. }) => {
            run.write(graph, place.memory, id, value);
            order == was && answer(run, id, Words { read: 0, wrote: value }, 0)
        }
        (_, Label::Read { asked, from, effect: was, .. }) if Asked::of(action) == Some(asked) => {
            let value = run.value(location, from);
            let (now, _) = effect(action, value);
            if was == Effect::Open {
                graph.redirect(id, from, now);
            } else if was != now {
                return false;
            }
            run.read(graph, id, place, action, value);
            true
        }
        _ => false,
    }
}
