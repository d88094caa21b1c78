//! Counters that every operation changes by `fetch-add` of the same amount: no window, but the
//! steps that open operations may have to do with.
//!
//! The counter climbs in equal steps, and a `fetch-add` that returns says which one was its own.
//! Let a step be *due* at the first return of an operation that found a later sum: by then it had
//! been done. A `fetch-add` must have been called before its own step was due, and a `read` before
//! the step away from what it found had been done for certain. A step below one that is known to be
//! done, which no operation that returned did, is a *hole*: someone who has not returned did it,
//! and was called before it was due. Of operations in a given order the intervals allow it iff none
//! was called after a later one returned; so there is an order iff different operations can be
//! found for the holes. Lower holes are due first: it is enough to give them those who were called
//! first.
//!
//! A step that was certainly done before anything open was called does not matter any more: the
//! operation that returns with it is wrong. If it is a hole, an operation that never returns did
//! it: the first that was called, as any hole that stays is due later.
//!
//! What is kept are the operations that have not returned, and the steps since the call of the
//! first of them that may.

use super::event_rule::Handover;
use linchpin_search::Frontier;
use linchpin_spec::{AnySpec, Call, Counter, Value};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The instant of an event.
pub(super) type Instant = u64;

const NEVER: Instant = Instant::MAX;

/// A step of the counter that is known to have been done.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// When the first operation returned that found a later sum.
    due: Instant,
    /// When the one returned that did it; [`NEVER`] while it is a hole.
    claimed: Instant,
}

impl Step {
    /// By when it had been done for certain.
    fn done(&self) -> Instant {
        self.due.min(self.claimed)
    }
}

/// The steps of a counter, and who may have done them.
#[derive(Debug)]
pub(crate) struct Claims {
    initial: i64,
    amount: i64,
    now: Instant,
    /// How many steps do not matter any more.
    past: i64,
    /// The steps after these that are known to be done; later ones are due later.
    steps: VecDeque<Step>,
    /// What is in progress, by ticket: since when, and whether it adds.
    open: FxHashMap<u32, (Instant, bool)>,
    /// When additions that never return were called, in order.
    gone: Vec<Instant>,
}

impl Claims {
    /// A counter at its start, with reads in progress.
    pub(super) fn new(
        initial: i64,
        amount: i64,
        now: Instant,
        reads: impl Iterator<Item = (u32, Instant)>,
    ) -> Claims {
        let open = reads.map(|(ticket, since)| (ticket, (since, false))).collect();
        Claims { initial, amount, now, past: 0, steps: VecDeque::new(), open, gone: Vec::new() }
    }

    /// How many operations and steps are kept.
    pub(super) fn len(&self) -> usize {
        self.open.len() + self.gone.len() + self.steps.len()
    }

    /// An operation is called. Whether this can be judged here; nothing has changed if not.
    pub(super) fn invoke(&mut self, ticket: u32, call: &Call) -> bool {
        let adds = match (call.operation, &call.argument) {
            (Counter::READ, _) => false,
            (Counter::FETCH_ADD, Value::Int(amount)) if *amount == self.amount => true,
            _ => return false,
        };
        if self.now >= 1 << 39 {
            return false;
        }
        self.now += 1;
        self.open.insert(ticket, (self.now, adds));
        true
    }

    /// An operation returns.
    ///
    /// # Errors
    ///
    /// If nothing explains the answer: why.
    pub(super) fn response(&mut self, ticket: u32, response: &Value) -> Result<(), String> {
        let Some((invoked, adds)) = self.open.remove(&ticket) else {
            return Ok(());
        };
        self.now += 1;
        let (initial, amount) = (self.initial, self.amount);
        let level = response.as_int().and_then(|sum| sum.checked_sub(initial));
        let level = level.filter(|distance| distance % amount == 0 && distance / amount >= 0);
        let Some(level) = level.map(|distance| distance / amount) else {
            return Err(format!("no number of additions of {amount} to {initial} gives that"));
        };
        let too_late = || "the counter had left that sum before the call".to_owned();
        let Ok(place) = usize::try_from(level - self.past) else {
            return Err(too_late());
        };
        // Not by so many steps that no operation could have done them.
        if place > self.steps.len() + self.additions().len() {
            return Err("there were too few additions for that".to_owned());
        }
        let now = self.now;
        match self.steps.get_mut(place) {
            Some(step) if adds && step.claimed != NEVER => {
                return Err("another addition found the same sum".to_owned());
            }
            Some(step) if adds && step.due <= invoked => return Err(too_late()),
            Some(step) if adds => step.claimed = now,
            Some(step) if step.done() <= invoked => return Err(too_late()),
            Some(_) => {}
            None => {
                if let Some(last) = self.steps.back_mut() {
                    last.due = now.min(last.due);
                }
                self.steps.resize(place, Step { due: now, claimed: NEVER });
                if adds {
                    self.steps.push_back(Step { due: NEVER, claimed: now });
                }
            }
        }
        if !self.can_fill() {
            return Err("then too few additions were called in time for the sums below".to_owned());
        }
        self.forget();
        Ok(())
    }

