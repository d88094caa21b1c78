//! Histories whose precedence is a partial order.
//!
//! Such a history has no events to go through one after the other, so the searches of this crate do
//! not apply, nor does locality: two objects that are linearizable each need not be so together
//! (their orders and the precedence may form a circle, which intervals rule out). So this is a
//! search of its own, for at most 64 operations: what may take effect next is what all completed
//! predecessors of have, and what was seen before, a set of operations that took effect and a
//! state, is not looked at again. Where a history records many objects, the state is one of each.
//!
//! Start with [`PartialSearch::search`]; `core.rs` finds a minimal core, `words.rs` says why.

mod core;
mod machine;
mod words;

use linchpin_history_data::{Judgement, OpId, PartialHistory, Precedence, Violation, Witness};
use linchpin_spec::Spec;
use linchpin_verdict::{Limits, StopReason};
use machine::{Machine, Thing};
use rustc_hash::FxHashSet;
use std::time::{Duration, Instant};

/// The limits are looked at after so many configurations.
const AT_ONCE: u64 = 1 << 10;

/// Searches for orders that explain partial histories of one object, one history after the other.
/// What the specification answered is remembered for the next one.
///
/// ```
/// use linchpin_history_data::PartialBuilder;
/// use linchpin_search::PartialSearch;
/// use linchpin_spec::{Register, Spec, Value};
/// use linchpin_verdict::Limits;
///
/// let register = Register::default();
/// let mut search = PartialSearch::new(&register);
/// let mut builder = PartialBuilder::new(register.operations());
/// builder.completed("a", "write", Value::Int(1), Value::Null)?;
/// builder.completed("a", "read", Value::Null, Value::Null)?;
/// builder.completed("b", "write", Value::Null, Value::Null)?;
/// builder.completed("b", "read", Value::Null, Value::Int(1))?;
/// builder.program_order();
/// let judgement = search.search(builder.build()?, &Limits::default());
/// // Each read the other's write after its own, but one of the writes was the last.
/// let violation = judgement.violation().expect("nothing explains both reads");
/// assert_eq!(violation.core.len(), 2);
/// # Ok::<(), linchpin_history_data::PartialError>(())
/// ```
pub struct PartialSearch<'a, S: Spec + ?Sized> {
    spec: &'a S,
    machine: Machine<'a, S>,
    visited: FxHashSet<(u64, u32)>,
    /// What took effect so far, in order.
    order: Vec<OpId>,
    core_time: Duration,
}

/// What came of one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Explained,
    Unexplained,
    Stopped(StopReason),
}

/// A history as it is searched.
struct Question<'h> {
    order: &'h Precedence,
    /// Which operations must take effect. What they answered is known; of the others it is not, and
    /// they may take effect or not.
    must: u64,
    things: [Thing; Precedence::MOST],
    /// Operations that can change places with each one, and are tried before it.
    twins: [u64; Precedence::MOST],
    /// How many objects there are.
    objects: u32,
}

