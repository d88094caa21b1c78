//! Whether sub-operations that are executed without interruption do what the code does.
//!
//! Steps that only observe may be left out, and conditions that are tested again later, so
//! sub-operations can do more than the code. That makes a proof harder, not wrong, as long as what
//! they do one after the other is what the code does one call after the other: the sequential
//! executions, which the specification is compared with, are then those of the code.

use crate::build;
use crate::path::{Path, Step};
use linchpin_reduce::{Options, Questions};
use linchpin_subop::model::{Condition, Model, OperationId};

/// For each way, whether its sub-operations, executed without interruption, do what one of the
/// paths through the code does that they stand for.
pub fn as_the_code(
    skeleton: &Model,
    options: &Options,
    ways: &[Path],
    codes: &[&[Path]],
) -> Vec<bool> {
    let mut model = skeleton.clone();
    for (at, way) in ways.iter().enumerate() {
        let operation = build::comparing(&model, &format!("f{at}"), way);
        model.operations.push(operation);
    }
    let Some(questions) = Questions::new(&model, options) else { return vec![false; ways.len()] };
    let at_rest = questions.at_rest();
    let does = |at: usize| {
        // A path with a condition on something that the sub-operations do not know is none of them,
        // nor is one that guesses: the code knows.
        let code = codes[at].iter().filter(|code| !code.guesses);
        let alternatives: Vec<_> = code.filter_map(|code| conditions(&ways[at], code)).collect();
        questions.holds_alone(OperationId(at), &alternatives, &at_rest)
    };
    (0..ways.len()).map(does).collect()
}

/// The conditions of a path through the code, each with how many sub-operations of the way come
/// before it.
///
/// INVARIANT: both change the same things in the same order; between two changes it does not matter
/// when something is looked at.
fn conditions(way: &Path, code: &Path) -> Option<Vec<(usize, Condition)>> {
    let changes = |path: &Path| -> Vec<usize> {
        let changing = path.steps.iter().enumerate().filter(|(_, step)| !step.is_pure());
        changing.map(|(at, _)| at).collect()
    };
    let (mine, theirs) = (changes(way), changes(code));
    let statements = |path: &Path, at: &usize| path.steps[*at].statements.clone();
    let same = mine.len() == theirs.len()
        && mine.iter().zip(&theirs).all(|(a, b)| statements(way, a) == statements(code, b));
    if !same || way.end != code.end {
        return None;
    }
    let mut found = Vec::new();
    for (at, Step { conditions, .. }) in code.steps.iter().enumerate() {
        let before = theirs.iter().filter(|change| **change < at).count();
        let position = before.checked_sub(1).map_or(0, |last| mine[last] + 1);
        for condition in conditions {
            found.push((position, build::condition_of(way, condition)?));
        }
    }
    Some(found)
}
