//! Stacks of distinct values: last in, first out.
//!
//! Some value of a stack is lowest: nothing else is inside when it is pushed, popped or peeked at.
//! So its push and its pop can take effect at instants when no value is certainly inside, and its
//! peeks at such instants or ones when only it is. Any value for which there are such instants may
//! be taken to be lowest; what it was there for is then peeled off, and the rest is judged alone.
//! This is how Lee and Mathur (OOPSLA 2025) judge stacks; here it covers peeks, operations that
//! found nothing, and operations that did not return.
//!
//! ```text
//! push 1  ├─┤                            certainly inside   1:  ════════════
//! push 2      ├─┤                                           2:      ════
//! pop → 2            ├─┤                 1 is peeled, then 2
//! pop → 1                  ├─┤
//! ```
//!
//! Most values need not be peeled: those that can be put back in any case are folded away before,
//! in almost linear time.
//!
//! [`check`] judges; `fold` folds and `unfold` puts back; `peel` peels, on the structures of
//! `trees`; `emit` makes the order of the operations that were peeled.

mod emit;
mod fold;
mod looks;
mod peel;
mod pieces;
mod trees;
mod unfold;

use super::intervals::{
    self, Collection, Conflict, Look, Object, Pairing, Part, Span, Speech, Unpaired, cover,
};
use super::poll::{Halt, StopPoll};
use linchpin_history_data::{History, Monitored, OpId, ValueId, Witness};
use linchpin_spec::Stack;
use linchpin_verdict::Limits;

/// Why each of so many values cannot be the lowest is said at most: of more there are only if a
/// limit was reached.
const MANY: usize = 100;

/// Checks a history of a stack that contains `initial`, top last, at the start. Exact, with peeks,
/// unless many pops without an answer are needed to explain it and the obvious choice of what they
/// popped does not.
///
/// Not applicable if a value is pushed twice or `null` is pushed.
pub fn check(history: &History, initial: &[ValueId], limits: &Limits) -> Monitored {
    let poll = StopPoll::new(limits);
    intervals::check(&Lifo { poll: &poll }, history, initial, limits, &poll)
}

/// An order that explains a history of a stack that is empty at the start, in which values may
/// repeat, if a guess which of equal values was removed when is good enough. That none is found
/// means nothing.
pub fn guess(history: &History, limits: &Limits) -> Option<Witness> {
    let poll = StopPoll::new(limits);
    let mut unpaired = Unpaired::new::<Lifo<'_>>(history)?;
    let order = unpaired.explain(&Lifo { poll: &poll }, Pairing::LastIn, &poll)?;
    Some(Witness { order })
}

struct Lifo<'a> {
    poll: &'a StopPoll<'a>,
}

impl Collection for Lifo<'_> {
    const OBJECT: Object = Object {
        name: "stack",
        add: (Stack::PUSH, "push"),
        remove: (Stack::POP, "pop"),
        peek: Some((Stack::PEEK, "peek")),
        participles: ("pushed", "popped"),
    };

    fn order(&self, mut part: Part) -> Result<Vec<OpId>, Halt<Conflict>> {
        part.tune(self.poll)?;
        part.drain(self.poll)?;
        let Some(folding) = fold::fold(&part, self.poll)? else {
            return self.peel(&part);
        };
        match self.peel(&folding.rest) {
            Ok(order) => Ok(unfold::unfold(&part, folding, order, self.poll)?),
            // why: a pending pop of a stuck value may also have to pop what was folded above it, so
            // all are blockers.
            Err(Halt::Fault(_)) if !part.removers.is_empty() => self.peel(&part),
            Err(Halt::Fault(stuck)) => Err(Halt::Fault(folding.stuck(stuck))),
            Err(stopped) => Err(stopped),
        }
    }

    fn explain(&self, part: &Part, speech: &Speech) -> String {
        let tuned = part.tuned_and_drained();
        if let Some(empty) = part.empties.first() {
            return speech.not_empty(part, empty.op, &cover(empty.span, inside(&tuned)));
        }
        if part.lives.len() > MANY {
            let count = part.lives.len();
            return format!("none of {count} values can be the lowest of them in the stack");
        }
        let why = |life: u32| not_lowest(part, &tuned, life);
        let reasons: Vec<NotLowest> = (0..part.lives.len() as u32).filter_map(why).collect();
        if let [one, other] = &reasons[..]
            && let Some(sentence) = out_of_turn(part, one, other, speech)
                .or_else(|| out_of_turn(part, other, one, speech))
        {
            return sentence;
        }
        let values: Vec<String> = part.lives.iter().map(|life| speech.value(life.value)).collect();
        let values = Speech::list(&values);
        let reasons: Vec<String> = reasons.iter().map(|reason| reason.say(part, speech)).collect();
        format!(
            "one of {values} must be the lowest in the stack, but none can be: {}",
            reasons.join("; ")
        )
    }
}