impl<'a, S: Spec + ?Sized> PartialSearch<'a, S>
where
    S::State: 'static,
{
    /// A search for histories of this object.
    pub fn new(spec: &'a S) -> PartialSearch<'a, S> {
        PartialSearch {
            spec,
            machine: Machine::new(spec),
            visited: FxHashSet::default(),
            order: Vec::new(),
            core_time: crate::SearchOptions::default().core_time,
        }
    }

    /// How long to look for a minimal core; [`SearchOptions::core_time`](crate::SearchOptions)
    /// unless it is said.
    #[must_use]
    pub fn with_core_time(self, core_time: Duration) -> PartialSearch<'a, S> {
        PartialSearch { core_time, ..self }
    }

    /// Judges a history. The core of a violation is minimal, unless the time for it was up: nothing
    /// explains it, whatever the operations outside it answered and whether they took effect or
    /// not, and that is so of no smaller part of it.
    pub fn search(&mut self, history: &PartialHistory, limits: &Limits) -> Judgement {
        match self.decide(history, history.completed(), limits) {
            End::Explained => Judgement::Holds(Witness { order: self.order.clone() }),
            End::Stopped(reason) => reason.into(),
            End::Unexplained => {
                let core = self.core(history, limits);
                let (explanation, blamed) = words::violated(history, self.spec.operations(), &core);
                Judgement::Violated(Violation { core, blamed, explanation, at: None })
            }
        }
    }

    /// Whether some order explains the operations `must`, with any of the others. If so, it is in
    /// `self.order`.
    fn decide(&mut self, history: &PartialHistory, must: u64, limits: &Limits) -> End {
        self.visited.clear();
        self.order.clear();
        self.machine.make_room();
        let question = self.question(history, must);
        let start = self.machine.initial(question.objects);
        let mut walk = Walk { search: self, question: &question, limits };
        match walk.explains(0, start) {
            Ok(true) => End::Explained,
            Ok(false) => End::Unexplained,
            Err(reason) => End::Stopped(reason),
        }
    }

    fn question<'h>(&mut self, history: &'h PartialHistory, must: u64) -> Question<'h> {
        let (operations, order) = (history.operations(), history.order());
        let mut things = [Thing::default(); Precedence::MOST];
        let mut twins = [0; Precedence::MOST];
        let mut keys = smallvec::SmallVec::<[_; 4]>::new();
        for (id, operation) in operations.iter() {
            let at = id.index();
            let is_known = must >> at & 1 != 0;
            let key = keys.iter().position(|key| *key == operation.key).unwrap_or_else(|| {
                keys.push(operation.key);
                keys.len() - 1
            });
            let call = operations.call(id);
            let response = if is_known { operations.response(id) } else { None };
            let class = self.machine.class(call, response);
            things[at] = Thing { class, object: key as u32 };
            for other in 0..at {
                let is_twin = things[other] == things[at]
                    && (must >> other & 1 != 0) == is_known
                    && order.before()[other] == order.before()[at]
                    && order.after()[other] == order.after()[at];
                twins[at] |= u64::from(is_twin) << other;
            }
        }
        Question { order, must, things, twins, objects: keys.len() as u32 }
    }

    /// About how many bytes are kept.
    fn bytes(&self) -> usize {
        self.visited.capacity() * (size_of::<(u64, u32)>() + 1) * 8 / 7 + self.machine.bytes()
    }
}

/// One search.
struct Walk<'w, 'a, S: Spec + ?Sized> {
    search: &'w mut PartialSearch<'a, S>,
    question: &'w Question<'w>,
    limits: &'w Limits,
}

impl<S: Spec + ?Sized> Walk<'_, '_, S>
where
    S::State: 'static,
{
    /// Whether the rest can be explained when these are done and the objects are in this state. It
    /// goes at most as deep as there are operations.
    fn explains(&mut self, done: u64, state: u32) -> Result<bool, StopReason> {
        if self.question.must & !done == 0 {
            return Ok(true);
        }
        if !self.search.visited.insert((done, state)) {
            return Ok(false);
        }
        let visited = self.search.visited.len() as u64;
        if visited.is_multiple_of(AT_ONCE)
            && let Some(reason) = self.limits.exceeded(self.search.bytes())
        {
            return Err(reason);
        }
        if self.limits.configurations.is_some_and(|most| visited > most) {
            return Err(StopReason::Budget);
        }
        for next in 0..self.question.order.len() {
            if self.may_be_next(next, done) && self.explains_after(next, done, state)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn may_be_next(&self, next: usize, done: u64) -> bool {
        let Question { order, must, twins, .. } = self.question;
        let waits_for = order.before()[next] & must & !done;
        // Of what must take effect, nothing that comes after it can be done: it would have waited.
        let is_too_late = order.after()[next] & done != 0;
        done >> next & 1 == 0 && waits_for == 0 && !is_too_late && twins[next] & !done == 0
    }

    fn explains_after(&mut self, next: usize, done: u64, state: u32) -> Result<bool, StopReason> {
        let thing = self.question.things[next];
        let is_optional = self.question.must >> next & 1 == 0;
        let count = self.search.machine.outcomes(state, thing);
        self.search.order.push(OpId::new(next));
        for outcome in 0..count {
            let after = self.search.machine.after(state, thing, outcome);
            // What need not take effect and changes nothing need not be tried.
            if is_optional && after == state {
                continue;
            }
            if self.explains(done | 1 << next, after)? {
                return Ok(true);
            }
        }
        self.search.order.pop();
        Ok(false)
    }
}

/// The limits while a core is looked for. That is timed, not counted.
fn explaining(limits: &Limits, time: Duration) -> Limits {
    let until = Instant::now() + time;
    let deadline = limits.deadline.map_or(until, |deadline| deadline.min(until));
    Limits { deadline: Some(deadline), configurations: None, ..limits.clone() }
}
