//! Counters to which every operation adds the same amount.
//!
//! The counter climbs in equal steps. A `read` needs it at one level; a `fetch-add` is itself the
//! step from the level it answered; the steps that no `fetch-add` claims are left to the `add`s. As
//! for a `bit.rs`, the rule is to be lazy: the counter climbs only when an operation returns that
//! needs it to, the `add`s with the earliest deadlines first, pending ones last. Start with
//! `Climb::run`. Where amounts differ but every change answers what it found, `fetch_add.rs`
//! follows the answers instead.

use super::deadline::{self, has_deadline};
use super::fetch_add;
use super::poll::{Halt, StopPoll, StopReason};
use super::sorting;
use super::timeline::{self, is_return, operation_of};
use linchpin_history_data::{
    Argument, History, Judgement, Monitored, NEVER, OpId, Rank, Sentences, ValueId, Violation,
    Witness, not_applicable,
};
use linchpin_spec::{Counter, Spec, Value};
use linchpin_verdict::Limits;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const NONE: u32 = u32::MAX;

/// Judges a history of a [`Counter`] that starts from `init`.
///
/// Exact if all amounts that are added are the same one (or zero), pending operations included
/// (where it depends on deadlines of theirs it may not apply). Exact also if amounts differ, but
/// all are added by completed `fetch-add`s that never lead to the same sum twice. Not applicable
/// otherwise.
pub fn check(history: &History, init: &Value, limits: &Limits) -> Monitored {
    let specification = Counter::default();
    let say = Sentences::new(history, specification.operations());
    let start = match init {
        Value::Null => 0,
        Value::Int(start) => *start,
        _ => return not_applicable(format!("{init} is not an integer")),
    };
    let poll = StopPoll::new(limits);
    if let Err(stopped) = poll.ask(50 * history.operations.len()) {
        return Ok(stopped.into());
    }
    let (mut amount, mut differ) = (0, false);
    for (id, operation) in history.operations.iter().enumerate() {
        if let Err(stopped) = poll.step() {
            return Ok(stopped.into());
        }
        if parse(history, OpId::new(id)).is_none() {
            let what = say.operation(OpId::new(id));
            return not_applicable(format!("{what} is not an operation of a counter"));
        }
        if usize::from(operation.operation) != Counter::READ {
            let this = int(history, operation.argument).unwrap_or(0);
            differ |= this != 0 && amount != 0 && this != amount;
            amount = if this == 0 { amount } else { this };
        }
    }
    if differ {
        return fetch_add::check(history, &say, start, &poll);
    }
    let most = match u32::try_from(history.operations.len()) {
        Ok(most) if most < NONE / 2 => most,
        _ => return not_applicable("the history is too long"),
    };
    let amount = if amount == 0 { 1 } else { amount };
    // why 128 bits: the sum does not wrap around, so neither may its distance from the start.
    let level = |sum: i128| {
        let (distance, amount) = (sum - i128::from(start), i128::from(amount));
        let is_level = distance % amount == 0 && distance / amount >= 0;
        // why not above `most`: so many additions there are not, which is all that matters.
        is_level.then(|| u32::try_from(distance / amount).map_or(most, |level| level.min(most)))
    };
    deadline::judge(history, &say, &poll, |ignore| {
        let mut climb = Climb::new(history);
        for id in history.ids() {
            if let Err(stopped) = poll.step() {
                return stopped.into();
            }
            match step(history, id, level) {
                Some(_) if ignore && has_deadline(history, id) => climb.steps.push(Step::Nothing),
                Some(step) => climb.steps.push(step),
                None => {
                    let explanation = format!(
                        "{} found a sum that no number of additions of {amount} to {start} gives{}",
                        say.operation(id),
                        overflow(history, id, level),
                    );
                    return Judgement::Violated(Violation {
                        core: vec![id],
                        blamed: vec![id],
                        explanation,
                        at: None,
                    });
                }
            }
        }
        match climb.run(&poll) {
            Ok(()) => Judgement::Holds(Witness { order: climb.order }),
            Err(Halt::Stopped(stopped)) => stopped.into(),
            Err(Halt::Fault(fault)) => climb
                .violation(&say, fault, &poll)
                .map_or_else(Judgement::from, Judgement::Violated),
        }
    })
}

