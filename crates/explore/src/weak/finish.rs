//! When no thread can go on: whether that is an execution, and what went wrong in it.

use super::graph::Graph;
use super::label::{Effect, Label};
use super::pause;
use super::run::State;
use super::visit::{Stop, Visit};
use crate::execution::{Problem, Waiting};
use crate::threads::Request;

/// Whether the last event of a thread is an await that has to wait.
pub(super) fn is_blocked(graph: &Graph, thread: u32) -> bool {
    let last = graph.events(thread).last();
    last.is_some_and(|event| matches!(event.label, Label::Read { effect: Effect::Blocks, .. }))
}

/// What went wrong, if something did, in an execution that is over.
pub(super) fn finish(visit: &mut Visit<'_>, leaks: bool) -> Result<(), Stop> {
    let mut waiting = Vec::new();
    for thread in 0..visit.run.lanes.len() as u32 {
        match visit.run.state(thread, visit.stacks) {
            State::Ended | State::Absent | State::Ready(_) => {}
            State::Panicked(_) => return Err(Stop::Redundant),
            State::Asks(request) => {
                let place = match &**request {
                    Request::Access { place, .. } => Some(place.kind),
                    _ => None,
                };
                let site = request.site();
                if is_stale(visit, thread) {
                    return Err(Stop::Redundant);
                }
                let thread = visit.number(thread);
                waiting.extend(site.map(|site| Waiting { thread, place, site }));
            }
        }
    }
    if !waiting.is_empty() {
        waiting.sort_by_key(|waiting| waiting.thread);
        shorten(visit);
        return Err(Stop::Problem(Problem::Deadlock { waiting }));
    }
    if leaks { leaked(&visit.graph) } else { Ok(()) }
}

/// Whether one of the threads that wait could read something newer.
pub(super) fn is_anyone_stale(visit: &Visit<'_>) -> bool {
    (0..visit.run.lanes.len() as u32).any(|thread| is_stale(visit, thread))
}

/// Leaves out rounds of loops that show nothing new, if no other thread depends on them.
fn shorten(visit: &mut Visit<'_>) {
    let threads = 0..visit.graph.threads.len() as u32;
    let kept = threads.clone().map(|thread| {
        let all = visit.graph.events(thread).len();
        let pauses = match visit.run.lanes.get(thread as usize).map(|lane| &lane.state) {
            Some(State::Asks(request)) => matches!(**request, Request::Pause { .. }),
            _ => false,
        };
        let shown = if pauses { pause::worth_showing(visit, thread) } else { all };
        let others = threads.clone().filter(|other| *other != thread);
        let mut others = others.filter_map(|other| visit.graph.events(other).last());
        let is_used = |needed: u32| needed as usize > shown;
        match others.any(|last| is_used(last.clocks.prefix.count(thread))) {
            true => all,
            false => shown,
        }
    });
    let kept: Vec<usize> = kept.collect();
    visit.graph.truncate(&kept);
}

/// Whether a thread that waits could read something newer.
fn is_stale(visit: &Visit<'_>, thread: u32) -> bool {
    if !is_blocked(&visit.graph, thread) {
        return match &visit.run.lanes[thread as usize].state {
            State::Asks(request) => {
                matches!(**request, Request::Pause { .. }) && pause::is_stale(visit, thread)
            }
            _ => false,
        };
    }
    let graph = &visit.graph;
    graph.events(thread).last().is_some_and(|event| match event.label {
        Label::Read { location, from, .. } => {
            graph.position(location, from) < graph.locations[location as usize].writes.len()
        }
        _ => false,
    })
}

/// Whether something was not given back.
fn leaked(graph: &Graph) -> Result<(), Stop> {
    for lent in &graph.resources {
        let is_released =
            lent.uses.iter().any(|id| matches!(graph.event(*id).label, Label::Released { .. }));
        let Some(acquired) = lent.acquired.filter(|_| !is_released) else { continue };
        if let Some(site) = graph.event(acquired).site {
            return Err(Stop::Problem(Problem::Leaked { what: lent.what, site }));
        }
    }
    Ok(())
}
