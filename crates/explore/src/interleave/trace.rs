//! The accesses of an execution and what happens before what among them: the relation `→E` of
//! source-DPOR.
//!
//! Two accesses are dependent if they are of one thread, or of one place and one of them writes, or
//! one starts the thread of the other. An access after a turn of a spin loop also reads all places
//! that the loop waits for.

use super::clock::Clocks;
use super::schedule::Step;
use super::state::{Ask, Effect, State};
use crate::threads::ThreadId;

/// The accesses of an execution so far.
#[derive(Default)]
pub(super) struct Trace {
    /// Which thread made each step.
    pub(super) threads: Vec<ThreadId>,
    /// The number of each step among those of its thread, from 1.
    numbers: Vec<u32>,
    /// What happens before each step.
    clocks: Clocks,
    /// The steps of each thread.
    positions: Vec<Vec<u32>>,
    /// What happens before the next step of each thread, so far as it is known.
    next: Clocks,
    /// The accesses of each place; there may be more lists than places.
    accesses: Vec<Vec<Access>>,
    /// What happens before the next read of each place, and before the next write.
    before_read: Clocks,
    before_write: Clocks,
    width: usize,
}

/// An access of a place.
#[derive(Clone, Copy)]
pub(super) struct Access {
    /// Which step of the execution.
    pub(super) step: usize,
    pub(super) writes: bool,
    /// What the place held before and after.
    before: u64,
    after: u64,
}

impl Trace {
    pub(super) fn clear(&mut self) {
        self.width = self.width.max(4);
        self.threads.clear();
        self.numbers.clear();
        self.positions.iter_mut().for_each(Vec::clear);
        self.accesses.iter_mut().for_each(Vec::clear);
        for clocks in
            [&mut self.clocks, &mut self.next, &mut self.before_read, &mut self.before_write]
        {
            clocks.clear(self.width);
        }
    }

    /// How many steps there are.
    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    /// A thread starts another one.
    pub(super) fn spawned(&mut self, parent: Option<ThreadId>, child: ThreadId) {
        if child >= self.width {
            self.width = (child + 1).next_power_of_two();
            for clocks in
                [&mut self.clocks, &mut self.next, &mut self.before_read, &mut self.before_write]
            {
                clocks.widen(self.width);
            }
        }
        self.next.push();
        if self.positions.len() <= child {
            self.positions.push(Vec::new());
        }
        if let Some(parent) = parent {
            for thread in 0..self.width {
                self.next.row_mut(child)[thread] = self.next.row(parent)[thread];
            }
        }
    }

    /// All that was done happens before all that follows.
    pub(super) fn barrier(&mut self) {
        for thread in 0..self.next.len() {
            for (other, positions) in self.positions.iter().enumerate().take(self.next.len()) {
                self.next.row_mut(thread)[other] = positions.len() as u32;
            }
        }
    }

    /// Adds a step; the state is the one before it.
    pub(super) fn push(&mut self, state: &State, step: &Step<'_>) {
        let position = self.len();
        let Step { thread, ask, before, wrote } = *step;
        let waits = state.waits(thread).iter().map(|&(place, _)| place);
        let waits = waits.filter(|&place| place != ask.index);
        self.reach(state.values.len());
        self.clocks.push();
        self.clocks.set(position, self.next.row(thread));
        self.positions[thread].push(position as u32);
        let number = self.positions[thread].len() as u32;
        self.clocks.row_mut(position)[thread] = number;
        let before_this = if wrote.is_some() { &self.before_write } else { &self.before_read };
        self.clocks.join(position, before_this.row(ask.index));
        for place in waits.clone() {
            self.clocks.join(position, self.before_read.row(place));
        }
        let line = ask.line.filter(|_| wrote.is_some());
        if let Some(line) = line {
            self.clocks.join(position, self.before_write.row(line));
        }

        let clock = self.clocks.row(position);
        self.next.set(thread, clock);
        self.before_write.join(ask.index, clock);
        if wrote.is_some() {
            self.before_read.join(ask.index, clock);
        }
        let access = Access {
            step: position,
            writes: wrote.is_some(),
            before,
            after: wrote.unwrap_or(before),
        };
        self.accesses[ask.index].push(access);
        for place in waits {
            self.before_write.join(place, clock);
            let value = state.values[place];
            let access = Access { step: position, writes: false, before: value, after: value };
            self.accesses[place].push(access);
        }
        if let Some(line) = line {
            self.before_write.join(line, clock);
            self.before_read.join(line, clock);
            let access = Access { step: position, writes: true, before: 0, after: 0 };
            self.accesses[line].push(access);
        }
        self.threads.push(thread);
        self.numbers.push(number);
    }

