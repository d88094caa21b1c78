//! Which instances to try together.

use crate::brute::{Case, Comparison, Judged, explore};
use linchpin_subop::execute::{Instance, Value};
use linchpin_subop::model::{Model, OperationId, Type};
use std::ops::ControlFlow;

/// Every choice of `count` instances, in any order, whose integer arguments are among `values`;
/// arguments of struct type are guessed.
pub fn mixes(model: &Model, count: usize, values: &[i64]) -> Vec<Vec<Instance>> {
    let mut mixes = Vec::new();
    let _ = extend(&all_calls(model, values), 0, count, &mut Vec::new(), &mut |mix| {
        mixes.push(mix.to_vec());
        ControlFlow::Continue(())
    });
    mixes
}

fn all_calls(model: &Model, values: &[i64]) -> Vec<Instance> {
    let operations = (0..model.operations.len()).map(OperationId);
    operations.flat_map(|operation| calls(model, operation, values)).collect()
}

/// Every call of an operation with arguments among `values`.
fn calls(model: &Model, operation: OperationId, values: &[i64]) -> Vec<Instance> {
    let body = &model.operations[operation.0];
    let mut calls = vec![Instance::new(model, operation, &[])];
    for index in 0..body.arguments {
        if body.locals[index].ty != Type::Int {
            continue;
        }
        let with = |call: &Instance, value: i64| {
            let mut call = call.clone();
            call.locals[index] = Some(Value::Int(value));
            call
        };
        calls = calls
            .iter()
            .flat_map(|call| values.iter().map(|value| with(call, *value)).collect::<Vec<_>>())
            .collect();
    }
    calls
}

fn extend(
    calls: &[Instance],
    from: usize,
    count: usize,
    chosen: &mut Vec<Instance>,
    visit: &mut dyn FnMut(&[Instance]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if chosen.len() == count {
        return visit(chosen);
    }
    for index in from..calls.len() {
        chosen.push(calls[index].clone());
        extend(calls, index, count, chosen, visit)?;
        chosen.pop();
    }
    ControlFlow::Continue(())
}

/// Words of all states that are looked at together; a state has as many as there are locals and
/// shared variables.
const MOST_WORDS: usize = 400_000_000;

/// Judges every mix of 2 and of up to `most` instances from the start. Linearizable if all are; too
/// large if one is and none is violated.
pub fn judge_all(
    model: &Model,
    most: usize,
    values: &[i64],
    comparison: Comparison,
    limit: usize,
) -> Judged {
    let calls = all_calls(model, values);
    let mut verdict = Judged::Linearizable;
    let mut words = 0;
    for count in 2..=most {
        let stopped = extend(&calls, 0, count, &mut Vec::new(), &mut |mix| {
            let locals: usize = mix.iter().map(|instance| instance.locals.len()).sum();
            let size = 1 + locals + model.globals.len();
            let case = Case { prologue: Vec::new(), concurrent: mix.to_vec() };
            let report = explore(model, &case, comparison, limit.min(MOST_WORDS / 10 / size));
            words += report.states.max(1) * size;
            match report.verdict {
                Judged::Linearizable => {}
                Judged::TooLarge => verdict = Judged::TooLarge,
                violated @ Judged::Violated(_) => {
                    verdict = violated;
                    return ControlFlow::Break(());
                }
            }
            if words > MOST_WORDS {
                verdict = Judged::TooLarge;
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        if stopped.is_break() {
            break;
        }
    }
    verdict
}
