//! A bit that operations flip and look at: one element of a set, or a lock.
//!
//! The rule is to be lazy: nothing takes effect before some operation returns that needs it. Then the bit is flipped by the
//! flips with the earliest deadlines, and all who wait to see the new state see it. Exchanging two flips of the same kind
//! in any explanation for the earlier deadline first shows that the rule loses nothing, and values need not be unique.
//! A pending flip has no deadline and is used last. Start with [`Bit::run`].

use super::pace::{Halt, Pace};
use super::timeline::{Event, is_return, operation_of};
use crate::history::{History, NEVER, OpId, Rank};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What an operation does to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Flips it to this, from the other state only.
    Flip(bool),
    /// Needs it to be this.
    See(bool),
    /// Nothing that matters: it is pending and does not change the bit.
    Nothing,
}

/// Where a run stopped: an operation returned, but there was no flip left that it needs first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stuck {
    /// Who returned.
    pub(crate) operation: OpId,
    /// Where its return is in the events of the run.
    pub(crate) at: usize,
    /// What the bit should have been flipped to.
    pub(crate) needed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Unknown,
    Waits,
    Done,
}

type Deadlines = BinaryHeap<Reverse<(Rank, OpId)>>;

/// Runs over the events of one bit after the other; the memory is shared.
pub(crate) struct Bit<'a, S: Fn(OpId) -> Step> {
    history: &'a History,
    step: S,
    pace: &'a Pace<'a>,
    progress: Vec<Progress>,
    /// Flips that wait, by what they flip to.
    flips: [Deadlines; 2],
    /// Operations that wait to see a state, by that state.
    lookers: [Vec<OpId>; 2],
    state: bool,
    /// Who took effect, in order.
    pub(crate) order: Vec<OpId>,
    /// Those that only look and made the bit flip.
    forced: Vec<OpId>,
}

