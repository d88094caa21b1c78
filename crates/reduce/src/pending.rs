//! Operations that never complete.
//!
//! The rewriting of [`closure`](crate::closure) is about executions in which every operation
//! completes. Any execution becomes such a one if each proper prefix is *enabled* (its stable facts
//! imply that some next sub-operation can be executed, so the operation can be completed) or
//! *droppable* (its steps can be taken out, from the last to the first, without any other instance
//! noticing).

use linchpin_subop::model::{LocalId, Place, Statement, Term, Var};

use crate::context::Context;
use crate::search::explore;
use crate::symbolic::{Matters, Mode, Run, Stop};

/// How an operation that stays at a prefix is dealt with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    /// It can be completed.
    Enabled,
    /// It can be left out.
    Droppable,
    /// Neither: the step that ends the first prefix cannot be moved past the step that ends the
    /// second, by another instance.
    Neither { step: usize, past: usize },
}

/// Decides each proper prefix.
pub fn decide(context: &Context) -> Vec<(usize, Pending)> {
    let mut obstacle: Vec<Option<Option<(usize, usize)>>> = vec![None; context.prefixes.all.len()];
    let mut found = Vec::new();
    for at in context.prefixes.proper() {
        let data = &context.prefixes.all[at];
        if data.complete || enabled(context, at) {
            found.push((at, Pending::Enabled));
            continue;
        }
        let blocked = context.path(at).into_iter().find_map(|step| {
            *obstacle[step]
                .get_or_insert_with(|| cannot_move(context, step).map(|past| (step, past)))
        });
        found.push((
            at,
            match blocked {
                None => Pending::Droppable,
                Some((step, past)) => Pending::Neither { step, past },
            },
        ));
    }
    found
}

/// Whether the stable facts imply that some next sub-operation can be executed.
fn enabled(context: &Context, at: usize) -> bool {
    let mut enabled = true;
    let outcome = explore(context, &[at], &mut |symbolic, memory| {
        symbolic.choosing = true;
        let mut some = false;
        for child in context.prefixes.all[at].next.clone() {
            if symbolic.attempt(memory, |symbolic, memory| {
                symbolic.execute(memory, 0, child, Mode::Require)
            })? {
                some = true;
                break;
            }
        }
        enabled &= some;
        Ok(enabled)
    });
    enabled && outcome.is_ok()
}

/// A step of another instance that the last step of this prefix can neither be moved past nor
/// ignored.
fn cannot_move(context: &Context, at: usize) -> Option<usize> {
    if is_invisible(context, at) {
        return None;
    }
    context.prefixes.nonempty().find(|other| !slides(context, at, *other))
}

/// Whether the step changes nothing but the instance's locals and objects that no other instance
/// can know.
pub fn is_invisible(context: &Context, at: usize) -> bool {
    let data = &context.prefixes.all[at];
    let (Some(parent), Some(step)) = (data.parent, context.prefixes.last(at)) else { return true };
    let mut private: Vec<_> =
        context.prefixes.all[parent].private.iter().map(|(local, _)| *local).collect();
    for statement in &step.body {
        match statement {
            Statement::Assign { place, value, .. } => {
                if let Term::Place(Place::Variable(Var::Local(source))) = value {
                    private.retain(|local| local != source);
                    // Storing an object makes it public, wherever it is stored.
                    if may_be_own(context, at, *source)
                        && !matches!(place, Place::Variable(Var::Local(_)))
                    {
                        return false;
                    }
                }
                match place {
                    Place::Variable(Var::Local(local)) => private.retain(|known| known != local),
                    Place::Field(Var::Local(base), ..) if private.contains(base) => {}
                    _ => return false,
                }
            }
            Statement::Malloc { var: Var::Local(local), .. } => private.push(*local),
            Statement::Malloc { .. } => return false,
            Statement::Free { var: Var::Local(local), .. } if private.contains(local) => {}
            Statement::Free { .. } => return false,
            Statement::Read { .. } => {}
        }
    }
    true
}

/// Whether a local may ever hold an object that its instance allocated, or a copy of such a
/// reference.
fn may_be_own(context: &Context, at: usize, local: LocalId) -> bool {
    let operation = &context.model.operations[context.prefixes.all[at].operation.0];
    operation.sub_operations.iter().flat_map(|step| &step.body).any(|statement| match statement {
        Statement::Malloc { var: Var::Local(to), .. } => *to == local,
        Statement::Assign {
            place: Place::Variable(Var::Local(to)),
            value: Term::Place(Place::Variable(Var::Local(_))),
            ..
        } => *to == local,
        _ => false,
    })
}

/// Whether the last step of `at` can be moved to the right of the last step of `other`, up to what
/// its own instance holds.
fn slides(context: &Context, at: usize, other: usize) -> bool {
    let (Some(before), Some(peer)) =
        (context.prefixes.all[at].parent, context.prefixes.all[other].parent)
    else {
        return true;
    };
    if !context.step_footprint(at).conflicts(context.step_footprint(other)) {
        return true;
    }
    let mut slides = true;
    let outcome = explore(context, &[before, peer], &mut |symbolic, start| {
        let mut one = start.clone();
        symbolic.execute(&mut one, 0, at, Mode::Assume)?;
        symbolic.assume_facts(&one, 0, at)?;
        symbolic.execute(&mut one, 1, other, Mode::Assume)?;
        symbolic.assume_facts(&one, 0, at)?;
        symbolic.assume_facts(&one, 1, other)?;
        symbolic.assume_invariants(&one)?;
        let mut two = start.clone();
        let second = |symbolic: &mut crate::symbolic::Symbolic, two: &mut _| -> Run<()> {
            symbolic.execute(two, 1, other, Mode::Require)?;
            symbolic.execute(two, 0, at, Mode::Require)
        };
        slides &= match second(symbolic, &mut two) {
            Ok(()) => symbolic.same_state(&one, &two, [Matters::Nothing, Matters::Everything])?,
            Err(Stop::Blocked) => false,
            Err(Stop::Prune) => return Err(Stop::Prune),
        };
        Ok(slides)
    });
    slides && outcome.is_ok()
}
