//! One step, and what Definitions 5 and 6 and Theorem 2 of paper 004 ask of it.
//!
//! [`Explorer::advance`] is called for every transition. An update step may begin, continue or end
//! a critical sequence, interleave with others, disturb what they still do, and be noticed by
//! read-only operations; another step may be the last read of a call; a response needs a base
//! point.

use crate::alone::{Rest, rest};
use crate::code::line_of_step;
use crate::confirm::SpecSet;
use crate::explore::{Explorer, Here, LOST, Move};
use crate::finding::{Detail, Finding, Place};
use crate::note::{Answers, Note};
use crate::outcome::{Ending, Outcome, Words, changes_heap, is_update};
use crate::shared::Occurrence;
use crate::store::Step;
use linchpin_engine::Rule;
use linchpin_space::Flat;
use smallvec::SmallVec;
use std::rc::Rc;

impl Explorer<'_> {
    /// One way on: what it does to the notes, and what the definitions ask of it.
    pub fn advance(&mut self, here: &Here, made: &mut Move) {
        let thread = made.thread;
        let place = Place { state: here.id, thread, call: made.call };
        let mut next = Next { notes: here.notes.clone(), specified: here.specified, place };
        if let Some(call) = made.call {
            let seen = self.seen(here.shared.id, call);
            next.notes[thread] = Note::Before { call: call as u16, seen };
        }
        let mut shared = here.shared.clone();
        if is_update(self.space, &here.flat, &made.after) {
            made.critical = true;
            shared = self.shared.occurrence(self.space, &made.after, &mut self.workspace);
            self.update(here, made, &shared, &mut next);
        } else {
            self.read(here, made, &mut next);
            // An operation may still look at objects that it has unlinked.
            if changes_heap(self.space, &here.flat, &made.after) {
                let line = self.line_here(here, thread, &next);
                self.disturb(here, made, (line, &Outcome::nothing()), &mut next);
            }
        }
        let is_critical = |note: &Note| matches!(note, Note::Critical { .. });
        if is_critical(&next.notes[thread]) {
            made.goes_on = Some(next.notes.clone());
        }
        if let Some(answer) = made.answer.clone() {
            self.respond(here, thread, &answer, &mut next);
        }
        if next.specified != LOST {
            next.specified = self.confirm(&shared, next.specified, place);
        }
        let step =
            Step { from: here.id, thread: thread as u8, call: made.call.map(|call| call as u16) };
        self.insert(&made.after, &next.notes, next.specified, step);
    }

    /// The answer without update steps that a shared state is a base point for, if it is asked for.
    fn seen(&mut self, shared: u32, call: usize) -> Answers {
        if !self.treatment.as_read(self.shared.calls()[call].operation) {
            return 0;
        }
        let outcome = self.shared.outcome(self.space, shared, call, &mut self.workspace);
        outcome.pure_answer().map_or(0, |answer| self.bit(answer))
    }

    fn bit(&mut self, answer: &Words) -> Answers {
        match self.shared.answer(answer) {
            Some(number) => 1 << number,
            None => {
                self.overflow = true;
                0
            }
        }
    }

    fn operation(&self, call: usize) -> usize {
        self.shared.calls()[call].operation
    }

    /// An update step.
    fn update(&mut self, here: &Here, made: &Move, shared: &Occurrence, next: &mut Next) {
        let thread = made.thread;
        let Some(call) = next.notes[thread].call() else { return };
        let operation = self.operation(call);
        let actual = match here.notes[thread] {
            Note::Idle => {
                self.shared.outcome(self.space, here.shared.id, call, &mut self.workspace)
            }
            _ => Rc::new(self.rest(&here.flat, thread).outcome),
        };
        let line = self.line(operation, &actual);
        let changes = self.shared.changes(self.space, &here.shared, shared, &mut self.workspace);
        self.tally.update_step(operation, line, self.shared.calls(), &changes, next.place);
        let after = match &made.answer {
            Some(answer) => Rest::returned(answer.clone()),
            None => self.rest(&made.after, thread),
        };
        if let Note::Before { call: number, .. } = next.notes[thread] {
            self.tally.count(Rule::CriticalBasePoint, operation);
            let begins = (here.notes[thread] == Note::Idle)
                || self.is_base_point(&here.shared, call, &actual);
            next.notes[thread] = match begins {
                true => Note::Critical { call: number, interleaved: 0, changed: 0, ordered: false },
                false => {
                    let detail = Detail::Begins { call, actual: Rc::clone(&actual) };
                    self.fail(next, Rule::CriticalBasePoint, operation, None, line, detail);
                    Note::Lost { call: number }
                }
            };
        }
        if let Note::After { call: number } = next.notes[thread] {
            let detail = Detail::Begins { call, actual: Rc::clone(&actual) };
            self.fail(next, Rule::CriticalBasePoint, operation, None, line, detail);
            next.notes[thread] = Note::Lost { call: number };
        }
        let reading = (changes.outcomes & self.reads) | (changes.pure_answers & self.pure);
        if let Note::Critical { changed, ordered, .. } = &mut next.notes[thread] {
            *changed |= changes.outcomes;
            let was_ordered = *ordered;
            if reading != 0 {
                *ordered = true;
                if was_ordered {
                    let detail = Detail::TwoSteps { call, reads: reading };
                    self.fail(next, Rule::OneStep, operation, None, line, detail);
                } else {
                    self.take_effect(call, &after.outcome.ending, line, next);
                }
            }
            if after.outcome.updates.is_empty() {
                self.tally.count(Rule::OneStep, operation);
                if !was_ordered && reading == 0 {
                    self.take_effect(call, &after.outcome.ending, line, next);
                }
            }
        }
        self.interleave(thread, line, next);
        if after.outcome.updates.is_empty()
            && let Note::Critical { call, .. } = next.notes[thread]
        {
            self.tally.critical_over(operation, line);
            next.notes[thread] = Note::After { call };
        }
        self.disturb(here, made, (line, &actual), next);
        for other in 0..next.notes.len() {
            if let Note::Before { call, seen } = next.notes[other] {
                let more = self.seen(shared.id, usize::from(call));
                next.notes[other] = Note::Before { call, seen: seen | more };
            }
        }
    }

    /// Whether the shared state is a base point for exactly these steps of the call.
    fn is_base_point(&mut self, shared: &Occurrence, call: usize, actual: &Outcome) -> bool {
        let predicted = self.shared.outcome(self.space, shared.id, call, &mut self.workspace);
        let names = &shared.names;
        actual.equals(&predicted, |object| names.get(object as usize)?.checked_sub(1))
    }

    /// What others still have to do must be what it was (Definition 6.2, step by step).
    fn disturb(
        &mut self,
        here: &Here,
        made: &Move,
        (line, taken): (u32, &Outcome),
        next: &mut Next,
    ) {
        for other in (0..next.notes.len()).filter(|other| *other != made.thread) {
            let (Note::Critical { call, .. } | Note::After { call }) = here.notes[other] else {
                continue;
            };
            let before = self.rest(&here.flat, other);
            if !before.accesses {
                continue;
            }
            let after = self.rest(&made.after, other);
            if !before.outcome.equals(&after.outcome, Some) {
                let number = usize::from(call);
                let operation = self.operation(number);
                let by = next.notes[made.thread].call().map(|call| self.operation(call));
                let detail = Detail::Disturbed {
                    call: number,
                    helped: is_same_step(&before.outcome, taken),
                    before: Rc::new(before.outcome),
                    after: Rc::new(after.outcome),
                };
                self.fail(next, Rule::CriticalBasePoint, operation, by, line, detail);
                next.notes[other] = Note::Lost { call };
            }
        }
    }

    /// Critical sequences that interleave must preserve each other's base points (6.1).
    fn interleave(&mut self, thread: usize, line: u32, next: &mut Next) {
        let mine = match next.notes[thread] {
            Note::Critical { call, changed, .. } => (usize::from(call), changed),
            Note::After { call } => (usize::from(call), 0),
            _ => return,
        };
        for other in (0..next.notes.len()).filter(|other| *other != thread) {
            let Note::Critical { call, interleaved, changed, .. } = &mut next.notes[other] else {
                continue;
            };
            *interleaved |= 1 << mine.0;
            let (theirs, changed) = (usize::from(*call), *changed);
            if let Note::Critical { interleaved, .. } = &mut next.notes[thread] {
                *interleaved |= 1 << theirs;
            }
            let (operation, of) = (self.operation(mine.0), self.operation(theirs));
            self.tally.count(Rule::Preserve, operation);
            if mine.1 & (1 << theirs) != 0 {
                let detail = Detail::Changes { by: mine.0, of: theirs };
                self.fail(next, Rule::Preserve, operation, Some(of), line, detail);
            }
            if changed & (1 << mine.0) != 0 {
                let detail = Detail::Changes { by: theirs, of: mine.0 };
                self.fail(next, Rule::Preserve, of, Some(operation), line, detail);
            }
        }
        // Calls that have interleaved earlier and are over.
        if let Note::Critical { interleaved, changed, .. } = next.notes[thread] {
            let both = interleaved & changed;
            if both != 0 {
                let of = both.trailing_zeros() as usize;
                let (operation, other) = (self.operation(mine.0), self.operation(of));
                let detail = Detail::Changes { by: mine.0, of };
                self.fail(next, Rule::Preserve, operation, Some(other), line, detail);
            }
        }
    }

    /// A step that is no update: perhaps the last read of a call without update steps.
    fn read(&mut self, here: &Here, made: &mut Move, next: &mut Next) {
        let thread = made.thread;
        match next.notes[thread] {
            Note::Critical { .. } if made.accesses => {
                made.critical = true;
                let line = self.line_here(here, thread, next);
                self.interleave(thread, line, next);
            }
            Note::Before { call, .. } if made.accesses => {
                let call = usize::from(call);
                let operation = self.operation(call);
                if self.treatment.as_read(operation) {
                    return;
                }
                let ending = match &made.answer {
                    Some(answer) => Ending::Returns(answer.clone()),
                    None => match self.ending_if_last(&made.after, thread) {
                        Some(ending) => ending,
                        None => return,
                    },
                };
                made.critical = true;
                self.last_read(here, thread, call, ending, next);
            }
            _ => {}
        }
    }

    /// Whether a move of a thread that has taken no update step is its critical sequence, or the
    /// beginning of one.
    pub fn is_critical(&mut self, here: &Here, made: &Move) -> bool {
        let call = match (here.notes[made.thread], made.call) {
            (Note::Idle, Some(call)) => call,
            (Note::Before { call, .. }, _) => usize::from(call),
            _ => return false,
        };
        if is_update(self.space, &here.flat, &made.after) {
            return true;
        }
        made.accesses
            && !self.treatment.as_read(self.operation(call))
            && (made.answer.is_some() || self.ending_if_last(&made.after, made.thread).is_some())
    }

    /// How a thread ends, if it has no more access to make.
    fn ending_if_last(&mut self, after: &Flat, thread: usize) -> Option<Ending> {
        let (operation, node) = self.space.position(after, thread)?;
        if self.code.must_access(operation, node.0) {
            return None;
        }
        let rest = self.rest(after, thread);
        (!rest.accesses).then_some(rest.outcome.ending)
    }

    /// The last read of a call without update steps is its critical sequence (Definition 5).
    fn last_read(
        &mut self,
        here: &Here,
        thread: usize,
        call: usize,
        ending: Ending,
        next: &mut Next,
    ) {
        let operation = self.operation(call);
        let line = self.line_here(here, thread, next);
        self.tally.count(Rule::LastRead, operation);
        let predicted = self.shared.outcome(self.space, here.shared.id, call, &mut self.workspace);
        let answers = |answer: &Words| ending == Ending::Returns(answer.clone());
        if predicted.pure_answer().is_some_and(answers) {
            next.notes[thread] = Note::After { call: call as u16 };
            self.take_effect(call, &ending, line, next);
            self.interleave(thread, line, next);
        } else {
            let actual = Rc::new(Outcome { updates: Vec::new(), ending });
            let detail = Detail::Begins { call, actual };
            self.fail(next, Rule::LastRead, operation, None, line, detail);
            next.notes[thread] = Note::Lost { call: call as u16 };
        }
    }

    /// The response of a call.
    fn respond(&mut self, here: &Here, thread: usize, answer: &Words, next: &mut Next) {
        if let Note::Before { call, seen } = next.notes[thread] {
            let call = usize::from(call);
            let operation = self.operation(call);
            if self.treatment.as_read(operation) {
                self.tally.count(Rule::ReadBasePoint, operation);
                if seen & self.bit(answer) == 0 {
                    let line = self.line_here(here, thread, next);
                    let detail = Detail::NeverSeen { call, answer: answer.clone() };
                    self.fail(next, Rule::ReadBasePoint, operation, None, line, detail);
                }
            } else {
                // It has accessed nothing: any state will do, and this is the one at hand.
                self.last_read(here, thread, call, Ending::Returns(answer.clone()), next);
            }
        }
        next.notes[thread] = Note::Idle;
    }

    /// The call takes effect here, in the order that the proof of Theorem 2 builds.
    fn take_effect(&mut self, call: usize, ending: &Ending, line: u32, next: &mut Next) {
        if next.specified == LOST {
            return;
        }
        let of = &self.shared.calls()[call];
        let operation = of.operation;
        self.tally.count(Rule::Confirmation, operation);
        let after = match ending {
            Ending::Returns(answer) => {
                self.specification.apply(self.space, next.specified, (call, of), answer)
            }
            // Without an answer there is nothing to order.
            Ending::Blocks | Ending::Fails | Ending::Endless => None,
        };
        match after {
            Some(set) => next.specified = set,
            None => {
                let detail = Detail::NotSpecified { call, ending: ending.clone() };
                self.fail(next, Rule::Confirmation, operation, None, line, detail);
            }
        }
    }

    /// In a shared state every read-only call alone answers what the specification says.
    pub fn confirm(&mut self, shared: &Occurrence, specified: SpecSet, place: Place) -> SpecSet {
        if !self.confirmed.insert((shared.id, specified)) {
            return specified;
        }
        let mut next = Next { notes: SmallVec::new(), specified, place };
        for call in 0..self.shared.calls().len() {
            if (self.reads | self.pure) & (1 << call) == 0 {
                continue;
            }
            let outcome = self.shared.outcome(self.space, shared.id, call, &mut self.workspace);
            let Some(answer) = outcome.pure_answer() else { continue };
            let of = &self.shared.calls()[call];
            let operation = of.operation;
            self.tally.count(Rule::Confirmation, operation);
            let right =
                self.specification.answers_unchanged(self.space, specified, (call, of), answer);
            if !right {
                let ending = Ending::Returns(answer.clone());
                let detail = Detail::NotSpecified { call, ending };
                self.fail(&mut next, Rule::Confirmation, operation, None, 0, detail);
                self.confirmed.remove(&(shared.id, specified));
                break;
            }
        }
        next.specified
    }

    fn fail(
        &mut self,
        next: &mut Next,
        rule: Rule,
        operation: usize,
        other: Option<usize>,
        line: u32,
        detail: Detail,
    ) {
        next.specified = LOST;
        let place = next.place;
        self.findings.add(Finding { rule, operation, other, line, place, detail });
    }

    pub fn rest(&mut self, flat: &Flat, thread: usize) -> Rest {
        rest(self.space, flat, thread, &mut self.workspace)
    }

    /// The line of the first update step of an outcome.
    fn line(&self, operation: usize, outcome: &Outcome) -> u32 {
        let first = outcome.updates.first();
        first.map_or(0, |update| line_of_step(self.program(), operation, update.node))
    }

    /// The line of a move.
    pub fn line_of_move(&self, here: &Here, made: &Move) -> u32 {
        match self.space.position(&here.flat, made.thread) {
            Some((operation, node)) => line_of_step(self.program(), operation, node.0),
            None => {
                let operation = made.call.map(|call| self.operation(call));
                operation.map_or(0, |operation| self.program().operations[operation].line)
            }
        }
    }

    /// The line where a thread is about to step.
    fn line_here(&self, here: &Here, thread: usize, next: &Next) -> u32 {
        match self.space.position(&here.flat, thread) {
            Some((operation, node)) => line_of_step(self.program(), operation, node.0),
            None => {
                let call = next.notes[thread].call().map(|call| self.operation(call));
                call.map_or(0, |operation| self.program().operations[operation].line)
            }
        }
    }
}

/// Whether two outcomes begin with the same change.
fn is_same_step(one: &Outcome, other: &Outcome) -> bool {
    match (one.updates.first(), other.updates.first()) {
        (Some(one), Some(other)) => one.label == other.label,
        _ => false,
    }
}

/// The state after a move, in the making.
struct Next {
    notes: SmallVec<[Note; 4]>,
    specified: SpecSet,
    place: Place,
}
