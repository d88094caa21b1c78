//! A bit that operations flip and look at: one element of a set, or a lock.
//!
//! The rule is to be lazy: nothing takes effect before some operation returns that needs it. Then
//! the bit is flipped by the flips with the earliest deadlines, and all who wait to see the new
//! state see it. Exchanging two flips of the same kind in any explanation for the earlier deadline
//! first shows that the rule loses nothing, and values need not be unique. A pending flip has no
//! deadline and is used last. Start with [`Bit::run`].

use super::poll::{Halt, StopPoll, StopReason};
use super::timeline::{Event, is_return, operation_of};
use linchpin_history_data::{History, NEVER, OpId, Rank};
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
pub(crate) struct BitConflict {
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

/// A stretch of so many events is made as short as possible, a longer one only about so.
const EXACT: usize = 1 << 12;

/// How many events are looked at together.
const ROW: usize = 64;

type Deadlines = BinaryHeap<Reverse<(Rank, OpId)>>;

/// Runs over the events of one bit after the other; the memory is shared.
pub(crate) struct Bit<'a, S: Fn(OpId) -> Step> {
    history: &'a History,
    step: S,
    poll: &'a StopPoll<'a>,
    progress: Vec<Progress>,
    /// Flips that wait, by what they flip to.
    flips: [Deadlines; 2],
    /// Operations that wait to see a state, by that state.
    lookers: [Vec<OpId>; 2],
    state: bool,
    /// Who took effect, in order.
    pub(crate) order: Vec<OpId>,
    /// Those that only look and made the bit flip in the last run.
    forced: Vec<OpId>,
}

