//! Small changes of a model that may break it: one condition of a precondition dropped, one step
//! split in two, one mark ignored.

use linchpin_subop::model::{
    Condition, Mark, Model, Next, Operation, Statement, SubOperation, SubOperationId,
};

/// A changed model.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// What was changed.
    pub change: String,
    /// The sub-operation that was changed.
    pub at: SubOperationId,
    /// The model. Its claims and invariants are gone, for they were about another one.
    pub model: Model,
}

/// Every model that differs from `model` by one such change.
pub fn mutants(model: &Model) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for at in model.sub_operations() {
        let step = model.sub_operation(at);
        let name = &step.name;
        let mut add = |change: String, edit: &dyn Fn(&mut Operation)| {
            let mut model = model.clone();
            model.claims.clear();
            model.invariants.clear();
            edit(&mut model.operations[at.operation.0]);
            mutants.push(Mutant { change, at, model });
        };
        if let Condition::All(parts) = &step.precondition {
            for part in 0..parts.len() {
                add(format!("{name} without condition {}", part + 1), &|operation| {
                    if let Condition::All(parts) =
                        &mut operation.sub_operations[at.index].precondition
                    {
                        parts.remove(part);
                    }
                });
            }
        }
        if step.mark == Mark::Anyone {
            add(format!("{name} without its mark"), &|operation| {
                operation.sub_operations[at.index].mark = Mark::Invoker;
            });
        }
        // With an empty part before or after the statements: a test and then an act, or an act and
        // then a return.
        let guarded = step.precondition != Condition::always();
        let from = usize::from(!guarded);
        let to = step.body.len() + usize::from(step.result.is_some());
        for part in from..to {
            add(format!("{name} split before statement {}", part + 1), &|operation| {
                split(operation, at.index, part);
            });
        }
    }
    mutants
}

/// Splits a sub-operation so that its statements from `part` on are one of their own.
fn split(operation: &mut Operation, index: usize, part: usize) {
    let later = |next: &mut Next| match next {
        Next::SubOperation(target) if *target > index => *target += 1,
        _ => {}
    };
    for step in &mut operation.sub_operations {
        step.next.iter_mut().for_each(later);
    }
    operation.first.iter_mut().filter(|first| **first > index).for_each(|first| *first += 1);
    let step = &mut operation.sub_operations[index];
    let body: Vec<Statement> = step.body.split_off(part);
    let rest = SubOperation {
        name: format!("{}_rest", step.name),
        unnamed: false,
        mark: step.mark,
        precondition: Condition::always(),
        body,
        result: step.result.take(),
        next: std::mem::replace(&mut step.next, vec![Next::SubOperation(index + 1)]),
        span: step.span,
    };
    operation.sub_operations.insert(index + 1, rest);
}