/// What an operation does to the counter, given which level a sum is; `None` if it found a sum that
/// is no level.
fn step(history: &History, id: OpId, level: impl Fn(i128) -> Option<u32>) -> Option<Step> {
    let operation = &history[id];
    Some(match parse(history, id) {
        Some((0, Some(sum))) => Step::Read(level(sum.into())?),
        Some((_, Some(sum))) => Step::Claim(level(sum.into())?),
        Some((0, None)) if operation.completed => Step::Idle,
        None | Some((0, None)) => Step::Nothing,
        Some((_, None)) => Step::Add,
    })
}

/// What to say of an operation that found what is left of a right sum in 64 bits.
fn overflow(history: &History, id: OpId, level: impl Fn(i128) -> Option<u32>) -> String {
    let Some((_, Some(found))) = parse(history, id) else { return String::new() };
    let around = [1_i128 << 64, -(1_i128 << 64)].map(|turn| i128::from(found) + turn);
    let meant = around.into_iter().find(|sum| level(*sum).is_some());
    meant.map_or_else(String::new, |sum| format!("; it is {sum} after an overflow of 64 bits"))
}

/// What an operation adds, and the sum it found if it answered one. `None` if it is no operation of
/// a counter.
pub(super) fn parse(history: &History, id: OpId) -> Option<(i64, Option<i64>)> {
    let operation = &history[id];
    let found = || match operation.completed {
        true => int(history, operation.response).map(Some),
        false => Some(None),
    };
    match usize::from(operation.operation) {
        Counter::ADD => Some((int(history, operation.argument)?, None)),
        Counter::READ => Some((0, found()?)),
        Counter::FETCH_ADD => Some((int(history, operation.argument)?, found()?)),
        _ => None,
    }
}

fn int(history: &History, argument: Argument) -> Option<i64> {
    match argument {
        Argument::One(id) => history.values.get(ValueId(id.0)).as_int(),
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Raises the counter by one level, from wherever it is.
    Add,
    /// Raises the counter from this level.
    Claim(u32),
    /// Needs the counter at this level.
    Read(u32),
    /// Completed, and can take effect at any time.
    Idle,
    /// Pending, and changes nothing.
    Nothing,
}

#[derive(Clone, Copy)]
enum Fault {
    /// Both raise the counter from the same level.
    Twice(OpId, OpId),
    /// The counter had to be above the level of the operation before it was called.
    TooLow(OpId),
    /// The operation returned before the counter could reach its level.
    TooHigh(OpId),
}

/// A core, which of its operations the sentence is about, and the sentence.
type Shown = (Vec<OpId>, Vec<OpId>, String);

/// A counter that climbs, level by level.
struct Climb<'a> {
    history: &'a History,
    steps: Vec<Step>,
    /// The operation that claims the step from each level.
    claims: Vec<Option<OpId>>,
    /// The operations that wait to read each level: the last, and for each operation the one before
    /// it.
    readers: Vec<Option<OpId>>,
    reader_before: Vec<Option<OpId>>,
    adds: BinaryHeap<Reverse<(Rank, OpId)>>,
    done: Vec<bool>,
    level: u32,
    order: Vec<OpId>,
}

