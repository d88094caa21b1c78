//! Steps that only observe are put together with the next step of their operation, where what they
//! saw is still true then.
//!
//! What a step saw may be tested at the next step instead if no step of another operation can make
//! it false in between, as long as what the operation goes on to find holds too. What it goes on to
//! find may be used for the time in between if it cannot become true again once it is false
//! ([`Questions::held_until`]): `t.next == NULL` is such a condition, and while it holds no step
//! moves `tail` away from `t`. A condition may also be left out: then the sub-operations can do
//! more than the code, and a proof for them is one for the code.

use crate::build::condition_of;
use crate::path::{Path, Step};
use crate::simplify::reading;
use crate::symbol::{is_local, symbols_of};
use linchpin_reduce::{At, Questions};
use linchpin_subop::model::{Condition, Model, OperationId};

/// A path with fewer steps.
#[derive(Clone, Debug)]
pub struct Merged {
    pub path: Path,
    /// Steps that only observe, and without which the sub-operations may do more than the code.
    pub optional: Vec<usize>,
    /// What was done and why.
    pub notes: Vec<String>,
}

/// Merges the steps of the path that is `operation` of the model.
pub fn merged(model: &Model, questions: &Questions, operation: OperationId, path: &Path) -> Merged {
    let visible = path.visible();
    let throughout = throughout(questions, operation, path);
    let mut merging = Merging {
        model,
        questions,
        operation,
        path,
        visible,
        throughout,
        steps: Vec::new(),
        optional: Vec::new(),
        notes: Vec::new(),
    };
    merging.merge();
    let Merging { steps, mut optional, notes, .. } = merging;
    optional.retain(|at| !is_needed(path, &steps, *at));
    Merged { path: Path { steps, ..path.clone() }, optional, notes }
}

/// For the time after each step: conditions that hold throughout because they hold at the end of
/// it.
fn throughout(questions: &Questions, operation: OperationId, path: &Path) -> Vec<Vec<Condition>> {
    let count = path.steps.len();
    let set = path.set_at();
    let mut throughout: Vec<Vec<Condition>> = vec![Vec::new(); count];
    for at in (0..count.saturating_sub(1)).rev() {
        let mut later = path.steps[at + 1].conditions.clone();
        if path.steps[at + 1].is_pure() {
            later.extend(throughout[at + 1].iter().cloned());
        }
        later.retain(|condition| {
            !is_local(condition)
                && symbols_of(condition).iter().all(|id| set[id.0].is_some_and(|first| first <= at))
        });
        let renamed: Vec<Condition> =
            later.iter().filter_map(|condition| condition_of(path, condition)).collect();
        let held = questions.held_until(At { operation, steps: at + 1 }, &renamed);
        later.retain(|condition| {
            condition_of(path, condition).is_some_and(|renamed| held.contains(&renamed))
        });
        for condition in later {
            if !throughout[at].contains(&condition) {
                throughout[at].push(condition);
            }
        }
    }
    throughout
}

/// Whether a step cannot be left out: a value is read there only, and the operation stores or
/// answers it.
fn is_needed(path: &Path, steps: &[Step], at: usize) -> bool {
    let read = |step: &Step| step.conditions.iter().filter_map(reading).collect::<Vec<_>>();
    let elsewhere = |id| {
        let mut others = steps.iter().enumerate().filter(|(other, _)| *other != at);
        others.any(|(_, step)| read(step).iter().any(|(_, known)| *known == id))
    };
    let mut used = path.result_symbols();
    used.extend(steps.iter().flat_map(|step| &step.statements).flat_map(symbols_of));
    read(&steps[at]).iter().any(|(_, id)| used.contains(id) && !elsewhere(*id))
}

/// A path whose steps are being merged.
struct Merging<'a> {
    model: &'a Model,
    questions: &'a Questions<'a>,
    operation: OperationId,
    path: &'a Path,
    visible: Vec<bool>,
    throughout: Vec<Vec<Condition>>,
    steps: Vec<Step>,
    optional: Vec<usize>,
    notes: Vec<String>,
}

/// What becomes of the conditions of a step that only observes.
#[derive(Default)]
struct Observed {
    /// Still true at the next step: they may be tested there.
    moved: Vec<Condition>,
    /// Perhaps false there, and not tested again.
    fixed: Vec<Condition>,
}