    fn reach(&mut self, places: usize) {
        if self.accesses.len() < places {
            self.accesses.resize_with(places, Vec::new);
        }
        self.before_read.reach(places);
        self.before_write.reach(places);
    }

    /// The accesses of a place so far.
    pub(super) fn accesses(&self, place: usize) -> &[Access] {
        self.accesses.get(place).map_or(&[], Vec::as_slice)
    }

    /// What happens before a step, and the step.
    pub(super) fn clock(&self, step: usize) -> &[u32] {
        self.clocks.row(step)
    }

    /// What happens before the next step of a thread because of what it did so far.
    pub(super) fn next_clock(&self, thread: ThreadId) -> &[u32] {
        self.next.row(thread)
    }

    /// Whether a clock knows a step.
    pub(super) fn knows(&self, clock: &[u32], step: usize) -> bool {
        clock[self.threads[step]] >= self.numbers[step]
    }

    /// Whether one step happens before another one, or is it.
    pub(super) fn precedes(&self, first: usize, second: usize) -> bool {
        self.knows(self.clock(second), first)
    }

    /// Whether a clock of a thread knows no steps of other threads at or after this one.
    fn knows_nothing_since(&self, clock: &[u32], thread: ThreadId, step: usize) -> bool {
        clock.iter().enumerate().all(|(other, &number)| {
            other == thread
                || number == 0
                || (self.positions[other][number as usize - 1] as usize) < step
        })
    }

    /// Whether a step does not depend on any that came at or after another one.
    pub(super) fn is_initial(&self, step: usize, since: usize) -> bool {
        self.knows_nothing_since(self.clock(step), self.threads[step], since)
    }

    /// What a place held if a step and all that happen after it had not been made.
    fn value_without(&self, place: usize, step: usize, state: &State) -> u64 {
        let accesses = self.accesses(place);
        let kept = accesses.iter().rev().find(|access| {
            access.writes && (access.step < step || !self.precedes(step, access.step))
        });
        match (kept, accesses.first()) {
            (Some(kept), _) => kept.after,
            (None, Some(first)) => first.before,
            (None, None) => state.values[place],
        }
    }

    /// What the access of a thread would do if a step and all that happen after it had not been
    /// made.
    pub(super) fn effect_without(&self, ask: &Ask, step: usize, state: &State) -> Effect {
        ask.effect(self.value_without(ask.index, step, state))
    }

    /// Whether a thread could make its access if a step and all that happen after it had not been
    /// made: whether the race with it can be reversed.
    pub(super) fn enabled_without(&self, thread: ThreadId, step: usize, state: &State) -> bool {
        let Some(ask) = &state.asks[thread] else { return false };
        if ask.may_block() && self.effect_without(ask, step, state) == Effect::Blocked {
            return false;
        }
        let waits = state.waits(thread);
        waits.is_empty()
            || waits.iter().any(|&(place, old)| self.value_without(place, step, state) != old)
    }

    /// Whether the access of a thread depends on no step that came after another one, but for those
    /// that happen after that.
    pub(super) fn next_is_initial(&self, thread: ThreadId, since: usize, state: &State) -> bool {
        let Some(ask) = &state.asks[thread] else { return false };
        let writes = matches!(self.effect_without(ask, since, state), Effect::Write(_));
        let kept = |access: &&Access| access.step > since && !self.precedes(since, access.step);
        let conflict = |place, writes| {
            let later = self.accesses(place).iter().rev().take_while(|a| a.step > since);
            later.filter(kept).any(|access| writes || access.writes)
        };
        self.knows_nothing_since(self.next_clock(thread), thread, since)
            && !conflict(ask.index, writes)
            && !ask.line.is_some_and(|line| writes && conflict(line, true))
            && !state.waits(thread).iter().any(|&(place, _)| conflict(place, false))
    }
}