impl<'a> Climb<'a> {
    fn new(history: &'a History) -> Climb<'a> {
        let count = history.operations.len();
        Climb {
            history,
            steps: Vec::with_capacity(count),
            claims: vec![None; count + 1],
            readers: vec![None; count + 1],
            reader_before: vec![None; count],
            adds: BinaryHeap::new(),
            done: vec![false; count],
            level: 0,
            order: Vec::with_capacity(count),
        }
    }

    fn run(&mut self, poll: &StopPoll) -> Result<(), Halt<Fault>> {
        for (id, step) in self.steps.iter().enumerate() {
            poll.step()?;
            if let Step::Claim(level) = step {
                match self.claims[*level as usize].replace(OpId::new(id)) {
                    None => {}
                    Some(_) if *level as usize == self.steps.len() => {}
                    Some(other) => return Err(Halt::Fault(Fault::Twice(other, OpId::new(id)))),
                }
            }
        }
        for event in timeline::events(self.history, poll)? {
            poll.step()?;
            let id = operation_of(event);
            match (self.steps[id.index()], is_return(event)) {
                (Step::Add, false) => {
                    let operation = &self.history[id];
                    let deadline = if operation.completed { operation.returned } else { NEVER };
                    self.adds.push(Reverse((deadline, id)));
                }
                (Step::Claim(level) | Step::Read(level), false) if level < self.level => {
                    return Err(Halt::Fault(Fault::TooLow(id)));
                }
                (Step::Read(level), false) if level == self.level => self.takes_effect(id),
                (Step::Read(level), false) => {
                    self.reader_before[id.index()] = self.readers[level as usize].replace(id);
                }
                (Step::Idle, false) => self.takes_effect(id),
                (_, true) => {
                    while !self.done[id.index()] {
                        poll.step()?;
                        self.climb(id).map_err(Halt::Fault)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Climbs one level because `id` returns now.
    fn climb(&mut self, id: OpId) -> Result<(), Fault> {
        let returns = self.history[id].returned;
        let climber = match self.claims[self.level as usize] {
            None => match self.adds.pop() {
                Some(Reverse((_, add))) => add,
                None => return Err(Fault::TooHigh(id)),
            },
            Some(claimant) if self.history[claimant].invoked > returns => {
                return Err(Fault::TooLow(claimant));
            }
            Some(claimant) => claimant,
        };
        self.takes_effect(climber);
        self.level += 1;
        let mut next = self.readers[self.level as usize].take();
        while let Some(reader) = next {
            self.takes_effect(reader);
            next = self.reader_before[reader.index()];
        }
        Ok(())
    }

    fn takes_effect(&mut self, id: OpId) {
        self.done[id.index()] = true;
        self.order.push(id);
    }

    fn violation(
        &self,
        say: &Sentences,
        fault: Fault,
        poll: &StopPoll,
    ) -> Result<Violation, StopReason> {
        let (mut core, blamed, explanation) = match fault {
            Fault::Twice(one, other) => {
                let both = say.operations(&[one, other]);
                let explanation = format!("{both} found the same sum, and both changed it");
                (vec![one, other], vec![one, other], explanation)
            }
            Fault::TooLow(id) => self.too_low(say, id, poll)?,
            Fault::TooHigh(id) => self.too_high(say, id, poll)?,
        };
        sorting::in_rows(&mut core, poll)?;
        core.dedup();
        Ok(Violation { core, blamed, explanation, at: None })
    }

    /// The levels before and after an operation that knows its level.
    fn levels(&self, id: OpId) -> Option<(u32, u32)> {
        match self.steps[id.index()] {
            Step::Read(level) => Some((level, level)),
            Step::Claim(level) => Some((level, level + 1)),
            _ => None,
        }
    }

    /// How many of the steps from below each level up to `target` are claimed.
    fn claimed_below(&self, target: u32, poll: &StopPoll) -> Result<Vec<u32>, StopReason> {
        let mut claimed = vec![0u32; target as usize + 1];
        for level in 0..target as usize {
            poll.step()?;
            claimed[level + 1] = claimed[level] + u32::from(self.claims[level].is_some());
        }
        Ok(claimed)
    }

    /// The operations that claim a step between two levels.
    fn claims_between(&self, from: u32, to: u32) -> impl Iterator<Item = OpId> {
        self.claims[from as usize..to as usize].iter().copied().flatten()
    }

    /// Since `other` (or the start), more `add`s had returned before `id` was called than there are
    /// unclaimed steps to its level.
    fn too_low(&self, say: &Sentences, id: OpId, poll: &StopPoll) -> Result<Shown, StopReason> {
        let operations = &self.history.operations;
        let called = operations[id.index()].invoked;
        let target = self.levels(id).map_or(0, |(level, _)| level);
        let claimed = self.claimed_below(target, poll)?;
        let before = |other: &OpId| {
            let other = &operations[other.index()];
            other.completed && other.returned < called
        };
        let returned = timeline::by_return(self.history, poll)?;
        let known = returned
            .into_iter()
            .rev()
            .filter(|other| *other < id && before(other) && self.levels(*other).is_some());
        let is_add = |other: &OpId| before(other) && self.steps[other.index()] == Step::Add;
        let mut others = (0..id.index()).rev().map(OpId::new).filter(is_add).peekable();
        let mut adds = Vec::new();
        for other in known {
            poll.step()?;
            let returned = operations[other.index()].returned;
            while let Some(add) = others.next_if(|add| operations[add.index()].invoked > returned) {
                adds.push(add);
            }
            let level = self.levels(other).map_or(0, |(_, level)| level);
            let (one, two) = (say.operation(other), say.operation(id));
            if level > target {
                let explanation = format!(
                    "{one} returned before {two} was called, but found or left a later sum"
                );
                return Ok((vec![id, other], vec![id, other], explanation));
            }
            let room = target - level - (claimed[target as usize] - claimed[level as usize]);
            if adds.len() > room as usize {
                adds.truncate(room as usize + 1);
                let explanation = format!(
                    "{one} returned before {two} was called, and between the two {} were called and returned, \
                     although the two sums leave room for only {room}",
                    counted(adds.len(), "add")
                );
                adds.extend(self.claims_between(level, target));
                adds.extend([id, other]);
                return Ok((adds, vec![id, other], explanation));
            }
        }
        adds.extend(others);
        let room = target - claimed[target as usize];
        let explanation = format!(
            "{} found a sum that had been passed: {} had returned before it was called, and the sum leaves room for only {room}",
            say.operation(id),
            counted(adds.len(), "add")
        );
        adds.truncate(room as usize + 1);
        adds.extend(self.claims_between(0, target));
        adds.push(id);
        Ok((adds, vec![id], explanation))
    }

    /// Since `other` (or the start), fewer steps were called before `id` returned than lead to its
    /// level.
    fn too_high(&self, say: &Sentences, id: OpId, poll: &StopPoll) -> Result<Shown, StopReason> {
        let operations = &self.history.operations;
        let returned = operations[id.index()].returned;
        let target = self.levels(id).map_or(0, |(level, _)| level);
        let claimed = self.claimed_below(target, poll)?;
        let is_add = |other: &OpId| {
            let called = operations[other.index()].invoked < returned;
            called && self.steps[other.index()] == Step::Add
        };
        let adds: Vec<OpId> = self.history.ids().filter(is_add).collect();
        poll.ask(0)?;
        let mut returns: Vec<Rank> = adds.iter().map(|o| operations[o.index()].returned).collect();
        sorting::in_rows(&mut returns, poll)?;
        // The best other end is the highest from which `id` cannot be reached.
        let possible = |called: Rank, level: u32| {
            let adds = returns.len() - returns.partition_point(|add| *add < called);
            adds + (claimed[target as usize] - claimed[level as usize]) as usize
        };
        let unreachable = |other: &(OpId, u32)| {
            let (other, level) = *other;
            let called = operations[other.index()].invoked;
            level < target && possible(called, level) < (target - level) as usize
        };
        let mut other: Option<(OpId, u32)> = None;
        for id in self.history.ids() {
            poll.step()?;
            let level = self.levels(id).filter(|_| operations[id.index()].completed);
            if let Some((_, level)) = level
                && other.is_none_or(|(_, highest)| highest <= level)
                && unreachable(&(id, level))
            {
                other = Some((id, level));
            }
        }
        let (from, called) = match other {
            Some((other, level)) => (level, operations[other.index()].invoked),
            None => (0, Rank::FIRST),
        };
        let mut core = vec![id];
        core.extend(adds.into_iter().filter(|add| operations[add.index()].returned > called));
        // What claims a step elsewhere did not climb one of these, as its answer shows.
        let in_time = |id: &OpId| {
            let operation = &operations[id.index()];
            operation.invoked < returned && operation.returned > called
        };
        core.extend(self.claims.iter().copied().flatten().filter(in_time));
        core.extend(self.claims_between(from, target));
        core.extend(other.map(|(other, _)| other));
        let count = possible(called, from);
        let since = match other {
            Some((other, _)) => format!(" since {}", say.operation(other)),
            None => String::new(),
        };
        let explanation = format!(
            "{} found a sum that cannot have been reached: no more than {}{since} can have taken effect before it returned",
            say.operation(id),
            counted(count, "addition")
        );
        let blamed = [Some(id), other.map(|(other, _)| other)].into_iter().flatten().collect();
        Ok((core, blamed, explanation))
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
