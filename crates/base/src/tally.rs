//! How often each condition was checked, and what each update step does to base points.

use crate::alone::Call;
use crate::finding::Place;
use crate::shared::Changes;
use linchpin_engine::Rule;
use std::collections::BTreeMap;

/// What an update step did to the base points of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Transitions in which all its base points were preserved.
    pub preserved: usize,
    /// Transitions in which some were not.
    pub changed: usize,
    /// The first of those, and the call that it changes.
    pub witness: Option<(Place, usize)>,
}

/// Counts over an exploration.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    checks: BTreeMap<(Rule, usize), usize>,
    operations: usize,
    /// For each operation and line with an update step: what it does to each operation.
    pub steps: BTreeMap<(usize, u32), Vec<Effects>>,
    /// The lines of steps that ended a critical sequence, by operation.
    pub last_lines: BTreeMap<(usize, u32), usize>,
}

impl Tally {
    /// Nothing yet.
    pub fn new(operations: usize) -> Tally {
        Tally { operations, ..Tally::default() }
    }

    /// A rule was checked for an operation.
    pub fn count(&mut self, rule: Rule, operation: usize) {
        *self.checks.entry((rule, operation)).or_default() += 1;
    }

    /// How often a rule was checked for an operation.
    pub fn checks(&self, rule: Rule, operation: usize) -> usize {
        self.checks.get(&(rule, operation)).copied().unwrap_or(0)
    }

    /// An update step was taken.
    pub fn update_step(
        &mut self,
        operation: usize,
        line: u32,
        calls: &[Call],
        changes: &Changes,
        place: Place,
    ) {
        let count = self.operations;
        let row =
            self.steps.entry((operation, line)).or_insert_with(|| vec![Effects::default(); count]);
        for (of, effects) in row.iter_mut().enumerate() {
            let mut mine = calls.iter().enumerate().filter(|(_, call)| call.operation == of);
            match mine.find(|(number, _)| changes.outcomes & (1 << number) != 0) {
                None => effects.preserved += 1,
                Some((number, _)) => {
                    effects.changed += 1;
                    effects.witness.get_or_insert((place, number));
                }
            }
        }
    }

    /// A critical sequence has ended with the step at this line.
    pub fn critical_over(&mut self, operation: usize, line: u32) {
        *self.last_lines.entry((operation, line)).or_default() += 1;
    }
}