impl Lifo<'_> {
    /// The order of a part, which was tuned and drained.
    fn peel(&self, part: &Part) -> Result<Vec<OpId>, Halt<Conflict>> {
        let peeling = peel::peel(part, self.poll)?;
        let bad_empties: Vec<u32> = (0..part.empties.len() as u32)
            .filter(|&at| peeling.empty_at[at as usize].is_none())
            .collect();
        if peeling.residue.is_empty() && bad_empties.is_empty() {
            return Ok(emit::emit(part, &peeling, self.poll)?);
        }
        Err(Halt::Fault(stuck(part, &peeling, &bad_empties)))
    }
}

/// When each value is certainly inside.
fn inside(part: &Part) -> impl Iterator<Item = (u32, Span)> {
    part.lives.iter().enumerate().map(|(at, life)| (at as u32, life.inside()))
}

/// The stuck values: a cover of an empty, or the smallest group that conspires. The blockers are
/// all that are stuck.
fn stuck(part: &Part, peeling: &peel::Peeling, bad_empties: &[u32]) -> Conflict {
    let mut blockers = peeling.residue.clone();
    let last = bad_empties.iter().map(|&at| part.empties[at as usize].span.hi).max();
    blockers.extend(
        inside(part).filter(|(_, span)| last.is_some_and(|last| span.lo <= last)).map(|(at, _)| at),
    );
    match bad_empties.first() {
        Some(&at) => {
            let lives = cover(part.empties[at as usize].span, inside(part));
            Conflict { lives, empty: Some(at), blockers }
        }
        None => Conflict { lives: smallest_run(part, &peeling.residue), empty: None, blockers },
    }
}

/// The fewest values of the residue that are certainly inside one after the other without an
/// instant in between. What others do does not change that none of them can be peeled.
fn smallest_run(part: &Part, residue: &[u32]) -> Vec<u32> {
    let span = |life: u32| part.lives[life as usize].inside();
    let mut residue = residue.to_vec();
    residue.sort_unstable_by_key(|&life| span(life).lo);
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut reach = 0;
    for (at, &life) in residue.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if span(life).lo <= reach + 1 => run.1 = at + 1,
            _ => runs.push((at, at + 1)),
        }
        reach = reach.max(span(life).hi);
    }
    let smallest = runs.into_iter().min_by_key(|(start, end)| end - start);
    smallest.map_or_else(Vec::new, |(start, end)| residue[start..end].to_vec())
}

/// Why the value of a life cannot be lowest: one of its operations only happened while others were
/// inside.
struct NotLowest {
    life: u32,
    op: OpId,
    kind: Kind,
    others: Vec<u32>,
}

/// What an operation does with a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pushes,
    Pops,
    Looks,
}

impl NotLowest {
    fn say(&self, part: &Part, speech: &Speech) -> String {
        let op = speech.operation(self.op);
        format!("whenever {op} took effect, {}", speech.stays(part, &self.others))
    }
}

/// If one value was pushed on another, which was taken or seen all the same while the first was
/// still there: that in a sentence.
fn out_of_turn(
    part: &Part,
    above: &NotLowest,
    below: &NotLowest,
    speech: &Speech,
) -> Option<String> {
    let is_about_both = above.others == [below.life] && below.others == [above.life];
    let (verb, under) = match (above.kind, below.kind) {
        (Kind::Pushes, Kind::Pops) => ("popped", "from under"),
        (Kind::Pushes, Kind::Looks) => ("saw", "under"),
        _ => return None,
    };
    let value = |life: u32| speech.value(part.lives[life as usize].value);
    let (high, low) = (value(above.life), value(below.life));
    is_about_both.then(|| {
        format!(
            "{} pushed {high} on {low}, for {}; yet {} {verb} {low} {under} {high}, for {}",
            speech.operation(above.op),
            speech.stays(part, &above.others),
            speech.operation(below.op),
            speech.stays(part, &below.others),
        )
    })
}

fn not_lowest(part: &Part, tuned: &Part, life: u32) -> Option<NotLowest> {
    let own = &tuned.lives[life as usize];
    let others = || inside(tuned).filter(move |&(at, _)| at != life);
    let is_covered = |span: Span| {
        let lives = cover(span, others());
        let free = (span.lo..=span.hi).any(|gap| {
            !lives.iter().any(|&at| {
                let inside = tuned.lives[at as usize].inside();
                inside.lo <= gap && gap <= inside.hi
            })
        });
        (!free).then_some(lives)
    };
    let looks = part.looks.iter().filter(|look| look.life == life);
    let looks = looks.map(|look: &Look| (Some(look.op), Kind::Looks, look.span));
    let ends = [(own.add, Kind::Pushes, own.added), (own.remove, Kind::Pops, own.removed)];
    for (op, kind, span) in ends.into_iter().chain(looks) {
        if let (Some(op), Some(others)) = (op, is_covered(span)) {
            return Some(NotLowest { life, op, kind, others });
        }
    }
    None
}

#[cfg(test)]
mod tests;
