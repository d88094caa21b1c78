//! Decisions: what repeats a graph, one event after the other.
//!
//! Two numbers an event: the thread, in the order in which threads start, and what was chosen. That
//! is the place in modification order of what is read, as far as it is known then; after how many
//! writes a write goes; or an alternative. The write of an update is part of its read.

use super::clock::EventId;
use super::finish;
use super::graph::Graph;
use super::label::Label;
use super::psc;
use super::run::State;
use super::visit::{Stop, Visit};
use crate::execution::Problem;

/// The decisions that repeat a graph, given an order of its events.
pub(super) fn decisions(graph: &Graph, order: &[EventId]) -> Vec<u32> {
    let mut started = vec![0];
    let mut written: Vec<Vec<EventId>> = vec![Vec::new(); graph.locations.len()];
    let mut decisions = Vec::new();
    for id in order {
        let label = graph.event(*id).label;
        let choice = match label {
            Label::Read { location, from, .. } => {
                let known = &written[location as usize];
                known.iter().position(|write| Some(*write) == from).map_or(0, |place| place + 1)
            }
            Label::Write { location, .. } => {
                let position = |write: EventId| graph.position(location, Some(write));
                let known = &mut written[location as usize];
                let place = known.partition_point(|write| position(*write) < position(*id));
                known.insert(place, *id);
                place
            }
            Label::Choose { taken, .. } => taken as usize,
            _ => 0,
        };
        if !label.is_update_write() {
            let thread = started.iter().position(|thread| *thread == id.thread);
            decisions.extend([thread.unwrap_or(0) as u32, choice as u32]);
        }
        if let Label::Spawn { thread } = label {
            started.push(thread);
        }
    }
    decisions
}

/// Does what decisions say, then looks where that led.
pub(super) fn follow(visit: &mut Visit<'_>, decisions: &[u32], leaks: bool) -> Result<(), Stop> {
    for decision in decisions.chunks_exact(2) {
        let (number, choice) = (decision[0] as usize, decision[1]);
        visit.prescribed = Some(choice);
        let lanes = (0u32..).zip(&visit.run.lanes);
        let mut lanes = lanes.filter(|(_, lane)| !matches!(lane.state, State::Absent));
        let found = lanes.find(|(_, lane)| lane.thread == number).map(|(thread, _)| thread);
        let Some(thread) = found else { break };
        match visit.run.state(thread, visit.stacks) {
            State::Asks(_) => visit.step(thread)?,
            _ => break,
        }
    }
    panicked(visit)?;
    if visit.graph.len() >= visit.steps {
        return Err(visit.too_long());
    }
    for thread in 0..visit.run.lanes.len() as u32 {
        if !visit.can_go_on(thread) {
            continue;
        }
        // More happens than was decided: this is another program.
        let site = match &visit.run.lanes[thread as usize].state {
            State::Asks(request) => request.site(),
            _ => None,
        };
        if let Some(site) = site {
            return Err(visit.differs(thread, site));
        }
    }
    // What was possible with other orderings need not be so any more.
    if !psc::holds(&visit.graph) {
        return Err(Stop::Redundant);
    }
    finish::finish(visit, leaks)
}

/// Whether a thread has panicked.
fn panicked(visit: &mut Visit<'_>) -> Result<(), Stop> {
    for thread in 0..visit.run.lanes.len() as u32 {
        let number = visit.number(thread);
        if let State::Panicked(message) = visit.run.state(thread, visit.stacks) {
            let message = message.clone();
            return Err(Stop::Problem(Problem::Panicked { thread: number, message }));
        }
    }
    Ok(())
}
