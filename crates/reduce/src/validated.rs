//! Reads that a later comparison validates.
//!
//! `C = P.next;` and later `<P.next == C; …>`: whenever the operation is executed without
//! interruption and gets past the comparison, the read would have given the very value that the
//! comparison saw. So the read can be replaced by a guess: every execution of the operation is one
//! of the operation without the read (which guesses what was read), and every *sequential*
//! execution without the read is one with it. If all executions without it are linearizable, so are
//! those with it. (Without the first sub-operation the operation starts later: more operations are
//! ordered in time, never fewer.)

use linchpin_subop::model::{LocalId, Model, Next, Place, Statement, Term, Type, Var};

use crate::Options;
use crate::context::Context;
use crate::prefix::{self, Prefixes};
use crate::search::explore;
use crate::solver::flag;
use crate::symbolic::{Env, Memory, Mode};

/// A read that was replaced by a guess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The operation.
    pub operation: usize,
    /// The sub-operation that is left out.
    pub step: usize,
}

/// The model without the reads that are validated later.
pub fn replace_reads(model: &Model, options: &Options) -> (Model, Vec<Replaced>) {
    let mut current = model.clone();
    let mut replaced = Vec::new();
    // Too large to be analysed anyway.
    if Prefixes::of(model).is_err() {
        return (current, replaced);
    }
    for operation in 0..model.operations.len() {
        // The last reads first: what they read may depend on what was read before.
        for step in (0..model.operations[operation].sub_operations.len()).rev() {
            if !is_read(&current, operation, step) {
                continue;
            }
            let without = without(&current, operation, step);
            if is_validated(&current, &without, operation, step, options) {
                current = without;
                replaced.push(Replaced { operation, step });
            }
        }
    }
    (current, replaced)
}

/// Whether a sub-operation does nothing but read shared locations into locals that nothing else
/// assigns.
fn is_read(model: &Model, operation: usize, step: usize) -> bool {
    let body = &model.operations[operation];
    let sub_operation = &body.sub_operations[step];
    let reads = sub_operation.body.iter().all(|statement| match statement {
        Statement::Assign {
            place: Place::Variable(Var::Local(local)),
            value: Term::Place(place),
            ..
        } => {
            local.0 >= body.arguments
                && crate::footprint::kind(place).is_some()
                && assignments(model, operation, *local) == 1
        }
        _ => false,
    });
    reads
        && !sub_operation.body.is_empty()
        && sub_operation.result.is_none()
        && !sub_operation.next.contains(&Next::Return)
}

fn assignments(model: &Model, operation: usize, local: LocalId) -> usize {
    let statements = model.operations[operation].sub_operations.iter().flat_map(|step| &step.body);
    statements
        .filter(|statement| match statement {
            Statement::Assign { place: Place::Variable(Var::Local(to)), .. } => *to == local,
            Statement::Malloc { var: Var::Local(to), .. } => *to == local,
            _ => false,
        })
        .count()
}

/// The model in which what led to the step leads to what follows it. The step stays where it is,
/// unreachable.
fn without(model: &Model, operation: usize, step: usize) -> Model {
    let mut model = model.clone();
    let body = &mut model.operations[operation];
    let following = body.sub_operations[step].next.clone();
    for sub_operation in &mut body.sub_operations {
        if sub_operation.next.contains(&Next::SubOperation(step)) {
            sub_operation.next.retain(|next| *next != Next::SubOperation(step));
            sub_operation.next.extend(following.iter().copied());
            sub_operation.next.sort();
            sub_operation.next.dedup();
        }
    }
    if body.first.contains(&step) {
        body.first.retain(|first| *first != step);
        body.first.extend(following.iter().filter_map(|next| match next {
            Next::SubOperation(next) => Some(*next),
            Next::Return => None,
        }));
        body.first.sort();
        body.first.dedup();
    }
    model
}