    /// An operation will not return.
    pub(super) fn crash(&mut self, ticket: u32) {
        if let Some((invoked, true)) = self.open.remove(&ticket) {
            let at = self.gone.partition_point(|call| *call < invoked);
            self.gone.insert(at, invoked);
        }
        self.forget();
    }

    /// An operation did not happen. Whether the events so far are still explained.
    pub(super) fn retract(&mut self, ticket: u32) -> bool {
        self.open.remove(&ticket);
        let explained = self.can_fill();
        if explained {
            self.forget();
        }
        explained
    }

    /// When the additions that have not returned were called, in order.
    fn additions(&self) -> Vec<Instant> {
        let open = self.open.values().filter(|(_, adds)| *adds).map(|(invoked, _)| *invoked);
        let mut calls: Vec<Instant> = open.chain(self.gone.iter().copied()).collect();
        calls.sort_unstable();
        calls
    }

    /// Whether there is an operation for each hole.
    fn can_fill(&self) -> bool {
        let calls = self.additions();
        let holes = self.steps.iter().filter(|step| step.claimed == NEVER);
        let mut calls = calls.iter();
        holes.map(|hole| hole.due).all(|due| calls.next().is_some_and(|call| *call < due))
    }

    /// Forgets the steps that were done before anything open was called.
    fn forget(&mut self) {
        let oldest = self.open.values().map(|(invoked, _)| *invoked).min().unwrap_or(NEVER);
        while let Some(step) = self.steps.front().copied().filter(|step| step.done() < oldest) {
            self.steps.pop_front();
            self.past += 1;
            if step.claimed == NEVER && !self.gone.is_empty() {
                self.gone.remove(0);
            }
        }
    }

    /// A frontier that knows as much, and for each ticket the one of the frontier. Being lazy loses
    /// nothing, so each step is done when it must have been: it is told of what has not returned,
    /// of an addition at once for each step that was claimed, and what the sum was then.
    pub(super) fn frontier<'a>(&self, spec: &'a AnySpec) -> Handover<'a> {
        #[derive(PartialEq, Eq, PartialOrd, Ord)]
        enum Moment {
            Step(i64, bool),
            Gone,
            Adds(u32),
            Reads(u32),
        }
        let mut moments: Vec<(Instant, Moment)> = Vec::new();
        for (level, step) in (self.past..).zip(&self.steps) {
            moments.push((step.done(), Moment::Step(level, step.claimed != NEVER)));
        }
        moments.extend(self.gone.iter().map(|call| (*call, Moment::Gone)));
        for (ticket, (invoked, adds)) in &self.open {
            let moment = if *adds { Moment::Adds(*ticket) } else { Moment::Reads(*ticket) };
            moments.push((*invoked, moment));
        }
        moments.sort_unstable();
        let sum = |level: i64| Value::Int(self.initial + self.amount * level);
        let mut frontier = Frontier::starting_from(spec, sum(self.past).into());
        let add = || Call { operation: Counter::FETCH_ADD, argument: Value::Int(self.amount) };
        let read = || Call { operation: Counter::READ, argument: Value::Null };
        let tell = |frontier: &mut Frontier<'a, AnySpec>, call: Call, answer: Value| {
            let ticket = frontier.invoke(call);
            let explained = frontier.response(ticket, &answer);
            debug_assert!(explained.is_ok(), "there is an operation for each hole");
        };
        let mut open = Vec::new();
        for (_, moment) in moments {
            match moment {
                Moment::Step(level, true) => tell(&mut frontier, add(), sum(level)),
                Moment::Step(level, false) => tell(&mut frontier, read(), sum(level + 1)),
                Moment::Gone => {
                    let ticket = frontier.invoke(add());
                    frontier.crash(ticket);
                }
                Moment::Adds(known) => open.push((known, frontier.invoke(add()))),
                Moment::Reads(known) => open.push((known, frontier.invoke(read()))),
            }
        }
        (frontier, open)
    }
}
