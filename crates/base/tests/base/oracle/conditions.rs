//! The conditions: Definition 6 and Theorem 2, each from the history of one execution.
//!
//! A call is judged when it answers, together with every call that has answered before it; what is
//! still pending where an execution ends is judged there.

use super::alone::Ending;
use super::explore::Judge;
use super::history::History;
use super::label::{Label, Namer};
use super::shared::changed;
use linchpin_engine::Rule;
use std::collections::BTreeSet;

impl Judge<'_> {
    /// Judges a call that has just answered.
    pub fn check_answered(&mut self, history: &History, call: usize) {
        self.check_call(history, call);
        for other in 0..history.calls.len() {
            if other != call && history.calls[other].responded.is_some() {
                self.check_pair(history, call, other);
            }
        }
    }

    /// Judges the calls that have not answered.
    pub fn check_pending(&mut self, history: &History) {
        let pending = |call: &usize| history.calls[*call].responded.is_none();
        for call in (0..history.calls.len()).filter(pending) {
            self.check_call(history, call);
            for other in (0..history.calls.len()).filter(|other| *other != call) {
                self.check_pair(history, call, other);
            }
        }
    }

    fn check_call(&mut self, history: &History, call: usize) {
        let operation = history.calls[call].operation;
        let updates = history.updates(call);
        if !self.judged.updates.contains(&operation) {
            self.check_base_point(history, call);
        } else if !updates.is_empty() {
            self.check_critical_base_point(history, call, &updates);
            self.check_one_step(history, &updates);
        } else if self.asked.read_only.contains(&operation) {
            self.check_base_point(history, call);
        } else {
            self.check_last_read(history, call);
        }
    }

    /// Definition 6.2 for a call with update steps.
    fn check_critical_base_point(&mut self, history: &History, call: usize, updates: &[usize]) {
        let record = &history.calls[call];
        let base = history.shared[updates[0]];
        let alone = self.alone(base, record.call);
        let taken = self.labels(history, updates);
        let fits = match &record.answer {
            Some(answer) => {
                alone.labels == taken && alone.ending == Ending::Returns(answer.clone())
            }
            // It is pending: the base point may have more to do.
            None => alone.labels.starts_with(&taken),
        };
        if !fits {
            self.breaks(Rule::CriticalBasePoint, history);
        }
    }

    /// The labels of the update steps of a call.
    fn labels(&self, history: &History, updates: &[usize]) -> Vec<Label> {
        let base = &self.shared[history.shared[updates[0]]].0;
        let mut namer = Namer::new(self.machine.program(), base);
        let label = |&at: &usize| {
            let before = &self.shared[history.shared[at]].0;
            let after = &history.states[at + 1];
            namer.label(history.moves[at].node, before, after, &changed(before, after))
        };
        updates.iter().map(label).collect()
    }

    /// Definition 6.2 for a call without update steps.
    fn check_last_read(&mut self, history: &History, call: usize) {
        let record = &history.calls[call];
        let (Some(answer), Some(last)) = (&record.answer, history.last_access(call)) else {
            return;
        };
        let alone = self.alone(history.shared[last], record.call);
        if alone.answer_without_updates() != Some(answer) {
            self.breaks(Rule::LastRead, history);
        }
    }

    /// Theorem 2, condition 2.
    fn check_base_point(&mut self, history: &History, call: usize) {
        let record = &history.calls[call];
        let (Some(answer), Some(responded)) = (&record.answer, record.responded) else { return };
        let update = self.judged.updates.contains(&record.operation);
        let during: BTreeSet<usize> =
            history.shared[record.invoked..=responded].iter().copied().collect();
        let is_base_point = |&shared: &usize| {
            let alone = self.alone(shared, record.call);
            (!update || alone.labels.is_empty()) && alone.ending == Ending::Returns(answer.clone())
        };
        if !during.iter().any(is_base_point) {
            self.breaks(Rule::ReadBasePoint, history);
        }
    }

    /// Theorem 2, condition 1.
    fn check_one_step(&mut self, history: &History, updates: &[usize]) {
        let seen = |at: &&usize| self.is_seen(history.shared[**at], history.shared[**at + 1]);
        if updates.iter().filter(seen).count() > 1 {
            self.breaks(Rule::OneStep, history);
        }
    }

    /// Whether a step between two shared states does not preserve some read-only call.
    fn is_seen(&mut self, before: usize, after: usize) -> bool {
        if let Some(known) = self.seen_by_readers.get(&(before, after)) {
            return *known;
        }
        let mut seen = false;
        for call in 0..self.calls.len() {
            let operation = self.calls[call].operation;
            let (old, new) = (self.alone(before, call), self.alone(after, call));
            seen |= if !self.judged.updates.contains(&operation) {
                old != new
            } else {
                self.asked.read_only.contains(&operation)
                    && old.answer_without_updates() != new.answer_without_updates()
            };
        }
        self.seen_by_readers.insert((before, after), seen);
        seen
    }

    /// The critical sequence of a call (Definition 5): its moves.
    fn critical(&self, history: &History, call: usize) -> Vec<usize> {
        let record = &history.calls[call];
        let updates = history.updates(call);
        if let (Some(&first), Some(&last)) = (updates.first(), updates.last()) {
            let within = |at: &usize| (first..=last).contains(at);
            return record.steps.iter().copied().filter(within).collect();
        }
        let last_read = self.judged.updates.contains(&record.operation)
            && !self.asked.read_only.contains(&record.operation)
            && record.answer.is_some();
        history.last_access(call).filter(|_| last_read).into_iter().collect()
    }

    /// Definition 6.1 for two calls.
    fn check_pair(&mut self, history: &History, one: usize, other: usize) {
        let (first, second) = (self.critical(history, one), self.critical(history, other));
        if !interleave(&first, &second) && !interleave(&second, &first) {
            return;
        }
        if !self.preserves(history, one, other) || !self.preserves(history, other, one) {
            self.breaks(Rule::Preserve, history);
        }
        let steps: Vec<usize> = {
            let mut steps: Vec<usize> =
                history.calls.iter().flat_map(|call| call.steps.iter().copied()).collect();
            steps.sort_unstable();
            steps
        };
        for next in steps.windows(2) {
            let (a, b) = (next[0], next[1]);
            let both = first.contains(&a) && second.contains(&b)
                || second.contains(&a) && first.contains(&b);
            if both && !self.commute(history, a, b) {
                self.breaks(Rule::Commute, history);
            }
        }
    }

    /// Whether every update step of a call preserves the base points of another call.
    fn preserves(&mut self, history: &History, call: usize, other: usize) -> bool {
        let other = history.calls[other].call;
        let updates = history.updates(call);
        updates.iter().all(|&at| {
            self.alone(history.shared[at], other) == self.alone(history.shared[at + 1], other)
        })
    }
}

/// Whether a step of the second sequence is between two steps of the first.
fn interleave(first: &[usize], second: &[usize]) -> bool {
    match (first.first(), first.last()) {
        (Some(from), Some(to)) => second.iter().any(|at| from < at && at < to),
        _ => false,
    }
}