fn is_validated(
    model: &Model,
    without: &Model,
    operation: usize,
    step: usize,
    options: &Options,
) -> bool {
    let (Ok(original), Ok(context)) = (Prefixes::of(model), Context::new(without, options)) else {
        return false;
    };
    let read = &model.operations[operation].sub_operations[step];
    let targets: Vec<LocalId> = read
        .body
        .iter()
        .filter_map(|statement| match statement {
            Statement::Assign { place: Place::Variable(Var::Local(local)), .. } => Some(*local),
            _ => None,
        })
        .collect();
    if prefix::read_first(read).iter().any(|local| targets.contains(local)) {
        return false;
    }
    // A guess is never poison.
    if targets.iter().any(|local| context.natures.local(operation, *local).poison) {
        return false;
    }
    let mut validated = false;
    for data in original.all.iter().filter(|data| data.operation.0 == operation && data.complete) {
        let Some(position) = data.steps.iter().position(|at| *at == step) else { continue };
        // The local must get its first value here: a guess before would be another one.
        let earlier = original.all.iter().find(|known| {
            known.operation == data.operation && known.steps == data.steps[..position]
        });
        let Some(earlier) = earlier else { return false };
        if targets.iter().any(|local| earlier.set[local.0]) {
            return false;
        }
        // What the read guesses itself is guessed later without it: it must be the same all the
        // time.
        let changes =
            |local: &LocalId| !earlier.set[local.0] && assignments(model, operation, *local) > 0;
        if prefix::read_first(read).iter().any(changes) {
            return false;
        }
        let mut steps = data.steps.clone();
        steps.remove(position);
        let Some(whole) = context
            .prefixes
            .all
            .iter()
            .position(|known| known.operation.0 == operation && known.steps == steps)
        else {
            return false;
        };
        if targets.iter().any(|local| !context.prefixes.all[whole].set[local.0]) {
            return false;
        }
        if !reads_the_guess(&context, whole, position, read, &targets) {
            return false;
        }
        validated = true;
    }
    validated
}

/// Whether the read, executed after `position` steps of an uninterrupted run, gives what was
/// guessed.
fn reads_the_guess(
    context: &Context,
    whole: usize,
    position: usize,
    read: &linchpin_subop::model::SubOperation,
    targets: &[LocalId],
) -> bool {
    let operation = context.prefixes.all[whole].operation;
    let start = context.prefixes.empty[operation.0];
    let guessed = prefix::read_first(read);
    let mut good = true;
    let outcome = explore(context, &[start], &mut |symbolic, begin| {
        let mut memory = begin.clone();
        let mut there: Option<Memory> = (position == 0).then(|| memory.clone());
        for (at, prefix) in context.path(whole).into_iter().enumerate() {
            symbolic.execute(&mut memory, 0, prefix, Mode::Assume)?;
            if at + 1 == position {
                there = Some(memory.clone());
            }
        }
        let Some(mut there) = there else { return Ok(false) };
        for local in &guessed {
            if there.instances[0].locals[local.0].is_some() {
                continue;
            }
            // What the read guesses must have been possible to guess so early.
            let Some(value) = memory.instances[0].locals[local.0] else {
                good = false;
                return Ok(false);
            };
            let ty = context.model.operations[operation.0].locals[local.0].ty;
            if ty != Type::Int && !symbolic.solver.has(value, flag::PUBLISHED) {
                good = false;
                return Ok(false);
            }
            there.instances[0].locals[local.0] = Some(value);
        }
        good &= symbolic.require(&there, Env::of(0), &read.precondition)?;
        let mut value_of = |memory: &Memory, place: &Place| {
            symbolic.place(memory, Env::of(0), place, Mode::Require)
        };
        for (statement, target) in read.body.iter().zip(targets) {
            let Statement::Assign { value: Term::Place(place), .. } = statement else { continue };
            let value = value_of(&there, place)?;
            there.instances[0].locals[target.0] = value;
        }
        for target in targets {
            let (read, guess) =
                (there.instances[0].locals[target.0], memory.instances[0].locals[target.0]);
            good &= matches!((read, guess), (Some(read), Some(guess)) if symbolic.solver.same(read, guess) == Some(true));
        }
        Ok(good)
    });
    good && outcome.is_ok()
}
