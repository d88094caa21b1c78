//! Steps that only look are put together with the next step of their operation, where what they saw is still true then.
//!
//! What a step saw may be tested at the next step instead if no step of another operation can make it false in between, as long as
//! what the operation goes on to find holds too. What it goes on to find may be used for the time in between if it cannot become
//! true again once it is false ([`Questions::held_until`]): `t.next == NULL` is such a condition, and while it holds nobody moves `tail` away from `t`.
//! A condition may also be left out: then the sub-operations can do more than the code, and a proof for them is one for the code.

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
    /// Steps that only look, and without which the sub-operations may do more than the code.
    pub optional: Vec<usize>,
    /// What was done and why.
    pub notes: Vec<String>,
}

/// Merges the steps of the path that is `operation` of the model.
pub fn merged(model: &Model, questions: &Questions, operation: OperationId, path: &Path) -> Merged {
    let words = |condition: &Condition| {
        let names = linchpin_subop::Names::of(model, &model.operations[operation.0]);
        condition_of(path, condition).map_or(String::new(), |renamed| names.condition(&renamed))
    };
    let visible = path.visible();
    let count = path.steps.len();
    let set = path.set_at();
    // For the time after each step: conditions that hold throughout because they hold at the end of it.
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
        let mut distinct: Vec<Condition> = Vec::new();
        for condition in later {
            if !distinct.contains(&condition) {
                distinct.push(condition);
            }
        }
        throughout[at] = distinct;
    }
    let mut notes = Vec::new();
    let mut steps: Vec<Step> = Vec::new();
    let mut optional = Vec::new();
    let mut carried: Vec<Condition> = Vec::new();
    for (at, step) in path.steps.iter().enumerate() {
        let mut step = step.clone();
        for condition in carried.drain(..) {
            if !step.conditions.contains(&condition) {
                step.conditions.push(condition);
            }
        }
        if !step.is_pure() || step.attempt.is_some() || at + 1 == count {
            if at + 1 == count && step.is_pure() {
                optional.push(steps.len());
            }
            steps.push(step);
            continue;
        }
        let end = (at + 1..count).find(|next| visible[*next]).map_or(count, |next| next + 1);
        let locals = path.steps[path.segment(&visible, at)..end].iter();
        let mut given: Vec<Condition> = locals
            .flat_map(|step| &step.conditions)
            .filter(|condition| is_local(condition))
            .cloned()
            .collect();
        given.extend(throughout[at].iter().cloned());
        let given: Vec<Condition> =
            given.iter().filter_map(|condition| condition_of(path, condition)).collect();
        let mut moved = Vec::new();
        let mut fixed = Vec::new();
        for condition in &step.conditions {
            let kept = is_local(condition)
                || condition_of(path, condition).is_some_and(|renamed| {
                    questions.is_kept(At { operation, steps: at + 1 }, &renamed, &given)
                });
            let again =
                path.steps[at + 1..].iter().find(|later| later.conditions.contains(condition));
            match (kept, again) {
                (true, _) => {
                    if !is_local(condition) {
                        let reason = throughout[at]
                            .iter()
                            .filter(|known| *known != condition)
                            .map(&words)
                            .collect::<Vec<_>>();
                        let reason = match &reason[..] {
                            [] => String::new(),
                            parts => format!(", while {}", parts.join(", ")),
                        };
                        notes.push(format!(
                            "line {}: `{}` is still true at line {}{reason}",
                            step.line,
                            words(condition),
                            path.steps[at + 1].line
                        ));
                    }
                    moved.push(condition.clone());
                }
                (false, Some(later)) => notes.push(format!(
                    "line {}: `{}` is tested again at line {}: a guess until then",
                    step.line,
                    words(condition),
                    later.line
                )),
                (false, None) => fixed.push(condition.clone()),
            }
        }
        if fixed.is_empty() {
            carried = moved;
            continue;
        }
        for condition in &fixed {
            notes.push(format!(
                "line {}: `{}` may be false at line {}: a sub-operation of its own",
                step.line,
                words(condition),
                path.steps[at + 1].line
            ));
        }
        optional.push(steps.len());
        steps.push(step);
    }
    // A value that is read there only and that the operation stores or answers cannot be left out.
    let needed = |at: usize| {
        let read = |step: &Step| step.conditions.iter().filter_map(reading).collect::<Vec<_>>();
        let elsewhere = |id| {
            steps.iter().enumerate().any(|(other, step)| {
                other != at && read(step).iter().any(|(_, known)| *known == id)
            })
        };
        let mut used = path.result_symbols();
        used.extend(steps.iter().flat_map(|step| &step.statements).flat_map(symbols_of));
        read(&steps[at]).iter().any(|(_, id)| used.contains(id) && !elsewhere(*id))
    };
    optional.retain(|at| !needed(*at));
    Merged { path: Path { steps, ..path.clone() }, optional, notes }
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