impl<'a, S: Fn(OpId) -> Step> Bit<'a, S> {
    /// Nothing has run yet.
    pub(crate) fn new(history: &'a History, step: S, poll: &'a StopPoll<'a>) -> Bit<'a, S> {
        Bit {
            history,
            step,
            poll,
            progress: vec![Progress::Unknown; history.operations.len()],
            flips: Default::default(),
            lookers: Default::default(),
            state: false,
            order: Vec::with_capacity(history.operations.len()),
            forced: Vec::new(),
        }
    }

    /// Explains the events of a bit that starts as `state`. Returns of operations whose invocation
    /// is not among the events are passed over.
    pub(crate) fn run(&mut self, events: &[Event], state: bool) -> Result<(), Halt<BitConflict>> {
        self.state = state;
        self.forced.clear();
        let outcome = self.explain(events);
        // INVARIANT: between runs no operation waits.
        self.flips.iter_mut().for_each(BinaryHeap::clear);
        self.lookers.iter_mut().for_each(Vec::clear);
        outcome
    }

    fn explain(&mut self, events: &[Event]) -> Result<(), Halt<BitConflict>> {
        for (at, event) in events.iter().enumerate() {
            self.poll.step()?;
            let id = operation_of(*event);
            match (is_return(*event), (self.step)(id)) {
                (false, Step::Flip(to)) => {
                    self.flips[usize::from(to)].push(Reverse((self.deadline(id), id)));
                    self.progress[id.index()] = Progress::Waits;
                }
                (false, Step::See(state)) if state == self.state => self.takes_effect(id),
                (false, Step::See(state)) => {
                    self.lookers[usize::from(state)].push(id);
                    self.progress[id.index()] = Progress::Waits;
                }
                (true, step) if self.progress[id.index()] == Progress::Waits => {
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
                            return Err(Halt::Fault(BitConflict { operation: id, at, needed }));
                        }
                    }
                    // INVARIANT: of the flips of its kind, the one that returns now has the
                    // earliest deadline.
                    if !looks {
                        self.flip();
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Flips the bit, if an operation can.
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
        self.progress[id.index()] = Progress::Done;
        self.order.push(id);
    }

    fn deadline(&self, id: OpId) -> Rank {
        let operation = &self.history[id];
        if operation.completed { operation.returned } else { NEVER }
    }

    /// Operations that show that the events up to where the last run was stuck have no explanation:
    /// all flips of a short stretch of time, and those who look and made the bit flip there. If it
    /// is stopped, the stretch is as short as it could be made by then.
    pub(crate) fn core(&mut self, events: &[Event], stuck: BitConflict) -> Vec<OpId> {
        let events = &events[..=stuck.at];
        // Of the whole run.
        let forced = std::mem::take(&mut self.forced);
        if let Ok(Some(core)) = self.shortest_stretch(events) {
            return core;
        }
        self.forced = forced;
        self.ingredients(events)
    }

    /// The core in a shortest stretch, but for one part in sixteen of a long one; nothing if only
    /// the whole will do.
    fn shortest_stretch(&mut self, events: &[Event]) -> Result<Option<Vec<OpId>>, StopReason> {
        let returns = self.latest_returns(events)?;
        let (mut short, mut long) = (1, 2);
        let mut core = None;
        while core.is_none() && long < events.len() {
            self.poll.ask(0)?;
            core = self.stretch(events, long, &returns);
            if core.is_none() {
                (short, long) = (long, 2 * long);
            }
        }
        let is_rough = |short, long| long - short > if long > EXACT { long / 16 } else { 1 };
        while core.is_some() && is_rough(short, long) && self.poll.ask(0).is_ok() {
            let middle = short + (long - short) / 2;
            match self.stretch(events, middle, &returns) {
                Some(smaller) => (core, long) = (Some(smaller), middle),
                None => short = middle,
            }
        }
        Ok(core)
    }

    /// For each row of [`ROW`] events, when the last flip that was called in it returned.
    fn latest_returns(&self, events: &[Event]) -> Result<Vec<Rank>, StopReason> {
        let mut latest = Vec::with_capacity(events.len() / ROW + 1);
        for row in events.chunks(ROW) {
            self.poll.step()?;
            let flips = self.flips_called(row);
            let returns = flips.map(|id| self.history[id].returned);
            latest.push(returns.max().unwrap_or(Rank::FIRST));
        }
        Ok(latest)
    }

    /// The flips whose calls are among the events.
    fn flips_called(&self, events: &[Event]) -> impl Iterator<Item = OpId> {
        let called = events.iter().filter(|event| !is_return(**event)).map(|e| operation_of(*e));
        called.filter(|id| matches!((self.step)(*id), Step::Flip(_)))
    }

    /// The core in the last `count` events, if they have no explanation whatever the bit was before
    /// and whichever of the operations in progress there had taken effect: flips in progress are
    /// optional and without a deadline.
    fn stretch(&mut self, events: &[Event], count: usize, returns: &[Rank]) -> Option<Vec<OpId>> {
        let (before, events) = events.split_at(events.len() - count);
        let open = self.in_progress(before, events[0], returns);
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
        core.sort();
        core.dedup();
        Some(core)
    }

    /// The flips that were called before the event `now` and had not returned. The `returns` are
    /// the [`Bit::latest_returns`].
    fn in_progress(&self, before: &[Event], now: Event, returns: &[Rank]) -> Vec<OpId> {
        let event = &self.history[operation_of(now)];
        let now = if is_return(now) { event.returned } else { event.invoked };
        let rows = before.chunks(ROW).zip(returns).filter(|(_, latest)| **latest >= now);
        let called = rows.flat_map(|(row, _)| self.flips_called(row));
        called.filter(|id| self.history[*id].returned >= now).collect()
    }

    fn forget(&mut self, events: &[Event]) {
        for event in events {
            self.progress[operation_of(*event).index()] = Progress::Unknown;
        }
    }

    /// All flips that have an event here, and those who look and made the bit flip.
    fn ingredients(&mut self, events: &[Event]) -> Vec<OpId> {
        // INVARIANT: ids are in the order of calls, so what was called here is sorted already.
        let mut core: Vec<OpId> = self.flips_called(events).collect();
        let first = core.first().copied();
        let returned = events.iter().filter(|event| is_return(**event)).map(|e| operation_of(*e));
        let called_before = |id: &OpId| {
            first.is_none_or(|first| *id < first) && matches!((self.step)(*id), Step::Flip(_))
        };
        let others: Vec<OpId> = returned.filter(called_before).collect();
        core.extend(others);
        core.append(&mut self.forced);
        core.sort();
        core.dedup();
        core
    }
}
