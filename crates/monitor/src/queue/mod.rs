//! Queues of distinct values: first in, first out.
//!
//! A history is explained by one order of its values, in which they are added and removed. What
//! precedes in time forces parts of that order, twice: `u` comes before `v` if the addition of `u`
//! returned before that of `v` was called, or if something saw or removed `u` at the front and
//! returned before something that saw or removed `v` there was called. An order that respects both
//! exists unless they make a cycle, which has at most three values; without peeks two, which are
//! the FIFO violations of Henzinger, Sezgin and Vafeiadis (CONCUR 2013). An operation that found
//! the queue empty needs an instant at which no value was certainly inside: then the values split
//! into those before and those after it.
//!
//! Pending dequeues are given the values that no completed one removed, first enqueued to first
//! called: what is enqueued earlier must be gone earlier, so no other choice does better. With
//! peeks at such values this is one try of many.
//!
//! [`check`] judges; `order` finds the order of the values, `emit` that of the operations.

mod emit;
mod order;

use super::intervals::{
    self, Collection, Conflict, Decision, FreeGaps, Gap, Object, Part, Speech, cover, without,
};
use super::poll::{Halt, StopPoll};
use linchpin_history_data::{History, Monitored, OpId, ValueId};
use linchpin_spec::Queue;
use linchpin_verdict::Limits;

/// Checks a history of a queue that contains `initial`, front first, at the start. Exact, with
/// peeks, unless peeks at values that no operation is known to have dequeued meet dequeues without
/// an answer and these are many.
///
/// Not applicable if a value is enqueued twice or `null` is enqueued.
pub fn check(history: &History, initial: &[ValueId], limits: &Limits) -> Monitored {
    let poll = StopPoll::new(limits);
    intervals::check(&Fifo { poll: &poll }, history, initial, limits, &poll)
}

struct Fifo<'a> {
    poll: &'a StopPoll<'a>,
}

impl Collection for Fifo<'_> {
    const OBJECT: Object = Object {
        name: "queue",
        add: (Queue::ENQUEUE, "enqueue"),
        remove: (Queue::DEQUEUE, "dequeue"),
        peek: Some((Queue::PEEK, "peek")),
        participles: ("enqueued", "dequeued"),
    };

    fn order(&self, mut part: Part) -> Result<Vec<OpId>, Halt<Conflict>> {
        part.tune(self.poll)?;
        let empty_at = place_empties(&part, self.poll)?;
        let values = match order::total_order(&mut part.lives, &empty_at, self.poll) {
            Ok(values) => values,
            Err(Halt::Stopped(stopped)) => return Err(stopped.into()),
            Err(Halt::Fault(cycle)) => {
                let lives = cycle.iter().map(|edge| edge.first).collect();
                return Err(Halt::Fault(stuck_on(&part, lives, None)));
            }
        };
        Ok(emit::emit(&part, &values, &empty_at, self.poll)?)
    }

    fn decide(&self, mut part: Part) -> Decision {
        part.drop_late_removers();
        if part.removers.is_empty() {
            return without(self, part);
        }
        if part.deadlines(&Fifo::OBJECT).is_some() || looks_at_staying(&part) {
            return intervals::decide_by_trial(self, part);
        }
        assign_in_order(&mut part);
        without(self, part)
    }

    fn explain(&self, part: &Part, speech: &Speech) -> String {
        let mut assigned = part.clone();
        if !looks_at_staying(part) {
            assign_in_order(&mut assigned);
        }
        let (mut tuned, poll) = (assigned.tuned(), StopPoll::unlimited());
        let empty_at = match place_empties(&tuned, &poll) {
            Ok(empty_at) => empty_at,
            Err(Halt::Stopped(_)) => Vec::new(),
            Err(Halt::Fault(stuck)) => {
                let op = part.empties[stuck.empty.unwrap_or(0) as usize].op;
                return speech.not_empty(part, op, &stuck.lives);
            }
        };
        let cycle = match order::total_order(&mut tuned.lives, &empty_at, &poll) {
            Err(Halt::Fault(cycle)) => cycle,
            _ => Vec::new(),
        };
        let edges: Vec<String> =
            cycle.iter().map(|edge| edge_sentence(part, edge, speech)).collect();
        match edges.split_last() {
            Some((last, others)) => format!("{}, yet {last}", others.join(", ")),
            None => "no order of these operations is that of a queue".to_owned(),
        }
    }
}

/// Gives the pending dequeues, first called first, the values that no completed one removed, first
/// enqueued first.
fn assign_in_order(part: &mut Part) {
    let staying = part.staying().into_iter().take(part.removers.len());
    staying.enumerate().for_each(|(remover, life)| part.assign(life, remover));
}

/// Whether something looked at a value that no completed operation removed.
fn looks_at_staying(part: &Part) -> bool {
    part.looks.iter().any(|look| part.lives[look.life as usize].remove.is_none())
}

/// For each operation that found nothing, a gap in which nothing is certainly inside.
fn place_empties(part: &Part, poll: &StopPoll) -> Result<Vec<Gap>, Halt<Conflict>> {
    if part.empties.is_empty() {
        return Ok(Vec::new());
    }
    let free = FreeGaps::new(part, poll)?;
    let place = |(at, empty): (usize, &intervals::Look)| {
        poll.step()?;
        free.first_in(empty.span).ok_or_else(|| {
            let inside = part.lives.iter().enumerate().map(|(at, life)| (at as u32, life.inside()));
            Halt::Fault(stuck_on(part, cover(empty.span, inside), Some(at as u32)))
        })
    };
    part.empties.iter().enumerate().map(place).collect()
}

/// Closes the argument: pending removals went to the values that were enqueued first, so these are
/// part of it.
fn stuck_on(part: &Part, mut lives: Vec<u32>, empty: Option<u32>) -> Conflict {
    let is_pending = |life: u32| part.lives[life as usize].stays();
    let staying = lives.iter().filter(|&&life| is_pending(life));
    let last = staying.map(|&life| part.lives[life as usize].added.hi).max();
    let all = 0..part.lives.len() as u32;
    let blockers: Vec<u32> = all.filter(|&life| is_pending(life)).collect();
    if !part.removers.is_empty() {
        lives.extend(
            blockers.iter().filter(|&&life| Some(part.lives[life as usize].added.hi) <= last),
        );
        lives.sort_unstable();
        lives.dedup();
    }
    Conflict { lives, empty, blockers }
}

/// Why one value comes before another.
fn edge_sentence(part: &Part, edge: &order::Edge, speech: &Speech) -> String {
    let (first, second) = (edge.first, edge.second);
    let value = |life: u32| speech.value(part.lives[life as usize].value);
    let (returned, _) = part.ends(first);
    let addition = part.lives[second as usize].add;
    let (earlier, later) = match edge.kind {
        order::Kind::Added if returned.or(addition).is_none() => {
            return format!("{} was in front of {} from the start", value(first), value(second));
        }
        order::Kind::Added if returned.is_none() => {
            return format!(
                "{} was there before {} was called",
                value(first),
                speech.maybe(addition)
            );
        }
        order::Kind::Added => (returned, addition),
        order::Kind::Left => (part.first_seen(first), part.ends(second).1),
    };
    let earlier = earlier.map_or_else(|| "the start came".to_owned(), |op| speech.ended(op));
    match later {
        None => format!("{earlier} and {} was never dequeued", value(second)),
        Some(later) => format!("{earlier} before {} was called", speech.operation(later)),
    }
}