impl Merging<'_> {
    fn merge(&mut self) {
        let count = self.path.steps.len();
        let mut carried: Vec<Condition> = Vec::new();
        for (at, step) in self.path.steps.iter().enumerate() {
            let mut step = step.clone();
            for condition in carried.drain(..) {
                if !step.conditions.contains(&condition) {
                    step.conditions.push(condition);
                }
            }
            let last = at + 1 == count;
            if !step.is_pure() || step.attempt.is_some() || last {
                if last && step.is_pure() {
                    self.optional.push(self.steps.len());
                }
                self.steps.push(step);
                continue;
            }
            let observed = self.observed(at, &step);
            if observed.fixed.is_empty() {
                carried = observed.moved;
                continue;
            }
            for condition in &observed.fixed {
                let (text, next) = (self.text(condition), self.path.steps[at + 1].line);
                self.notes.push(format!(
                    "line {}: `{text}` may be false at line {next}: a sub-operation of its own",
                    step.line
                ));
            }
            self.optional.push(self.steps.len());
            self.steps.push(step);
        }
    }

    /// Tells the conditions of a step that only observes apart, and notes why.
    fn observed(&mut self, at: usize, step: &Step) -> Observed {
        let given = self.given(at);
        let mut observed = Observed::default();
        for condition in &step.conditions {
            if is_local(condition) {
                observed.moved.push(condition.clone());
                continue;
            }
            let kept = condition_of(self.path, condition).is_some_and(|renamed| {
                let here = At { operation: self.operation, steps: at + 1 };
                self.questions.is_kept(here, &renamed, &given)
            });
            let mut later = self.path.steps[at + 1..].iter();
            let again = later.find(|later| later.conditions.contains(condition));
            let text = self.text(condition);
            match (kept, again) {
                (true, _) => {
                    let while_true = self.while_true(at, condition);
                    let next = self.path.steps[at + 1].line;
                    self.notes.push(format!(
                        "line {}: `{text}` is still true at line {next}{while_true}",
                        step.line
                    ));
                    observed.moved.push(condition.clone());
                }
                (false, Some(later)) => self.notes.push(format!(
                    "line {}: `{text}` is tested again at line {}: a guess until then",
                    step.line, later.line
                )),
                (false, None) => observed.fixed.push(condition.clone()),
            }
        }
        observed
    }

    /// What may be used for the time between a step and the next one.
    fn given(&self, at: usize) -> Vec<Condition> {
        let (path, count) = (self.path, self.path.steps.len());
        let end = (at + 1..count).find(|next| self.visible[*next]).map_or(count, |next| next + 1);
        let steps = path.steps[path.segment(&self.visible, at)..end].iter();
        let local = steps.flat_map(|step| &step.conditions).filter(|condition| is_local(condition));
        let given = local.chain(&self.throughout[at]);
        given.filter_map(|condition| condition_of(path, condition)).collect()
    }

    /// The other conditions that hold in between, for people.
    fn while_true(&self, at: usize, condition: &Condition) -> String {
        let others = self.throughout[at].iter().filter(|known| *known != condition);
        match &others.map(|other| self.text(other)).collect::<Vec<_>>()[..] {
            [] => String::new(),
            parts => format!(", while {}", parts.join(", ")),
        }
    }

    fn text(&self, condition: &Condition) -> String {
        let names = linchpin_subop::Names::of(self.model, &self.model.operations[self.operation.0]);
        condition_of(self.path, condition)
            .map_or(String::new(), |renamed| names.condition(&renamed))
    }
}

/// Adds to the last step what was seen before it and holds for good.
pub fn with_facts(
    questions: &Questions,
    operation: OperationId,
    mut merged: Merged,
    path: &Path,
) -> Merged {
    let before = At { operation, steps: path.steps.len().saturating_sub(1) };
    let seen = path.steps.iter().flat_map(|step| &step.conditions).filter(|condition| {
        condition_of(path, condition).is_some_and(|renamed| questions.holds(before, &renamed))
    });
    if let Some(last) = merged.path.steps.last_mut() {
        for condition in seen {
            if !last.conditions.contains(condition) {
                last.conditions.push(condition.clone());
            }
        }
    }
    merged
}

impl Merged {
    /// Without these of its optional steps.
    pub fn without(&self, left_out: &[usize]) -> Path {
        let mut path = self.path.clone();
        let mut at = 0;
        path.steps.retain(|_| {
            at += 1;
            !left_out.contains(&(at - 1))
        });
        path
    }
}
