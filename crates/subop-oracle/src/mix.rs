//! Which instances to try together.

use crate::brute::{Case, Comparison, Counterexample, Verdict, judge};
use linchpin_subop::execute::{Instance, Value};
use linchpin_subop::model::{Model, OperationId, Type};

/// Every choice of `count` instances, in any order, whose integer arguments are among `values`; arguments of struct type are
/// guessed.
pub fn mixes(model: &Model, count: usize, values: &[i64]) -> Vec<Vec<Instance>> {
    let calls: Vec<Instance> = (0..model.operations.len())
        .flat_map(|operation| calls(model, OperationId(operation), values))
        .collect();
    let mut mixes = Vec::new();
    extend(&calls, 0, count, &mut Vec::new(), &mut mixes);
    mixes
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
    mixes: &mut Vec<Vec<Instance>>,
) {
    if chosen.len() == count {
        mixes.push(chosen.clone());
        return;
    }
    for index in from..calls.len() {
        chosen.push(calls[index].clone());
        extend(calls, index, count, chosen, mixes);
        chosen.pop();
    }
}

/// Judges every mix of 2 and of up to `most` instances from the start. Linearizable if all are; too large if one is and none is violated.
pub fn judge_all(
    model: &Model,
    most: usize,
    values: &[i64],
    comparison: Comparison,
    limit: usize,
) -> Verdict {
    let mut large = false;
    for count in 2..=most {
        for concurrent in mixes(model, count, values) {
            let case = Case { prologue: Vec::new(), concurrent };
            match judge(model, &case, comparison, limit) {
                Verdict::Linearizable => {}
                Verdict::TooLarge => large = true,
                Verdict::Violated(Counterexample { schedule, instances }) => {
                    return Verdict::Violated(Counterexample { schedule, instances });
                }
            }
        }
    }
    if large { Verdict::TooLarge } else { Verdict::Linearizable }
}