impl<'a, S: Fn(OpId) -> Step> Bit<'a, S> {
    /// Nothing has run yet.
    pub(crate) fn new(history: &'a History, step: S, pace: &'a Pace<'a>) -> Bit<'a, S> {
        Bit {
            history,
            step,
            pace,
            progress: vec![Progress::Unknown; history.operations.len()],
            flips: Default::default(),
            lookers: Default::default(),
            state: false,
            order: Vec::with_capacity(history.operations.len()),
            forced: Vec::new(),
        }
    }

    /// Explains the events of a bit that starts as `state`. Returns of operations whose invocation is not among the
    /// events are passed over.
    pub(crate) fn run(&mut self, events: &[Event], state: bool) -> Result<(), Halt<Stuck>> {
        self.state = state;
        let outcome = self.explain(events);
        // INVARIANT: between runs nobody waits.
        self.flips.iter_mut().for_each(BinaryHeap::clear);
        self.lookers.iter_mut().for_each(Vec::clear);
        outcome
    }

    fn explain(&mut self, events: &[Event]) -> Result<(), Halt<Stuck>> {
        for (at, event) in events.iter().enumerate() {
            self.pace.step()?;
            let id = operation_of(*event);
            match (is_return(*event), (self.step)(id)) {
                (false, Step::Flip(to)) => {
                    self.flips[usize::from(to)].push(Reverse((self.deadline(id), id)));
                    self.progress[id as usize] = Progress::Waits;
                }
                (false, Step::See(state)) if state == self.state => self.takes_effect(id),
                (false, Step::See(state)) => {
                    self.lookers[usize::from(state)].push(id);
                    self.progress[id as usize] = Progress::Waits;
                }
                (true, step) if self.progress[id as usize] == Progress::Waits => {
                    let (needed, looks) = match step {
                        Step::Flip(to) => (!to, false),
                        Step::See(state) => (state, true),
                        Step::Nothing => continue,
                    };
                    if self.state != needed {
                        if looks {
                            self.forced.push(id);
                        }
                        if !self.flip() {
                            return Err(Halt::Fault(Stuck { operation: id, at, needed }));
                        }
                    }
                    // INVARIANT: of the flips of its kind, the one that returns now has the earliest deadline.
                    if !looks {
                        self.flip();
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Flips the bit, if somebody can.
    fn flip(&mut self) -> bool {
        let to = !self.state;
        let Some(Reverse((_, id))) = self.flips[usize::from(to)].pop() else {
            return false;
        };
        self.state = to;
        self.takes_effect(id);
        let mut lookers = std::mem::take(&mut self.lookers[usize::from(to)]);
        lookers.drain(..).for_each(|looker| self.takes_effect(looker));
        self.lookers[usize::from(to)] = lookers;
        true
    }

    fn takes_effect(&mut self, id: OpId) {
        self.progress[id as usize] = Progress::Done;
        self.order.push(id);
    }

    fn deadline(&self, id: OpId) -> Rank {
        let operation = &self.history.operations[id as usize];
        if operation.completed { operation.returned } else { NEVER }
    }

    /// Operations that show that the events up to where the run was stuck have no explanation: all flips of a short
    /// stretch of time, and those who look and made the bit flip there.
    pub(crate) fn core(&mut self, events: &[Event], state: bool, stuck: Stuck) -> Vec<OpId> {
        let events = &events[..=stuck.at];
        let mut long = 2;
        while long < events.len() {
            let (mut core, mut short) = (self.stretch(events, long), long / 2);
            if core.is_some() {
                while short + 1 < long {
                    let middle = short + (long - short) / 2;
                    match self.stretch(events, middle) {
                        Some(smaller) => (core, long) = (Some(smaller), middle),
                        None => short = middle,
                    }
                }
                return core.unwrap_or_default();
            }
            long *= 2;
        }
        self.forget(events);
        if let Err(Halt::Stopped(_)) = self.run(events, state) {
            // Who made the bit flip is not known, so all that looks is part of it.
            self.forced = events.iter().map(|event| operation_of(*event)).collect();
        }
        self.ingredients(events)
    }

    /// The core in the last `count` events, if they have no explanation whatever the bit was before and whichever of the
    /// operations in progress there had taken effect: flips in progress are optional and without a deadline.
    fn stretch(&mut self, events: &[Event], count: usize) -> Option<Vec<OpId>> {
        let (before, events) = events.split_at(events.len() - count);
        let open = self.in_progress(before, events[0]);
        let mut forced = Vec::new();
        for state in [false, true] {
            self.forget(events);
            for id in &open {
                if let Step::Flip(to) = (self.step)(*id) {
                    self.flips[usize::from(to)].push(Reverse((NEVER, *id)));
                }
            }
            let Err(Halt::Fault(_)) = self.run(events, state) else {
                return None;
            };
            forced.append(&mut self.forced);
        }
        self.forced = forced;
        let mut core = self.ingredients(events);
        core.extend(open);
        core.sort_unstable();
        core.dedup();
        Some(core)
    }

    /// The flips that were called before the event `now` and had not returned.
    fn in_progress(&self, before: &[Event], now: Event) -> Vec<OpId> {
        let event = &self.history.operations[operation_of(now) as usize];
        let now = if is_return(now) { event.returned } else { event.invoked };
        let invoked = before.iter().filter(|event| !is_return(**event)).map(|e| operation_of(*e));
        let open = |id: &OpId| {
            self.history.operations[*id as usize].returned >= now
                && matches!((self.step)(*id), Step::Flip(_))
        };
        invoked.filter(open).collect()
    }

    fn forget(&mut self, events: &[Event]) {
        self.forced.clear();
        for event in events {
            self.progress[operation_of(*event) as usize] = Progress::Unknown;
        }
    }

    fn ingredients(&mut self, events: &[Event]) -> Vec<OpId> {
        let flips = |id: &OpId| matches!((self.step)(*id), Step::Flip(_));
        let mut core: Vec<OpId> = events.iter().map(|e| operation_of(*e)).filter(flips).collect();
        core.append(&mut self.forced);
        core.sort_unstable();
        core.dedup();
        core
    }
}
